"""How an endpoint is asked, by the settings: Settings -> address -> EndpointLimits."""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from nacre.config.settings import Settings


class EndpointLimits(NamedTuple):
    """At most so many queries at once, and so many begun a second; `key` is "USER:PASSWORD" or "Bearer TOKEN", "" for
    none; words find so many `things` at most."""

    at_once: int = 4
    a_second: float = 20.0
    key: str = ""
    things: int = 600


def configured_limits(settings: Settings) -> Callable[[str], EndpointLimits]:
    """The manners for an address; a key is sent to no other host than the one it is set for."""

    def manners(url: str) -> EndpointLimits:
        secret = settings.endpoint_keys.get(host_of(url))
        key = secret.get_secret_value() if secret else ""
        return EndpointLimits(settings.endpoint_queries, settings.endpoint_rate, key, settings.endpoint_things)

    return manners


def host_of(url: str) -> str:
    """The host of an address, with its port where it names one: the name of its key.

    >>> host_of("http://127.0.0.1:7878/query")
    '127.0.0.1:7878'
    """
    return urlsplit(url).netloc
