"""How a Faust app is told to log in to the brokers: a `KafkaConnection` in Faust's own terms."""

from faust import SASLCredentials, SSLCredentials
from faust.types.auth import CredentialsT

from agrajag.wire.clients import KafkaConnection


def faust_credentials(connection: KafkaConnection) -> CredentialsT | None:
    """What a Faust app takes as `broker_credentials`; None where everything is plain."""
    context = connection.ssl_context()
    if connection.uses_sasl:
        return SASLCredentials(
            username=connection.sasl_username,
            password=connection.sasl_password,
            mechanism=connection.sasl_mechanism,
            ssl_context=context,
        )
    return None if context is None else SSLCredentials(context)
