"""Writes the README's table of rule packs, and `packs.json`: `python -m tests.packs.readme`."""

import re
from pathlib import Path

from agrajag.documents.pack_files import bundled_packs, made_ready, ready_file

README = Path(__file__).parents[2] / "README.md"
_TABLE = re.compile(r"\| pack \| rules \| about \|\n\|---\|---\|---\|\n(?:\|.*\n)*")


def table() -> str:
    """The table of the packs as they are."""
    rows = [f"| `{pack.name}` | {len(pack.layer.rules)} | {pack.description} |\n" for pack in bundled_packs()]
    return "".join(("| pack | rules | about |\n|---|---|---|\n", *rows))


if __name__ == "__main__":
    Path(str(ready_file())).write_text(made_ready(), "utf-8")
    README.write_text(_TABLE.sub(table(), README.read_text("utf-8")), "utf-8")
