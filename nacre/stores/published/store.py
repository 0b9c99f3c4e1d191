"""An object store with the versions of graphs: address -> GraphStore.

    current/GRAPH.NUMBER.json   a publication: the pointer of the graph, and its parts with their sizes and checksums
    parts/GRAPH/...tar          a part: the folder of a version, of a set of vectors or of extracted triples

Parts are written first and never changed. A publication is created under a number that must be free, so that of two
servers only one gets it; the greatest number is the current one. No clock is involved.
"""

import hashlib
import json
import re
import secrets
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from nacre.errors import ConfigError
from nacre.stores.addresses import named_hosts
from nacre.stores.versions import GRAPH_NAME, Pointer

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
    """The store at an address such as s3://BUCKET/nacre or file:///srv/nacre. Methods raise StoreUnavailable.

    `hosts` are those that its graphs may name; `refused` has the last publication of a graph that names others.
    """

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
            pointer = data["pointer"]
            known = None
            if pointer is not None:
                known = Pointer(**{key: pointer[key] for key in Pointer.__dataclass_fields__ if key in pointer})
            parts = tuple(Part(**part) for part in data["parts"])
        except _failures() as error:
            raise _unavailable(error) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise IncompletePart(f"Publication {number} of {graph!r} can't be read.") from error
        places = [part.place for part in parts]
        if known is not None:
            places += [f"{kind}/{id}" for kind, id in named_folders(known) if id]
        # keys are read and removed, so they must be those of this graph
        keys = (isinstance(part.key, str) and key.fullmatch(part.key) for part in parts)
        if not (all(keys) and all(isinstance(each, str) and PLACE.fullmatch(each) for each in places)):
            raise IncompletePart(f"Publication {number} of {graph!r} names a place outside of the graph.")
        return Publication(graph, number, known, parts)

    def create(self, publication: Publication) -> bool:
        """Make a publication the current one; False if its number is taken."""
        pointer = publication.pointer
        content: Mapping[str, Any] = {
            "pointer": None if pointer is None else asdict(pointer),
            "parts": [asdict(part) for part in publication.parts],
        }
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
        """Store a folder as a part."""
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
        used = {part.key for number in numbers if number not in old for part in self._parts(latest.graph, number)}
        for number in old:
            unused = {part.key for part in self._parts(latest.graph, number)} - used
            try:
                for key in [*(f"{self._root}/{key}" for key in unused), self._current(latest.graph, number)]:
                    if self._files.exists(key):
                        self._files.rm_file(key)
            except _failures() as error:
                raise _unavailable(error) from None

    def _parts(self, graph: str, number: int) -> tuple[Part, ...]:
        return self.read(graph, number).parts

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


def named_folders(pointer: Pointer) -> tuple[tuple[str, str | None], ...]:
    """The kinds and ids of the folders that a pointer needs."""
    return (("versions", pointer.version), ("vectors", pointer.vectors), ("layers", pointer.layers))


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
