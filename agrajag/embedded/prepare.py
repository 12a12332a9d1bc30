"""Makes a machine ready for the embedded Kafka: jars fetched and verified, one broker run, its classes archived."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from agrajag.embedded.class_archive import archive_file, make_archive, recording_option
from agrajag.embedded.jars import prepare_jars
from agrajag.embedded.java import find_java
from agrajag.embedded.kafka import EmbeddedKafka


def prepare_kafka(
    cache_dir: Path | None = None, repositories: Mapping[str, str] | None = None, java: Path | None = None
) -> list[Path]:
    """Returns the class path when a broker has run from it; quick where all is there already.

    Raises what `EmbeddedKafka.start` raises.
    """
    program = find_java(java)
    class_path = prepare_jars(cache_dir, repositories)
    if not archive_file(program, class_path).exists():
        # Beside its target, so that the finished archive can be moved there.
        with tempfile.TemporaryDirectory(dir=class_path[0].parent, prefix="prepare-") as scratch:
            class_list = Path(scratch, "classes")
            recording = [recording_option(class_list)]
            with EmbeddedKafka(
                Path(scratch, "broker"), java=program, cache_dir=cache_dir, jvm_options=recording
            ):
                pass
            make_archive(program, class_path, class_list)
    return class_path
