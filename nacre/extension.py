"""What extensions add to Nacre: declarations -> those that are on, and a line in the log for each that is faulty. Ours
are in `nacre/extensions`; others are entry points of `nacre.extensions` that NACRE_EXTENSIONS names."""

import logging
import operator
import os
import pkgutil
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError

GROUP = "nacre.extensions"

VARIABLE = "NACRE_EXTENSIONS"

log = logging.getLogger(__name__)
# also on the command line, which logs nothing else
log.setLevel(logging.WARNING)

MAX_REASON = 300


@dataclass(frozen=True)
class Extension:
    """A declaration. Places are "module:attribute" and are imported when they are used, so that it is cheap to import.

    `nacre` are the versions of Nacre that it is for, as in ">=0.3,<0.5". It is off unless the modules `requires` are
    installed; `extra` names what brings them (pip install 'nacre[EXTRA]'). By name:
    - `branches`: places of a `graph.branches.Branch`;
    - `tools`: places of a function (question, graph) -> (text, source) of each sentence that it finds. Each is a
      branch, which is asked by default if it is not in `on_request`;
    - `commands`: places of a function or a Typer app;
    - `models`: places of a `nacre.config.models.ModelProvider`, by the first part of the names of its models;
    - `tables`: places of a function (path, folder for temporary files) -> `ingestion.read.tables.Sheet`s, by the
      ending of the names of files ("csv"); it raises UnreadableTable;
    - `documents`: places of an `ingestion.documents.DocumentReader`, by the ending of the names of files;
    - `services`: places of what the core asks this extension for, where a setting or a graph needs it (`service`).

    `routes` is the place of a function (app, *, alone) that adds routes, `serve` that of a function (app) -> an async
    context manager that is open while the app runs.
    """

    name: str
    nacre: str = ""
    requires: tuple[str, ...] = ()
    extra: str = ""
    branches: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    on_request: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, str] = field(default_factory=dict)
    routes: str = ""
    serve: str = ""


@cache
def extensions() -> tuple[Extension, ...]:
    """Those that are on: ours, then others' in the order in which they are named."""
    on: dict[str, Extension] = {}
    for name, place, is_ours in (*_ours(), *_of_others()):
        try:
            if name in on:
                raise ConfigError("another extension has this name")
            extension = resolve(place)
            if not isinstance(extension, Extension) or extension.name != name:
                raise ConfigError(f"{place} is no Extension named {name!r}")
            missing = [module for module in extension.requires if find_spec(module) is None]
            if missing and not is_ours:
                advice = f". Run: pip install 'nacre[{extension.extra}]'" if extension.extra else ""
                raise ConfigError(f"{', '.join(missing)} is not installed{advice}")
            if extension.nacre:
                _check_version(extension.nacre)
            if not missing:
                on[name] = extension
        except (Exception, SystemExit) as error:
            leave_out(f"the extension {name!r}", error)
    return tuple(on.values())


def provided(kind: str, taken: Collection[str], is_usable: Callable[[Any], bool] = callable) -> dict[str, Any]:
    """What extensions add of a kind ("branches"), by name, if it can be imported and used and its name is not taken."""
    added: dict[str, Any] = {}
    for extension in extensions():
        for name, place in getattr(extension, kind).items():
            try:
                if name in taken or name in added:
                    raise ConfigError("the name is taken")
                if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
                    raise ConfigError("a name has at most 40 small letters, digits, _ and -")
                found = resolve(place)
                if not is_usable(found):
                    raise ConfigError(f"{place} is of another type: {type(found).__name__}")
                added[name] = found
            except (Exception, SystemExit) as error:
                leave_out(f"{name!r} of the extension {extension.name!r}", error)
    return added


def needed(name: str, by: str = "This") -> Extension:
    """An extension that is on; raises ConfigError, which says what it is needed `by`, if it is not."""
    for extension in extensions():
        if extension.name == name:
            return extension
    raise ConfigError(f"{by} needs the extension {name!r}, which is missing.")


def service(extension: str, name: str, by: str = "This") -> Any:
    """What the core needs of an extension, such as ("fleet", "keys"). Raises ConfigError as `needed` does."""
    return resolve(needed(extension, by).services[name])


def services(name: str) -> Iterator[Any]:
    """What each extension that has such a service offers, such as "forget"."""
    return (resolve(each.services[name]) for each in extensions() if name in each.services)


def resolve(place: str) -> Any:
    """What "module:attribute" names."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def leave_out(what: str, error: BaseException) -> None:
    """Report that a part of an extension is not used, and why, in one line."""
    why = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
    log.warning("%s is left out: %s", what, " ".join(why.split())[:MAX_REASON])


def _ours() -> Iterator[tuple[str, str, bool]]:
    # listed, not by entry points: an editable install and a deleted folder do not refresh those
    for each in pkgutil.iter_modules(import_module(GROUP).__path__):
        if find_spec(f"{GROUP}.{each.name}.extension") is not None:
            yield each.name, f"{GROUP}.{each.name}.extension:EXTENSION", True


def _of_others() -> Iterator[tuple[str, str, bool]]:
    """The named ones. Installed packages are read only if there are any."""
    wanted = os.environ.get(VARIABLE, "")
    if not wanted and Path(".env").is_file():
        from dotenv import dotenv_values

        wanted = dotenv_values(".env").get(VARIABLE) or ""
    names = list(dict.fromkeys(name for each in wanted.split(",") if (name := each.strip())))
    if not names:
        return
    from importlib.metadata import entry_points

    installed = sorted((each.name, each.module, each.attr) for each in entry_points(group=GROUP))
    for name in names:
        places = [f"{module}:{attribute}" for each, module, attribute in installed if each == name]
        if not places:
            leave_out(f"the extension {name!r}", ConfigError(f"{VARIABLE} names it, and no installed package has it"))
        yield from ((name, place, False) for place in places)


_COMPARISONS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def _check_version(versions: str) -> None:
    """Raise ConfigError if these are not versions, or none of them is that of Nacre."""
    from importlib.metadata import version

    present = version("nacre")
    for each in versions.split(","):
        bound = re.fullmatch(r"\s*(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)\s*", each)
        if bound is None:
            raise ConfigError(f"{versions!r} are no versions; use, for example: >=0.3,<0.5")
        if not _COMPARISONS[bound[1]](_release(present), _release(bound[2])):
            raise ConfigError(f"it is for Nacre {versions}, and this is {present}")


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without zeros at its end.

    >>> _release("0.3.0"), _release("1.10rc1")
    ((0, 3), (1, 10))
    """
    numbers = [int(each) for each in re.match(r"[\d.]*", version)[0].strip(".").split(".")]  # type: ignore[index]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
