"""What is refused and with which HTTP status: error -> status. Replies are in `replies`, which needs FastAPI."""

from nacre.errors import ConfigError, NacreError


class Unauthenticated(NacreError):
    """No key, or one that opens nothing."""


class ForbiddenOrigin(NacreError):
    """A web page of another origin asks, and nobody allowed it to."""


class NotFound(NacreError):
    """What is asked for is not there, or not for this caller."""


class ModelNotFound(NotFound):
    """A graph that an OpenAI client names as its model, and that is not there, or not for this caller."""


class WrongGraph(ConfigError):
    """A thread about another graph."""


class TooManyRequests(NacreError):
    """Too much at once; `again` says after how many seconds to come back."""

    def __init__(self, message: str, again: float) -> None:
        super().__init__(message)
        self.again = again


class StorageUnavailable(NacreError):
    """The conversations can't be read or written now."""


STATUS_BY_ERROR: dict[type[NacreError], int] = {
    Unauthenticated: 401, ForbiddenOrigin: 403, NotFound: 404, ModelNotFound: 404, WrongGraph: 409, TooManyRequests: 429, StorageUnavailable: 503,
}  # fmt: skip


def error_status(error: NacreError) -> int:
    """The HTTP status of a refusal; what a person can put right is 422.

    >>> error_status(NotFound("no such thread")), error_status(ConfigError("empty question"))
    (404, 422)
    """
    return STATUS_BY_ERROR.get(type(error), 422)
