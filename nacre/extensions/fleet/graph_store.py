"""An object store with the versions of graphs: address -> GraphStore; a data folder is kept the same as the store.

    current/GRAPH.NUMBER.json   a publication: the pointer of the graph, and its parts with their sizes and checksums
    parts/GRAPH/...tar          a part: the folder of a version, of a set of vectors or of extracted triples

Parts are written first and never changed. A publication is created under a number that must be free, so that of two
servers only one gets it; the greatest number is the current one. No clock is involved.

What changed here is published, what changed there is fetched. `_published/GRAPH.json` in the data folder has the
publication that both were last the same with. What differs from it tells which side changed. If both did, a new version
here was completed last and is published. Other changes here, such as vectors of an earlier version, are replaced by
what the store has. While a server runs, a task does so again and again.
"""

import asyncio
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import sys
import tarfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from nacre.errors import ConfigError
from nacre.extension import service
from nacre.records.json_form import from_json
from nacre.records.schema import Endpoint
from nacre.stores import versions
from nacre.stores.addresses import check_address, named_hosts
from nacre.stores.catalog import STORES, collection_of
from nacre.stores.versions import BUILDING, GRAPH_NAME, LOCK, Pointer, flush_and_rename, switch_version

# what a data folder holds of a graph, by the names of versions.py
PLACE = re.compile(r"(versions|vectors|layers)/[A-Za-z0-9][A-Za-z0-9_-]{0,200}")

_CURRENT = re.compile(r"([a-z0-9][a-z0-9-]{0,63})\.([0-9]{12})\.json")

# publications of a graph that stay, so that a server may finish what it is fetching
KEPT = 2

MAX_PUBLICATION_BYTES = 1_000_000

_BLOCK = 8 << 20


class StoreUnavailable(ConfigError):
    """The object store can't be read or written."""


class IncompletePart(StoreUnavailable):
    """A part is not what its publication says; it is not used."""


@dataclass(frozen=True)
class Part:
    """A folder in the store: its place in the home of a graph, its key, and the bytes and SHA-256 of its archive."""

    place: str
    key: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Publication:
    """What a graph consists of since a number. Without a pointer, the graph was removed."""

    graph: str
    number: int
    pointer: Pointer | None
    parts: tuple[Part, ...] = ()


