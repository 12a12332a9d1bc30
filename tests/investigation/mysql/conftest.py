"""The MariaDB of a session of tests."""

from collections.abc import AsyncIterator, Iterator

import pytest

from agrajag.investigation.mysql import MysqlSource
from tests.investigation.mysql.server import MariaDb, require_mariadb
from tests.investigation.mysql.statements import SHOP
from tests.servers import thrown_away


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """A server with the shop in it, which tests read and leave as it is."""
    require_mariadb()
    with thrown_away(MariaDb(tmp_path_factory.mktemp("mariadb"), start_timeout_seconds=60)) as server:
        server.fill()
        yield server


@pytest.fixture
async def source(mariadb: MariaDb) -> AsyncIterator[MysqlSource]:
    """The shop as the reader sees it through the guard."""
    source = MysqlSource(mariadb.access(), SHOP)
    yield source
    await source.close()
