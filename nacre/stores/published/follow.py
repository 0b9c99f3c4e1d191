"""Keep a data folder and a store of graphs the same: what changed here is published, what changed there is fetched.

`_published/GRAPH.json` in the data folder has the publication that both were last the same with. What differs from it
tells which side changed. If both did, a new version here was completed last and is published. Other changes here, such
as vectors of an earlier version, are replaced by what the store has.
"""

import json
import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError
from nacre.records.endpoint import Endpoint
from nacre.records.json_form import from_json
from nacre.stores import versions
from nacre.stores.addresses import check_address
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.published.store import GraphStore, Part, Publication, named_folders
from nacre.stores.servers import collection_of
from nacre.stores.switch_version import flush_and_rename, switch_version
from nacre.stores.versions import BUILDING, GRAPH_NAME, LOCK, Pointer

log = logging.getLogger(__name__)

STATE_FOLDER = "_published"
# attempts to get a number that others do not get first
ATTEMPTS = 20


@dataclass(frozen=True)
class _Same:
    """The number and the pointer that store and data folder last agreed on."""

    number: int = 0
    pointer: Mapping[str, Any] | None = None


def follow_store(store: GraphStore, data: Path, wait_seconds: float = 0.0) -> list[str]:
    """Publish and fetch what changed; the names of the graphs that changed on either side.

    A graph that is being written here is left for the next time, unless it is free within `wait_seconds`. Raises
    StoreUnavailable; graphs that can't be fetched are logged and stay as they are.
    """
    numbers = store.numbers()
    known = {file.stem for file in (data / STATE_FOLDER).glob("*.json")}
    here = {folder.parent.name for folder in data.glob(f"*/{versions.CURRENT}")}
    changed = []
    for name in sorted({*numbers, *known, *here}):
        if GRAPH_NAME.fullmatch(name) and _differs(data, name, numbers.get(name, 0)):
            try:
                changed += [name] if _follow_graph(store, data, name, numbers.get(name, 0), wait_seconds) else []
            except ConfigError as error:
                log.warning("graph %s: %s", name, error)
            except OSError as error:
                log.warning("graph %s can't be fetched: %s", name, error.strerror)
    return changed


def _differs(data: Path, name: str, number: int) -> bool:
    same = _read_same(data, name)
    return number != same.number or _pointer(data / name) != same.pointer


def _follow_graph(store: GraphStore, data: Path, name: str, number: int, wait_seconds: float) -> bool:
    home = data / name
    home.mkdir(parents=True, exist_ok=True)
    with versions.writer_lock(home, wait_seconds):
        same, here = _read_same(data, name), _pointer(home)
        changed_here, changed_there = here != same.pointer, number != same.number
        is_new = changed_here and (same.pointer is None or here is None or here["version"] != same.pointer["version"])
        # a data folder that never met the store takes what is there
        if changed_here and not (changed_there and (same.number == 0 or not is_new)):
            published = _publish(store, home, same, force=is_new)
            if published is not None:
                _write_same(data, name, published)
                store.remove_old(published)
                return True
            number = store.numbers().get(name, 0)
        if number == same.number:
            return False
        publication = store.read(name, number)
        if publication == store.refused.get(name):
            return False
        _fetch(store, home, publication)
        _write_same(data, name, publication)
    if publication.pointer is None and not any((home / "versions").glob("*")):
        shutil.rmtree(home, ignore_errors=True)
    return True


def _publish(store: GraphStore, home: Path, same: _Same, *, force: bool) -> Publication | None:
    """Publish the current version; None if another one was published meanwhile, unless `force`."""
    pointer = versions.read_pointer(home)
    known = {part.place: part for part in _known_parts(store, home.name, same.number)}
    parts: tuple[Part, ...] = ()
    if pointer is not None:
        # the earlier set of vectors is of use where it is
        pointer = replace(pointer, earlier=None)
        parts = tuple(known.get(place) or store.upload(home.name, place, home / place) for place in _places(pointer))
    number = same.number
    for _ in range(ATTEMPTS):
        publication = Publication(home.name, number + 1, pointer, parts)
        if store.create(publication):
            return publication
        if not force:
            return None
        number = max(store.numbers().get(home.name, 0), number + 1)
    raise ConfigError(f"Others publish {home.name!r} again and again. Run the command again.")