class GraphStore:
    """The store at an address such as s3://BUCKET/nacre or file:///srv/nacre. Methods raise StoreUnavailable. `hosts`
    are those that its graphs may name; `refused` has the last publication of a graph that names others."""

    def __init__(self, address: str, hosts: str = "") -> None:
        self.hosts, self.refused = named_hosts(hosts), dict[str, Publication]()
        try:
            from fsspec.core import url_to_fs

            options: dict[str, Any] = {"use_listings_cache": False} if address.startswith("s3:") else {}
            self._files, root = url_to_fs(address, **options)
        except ImportError as error:
            raise ConfigError(f"NACRE_GRAPHS needs a package ({error.name}). Run: pip install 'nacre[s3]'") from None
        except ValueError:
            raise ConfigError("NACRE_GRAPHS can't be read. Write s3://BUCKET/FOLDER or file:///FOLDER.") from None
        self._root = root.rstrip("/")

    def numbers(self) -> dict[str, int]:
        """The number of the current publication of each graph."""
        found: dict[str, int] = {}
        for graph, number in self._listed():
            found[graph] = max(number, found.get(graph, 0))
        return found

    def exists(self) -> bool:
        """Whether there is its bucket, or its folder."""
        return bool(self._files.exists(self._root.split("/")[0] or self._root))

    def read(self, graph: str, number: int) -> Publication:
        """A publication. Raises IncompletePart if it can't be understood."""
        key = re.compile(rf"parts/{re.escape(graph)}/[A-Za-z0-9][A-Za-z0-9._-]{{0,300}}\.tar")
        try:
            data = json.loads(self._files.cat_file(self._current(graph, number), end=MAX_PUBLICATION_BYTES))
            known = None if data["pointer"] is None else from_json(Pointer, data["pointer"])
            parts = tuple(Part(**part) for part in data["parts"])
        except _failures() as error:
            raise _unavailable(error) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise IncompletePart(f"Publication {number} of {graph!r} can't be read.") from error
        places = [part.place for part in parts] + (_places(known) if known is not None else [])
        # keys are read and removed, so they must be those of this graph
        keys = (isinstance(part.key, str) and key.fullmatch(part.key) for part in parts)
        if not (all(keys) and all(isinstance(each, str) and PLACE.fullmatch(each) for each in places)):
            raise IncompletePart(f"Publication {number} of {graph!r} names a place outside of the graph.")
        return Publication(graph, number, known, parts)

    def create(self, publication: Publication) -> bool:
        """Make a publication the current one; False if its number is taken."""
        content = {name: value for name, value in asdict(publication).items() if name in ("pointer", "parts")}
        place = self._current(publication.graph, publication.number)
        try:
            self._files.makedirs(f"{self._root}/current", exist_ok=True)
            self._files.pipe_file(place, json.dumps(content, indent=1).encode(), mode="create")
        except FileExistsError:
            return False
        except _failures() as error:
            raise _unavailable(error) from None
        return True

    def upload(self, graph: str, place: str, folder: Path) -> Part:
        key = f"parts/{graph}/{place.replace('/', '-')}-{secrets.token_hex(6)}.tar"
        try:
            self._files.makedirs(f"{self._root}/parts/{graph}", exist_ok=True)
            with self._files.open(f"{self._root}/{key}", "wb", block_size=_BLOCK) as out:
                hashing = _Hashing(out)
                # a stream, so that it needs neither memory nor a second copy
                with tarfile.open(fileobj=hashing, mode="w|", bufsize=1 << 20) as archive:  # type: ignore[call-overload]
                    archive.add(folder, ".", filter=_plain)
        except _failures() as error:
            raise _unavailable(error) from None
        return Part(place, key, hashing.size, hashing.digest.hexdigest())

    def download(self, part: Part, folder: Path) -> None:
        """Unpack a part into an empty folder. Raises IncompletePart if it is damaged; the folder is then useless."""
        try:
            with self._files.open(
                f"{self._root}/{part.key}", "rb", block_size=_BLOCK, cache_type="readahead"
            ) as source:
                hashing = _Hashing(source)
                with tarfile.open(fileobj=hashing, mode="r|", bufsize=1 << 20) as archive:  # type: ignore[call-overload]
                    archive.extractall(folder, filter=_unlinked)
                while hashing.read(1 << 20):
                    pass
        except tarfile.TarError as error:
            raise IncompletePart(f"{part.key} in the store of graphs is damaged.") from error
        except _failures() as error:
            raise _unavailable(error) from None
        if (hashing.size, hashing.digest.hexdigest()) != (part.size, part.sha256):
            raise IncompletePart(f"{part.key} in the store of graphs is not what was published.")

    def remove_old(self, latest: Publication) -> None:
        """Remove earlier publications of a graph, and the parts that only they had."""
        numbers = sorted(number for graph, number in self._listed() if graph == latest.graph)
        old = [number for number in numbers if number <= latest.number][:-KEPT]
        used = {part.key for each in numbers if each not in old for part in self.read(latest.graph, each).parts}
        for number in old:
            unused = {part.key for part in self.read(latest.graph, number).parts} - used
            try:
                for key in [*(f"{self._root}/{key}" for key in unused), self._current(latest.graph, number)]:
                    if self._files.exists(key):
                        self._files.rm_file(key)
            except _failures() as error:
                raise _unavailable(error) from None

    def _listed(self) -> list[tuple[str, int]]:
        try:
            self._files.invalidate_cache()
            names = self._files.ls(f"{self._root}/current", detail=False)
        except FileNotFoundError:
            return []
        except _failures() as error:
            raise _unavailable(error) from None
        found = [_CURRENT.fullmatch(name.rsplit("/", 1)[-1]) for name in names]
        return [(match[1], int(match[2])) for match in found if match and GRAPH_NAME.fullmatch(match[1])]

    def _current(self, graph: str, number: int) -> str:
        return f"{self._root}/current/{graph}.{number:012}.json"


