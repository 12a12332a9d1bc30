"""What the commands about rules print, for people and for machines; never a secret."""

import io
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.table import Table

from agrajag.cli.rules import machine
from agrajag.cli.rules.tables import (
    MANY_RULES,
    considered_table,
    decision_lines,
    error_lines,
    problem_line,
    rules_table,
    shadow_table,
    trial_lines,
)
from agrajag.core.explain import Explanation, explain
from agrajag.core.listing import listing
from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy import Policy
from agrajag.core.rules import Layer, Problem, Rule
from agrajag.core.trial import TrialReport
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.enums import Classification, HealthAction
from tests.builders import NOW, a_rule, an_error
from tests.core.triaging import Triage

_SECRET = "Bearer abcdefghijklmnopqrstuvwxyz123456"
_SHADOW = a_rule("ours", http_statuses=(503, 503), before="http-5xx", shadow=True, note="try it")


def printed(table: Table) -> list[str]:
    console = Console(file=io.StringIO(), width=400, markup=False, emoji=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def told_about(rules: RuleSet | None = None, **error: Any) -> Explanation:
    return explain(Triage().arrival(an_error(**error)), rules or bundled_rules(), Policy(), NOW)


def _listed(*own: Rule) -> tuple[Sequence[Layer], RuleSet]:
    layers = (bundled_layer(), Layer("acme/_tenant/rules.yaml", own))
    return layers, compiled(layer.rules for layer in layers)


def test_rules_are_listed_with_place_match_effect_and_origin() -> None:
    own = a_rule(
        "http-5xx", http_statuses=(500, 599), body_contains=("a", "b"), cooldown=timedelta(minutes=5),
        classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE,
    )  # fmt: skip
    listed = listing(*_listed(own))
    lines = printed(rules_table(listed.in_force))
    assert lines[0].split()[:4] == ["#", "rule", "matches", "classification"]
    (line,) = [line for line in lines if " http-5xx " in line]
    assert "httpStatusRange 500-599; bodyContains a | b" in line
    assert line.split()[-6:] == [
        "TECHNICALLY_BROKEN", "5", "min", "DOWN", "acme/_tenant/rules.yaml",
        "agrajag/defaults/_vance/agrajag/error-patterns.yaml",
    ]  # fmt: skip
    assert any("fallback" in line and "everything" in line for line in lines)
    assert any("header retry-after" in line for line in lines)


def test_rules_on_trial_are_listed_with_where_they_would_stand() -> None:
    replacing = a_rule("http-403", http_statuses=(403, 403), shadow=True)
    lines = printed(rules_table(listing(*_listed(_SHADOW, replacing)).on_trial, on_trial=True))
    assert [line.split()[1] for line in lines[1:]] == ["http-403", "ours"]
    assert lines[1].endswith("in place of that of agrajag/defaults/_vance/agrajag/error-patterns.yaml")
    assert lines[2].endswith("before http-5xx")


def test_the_list_for_machines_has_rules_as_their_files_do_and_what_is_wrong() -> None:
    layers, rules = _listed(_SHADOW, a_rule("own", error_code="x", note=_SECRET))
    problem = Problem("acme", "bad", "match.x", "unknown\nselector")
    tree = json.loads(
        machine.as_json(machine.list_tree("acme", None, rules.hash, listing(layers, rules), [problem], []))
    )
    assert (tree["tenantId"], tree["projectId"], tree["ruleSetHash"]) == ("acme", None, rules.hash)
    own = next(one for one in tree["rules"] if one["rule"]["id"] == "own")
    assert own["rule"]["match"] == {"errorCode": "x"}
    assert own["source"] == "acme/_tenant/rules.yaml"
    assert "abcdefghijk" not in json.dumps(tree)
    assert [(one["rule"]["id"], one["aheadOf"]) for one in tree["onTrial"]] == [("ours", "http-5xx")]
    assert tree["rejected"] == [
        {"source": "acme", "ruleId": "bad", "field": "match.x", "reason": "unknown selector"}
    ]
    assert tree["warnings"] == []


def test_an_explanation_shows_the_error_every_rule_and_what_begins() -> None:
    told = told_about(http_status=401, body="expired_token", exception_type="httpx.HTTPStatusError")
    assert list(error_lines(told)) == [
        "error event-1: tool search, tenant acme, project essays, user alice",
        "HTTP status 401; raised: httpx.HTTPStatusError",
    ]
    table, left_out = considered_table(told.considered, every=False)
    lines = printed(table)
    assert (len(lines), left_out) == (13, 0)
    assert "decides" in lines[1]
    assert lines[1].endswith("HTTP status 401; 'expired_token' stands in the body")
    assert "would match too" in lines[2]
    assert lines[3].endswith("no              HTTP status 401; wanted: 403")
    assert lines[12].endswith("matches everything")
    said = list(decision_lines(told))
    assert said[0] == "decided by http-401-expired-token: USER_SPECIFIC_TECHNICAL, signature http-401-expired"
    assert said[-1] == (
        "  told to the caller: COOLING_DOWN, BACKEND_FAILED, status OK, "
        '"this user\'s own credential or account is the problem"'
    )
    assert list(trial_lines(told)) == []


def test_of_many_rules_only_those_of_which_something_fits_are_shown_unless_all_are_wanted() -> None:
    many = [a_rule(f"r{n}", error_code=f"c{n}") for n in range(MANY_RULES)]
    told = told_about(RuleSet([*many, a_rule("fallback")]), error_code="c7")
    table, left_out = considered_table(told.considered, every=False)
    assert [line.split()[1] for line in printed(table)[1:]] == ["r7", "fallback"]
    assert left_out == MANY_RULES - 1
    table, left_out = considered_table(told.considered, every=True)
    assert (len(printed(table)), left_out) == (MANY_RULES + 2, 0)


def test_what_shadow_rules_would_do_is_said_after_what_is_done() -> None:
    rules = _listed(_SHADOW)[1]
    said = list(trial_lines(told_about(rules, http_status=503)))
    assert said[0] == "with the shadow rules in force:"
    assert said[1] == "  decided by ours: UNCLEAR, signature ours"
    same = list(trial_lines(told_about(rules, http_status=404)))
    assert same == ["with the shadow rules in force: the same rule would decide"]


def test_the_explanation_for_machines_has_the_answer_the_rules_and_the_trial() -> None:
    told = told_about(_listed(_SHADOW)[1], exception_type="java.net.ConnectException", http_status=503)
    tree = json.loads(machine.as_json(machine.explanation_tree(told)))
    assert tree["decidedBy"] == "http-5xx"
    assert tree["answer"]["outcome"] == "ENQUEUED"
    assert tree["begins"] == {
        "cooldown": {"span": "PT30S", "until": "2026-05-23T12:00:30Z", "userId": None, "hits": 1},
        "status": None,
    }
    rule = next(one for one in tree["rules"] if one["id"] == "http-5xx")
    assert (rule["decides"], rule["matches"], rule["shadow"]) == (True, True, False)
    assert rule["selectors"] == [
        {"selector": "httpStatusRange", "holds": True, "why": "HTTP status 503 is in 500-599"}
    ]
    assert (tree["onTrial"]["decidedBy"], tree["onTrial"]["onTrial"]) == ("ours", None)


def test_a_written_status_is_in_the_explanation_for_machines() -> None:
    tree = machine.explanation_tree(told_about(exception_type="java.net.ConnectException"))
    assert json.loads(machine.as_json(tree))["begins"]["status"] == {
        "status": "DOWN",
        "expectedRecoveryAt": "2026-05-23T12:05:00Z",
        "note": "The backend cannot be reached.",
    }


def test_nothing_that_is_printed_about_an_error_holds_a_secret_or_acts_on_a_terminal() -> None:
    told = told_about(
        http_status=429,
        message=f"{_SECRET}\x1b[2J",
        exception_type=f"x.{_SECRET}\x07",
        error_code=_SECRET,
        headers={"retry-after": _SECRET},
        body=_SECRET,
    )
    lines = [
        *error_lines(told),
        *printed(considered_table(told.considered, every=True)[0]),
        *decision_lines(told),
    ]
    everything = "\n".join(lines) + machine.as_json(machine.explanation_tree(told))
    assert "abcdefghijk" not in everything
    assert all(line.isprintable() for line in lines)


def test_a_note_that_holds_a_secret_is_redacted_for_machines() -> None:
    rule = a_rule(
        classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE, note=_SECRET
    )  # fmt: skip
    tree = machine.explanation_tree(told_about(RuleSet([rule])))
    assert tree["begins"]["status"]["note"] == "Bearer [redacted]"
    assert "abcdefghijk" not in machine.as_json(tree)


def test_a_problem_is_one_line_whatever_its_file_says() -> None:
    line = problem_line(Problem("a.yaml", "a\nb", "match.\x1b[2J\n", f"'{_SECRET}' is wrong"))
    assert line.isprintable()
    assert "abcdefghijk" not in line
    assert line.startswith("a.yaml: rule 'a\\nb': match.")


def test_what_shadow_rules_would_have_decided_is_a_table_and_a_tree() -> None:
    rules, report = _listed(_SHADOW)[1], TrialReport()
    report.take(Triage().arrival(an_error(http_status=503)), rules, Policy())
    lines = printed(shadow_table(report.counts()))
    assert lines[1].split() == [
        "ours", "http-5xx", "acme", "search", "UNCLEAR", "ENQUEUED", "23", "May", "12:00Z", "event-1", "1", "1",
    ]  # fmt: skip
    tree = json.loads(machine.as_json(machine.shadow_tree(report.errors_read, report.counts())))
    assert tree["errorsRead"] == 1
    assert tree["changes"][0]["ruleId"] == "ours"
    assert tree["changes"][0]["last"] == "2026-05-23T12:00:00Z"
