"""How Agrajag probes a tool that lives inside another service: a request on its topic, a reply on another.

The other service holds the credentials of its users: it is told for whom to call the tool, and never with what.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agrajag.model.enums import ProbeIdentity
from agrajag.model.events import MAX_HEADERS, ClassName, HeaderName, HeaderValue
from agrajag.model.wire_model import MAX_BODY, Id, Time, WireModel


class ProbeCall(WireModel):
    """Asks the service to call one of its tools, once, without an effect. Its key is `tenant|tool`."""

    probe_id: Id
    """Names the probe; the reply repeats it. It may come twice, and one reply is enough."""
    tenant_id: Id
    """Whose tool it is."""
    project_id: Id | None = None
    """In which project the trouble was, where there is one."""
    tool_name: Id
    """The tool to call."""
    identity: ProbeIdentity
    """As whom: `user` with that user's credentials, `system` without any user's."""
    user_id: Id | None = None
    """The user, for the identity `user`."""
    sample_input: dict[str, Any]
    """What the tool is to be called with."""
    deadline: Time
    """Nobody waits for a reply that comes later."""
    probe: Literal[True] = True
    """That it is a probe: what comes of it is reported to nobody else, or with the same flag."""


class ProbeReply(WireModel):
    """What the tool did. All but the first two fields may be absent."""

    probe_id: Id
    """That of the request."""
    success: bool
    """Whether the tool did what it does when it works."""
    status_code: Annotated[int, Field(ge=100, le=599)] | None = None
    """The status of HTTP, where the tool has one."""
    headers: Annotated[dict[HeaderName, HeaderValue], Field(max_length=MAX_HEADERS)] | None = None
    """Headers of the tool's response, such as `Retry-After`."""
    body: Annotated[str, StringConstraints(max_length=MAX_BODY)] | None = None
    """The start of the tool's response, or the text of its error."""
    error_code: Annotated[str, StringConstraints(max_length=120)] | None = None
    """The tool's own code."""
    exception_type: ClassName | None = None
    """The class of the exception, as its language names it."""
    used_credentials: bool = False
    """Whether the tool was called with a credential. Without one a 401 says nothing about the tool."""
