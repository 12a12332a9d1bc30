"""What is a section of a Markdown text."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agrajag.investigation.runbooks.markdown_sections import MAX_HEADING, Section, sections

RUNBOOK = """---
owner: payments
---
Read this first.

# Order service #

## 连接超时
Restart it.

```sh
# not a heading
```
Title
by line
=======
- a
---
### Deep
#no heading
"""
LINES = st.sampled_from(
    [
        "",
        "some words",
        "more words",
        "# One",
        "## Two ##",
        "   ### Three",
        "#no",
        "---",
        "===",
        "```",
        "~~~~",
        "``` sh",
    ]
)


def test_a_section_is_what_stands_under_a_heading_with_the_headings_above_it() -> None:
    assert sections(RUNBOOK) == [
        Section((), "---\nowner: payments\n---\nRead this first."),
        Section(("Order service", "连接超时"), "Restart it.\n\n```sh\n# not a heading\n```"),
        Section(("Title by line",), "- a\n---"),
        Section(("Title by line", "Deep"), "#no heading"),
    ]


def test_a_heading_with_nothing_under_it_is_a_section_unless_narrower_ones_follow() -> None:
    assert sections("# A\n## B\n## C\n\n# D") == [
        Section(("A", "B"), ""),
        Section(("A", "C"), ""),
        Section(("D",), ""),
    ]


def test_nothing_of_a_heading_is_lost_that_is_too_long_for_one() -> None:
    (section,) = sections("# " + "long " * 100)

    assert len(section.heading[0]) <= MAX_HEADING
    assert section.text == ("long " * 100).strip()


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_the_headings_are_always_those_of_a_full_parser(markdown: str) -> None:
    tokens = MarkdownIt("commonmark").parse("words in front\n\n" + markdown)
    full = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]

    seen: list[str] = []
    for section in sections("words in front\n\n" + markdown):
        seen += [title for title in section.heading if title not in seen]

    assert seen == list(dict.fromkeys(" ".join(title.split("\n")) for title in full if title))


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_every_line_that_is_no_heading_is_always_in_a_section(markdown: str) -> None:
    text = "\n".join(section.text for section in sections("# top\n" + markdown))
    headings = " ".join(title for section in sections("# top\n" + markdown) for title in section.heading)

    assert all(word in text + headings for word in markdown.split() if word[0] not in "#-=`~")


@pytest.mark.parametrize("line", ["# a", "- a", "a", "```", "\t- x", "[a]: b", "<a", "# " + " " * 500 + "#"])
def test_a_text_that_is_slow_to_parse_is_cut_in_linear_time(line: str) -> None:
    began = time.process_time()
    sections((line + "\n") * (100_000 // len(line)))

    assert time.process_time() - began < 2
