"""One connection to the server, held to what we want of it: one statement at a time, no files, bounded in bytes.

aiomysql asks for several statements at a time, takes a connection without TLS where TLS was wanted and is not offered,
and gives a password in the clear to any server that asks for it. None of that happens here.
"""

from typing import Any

from aiomysql import Connection
from pymysql.constants import CLIENT, CR
from pymysql.err import OperationalError

from agrajag.investigation.mysql.session import MysqlAccess

_CLEAR = "mysql_clear_password"
_WEAK = frozenset({"mysql_old_password"})


class AnswerTooLarge(Exception):
    """The server has said more than it may."""


class BoundedConnection(Connection):  # type: ignore[misc]
    """A connection of aiomysql that reads at most `max_bytes` in its whole life. `open` comes first."""

    def __init__(self, access: MysqlAccess, max_bytes: int) -> None:
        super().__init__(
            host=access.host,
            port=access.port,
            user=access.user,
            password=access.password,
            charset="utf8mb4",
            conv={},  # values as the server writes them
            autocommit=None,
            ssl=access.tls,
            program_name="agrajag",
        )
        self.client_flag &= ~(CLIENT.MULTI_STATEMENTS | CLIENT.LOCAL_FILES)
        self._tls = access.tls
        self._left_bytes = max_bytes

    async def open(self) -> None:
        """Connects. Raises MySQLError."""
        await self.ping(
            reconnect=True
        )  # the one public way to open a connection that was made by its constructor

    async def _request_authentication(self) -> None:
        if self._tls is not None and not self.server_capabilities & CLIENT.SSL:
            raise OperationalError(CR.CR_SSL_CONNECTION_ERROR, "the server does not offer TLS")
        self._check_plugin(self._server_auth_plugin)
        await super()._request_authentication()

    async def _process_auth(self, plugin_name: bytes, auth_packet: Any) -> Any:
        self._check_plugin(plugin_name.decode(errors="replace"))
        return await super()._process_auth(plugin_name, auth_packet)

    def _check_plugin(self, name: str) -> None:
        if name in _WEAK or (name == _CLEAR and self._tls is None):
            raise OperationalError(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, "the server asks for the password as it is")

    async def _read_bytes(self, num_bytes: int) -> bytes:
        self._left_bytes -= num_bytes
        if self._left_bytes < 0:
            raise AnswerTooLarge
        data: bytes = await super()._read_bytes(num_bytes)
        return data
