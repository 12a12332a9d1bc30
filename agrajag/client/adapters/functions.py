'''Attends the calls of a function, sync or async, that is a tool or calls one.

```python
from agrajag.client import Agrajag

with Agrajag.connect("127.0.0.1:9092", tenant="acme") as agrajag:

    @agrajag.guarded("crm_lookup", who=lambda name, user: {"user": user})
    def look_up(name: str, user: str) -> str:
        """Looks a customer up."""
        return f"{name} is a customer"

    print(look_up("Dent", user="alice"))
```
'''

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack, cast

from agrajag.client.attending import Attendant
from agrajag.client.call import Call
from agrajag.client.refused import ToolRefused
from agrajag.client.reporter import CallFields

P = ParamSpec("P")
R = TypeVar("R")


def guarded(
    attendant: Attendant,
    tool: str | None = None,
    *,
    who: Callable[..., CallFields] | None = None,
    **fields: Unpack[CallFields],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for a function: each call is asked for, and how it ends is reported.

    `tool` is the tool's name, by default the function's. `fields` are known of every call; `who` tells what is known of
    one, from the function's own arguments. A call that is not made raises ToolRefused. Otherwise the function returns
    and raises as before; an HTTP response from 400 up, and an MCP result that is an error, is reported as a failure.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        name = tool or function.__name__

        def admitted(*args: P.args, **kwargs: P.kwargs) -> Call:
            known = cast(CallFields, {**fields, **(who(*args, **kwargs) if who is not None else {})})
            call = attendant.call(name, known)
            admission = attendant.ask(call)
            if not admission.is_allowed:
                raise ToolRefused(name, admission)
            return call

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def attended_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                attended = attendant.begin(admitted(*args, **kwargs))
                try:
                    value = await function(*args, **kwargs)
                except BaseException as error:
                    attended.raised(error)
                    raise
                attended.returned(value)
                return value

            return cast(Callable[P, R], attended_async)

        @functools.wraps(function)
        def attended_sync(*args: P.args, **kwargs: P.kwargs) -> R:
            attended = attendant.begin(admitted(*args, **kwargs))
            try:
                value = function(*args, **kwargs)
            except BaseException as error:
                attended.raised(error)
                raise
            attended.returned(value)
            return value

        return attended_sync

    return decorated
