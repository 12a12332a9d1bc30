"""The kinds of value that settings have; each refusal says what would be right."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from agrajag.addresses import is_loopback
from agrajag.core.durations import parse_iso_duration

SETTING_ERROR = "setting"


def wrong(what_is_right: str) -> PydanticCustomError:
    """A refusal that says what the value should be."""
    return PydanticCustomError(SETTING_ERROR, "{right}", {"right": what_is_right})


def _duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    span = parse_iso_duration(value.strip())
    if not span:  # not a duration, or one of no length
        raise wrong("an ISO 8601 duration of at most a year, such as PT5M or P1D")
    return span


def _brokers(value: str) -> str:
    servers = [server.strip() for server in value.split(",")]
    for server in servers:
        host, colon, port = server.rpartition(":")
        if not (colon and host and port.isdigit() and 0 < int(port) < 65_536):
            raise wrong("host:port, several separated by commas")
    return ",".join(servers)


def _readable(path: Path) -> Path:
    if not (path.is_file() and os.access(path, os.R_OK)):
        raise wrong("the path of a readable file")
    return path


def _mongo_uri(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("mongodb://", "mongodb+srv://")):
        raise wrong("an address that begins with mongodb:// or mongodb+srv://")
    return value


def _http_address(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise wrong("an address that begins with http:// or https://")
    return value


def _ip_address(value: str) -> str:
    try:
        is_loopback(value)
    except ValueError:
        raise wrong("an IP address, such as 127.0.0.1 or 0.0.0.0") from None
    return value


Span = Annotated[timedelta, BeforeValidator(_duration)]
Brokers = Annotated[str, AfterValidator(_brokers)]
ReadableFile = Annotated[Path, AfterValidator(_readable)]
MongoUri = Annotated[SecretStr, AfterValidator(_mongo_uri)]
IpAddress = Annotated[str, AfterValidator(_ip_address)]
Port = Annotated[int, Field(ge=0, le=65_535)]
HttpAddress = Annotated[str, AfterValidator(_http_address)]
Directory = Annotated[Path, AfterValidator(Path.expanduser)]
Seconds = Annotated[float, Field(gt=0, le=3_600)]
