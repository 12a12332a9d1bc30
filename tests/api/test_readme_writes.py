"""The writes that the README shows, typed into a shell."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agrajag.api.permissions import Role
from tests.api.running import USERS, RunningApi, secret_of
from tests.documents.texts import a_rule_file

README = Path(__file__).parents[2] / "README.md"


def test_every_write_that_the_readme_shows_works_twice(api: RunningApi, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        assert not os.environ.get("CI"), "there is no curl"
        pytest.skip("there is no curl")
    section = README.read_text("utf-8").partition("\n### Writing over HTTP\n")[2].partition("\n### ")[0]
    shown = section.partition("```sh\n")[2].partition("```")[0]
    assert shown.count("curl") == 8
    (tmp_path / "error-patterns.yaml").write_text(a_rule_file("mine"))
    header = f"Authorization: Bearer {secret_of('acme', USERS[Role.ADMIN])}"
    (tmp_path / ".curlrc").write_text(f'header = "{header}"\nfail-with-body\nshow-error\n')
    environment = {**os.environ, "CURL_HOME": str(tmp_path), "API": f"{api.url}/brain/acme"}
    for _ in range(2):
        ended = subprocess.run(
            ["sh", "-eu", "-c", shown],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
        assert '"outcome":"APPLIED"' in ended.stdout
        assert '"reason":"moving house"' in ended.stdout