class _Hashing:
    """A file that hashes what passes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def read(self, size: int) -> bytes:
        return self._seen(self._file.read(size))

    def write(self, data: bytes) -> int:
        return self._file.write(self._seen(bytes(data)))

    def _seen(self, data: bytes) -> bytes:
        self.digest.update(data)
        self.size += len(data)
        return data


def _unlinked(entry: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """An entry that stays in the folder and is no symbolic link; raises FilterError for others."""
    if entry.issym():
        raise tarfile.LinkOutsideDestinationError(entry, entry.linkname)
    return tarfile.data_filter(entry, folder)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without the names and numbers of users of this machine."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _failures() -> tuple[type[Exception], ...]:
    """The errors of the client of a store. That of S3 has kinds of its own, for logins and addresses."""
    client = sys.modules.get("botocore.exceptions")
    return (OSError,) if client is None else (OSError, client.BotoCoreError, client.ClientError)


def _unavailable(error: Exception) -> StoreUnavailable:
    # messages of clients may quote addresses with keys in them
    reason = getattr(error, "strerror", None) or type(error).__name__
    return StoreUnavailable(f"The store of graphs (NACRE_GRAPHS) can't be used: {reason}.")


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
                changed += [name] if _follow_graph(store, data, name, wait_seconds) else []
            except ConfigError as error:
                log.warning("graph %s: %s", name, error)
            except OSError as error:
                log.warning("graph %s can't be fetched: %s", name, error.strerror)
    return changed


def unpublished_graphs(data: Path) -> set[str]:
    """The graphs of a data folder that were never in a store."""
    here = {folder.parent.name for folder in data.glob(f"*/{versions.CURRENT}")}
    return here - {file.stem for file in (data / STATE_FOLDER).glob("*.json")}


def _differs(data: Path, name: str, number: int) -> bool:
    same = _read_same(data, name)
    return number != same.number or _pointer(data / name) != same.pointer


def _follow_graph(store: GraphStore, data: Path, name: str, wait_seconds: float) -> bool:
    home = data / name
    home.mkdir(parents=True, exist_ok=True)
    with versions.writer_lock(home, wait_seconds):
        # a command may have published from here since the last look
        number = store.numbers().get(name, 0)
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
    # those that are in the store already, if nobody has removed them
    is_there = same.number and store.numbers().get(home.name, 0) == same.number
    known = {part.place: part for part in (store.read(home.name, same.number).parts if is_there else ())}
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
        for file, extension in STORES.items():
            if (folder / file).exists():
                addresses += service(extension, "named")(folder, graph)
        if (folder / versions.ENDPOINT).exists():
            addresses.append(from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_bytes())).url)
        if (folder / versions.MANIFEST).exists():
            # a later change of layers writes tables there
            tables = json.loads((folder / versions.MANIFEST).read_bytes()).get("tables", "")
            addresses += [str(tables)] if tables else []
        if collection_of(folder) not in (None, f"nacre_{graph}_{place.rpartition('/')[2]}"):
            raise ConfigError("It names vectors of another graph.")
    except (ValueError, AttributeError, RecursionError) as error:
        raise ConfigError(f"What {place} is attached to can't be read.") from error
    for address in addresses:
        check_address(address, hosts, "NACRE_GRAPHS_HOSTS", ports=True)


def _places(pointer: Pointer) -> list[str]:
    """The folders that a pointer needs."""
    kinds = ("versions", pointer.version), ("vectors", pointer.vectors), ("layers", pointer.layers)
    return [f"{kind}/{id}" for kind, id in kinds if id]


def _pointer(home: Path) -> Mapping[str, Any] | None:
    found = versions.read_pointer(home)
    return None if found is None else {**asdict(found), "earlier": None}


def _read_same(data: Path, name: str) -> _Same:
    try:
        return _Same(**json.loads((data / STATE_FOLDER / f"{name}.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        # it is written in one step; if it is damaged all the same, what the store has counts
        return _Same()


def _write_same(data: Path, name: str, publication: Publication) -> None:
    folder = data / STATE_FOLDER
    folder.mkdir(exist_ok=True)
    same = _Same(publication.number, _pointer(data / name))
    aside = folder / f".{name}.json"
    aside.write_text(json.dumps(asdict(same)) + "\n", encoding="utf-8")
    os.replace(aside, folder / f"{name}.json")


# a version is on all servers within 5 s (given), if it can be copied in that time
FOLLOW_SECONDS = 1.0


class FollowedGraphs:
    """What a server takes from a store of graphs and publishes there. `problem` says what fails at present; else ""."""

    def __init__(self, address: str, data: Path, hosts: str = "") -> None:
        self.problem = ""
        self._address, self._data, self._hosts = address, data, hosts
        self._store: GraphStore | None = None

    async def follow(self) -> None:
        """Fetch what others publish, and publish what changes here, until it is cancelled."""
        loop = asyncio.get_running_loop()
        # a thread of its own, since fetching a large graph takes a while
        with ThreadPoolExecutor(1, thread_name_prefix="nacre-graphs") as pool:
            while True:
                try:
                    changed = await loop.run_in_executor(pool, self._follow_once)
                    if changed:
                        log.info("graphs that were fetched or published: %s", ", ".join(changed))
                    self.problem = ""
                except ConfigError as error:
                    if not self.problem:
                        log.warning("%s The graphs stay as they are here until it answers.", error)
                    self.problem = "the store of graphs (NACRE_GRAPHS) can't be used, so graphs stay as they are here"
                await asyncio.sleep(FOLLOW_SECONDS)

    def _follow_once(self) -> list[str]:
        if self._store is None:
            self._store = GraphStore(self._address, self._hosts)
        return follow_store(self._store, self._data)
