"""Write a query over the tables of a graph for the schema that holds them: SQL -> ServerQuery.

A query is written once for all values of its parameters: marks stand for them in the tree. Then where the tables of a
version are: the file tables.json of its folder <-> ServerPlace."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from sqlglot import MappingSchema, exp

from nacre.errors import ConfigError, ToolError
from nacre.extensions.databases.attached import Kind
from nacre.extensions.databases.dialects import cte_of, make_portable, refuse_other_tables
from nacre.extensions.databases.templates import QueryParts, query_parts
from nacre.extensions.databases.translate import bound_cells, checked_tree
from nacre.extensions.server_tables.strict_types import change_ascii, fold_letters, with_strict_types
from nacre.records.evidence import Cell
from nacre.records.json_form import from_json
from nacre.stores.addresses import parse_address
from nacre.stores.sqlite.schema_sql import is_number
from nacre.stores.versions import SERVER

# texts that mean the same in every dialect; all others are parameters
_PLAIN = re.compile(r"[A-Za-z0-9 _.:/=;,#-]*")

# stands for a text or number; the rules for types may write it in lower or upper case
_MARK = "NacreParam"

_MARKED = re.compile(r"NacreParam(\d+)x", re.IGNORECASE)

_NUMBER_MARK, _NUMBER_END = "9070605", "504"

# a list of parameters, which is translated as one of them, so that its length gives no other query
_LIST = re.compile(r"\bIN \((\?(?:, \?)+)\)")

# queries that are remembered, since the same ones run with other parameters
_REMEMBERED = 2000

PRIVATE, ROW_NUMBER = "_nacre_", "rowid"

# what is known of a parameter before its value is: text, text that is a number, whole or other number and its sign
Shape = str


@dataclass(frozen=True)
class ServerQuery:
    """SQL for the server: `text` with `%s` for each of the `params`."""

    text: str
    params: tuple[Cell, ...]


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


class ServerQueries:
    """Writes queries for one schema. Tables with `PRIVATE` names are for Nacre's own SQL."""

    def __init__(self, place: ServerPlace) -> None:
        self.place = place
        shown: dict[str, dict[str, Kind]] = {
            name: {column: kind for column, kind in columns.items() if column != ROW_NUMBER}
            for name, columns in place.relations.items()
            if not name.startswith(PRIVATE)
        }
        every = {name: dict(columns) for name, columns in place.relations.items()}
        self._relations = {False: shown, True: every}
        self._schemas = {
            key: MappingSchema({name: dict.fromkeys(own, "TEXT") for name, own in columns.items()}, dialect="sqlite")
            for key, columns in self._relations.items()
        }
        self._checked = lru_cache(_REMEMBERED)(lambda sql, count, own: checked_tree(sql, count, self._schemas[own]))
        self._typed = lru_cache(1)(self._write_types)
        self._template = lru_cache(_REMEMBERED)(self._write)

    def native(self, sql: str, params: Sequence[Cell], limit: int | None = None, trusted: bool = False) -> ServerQuery:
        """The query with at most `limit` rows; only `trusted` ones read private tables. Raises ToolError of kind
        syntax, unknown_name, refused or too_large."""
        sql, values = _with_short_lists(sql, params)
        shapes = tuple([_shape(each[0]) for each in values])
        template, written, bound = self._template(sql, shapes, limit is not None, trusted), list[str](), list[Cell]()
        # a hole is the number of a parameter, which may be a list, or a text
        for number, text in template.holes:
            own: Sequence[Cell] = values[number] if number >= 0 else (text,)
            bound += [_changed(each, text) if number >= 0 else each for each in own if isinstance(each, str)]
            # a parameter has no type by itself
            written.append(", ".join("CAST(%s AS TEXT)" if isinstance(v, str) else repr(abs(v or 0)) for v in own))
        return ServerQuery(template.joined(written, limit), tuple(bound))

    def columns(self, sql: str, params: Sequence[Cell]) -> tuple[str, ...]:
        """The names of the columns of a query; those of the server may be shortened."""
        sql, values = _with_short_lists(sql, params)
        tree = self._checked(sql, len(values), False)
        return tuple(tree.named_selects) if isinstance(tree, exp.Query) else ()

    def _write(
        self, sql: str, shapes: tuple[Shape, ...], is_bounded: bool, trusted: bool
    ) -> QueryParts[tuple[int, str]]:
        columns = self._relations[trusted]
        # a query is mostly run with bounds and shown without
        tree = self._typed(sql, shapes, trusted).copy()
        if is_bounded:
            bound_cells(tree, columns)
        tree = make_portable(tree, "postgres")
        fold_letters(tree)
        for table in tree.find_all(exp.Table):
            if cte_of(table) is None:
                table.set("db", exp.to_identifier(self.place.schema))
        for identifier in tree.find_all(exp.Identifier):
            identifier.set("this", stored_name(identifier.name))
            identifier.set("quoted", True)
        return query_parts(tree, _hole, "postgres", ("%", "%%"))

    def _write_types(self, sql: str, shapes: tuple[Shape, ...], trusted: bool) -> exp.Expr:
        tree = self._checked(sql, len(shapes), trusted).copy()
        refuse_other_tables(tree, self._relations[trusted])
        for node in list(tree.find_all(exp.Placeholder)):
            name = str(node.name).removeprefix("nacre_")
            if not name.isdigit() or int(name) >= len(shapes):
                raise ToolError("refused", "Named parameters are not allowed.")
            node.replace(_mark(int(name), shapes[int(name)]))
        return with_strict_types(tree, self._relations[trusted])


