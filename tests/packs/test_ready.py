"""What `packs.json` holds is what the files of the packs hold, and it counts for these very files alone."""

import json

from agrajag.documents.pack_files import bundled_packs, made_ready, ready_file, ready_packs, texts_of_packs
from agrajag.documents.yaml_text import read_yaml


def test_it_is_of_the_files_as_they_are() -> None:
    assert ready_file().read_text("utf-8") == made_ready(), "python -m tests.packs.readme writes it anew"


def test_it_says_what_the_files_say() -> None:
    texts = texts_of_packs()
    assert ready_packs(texts) == {name: read_yaml(text) for name, text in texts.items()}
    assert len(texts) == len(bundled_packs())


def test_it_does_not_count_for_other_files() -> None:
    texts = texts_of_packs()
    first = min(texts)
    assert ready_packs(texts | {first: f"{texts[first]}# one more word\n"}) == {}
    assert ready_packs({name: text for name, text in texts.items() if name != first}) == {}


def test_each_pack_has_a_line_of_its_own() -> None:
    lines = made_ready().splitlines()
    assert len(lines) == len(bundled_packs()) + 2
    assert all(isinstance(json.loads("{" + line.rstrip(",") + "}"), dict) for line in lines[1:-1])
