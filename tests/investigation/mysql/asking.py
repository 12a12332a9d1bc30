"""How tests ask a source of tables."""

from agrajag.harness import Failed
from agrajag.investigation.evidence import Found
from agrajag.investigation.mysql import MysqlSource
from agrajag.investigation.requests import MysqlRequest
from tests.investigation.looking import IDS


async def looked(source: MysqlSource, sql: str) -> Found | Failed:
    """One look, also for a text that no envelope would let through."""
    return await source.look(IDS, MysqlRequest.model_construct(sql=sql))
