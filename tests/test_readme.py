"""The README is true, and shows the way: its tables are those of the code, its links lead somewhere."""

import re
from pathlib import Path

import pytest

from agrajag.cli.app import app
from agrajag.core.match_parsing import SELECTORS
from agrajag.documents.rule_files import bundled_rules, read_layer
from agrajag.metrics import REGISTRY
from agrajag.settings import settings_table
from agrajag.wire.topics import TOPICS
from tests.bench.__main__ import GOALS
from tests.packs.readme import table

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def readme() -> str:
    return README.read_text("utf-8")


def settings_rows() -> list[str]:
    """The README's rows about settings."""
    return [
        f"| `{name}` | {f'`{default}`' if default else ''} | {meaning} |"
        for name, default, meaning in settings_table()
    ]


def metrics_rows() -> list[str]:
    """The README's rows about metrics."""
    return [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.documentation} |"
        for family in REGISTRY.collect()
    ]


def test_every_setting_stands_in_the_readme_with_its_default_and_meaning(readme: str) -> None:
    assert [row for row in settings_rows() if row not in readme] == []
    assert set(re.findall(r"AGRAJAG_[A-Z_]+", readme)) <= {name for name, _, _ in settings_table()} | {
        "AGRAJAG_TEST_MONGODB_URI"
    }


def test_every_metric_stands_in_the_readme(readme: str) -> None:
    assert [row for row in metrics_rows() if row not in readme] == []


def test_every_bundled_rule_stands_in_the_readme_in_its_order(readme: str) -> None:
    ids = [rule.id for rule in bundled_rules().rules]
    section = readme.partition("\n## Rules\n")[2]
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE)[: len(ids)] == ids


def test_every_rule_pack_stands_in_the_readme_with_the_number_of_its_rules(readme: str) -> None:
    assert f"\n\n{table()}\n" in readme, "python -m tests.packs.readme writes the table"


def test_every_selector_of_rules_stands_in_the_readme_and_the_rule_shown_there_is_a_good_one(
    readme: str,
) -> None:
    section = readme.partition("\n### What a rule can look at\n")[2].partition("\n### ")[0]
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE))
    assert set(re.findall(r"`([A-Za-z]+)`", rows)) == set(SELECTORS)
    (shown,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    layer = read_layer(shown, "README.md")
    assert layer.problems == ()
    assert len(layer.rules[0].waits) == 4


def test_every_benchmark_goal_stands_in_the_readme(readme: str) -> None:
    for name, (sign, goal) in GOALS.items():
        assert re.search(
            rf"^\| `{re.escape(name)}` \| [^|]+ \| {'≤' if sign == '<=' else '≥'} {goal:g}",
            readme,
            re.MULTILINE,
        )


def test_the_table_of_where_to_read_leads_to_every_section(readme: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", readme, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{2,3} (.+)$", prose, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert len(anchors) == len(headings)
    table = prose.partition("\n## Where to read\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"\]\(#([^)]+)\)", table)) == anchors - {"where-to-read"}
    assert set(re.findall(r"\]\(#([^)]+)\)", prose)) <= anchors


def test_every_topic_stands_in_the_readme_with_its_key(readme: str) -> None:
    section = readme.partition("\n## Topics and records\n")[2]
    rows = re.findall(r"^\| `agrajag\.([a-z-]+)\.v1` \| `?([^ ].*?)`? \|", section, re.MULTILINE)
    told = {name: key.replace("\\|", "|") for name, key in rows}
    assert told == {spec.topic.value: spec.key for spec in TOPICS}


def test_every_command_stands_in_the_readme(readme: str) -> None:
    commands = {group.name for group in app.registered_groups}
    commands |= {one.name or getattr(one.callback, "__name__", None) for one in app.registered_commands}
    named = set(re.findall(r"(?:^|`)agrajag ([a-z]+)", readme, re.MULTILINE))
    assert commands - named == {"version"}
    assert named <= commands


def test_nothing_in_the_readme_is_still_to_be_filled_in(readme: str) -> None:
    assert "@@" not in readme


def test_every_path_that_the_readme_names_exists(readme: str) -> None:
    root = README.parent / "agrajag"
    named = set(
        re.findall(r"`((?:core|wire|stream|sink|store|embedded|documents)/[a-z_]*(?:\.py)?)`", readme)
    )
    assert named
    assert [path for path in sorted(named) if not (root / path).exists()] == []
