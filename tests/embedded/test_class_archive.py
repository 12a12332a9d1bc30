"""The class archive: used where there is one, and no harm where there is none."""

import os
from pathlib import Path

import pytest

from agrajag.embedded import EmbeddedKafka
from agrajag.embedded.class_archive import archive_file, make_archive
from agrajag.embedded.java import find_java
from agrajag.embedded.prepare import prepare_kafka
from agrajag.errors import ConfigError
from tests.servers import thrown_away


def test_a_broker_starts_from_the_archive_that_prepare_has_made(tmp_path: Path) -> None:
    class_path = prepare_kafka()
    assert archive_file(find_java(), class_path).exists()
    # With this option Java refuses to start without the archive, instead of loading the classes itself.
    with thrown_away(EmbeddedKafka(tmp_path, jvm_options=["-Xshare:on"])) as kafka:
        assert kafka.alive


def test_a_broker_starts_although_its_archive_is_spoilt(tmp_path: Path) -> None:
    class_path = [Path(os.path.realpath(jar)) for jar in prepare_kafka()]
    cache = tmp_path / "cache"
    cache.mkdir()
    for jar in class_path:
        (cache / jar.name).symlink_to(jar)
    spoilt = archive_file(find_java(), [cache / jar.name for jar in class_path])
    spoilt.write_bytes(b"no archive")
    with pytest.raises(ConfigError, match="cannot be formatted"):
        EmbeddedKafka(tmp_path / "data", cache_dir=cache, jvm_options=["-Xshare:on"]).start()
    with thrown_away(EmbeddedKafka(tmp_path / "data", cache_dir=cache)) as kafka:
        assert kafka.alive


def test_a_java_that_cannot_make_an_archive_leaves_none_and_the_newest_three_are_kept(tmp_path: Path) -> None:
    class_path = [tmp_path / "some.jar"]
    class_list = tmp_path / "classes"
    for age, name in enumerate("dcba"):
        (tmp_path / f"classes-{name}.jsa").touch()
        os.utime(tmp_path / f"classes-{name}.jsa", (age, age))
    unable = _program(tmp_path / "unable", "exit 1")
    make_archive(unable, class_path, class_list)
    assert not archive_file(unable, class_path).exists()
    able = _program(tmp_path / "able", 'touch "$(dirname "$0")/classes.jsa"')
    make_archive(able, class_path, class_list)
    kept = {path.name for path in tmp_path.glob("classes-*.jsa")}
    assert kept == {archive_file(able, class_path).name, "classes-a.jsa", "classes-b.jsa"}


def _program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return path
