"""The policy of a tenant and project without rules is the very one by which workers decide."""

import pytest

from agrajag.core.policy import Policy
from agrajag.documents.policies import Policies
from agrajag.documents.rulebook import Rulebook
from tests.documents.texts import a_cascade, settings_at

CASCADE = a_cascade(
    [
        (settings_at("acme"), "agrajag.cooldown.max: PT2H\n"),
        (settings_at("acme", "essays"), "agrajag.cooldown.max: PT3H\n"),
        (settings_at("broken"), "agrajag.cooldown.max: [\n"),
    ]
)


@pytest.mark.parametrize(
    "owner", [("acme", None), ("acme", "essays"), ("acme", "letters"), ("globex", None), ("broken", None)]
)
def test_a_policy_from_documents_alone_is_that_of_the_rulebook(owner: tuple[str, str | None]) -> None:
    defaults = Policy(history_size=7)
    found = Policies(CASCADE.documents, defaults).of(*owner)
    assert found == Rulebook(CASCADE, defaults).effective(*owner)[1]
    assert (found == defaults) is (owner[0] != "acme")