def _known_parts(store: GraphStore, name: str, number: int) -> tuple[Part, ...]:
    """The parts that are in the store already, if nobody has removed them."""
    if not number or store.numbers().get(name, 0) != number:
        return ()
    return store.read(name, number).parts


def _fetch(store: GraphStore, home: Path, publication: Publication) -> None:
    """Take over a publication: its parts first, then the switch in one step."""
    pointer = publication.pointer
    if pointer is None:
        (home / versions.CURRENT).unlink(missing_ok=True)
        versions.remove_unused_versions(home)
        return
    by_place = {part.place: part for part in publication.parts}
    for place in _places(pointer):
        target = home / place
        if target.is_dir():
            continue
        if place not in by_place:
            raise ConfigError(f"Publication {publication.number} lacks {place}.")
        folder = target.with_name(f".{target.name}{BUILDING}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            store.download(by_place[place], folder)
            try:
                _check_fetched(folder, place, home.name, store.hosts)
            except ConfigError:
                # it does not get better, and is not fetched every second
                store.refused[home.name] = publication
                raise
            (folder / LOCK).touch()
            flush_and_rename(folder, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    switch_version(home, pointer)
    versions.remove_unused_versions(home)


def _check_fetched(folder: Path, place: str, graph: str, hosts: tuple[str, ...]) -> None:
    """Raise ConfigError if a part names files outside of it, hosts that are not named, or what other graphs have on
    servers: whoever may write the store gets nothing else to read or to remove."""
    addresses = []
    try:
        if (folder / versions.DATABASE).exists():
            from nacre.stores.kept_databases import located

            database = from_json(AttachedDatabase, json.loads((folder / versions.DATABASE).read_bytes()))
            addresses += [] if located(database, folder).kept else [database.url]
        if (folder / versions.ENDPOINT).exists():
            addresses.append(from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_bytes())).url)
        if (folder / versions.SERVER).exists():
            from nacre.stores.databases.server.place import is_schema_of, read_place

            tables = read_place(folder)
            assert tables is not None
            addresses.append(tables.url)
            if not is_schema_of(tables.schema, graph):
                raise ConfigError("It names tables of another graph.")
        if collection_of(folder) not in (None, f"nacre_{graph}_{place.rpartition('/')[2]}"):
            raise ConfigError("It names vectors of another graph.")
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"What {place} is attached to can't be read.") from error
    for address in addresses:
        check_address(address, hosts, "NACRE_GRAPHS_HOSTS")


def _places(pointer: Pointer) -> list[str]:
    """The folders that a pointer needs."""
    return [f"{kind}/{id}" for kind, id in named_folders(pointer) if id]


def _pointer(home: Path) -> Mapping[str, Any] | None:
    found = versions.read_pointer(home)
    return None if found is None else {**asdict(found), "earlier": None}


def _read_same(data: Path, name: str) -> _Same:
    try:
        return _Same(**json.loads((data / STATE_FOLDER / f"{name}.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return _Same()
    except (ValueError, TypeError):
        # it is written in one step; if it is damaged all the same, what the store has counts
        return _Same()


def _write_same(data: Path, name: str, publication: Publication) -> None:
    folder = data / STATE_FOLDER
    folder.mkdir(exist_ok=True)
    same = _Same(publication.number, _pointer(data / name))
    aside = folder / f".{name}.json"
    aside.write_text(json.dumps(asdict(same)) + "\n", encoding="utf-8")
    os.replace(aside, folder / f"{name}.json")
