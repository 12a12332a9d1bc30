"""Who may do what, as one table that is read like the promise it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.api.permissions import Act, Principal, Role, Whose, may_see, needed_role, refusal, shown_to
from agrajag.model.enums import Classification, Scope
from agrajag.model.health import LastDiagnosis
from tests.builders import NOW, a_cooldown, a_health

ANYTHING = tuple(Whose)
LEAST = {
    Role.READER: {
        *((act, Whose.OWN) for act in (Act.READ_HEALTH, Act.RECHECK, Act.CLEAR_COOLDOWN)),
        *((act, Whose.OWN) for act in (Act.READ_INBOX, Act.DISMISS_INBOX)),
        (Act.READ_HEALTH, Whose.SHARED),
        *((act, whose) for act in (Act.READ_COMMAND, Act.READ_RULES) for whose in ANYTHING),
    },
    Role.OPERATOR: {
        (Act.READ_HEALTH, Whose.SESSIONS),
        (Act.OVERRIDE, Whose.OWN),
        *(
            (act, whose)
            for act in (Act.RECHECK, Act.CLEAR_COOLDOWN, Act.OVERRIDE)
            for whose in (Whose.SHARED, Whose.SESSIONS)
        ),
        *((act, whose) for act in (Act.READ_RUNS, Act.REPORT) for whose in ANYTHING),
    },
}
"""What a role may first; all else is for admins."""


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize("whose", Whose)
def test_the_least_role_for_each_act_is_the_one_that_is_promised(act: Act, whose: Whose) -> None:
    promised = next((role for role, acts in LEAST.items() if (act, whose) in acts), Role.ADMIN)
    assert needed_role(act, whose) is promised


@given(st.sampled_from(Role), st.sampled_from(Act), st.sampled_from(Whose))
def test_a_role_may_always_what_the_one_before_it_may(role: Role, act: Act, whose: Whose) -> None:
    allowed = [refusal(Principal("u", one, "acme"), act, whose) is None for one in Role]
    assert allowed == sorted(allowed)
    assert allowed[role.rank] is (role.rank >= needed_role(act, whose).rank)


def test_nothing_of_another_tenant_is_seen_by_anybody() -> None:
    for scope in Scope:
        document = a_health(tenant_id="globex", scope=scope, scope_id="u")
        assert not any(may_see(Principal("u", role, "acme"), document) for role in Role)


def test_a_shared_document_is_shown_without_what_is_about_other_users() -> None:
    last = LastDiagnosis(
        classification=Classification.USER_SPECIFIC_TECHNICAL,
        by="agrajag",
        at=NOW,
        error_signature="http-401",
        job_id="job-1",
        user_id="bob",
    )
    cooldowns = (a_cooldown(), a_cooldown(user_id="bob"), a_cooldown(user_id="rita"))
    document = a_health(cooldowns=cooldowns, last_diagnosis=last)
    shown = shown_to(Principal("rita", Role.READER, "acme"), document)
    assert [entry.user_id for entry in shown.cooldowns] == [None, "rita"]
    assert shown.last_diagnosis is None
    assert shown_to(Principal("ada", Role.ADMIN, "acme"), document) is document
    assert shown_to(Principal("bob", Role.READER, "acme"), document).last_diagnosis == last