def _with_short_lists(sql: str, params: Sequence[Cell]) -> tuple[str, list[Sequence[Cell]]]:
    """The query with one parameter for each list of texts, or of whole numbers, and the values for each parameter.

    >>> _with_short_lists("SELECT id FROM entity WHERE iri IN (?, ?) AND label = ?", ["a", "b", "c"])
    ('SELECT id FROM entity WHERE iri IN (?) AND label = ?', [('a', 'b'), ('c',)])
    """
    values: list[Cell] = [int(value) if isinstance(value, bool) else value for value in params]
    plain: list[Sequence[Cell]] = [(value,) for value in values]
    if sql.count("?") != len(values):
        # a name or a text has a question mark
        return sql, plain
    parts, found, end, at = list[str](), list[Sequence[Cell]](), 0, 0
    for each in _LIST.finditer(sql):
        before = sql.count("?", end, each.start())
        first = at + before
        after = first + each[1].count("?")
        shapes = {_shape(value) for value in values[first:after]}
        if len(shapes) == 1 and shapes <= {"text", "+integer"}:
            parts.append(f"{sql[end : each.start()]}IN (?)")
            found += [*plain[at:first], tuple(values[first:after])]
        else:
            parts.append(sql[end : each.end()])
            found += plain[at:after]
        end, at = each.end(), after
    return "".join([*parts, sql[end:]]), [*found, *plain[at:]]


def _shape(value: Cell) -> Shape:
    if value is None:
        return "null"
    if isinstance(value, str):
        # how a number in a text compares with numbers depends on the number
        return f"number {value}" if len(value) < 40 and is_number(value) else "text"
    return ("-" if value < 0 else "+") + ("integer" if isinstance(value, int) else "real")


def _mark(number: int, shape: Shape) -> exp.Expr:
    if shape == "null":
        return exp.Null()
    if shape.startswith("number "):
        return exp.Literal.string(shape.removeprefix("number "))
    if shape == "text":
        return exp.Literal.string(f"{_MARK}{number}x")
    point = ".5" if shape.endswith("real") else ""
    literal = exp.Literal.number(f"{_NUMBER_MARK}{number}{_NUMBER_END}{point}")
    return exp.Neg(this=literal) if shape.startswith("-") else literal


def _hole(node: exp.Literal) -> tuple[int, str] | None:
    text = str(node.this)
    if not node.is_string:
        whole = text.removesuffix(".5")
        is_mark = whole.startswith(_NUMBER_MARK) and whole.endswith(_NUMBER_END)
        return (int(whole[len(_NUMBER_MARK) : -len(_NUMBER_END)]), "") if is_mark else None
    if found := _MARKED.fullmatch(text):
        return int(found[1]), text
    return None if _PLAIN.fullmatch(text) else (-1, text.replace("\0", NUL))


def _changed(value: str, mark: str) -> str:
    """A text as its mark became: lower(), upper() or as it is."""
    value = value.replace("\0", NUL)
    if mark.startswith(_MARK):
        return value
    return change_ascii(value, str.lower if mark.startswith(_MARK.lower()) else str.upper)


# PostgreSQL takes no NUL in texts. This character, which texts should not have either, stands for it.
NUL = "\ufdd0"

LONGEST_NAME = 63


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
