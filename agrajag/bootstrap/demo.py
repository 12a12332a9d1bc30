"""The tools that the demo diagnoses, served on loopback with the credentials for them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agrajag.bootstrap.extras import extra


@asynccontextmanager
async def demo_tools(secrets_dir: Path, vault_dir: Path) -> AsyncIterator[Mapping[str, str]]:
    """The text of `_vance/tools.yaml` for each tenant of the demo, while its tools are served.

    Their credentials stand in the two directories, which are made.
    """
    with extra("diagnosis"):
        from agrajag.diagnosis import demo_tools as tools

    tools.write_credentials(secrets_dir, vault_dir)
    async with tools.demo_tools() as address:
        yield tools.declarations(address)
