"""The policy of a decent model: it probes as the user and as the system, and says what that shows.

It reads nothing but the conversation. It is no model, and its figures are no model's: it is there so that the whole way
through one is walked in every scenario.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson

from agrajag.diagnosis.evaluation.model_server import Call, Conversation
from agrajag.model.enums import Classification

AS_USER = "tool_probe_as_user"
AS_SYSTEM = "tool_probe_as_system"
_CREDENTIAL = re.compile(
    r"expired|revoked|invalid_grant|invalid_token|abgelaufen|link your account|sign in|inactive",
    re.IGNORECASE,
)
_PERMISSION = re.compile(r"forbidden|scope|permission|role|plan", re.IGNORECASE)
_LIMIT = re.compile(r"rate.?limit|too many|overloaded|slow down|limit reached", re.IGNORECASE)
_WRONG_CALL = re.compile(
    r"validation|invalid argument|must be|does not exist|there is no|NAME_NOT_RESOLVED|exceeds", re.IGNORECASE
)
_UNTIL = re.compile(r"until\W{1,6}(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))")
_USERS = re.compile(r"distinctUsers: (\d+)")
_DETAIL = re.compile(r"errorDetail: (.*)")
_NOW = re.compile(r"now: (\S+)")
_TROUBLE = re.compile(r"INTERMITTENT")


class Probe(NamedTuple):
    """What one probe has shown, as far as it is evidence."""

    works: bool
    status: int | None
    text: str


def decent(conversation: Conversation) -> list[Call] | str:
    """The next calls, or the answer."""
    if conversation.may_call and conversation.rounds == 0:
        tool = {"toolName": conversation.tool_name}
        return [Call(AS_USER, tool), Call(AS_SYSTEM, tool)]
    user, system = (_probe(conversation.of(name)) for name in (AS_USER, AS_SYSTEM))
    return _answer(conversation.prompt, *_decided(conversation.prompt, user, system))


def _probe(observation: dict[str, Any] | None) -> Probe | None:
    if observation is None or "success" not in observation:
        return None
    status = observation.get("statusCode")
    works = bool(observation["success"])
    if not works and observation.get("hadCredentials") is False and status in (401, 403):
        return None
    text = f"{observation.get('errorSignature') or ''} {observation.get('rawResponse') or ''}"
    return Probe(works, status, text)


def _decided(prompt: str, user: Probe | None, system: Probe | None) -> tuple[Classification, str]:
    known = [probe for probe in (user, system) if probe is not None]
    failed = [probe for probe in known if not probe.works]
    if not known:
        return Classification.UNCLEAR, "No probe has told anything."
    if not failed:
        return _all_work(prompt)
    if len(failed) < len(known) and failed[0] is user:
        return _user_fails(prompt, failed[0])
    if len(failed) < len(known):
        return Classification.WORKING if failed[0].status in (
            401,
            403,
        ) else Classification.INTERMITTENT, "It varies."
    return _all_fail(failed, system)


def _all_work(prompt: str) -> tuple[Classification, str]:
    detail = _DETAIL.search(prompt)
    if detail and _WRONG_CALL.search(detail[1]):
        return Classification.USER_INPUT, "The tool works; the call was wrong."
    if len(_TROUBLE.findall(prompt.partition("# History")[2])) > 1:
        return Classification.INTERMITTENT, "It works now and was in trouble again and again."
    return Classification.WORKING, "Every probe was answered."


def _user_fails(prompt: str, probe: Probe) -> tuple[Classification, str]:
    users = _USERS.search(prompt)
    if _LIMIT.search(probe.text) or (users and int(users[1]) > 1):
        return Classification.INTERMITTENT, "It fails for some, and not for reasons of one user."
    if probe.status == 401 or _CREDENTIAL.search(probe.text):
        return Classification.USER_SPECIFIC_TECHNICAL, "The user's credential is not accepted."
    if probe.status == 403 or _PERMISSION.search(probe.text):
        return Classification.USER_PERMISSION, "The user may not do this."
    return Classification.USER_SPECIFIC_TECHNICAL, "It fails for this user alone."


def _all_fail(failed: Sequence[Probe], system: Probe | None) -> tuple[Classification, str]:
    if any(_LIMIT.search(probe.text) for probe in failed):
        return Classification.INTERMITTENT, "It limits how often it may be called."
    if system is None and failed[0].status in (401, 403):
        return Classification.UNCLEAR, "Nothing tells how others fare."
    until = _UNTIL.search(failed[0].text)
    note = (
        f"It fails for everybody until {until[1]}" if until else f"It fails for everybody: {failed[0].text}"
    )
    return Classification.TECHNICALLY_BROKEN, note


def _answer(prompt: str, classification: Classification, note: str) -> str:
    until = _UNTIL.search(note)
    now = _NOW.search(prompt)
    recovery = until[1] if until else None
    if recovery is None and now and classification is Classification.INTERMITTENT:
        recovery = (datetime.fromisoformat(now[1]) + timedelta(minutes=5)).isoformat()
    is_own = classification is Classification.USER_SPECIFIC_TECHNICAL
    answer: dict[str, Any] = {
        "classification": classification,
        "scope": "USER" if is_own else "PROJECT",
        "expectedRecoveryAt": recovery,
        "humanNote": note[:300],
        "userActionHint": "Renew your sign-in in the settings." if is_own else None,
        "cooldownAdjustments": [],
    }
    return f"```json\n{orjson.dumps(answer).decode()}\n```"
