"""The three families of errors that a person may see: each names the thing, the value and the next step."""

from pathlib import Path


class NacreError(Exception):
    """An error whose message is written for the person at the keyboard."""


class ConfigError(NacreError):
    """A setting, name or argument that can't be used."""


class IngestionError(NacreError):
    """A source that can't become a graph."""


class ToolError(NacreError):
    """A query or retrieval that did not give evidence.

    `kind` is one of: syntax, unknown_name, ambiguous, type, refused, timeout, too_large, unavailable, empty.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type["ToolError"], tuple[str, str]]:
        # it may be raised in a process of its own
        return ToolError, (self.kind, str(self))


class GraphNotFound(ConfigError):
    """There is no graph of that name in the data folder `folder`, which only those on its machine are told."""

    def __init__(self, message: str, folder: Path) -> None:
        super().__init__(message)
        self.folder = folder
