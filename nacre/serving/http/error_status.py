"""What is refused and with which HTTP status: error -> status. Replies are in `replies`, which needs FastAPI."""

from nacre.errors import ConfigError, NacreError


class Unknown(NacreError):
    """No key, or one that opens nothing."""


class Foreign(NacreError):
    """A web page of another origin asks, and nobody allowed it to."""


class Missing(NacreError):
    """What is asked for is not there, or not for this caller."""


class NoModel(Missing):
    """A graph that an OpenAI client names as its model, and that is not there, or not for this caller."""


class Elsewhere(ConfigError):
    """A thread about another graph."""


class Busy(NacreError):
    """Too much at once; `again` says after how many seconds to come back."""

    def __init__(self, message: str, again: float) -> None:
        super().__init__(message)
        self.again = again


class Unkept(NacreError):
    """The conversations can't be read or written now."""


STATUS: dict[type[NacreError], int] = {
    Unknown: 401, Foreign: 403, Missing: 404, NoModel: 404, Elsewhere: 409, Busy: 429, Unkept: 503,
}  # fmt: skip


def status(error: NacreError) -> int:
    """The HTTP status of a refusal; what a person can put right is 422.

    >>> status(Missing("no such thread")), status(ConfigError("empty question"))
    (404, 422)
    """
    return STATUS.get(type(error), 422)
