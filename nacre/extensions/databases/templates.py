"""Queries that are translated once for all values of their parameters: values -> marks in a tree -> text with values.

A mark stands for a value, or for a part of the key that an IRI contains. What a query becomes depends on the shape of
its parameters alone: NULL, a negative number, a text, or a row of which table.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from nacre.extensions.databases.attached import AttachedTable
from nacre.extensions.databases.row_keys import MARK, KeyedTables, key_text, parse_key, plain_key
from nacre.records.evidence import Cell
from nacre.stores.sqlite.tables import ROW_BASE

_MOST_TEMPLATES = 2_000

_MOST_CHARACTERS = 20_000_000

_MARKED = re.compile(rf"{MARK}p(\d+)(?:k(\d+))?")

# texts that mean the same in every dialect; all others are bound
_PLAIN = re.compile(r"[A-Za-z0-9 _.:/=;%,-]*")

_HOLE = re.compile(rf"\\:{MARK}h(\d+)\b")

# what is known of a parameter before its value is
Shape = str | None | tuple[str, ...]

# a query, the shapes of its parameters, and whether its cells are bounded
TemplateKey = tuple[str, tuple[Shape, ...], bool]


@dataclass(frozen=True)
class NativeQuery:
    """SQL in the dialect of a database with parameters `:p0`, `:p1`, ... and their values in this order.

    `bindable` is the text with other colons escaped, as SQLAlchemy reads it.
    """

    bindable: str
    params: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """The query as people read it."""
        return self.bindable.replace("\\:", ":")


@dataclass(frozen=True)
class Hole:
    """A place for a parameter by its number, or for a constant (`number` is -1). Of an IRI `table` is the table of the
    row, and `part` the number of the part of its key; -1 stands for the whole key."""

    number: int
    constant: str = ""
    table: AttachedTable | None = None
    part: int = -1

    def value(self, params: Sequence[Cell]) -> Cell:
        """The value for this place."""
        if self.number < 0:
            return self.constant
        value = params[self.number]
        if self.table is not None:
            iri = str(value)
            return plain_key(self.table, iri) if self.part < 0 else (parse_key(self.table, iri) or ("",))[self.part]
        return abs(value) if isinstance(value, int | float) else value


@dataclass(frozen=True)
class QueryTemplate:
    """The text of a query around its holes, and whether the query limits its rows itself."""

    texts: tuple[str, ...]
    holes: tuple[Hole, ...]
    is_limited: bool

    def filled(self, params: Sequence[Cell], limit: int | None) -> NativeQuery:
        """The query with these values and at most `limit` rows."""
        bound: dict[str, int] = {}
        parts = [self.texts[0]]
        for hole, text in zip(self.holes, self.texts[1:], strict=True):
            parts += [_written(hole.value(params), bound), text]
        if limit is not None and not self.is_limited:
            parts.append(f"\nLIMIT {limit}")
        return NativeQuery("".join(parts), tuple(bound))


def _written(value: Cell, bound: dict[str, int]) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str):
        return repr(value) if value >= 0 else f"({value!r})"
    if _PLAIN.fullmatch(value):
        return "'" + value.replace(":", "\\:") + "'"
    return f":p{bound.setdefault(value, len(bound))}"


class Templates:
    """The templates of the last queries, since the same ones run with other parameters. Safe to share by threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[TemplateKey, QueryTemplate] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: TemplateKey, make: Callable[[], QueryTemplate]) -> QueryTemplate:
        """The template of a query with parameters of these shapes; made the first time."""
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        made = make()
        with self._lock:
            if key not in self._known:
                self._known[key] = made
                self._characters += _size(key, made)
            while len(self._known) > _MOST_TEMPLATES or self._characters > _MOST_CHARACTERS:
                oldest, removed = self._known.popitem(last=False)
                self._characters -= _size(oldest, removed)
        return made


def _size(key: TemplateKey, template: QueryTemplate) -> int:
    return len(key[0]) + sum(map(len, template.texts))


def param_shape(value: Cell, tables: KeyedTables) -> Shape:
    """The shape of a parameter: None, "-" and "+" for numbers, "t" for a text, the relation of a row with the parts of
    its key that are empty, or the text of an IRI that is no row."""
    if value is None:
        return None
    if not isinstance(value, str):
        return "-" if value < 0 else "+"
    table = tables.of_key(value)
    if table is None:
        return "t" if not value.startswith(ROW_BASE) else ("", value)
    parts = parse_key(table, value)
    if parts is None:
        return "", value
    return table.relation, *("empty" if part == "" else "" for part in parts)


def marked(number: int, shape: Shape, tables: KeyedTables) -> exp.Expr:
    """The expression for a parameter of a shape."""
    if shape is None:
        return exp.Null()
    if isinstance(shape, tuple):
        relation, *parts = shape
        if not relation:
            return exp.Literal.string(parts[0])
        values = ["" if part else f"{MARK}p{number}k{i}" for i, part in enumerate(parts)]
        return exp.Literal.string(key_text(tables.by_relation[relation], values))
    mark = f"{MARK}p{number}"
    if shape == "t":
        return exp.Literal.string(mark)
    literal = exp.Literal(this=mark, is_string=False)
    return exp.Neg(this=literal) if shape == "-" else literal


def template_of(tree: exp.Expr, shapes: Sequence[Shape], tables: KeyedTables, dialect: str) -> QueryTemplate:
    """The template of a translated tree with marks. Texts that could be read as SQL become holes, too."""
    holes: list[Hole] = []
    for node in list(tree.find_all(exp.Literal)):
        hole = _hole(node, shapes, tables)
        if hole is not None:
            node.replace(exp.Var(this=f":{MARK}h{len(holes)}"))
            holes.append(hole)
    is_limited = not isinstance(tree, exp.Query) or tree.args.get("limit") is not None
    text = tree.sql(dialect=dialect, pretty=True, comments=False).replace(":", "\\:")
    pieces = _HOLE.split(text)
    return QueryTemplate(tuple(pieces[::2]), tuple(holes[int(number)] for number in pieces[1::2]), is_limited)


def _hole(node: exp.Literal, shapes: Sequence[Shape], tables: KeyedTables) -> Hole | None:
    found = _MARKED.search(node.this)
    if found is None:
        return Hole(-1, node.this) if node.is_string and not _PLAIN.fullmatch(node.this) else None
    number = int(found[1])
    shape = shapes[number]
    table = tables.by_relation[shape[0]] if isinstance(shape, tuple) else None
    return Hole(number, "", table, int(found[2]) if found[2] and found[0] == node.this else -1)
