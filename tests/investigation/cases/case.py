"""Reads investigations from YAML: each a question, what can be found, what a model does, and what must come of it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from agrajag.investigation.question import PreviousTurn
from agrajag.investigation.requests import ToolName
from tests.harness.replies import Message, Reply, Status, calls, text, use
from tests.harness.scripted_model import Request


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Asks(_Data):
    """A tool call. `of`: the observation before it, which was `worth` something."""

    id: str
    tool: str
    input: Any
    of: str | None = None
    worth: str = "GAINED"

    def block(self) -> dict[str, Any]:
        """The call as the model writes it."""
        envelope: dict[str, Any] = {"input": self.input}
        if self.of is not None:
            envelope["previous_observation"] = {"tool_call_id": self.of, "evaluation": self.worth}
        return use(self.id, self.tool, **envelope)


class Says(_Data):
    """An item of the analysis, `seen` in these calls or `unseen` in them."""

    seen: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    statement: str
    scope: str | None = None

    def item(self) -> dict[str, Any]:
        """The item as the model writes it."""
        kind = "NEGATIVE_OBSERVATION" if self.unseen else "OBSERVATION"
        ids = [*self.seen, *self.unseen]
        return {"type": kind, "statement": self.statement, "tool_call_ids": ids, "scope": self.scope}


class Drafts(_Data):
    """An answer, with as much as a case needs to say of it."""

    summary: str | None = None
    root_cause: str | None = None
    analysis: tuple[Says, ...] = ()
    action_plan: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()

    def written(self) -> str:
        """The JSON of it."""
        concluded = {"summary": self.summary, "root_cause": self.root_cause}
        whole = {
            "conclusion": None if self.summary is None else concluded,
            "analysis": [each.item() for each in self.analysis],
            "action_plan": self.action_plan,
            "recommendations": [],
            "limitations": {"missing_info": self.missing, "checked_scope": self.checked},
        }
        return json.dumps(whole, ensure_ascii=False)


class Turn(_Data):
    """One reply of the scripted model: calls, or a draft with what stands around it, or what ends it otherwise."""

    asks: tuple[Asks, ...] = ()
    draft: Drafts | None = None
    prefix: str = ""
    suffix: str = ""
    stop_reason: str = "end_turn"
    status: int | None = None

    def reply(self) -> Reply:
        """As the server gives it."""
        if self.status is not None:
            return Status(self.status)
        if self.asks:
            return calls(*(each.block() for each in self.asks))
        written = self.prefix + ("" if self.draft is None else self.draft.written()) + self.suffix
        return text(written, stop_reason=self.stop_reason) if written else Message([], self.stop_reason)


class Fails(_Data):
    """A source that gives this code, or raises with this text."""

    code: str | None = None
    raises: str | None = None


class Truth(_Data):
    """What the sources allow to be known, whoever asks them.

    `words`: each is in a right conclusion, `grounds`: each is in what it cites; `a|b` is either of them.
    """

    answerable: bool = False
    words: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()


class Must(_Data):
    """What comes of the scripted model's turns. `told`: the observations in their order, with their codes."""

    end: str
    cites: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    requests: int


class Case(_Data):
    """One investigation. `answered_elsewhere`: calls of another run in the same ledger; `secrets`: in sources alone."""

    id: str
    question: str
    previous_turn: PreviousTurn | None = None
    limits: dict[str, int] = {}
    runbooks: dict[str, str] = {}
    logs: tuple[dict[str, Any], ...] = ()
    tables: dict[str, tuple[dict[str, Any], ...]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    fails: dict[ToolName, Fails] = {}
    secrets: tuple[str, ...] = ()
    answered_elsewhere: tuple[str, ...] = ()
    turns: tuple[Turn, ...]
    truth: Truth = Truth()
    must: Must

    @property
    def run_id(self) -> str:
        """The one run of this case."""
        return f"run-{self.id}"


@cache
def all_cases() -> tuple[Case, ...]:
    """The cases of every file beside this one."""
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    read = [each for file in files for each in yaml.safe_load(file.read_text("utf-8"))]
    return tuple(Case.model_validate_json(json.dumps(each)) for each in read)


def scripted(cases: tuple[Case, ...]) -> Any:
    """A script that answers each request with the next turn of the case whose question it is."""
    by_question = {case.question: case for case in cases}

    def reply(request: Request) -> Reply:
        first, *later = request.body["messages"]
        content = first["content"]
        asked = json.loads(content if isinstance(content, str) else content[0]["text"])
        turns = by_question[asked["query"]].turns
        number = sum(message["role"] == "assistant" for message in later)
        return turns[number].reply() if number < len(turns) else Status(418, "script_has_ended")

    return reply
