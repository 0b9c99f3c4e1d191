"""The limits and the key for queries to an endpoint: Settings -> address -> EndpointLimits."""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from nacre.config.settings import Settings


class EndpointLimits(NamedTuple):
    """Limits: queries `at_once`, queries started `a_second`, and `things` that a name search may return. `key` is
    "USER:PASSWORD", "Bearer TOKEN" or ""."""

    at_once: int = 4
    a_second: float = 20.0
    key: str = ""
    things: int = 600


def configured_limits(settings: Settings) -> Callable[[str], EndpointLimits]:
    """A function from an address to its limits; a key is only sent to the host it is set for."""

    def limits(url: str) -> EndpointLimits:
        secret = settings.endpoint_keys.get(host_of(url))
        key = secret.get_secret_value() if secret else ""
        return EndpointLimits(settings.endpoint_queries, settings.endpoint_rate, key, settings.endpoint_things)

    return limits


def host_of(url: str) -> str:
    """The host of an address, with its port if given; endpoint keys are set by it.

    >>> host_of("http://127.0.0.1:7878/query")
    '127.0.0.1:7878'
    """
    return urlsplit(url).netloc
