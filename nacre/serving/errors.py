"""Errors of requests: error -> HTTP status. `http.errors` makes replies of them."""

from nacre.errors import ConfigError, NacreError
from nacre.stores.addresses import ForbiddenAddress


class Unauthenticated(NacreError):
    """The key is missing or not valid."""


class ForbiddenOrigin(NacreError):
    """A web page of another origin sent the request, and the settings do not allow it."""


class Forbidden(NacreError):
    """The key has no right to do this."""


class NotFound(NacreError):
    """The resource does not exist, or the caller may not read it."""


class ModelNotFound(NotFound):
    """The model of an OpenAI client is not the name of a graph that the caller may read."""


class WrongGraph(ConfigError):
    """The thread is about another graph."""


class Conflict(ConfigError):
    """The thread exists already, or a turn of it is running."""


class QuotaExceeded(ConfigError):
    """The threads of the caller have reached their limit of bytes."""


class TooManyRequests(NacreError):
    """Too many requests; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageUnavailable(NacreError):
    """The conversations or the keys can't be read or written now."""


STATUS_BY_ERROR: dict[type[NacreError], int] = {
    Unauthenticated: 401,
    ForbiddenOrigin: 403,
    Forbidden: 403,
    ForbiddenAddress: 403,
    NotFound: 404,
    ModelNotFound: 404,
    WrongGraph: 409,
    Conflict: 409,
    TooManyRequests: 429,
    StorageUnavailable: 503,
}


def error_status(error: NacreError) -> int:
    """The HTTP status of an error; 422 for errors that the user can correct.

    >>> error_status(NotFound("no such thread")), error_status(ConfigError("empty question"))
    (404, 422)
    """
    return STATUS_BY_ERROR.get(type(error), 422)
