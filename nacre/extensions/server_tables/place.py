"""Where the tables of a version are: the file tables.json of its folder <-> ServerPlace."""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path

from nacre.errors import ConfigError
from nacre.extensions.databases.attached import Kind
from nacre.records.json_form import from_json
from nacre.stores.addresses import parse_address
from nacre.stores.versions import SERVER

# PostgreSQL takes no NUL in texts. This character, which texts should not have either, stands for it.
NUL = "\ufdd0"

LONGEST_NAME = 63


@dataclass(frozen=True)
class ServerPlace:
    """The address (without a password) and the schema of a version's tables, and the kinds of their columns by table.
    `relations` is empty until the tables are complete. `has_nul`: NUL is stored as another character."""

    url: str
    schema: str
    relations: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    has_nul: bool = False

    @property
    def lock(self) -> int:
        """The number of the advisory lock that readers of the schema share."""
        return int.from_bytes(blake2b(self.schema.encode(), digest_size=8).digest(), signed=True)


def new_place(url: str, graph: str) -> ServerPlace:
    """A schema that no other ingest uses."""
    return ServerPlace(url, f"{_schema_prefix(graph)}{secrets.token_hex(8)}")


def is_schema_of(schema: str, graph: str) -> bool:
    """Whether an ingest of this graph may have made the schema.

    >>> is_schema_of("nacre_my_boats_0123456789abcdef", "my-boats"), is_schema_of("public", "my-boats")
    (True, False)
    """
    return re.fullmatch(f"{_schema_prefix(graph)}[0-9a-f]{{16}}", schema) is not None


def _schema_prefix(graph: str) -> str:
    return f"nacre_{graph.replace('-', '_')[:30]}_"


def server_address(text: str) -> str:
    """The address of a PostgreSQL server in the form that is stored; raises ConfigError for others, and for one with a
    password."""
    address, dialect = parse_address(text)
    if dialect != "postgres":
        raise ConfigError("--tables takes the address of a PostgreSQL server: postgresql+psycopg://USER@HOST:PORT/NAME")
    return "postgresql+psycopg://" + address.partition("://")[2]


def read_place(folder: Path) -> ServerPlace | None:
    """The place of a version's tables; None if they are in its folder. Raises ConfigError for a damaged file."""
    try:
        return from_json(ServerPlace, json.loads((folder / SERVER).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            f"The file {SERVER} can't be read ({type(error).__name__}). Ingest the graph again."
        ) from error


def named_addresses(folder: Path, graph: str) -> list[str]:
    """The address of the server with the tables of a version. Raises ConfigError for tables of another graph."""
    place = read_place(folder)
    if place is None or not is_schema_of(place.schema, graph):
        raise ConfigError("It names tables of another graph.")
    return [place.url]


def write_place(folder: Path, place: ServerPlace) -> None:
    """Write the place into the folder of a version."""
    text = json.dumps(asdict(place), ensure_ascii=False, sort_keys=True)
    (folder / SERVER).write_text(text + "\n", encoding="utf-8")


def stored_name(name: str) -> str:
    """The name of a table or column on the server, where names have at most 63 bytes.

    >>> stored_name("height"), len(stored_name("x" * 80))
    ('height', 63)
    """
    if len(name.encode()) <= LONGEST_NAME:
        return name
    digest = blake2b(name.encode(), digest_size=6).hexdigest()
    return f"{name.encode()[: LONGEST_NAME - 13].decode(errors='ignore')}_{digest}"
