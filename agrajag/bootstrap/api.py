"""The HTTP API: its tokens, the socket it listens on, and its parts."""

from datetime import datetime
from typing import TYPE_CHECKING

from agrajag.bootstrap.extras import extra
from agrajag.bootstrap.monitor import monitored
from agrajag.bootstrap.stopping import run_until_stopped
from agrajag.settings import Settings

if TYPE_CHECKING:
    from agrajag.api.parts import ApiValues
    from agrajag.api.tokens import NewToken


def run_api(settings: Settings) -> int:
    """Run the API until SIGTERM or SIGINT, then 0. Brokers and a store that are away are waited for.

    Raises ConfigError or PermanentError where waiting does not help.
    """
    with extra("api"):
        from agrajag.api import running
        from agrajag.api.serve import listening
        from agrajag.api.store_access import StoreAccess
        from agrajag.api.tokens import LiveTokens

    own = settings.api
    tokens = LiveTokens(own.tokens_file, own.tokens)

    async def work() -> None:
        parts = running.make_parts(
            settings.kafka.connection(),
            settings.topics.topics(),
            store=StoreAccess(settings.mongo.uri.get_secret_value(), settings.mongo.database),
            tokens=tokens,
            values=_values(settings),
            defaults=settings.policy.policy(),
            documents_dir=settings.documents.dir,
        )
        await running.run_api(parts, there, pulse)

    with (
        listening(own.host, own.port) as there,
        monitored(settings.monitor, settings.monitor.api_port) as pulse,
    ):
        return run_until_stopped(work())


def new_token(tenant: str, user: str, role: str, expires: datetime | None) -> "NewToken":
    """A token that nobody has yet. Raises ConfigError for what no token can be about."""
    from agrajag.api.tokens import new_token

    return new_token(tenant, user, role, expires)


def _values(settings: Settings) -> "ApiValues":
    from agrajag.api.parts import ApiValues

    own = settings.api
    return ApiValues(
        max_body_bytes=own.max_body_bytes,
        request_seconds=own.request_seconds,
        command_wait_seconds=own.command_wait_seconds,
        recheck_wait_seconds=own.recheck_wait_seconds,
        rechecks_per_minute=own.rechecks_per_minute,
        connections=own.connections,
        streams=own.streams,
        stream_seconds=own.stream_seconds,
        stream_send_seconds=own.stream_send_seconds,
        stream_memory_bytes=own.stream_memory_mib * 2**20,
        heartbeat_seconds=own.heartbeat_seconds,
    )
