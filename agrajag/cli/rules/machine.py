"""What the commands about rules print with `--json`. Texts that an error brought are redacted, as for people."""

from collections.abc import Iterable
from typing import Any

import orjson
from pydantic import TypeAdapter

from agrajag.cli.rules.tables import MAX_LINE
from agrajag.core.explain import Considered, Effects, Explanation
from agrajag.core.listing import Listing, Standing, entry_of
from agrajag.core.redact import redacted, redacted_line
from agrajag.core.rules import Problem
from agrajag.core.trial import ShadowCount

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def as_json(value: object) -> str:
    """`value` as indented JSON; spans in ISO 8601, times in UTC, no field without a value but where it says "none"."""
    plain = _ANY.dump_python(value, mode="json")
    return orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()


def list_tree(
    tenant_id: str | None,
    project_id: str | None,
    rule_set_hash: str,
    listed: Listing,
    rejected: Iterable[Problem],
    warnings: Iterable[Problem],
) -> dict[str, Any]:
    """What `agrajag rules list` says."""
    return {
        "tenantId": tenant_id,
        "projectId": project_id,
        "ruleSetHash": rule_set_hash,
        "rules": [_standing(one) for one in listed.in_force],
        "onTrial": [{**_standing(one), "aheadOf": one.ahead_of} for one in listed.on_trial],
        "rejected": [_problem(one) for one in rejected],
        "warnings": [_problem(one) for one in warnings],
    }


def _standing(one: Standing) -> dict[str, Any]:
    return {
        "source": one.source,
        "pack": one.rule.pack,
        "replaces": list(one.replaces),
        "rule": _without_secrets(entry_of(one.rule)),
    }


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_secrets(item) for name, item in value.items()}
    return value


def _problem(one: Problem) -> dict[str, Any]:
    return {
        "source": one.source,
        "ruleId": one.rule_id,
        "field": redacted_line(one.field, MAX_LINE),
        "reason": redacted_line(one.reason, MAX_LINE),
    }


def explanation_tree(told: Explanation) -> dict[str, Any]:
    """What `agrajag rules explain` says."""
    return {
        "eventId": told.arrival.event_id,
        "ruleSetHash": told.rule_set_hash,
        "rules": [_considered(one) for one in told.considered],
        "decidedBy": told.rule.id if told.rule is not None else None,
        "answer": orjson.loads(told.answer.to_json()) if told.answer is not None else None,
        "begins": _begins(told.effects),
        "words": list(told.words),
        "onTrial": explanation_tree(told.trial) if told.trial is not None else None,
    }


def _considered(one: Considered) -> dict[str, Any]:
    return {
        "id": one.rule.id,
        "pack": one.rule.pack,
        "shadow": one.rule.shadow,
        "matches": one.matches,
        "decides": one.decides,
        "selectors": [
            {"selector": finding.selector, "holds": finding.holds, "why": finding.why}
            for finding in one.findings
        ],
    }


def _begins(effects: Effects) -> dict[str, Any]:
    cooldown, written = effects.cooldown, effects.written
    return {
        "cooldown": None
        if cooldown is None
        else {
            "span": effects.span,
            "until": cooldown.next_spawn_allowed_at,
            "userId": cooldown.user_id,
            "hits": cooldown.hits,
        },
        "status": None
        if written is None
        else {
            "status": written.status,
            "expectedRecoveryAt": written.expected_recovery_at,
            "note": redacted(written.note) if written.note else None,
        },
    }


def shadow_tree(read: int, counts: Iterable[ShadowCount]) -> dict[str, Any]:
    """What `agrajag rules shadow` says."""
    return {
        "errorsRead": read,
        "changes": [
            {
                "tenantId": one.tenant_id,
                "ruleId": one.rule_id,
                "insteadOf": one.instead_of,
                "toolName": one.tool_name,
                "classification": one.classification,
                "outcome": one.outcome,
                "errors": one.errors,
                "users": one.users,
                "first": one.first,
                "last": one.last,
                "lastEventId": one.last_event_id,
            }
            for one in counts
        ],
    }
