"""The three families of errors that a user may see: each names the thing, the value and the next command."""

from pathlib import Path


class NacreError(Exception):
    """An error whose message is written for the user."""


class ConfigError(NacreError):
    """A setting, name or argument is invalid."""


class IngestionError(NacreError):
    """A source can't be made into a graph."""


class ToolError(NacreError):
    """A query or a retrieval returned no evidence.

    `kind` is one of: syntax, unknown_name, ambiguous, type, refused, multiplied, timeout, too_large, unavailable,
    empty.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type["ToolError"], tuple[str, str]]:
        # it is pickled when a worker process raises it
        return ToolError, (self.kind, str(self))


class GraphNotFound(ConfigError):
    """The data folder has no graph of that name. Only users of the command line are shown `folder` and `option`, which
    they may add to their command ("" if none helps)."""

    def __init__(self, message: str, folder: Path, option: str = "") -> None:
        super().__init__(message)
        self.folder = folder
        self.option = option
