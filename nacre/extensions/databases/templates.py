"""Queries that are translated once for all values of their parameters: values -> marks in a tree -> text with values.

A mark stands for a value, or for a part of the key that an IRI contains. What a query becomes depends on the shape of
its parameters alone: NULL, a negative number, a text, or a row of which table.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Generic, NamedTuple, TypeVar

from sqlglot import exp

from nacre.extensions.databases.attached import AttachedTable
from nacre.extensions.databases.dialects import DAY
from nacre.extensions.databases.row_keys import MARK, KeyedTables, key_text, parse_key, plain_key
from nacre.records.evidence import Cell
from nacre.stores.sqlite.tables import ROW_BASE

_MOST_TEMPLATES = 2_000

_MOST_CHARACTERS = 20_000_000

# a mark may be that of a part of a key, or of a date; a date becomes its first or last day in eight digits
_MARKED = re.compile(rf"{MARK}p(\d+)(?:k(\d+)|i([09]?)(t?))?")

_ISO_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")

# texts that mean the same in every dialect; all others are bound
_PLAIN = re.compile(r"[A-Za-z0-9 _.:/=;%,-]*")

_HOLE = re.compile(rf"\${MARK}h(\d+)\$")

T = TypeVar("T")

# the last year of four digits
END_OF_YEARS = 9999

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

    @property
    def named(self) -> dict[str, Cell]:
        return {f"p{i}": value for i, value in enumerate(self.params)}


@dataclass(frozen=True)
class Hole:
    """A place for a parameter by its number, or for a constant (`number` is -1). Of an IRI `table` is the table of the
    row, and `part` the number of the part of its key; -1 stands for the whole key. `pad` fills the digits that a date
    or year lacks which is compared with days in eight digits, and `is_text` says that those are texts."""

    number: int
    constant: str = ""
    table: AttachedTable | None = None
    part: int = -1
    pad: str = ""
    is_text: bool = False

    def value(self, params: Sequence[Cell]) -> Cell:
        if self.number < 0:
            return self.constant
        value = params[self.number]
        if self.pad and value is not None:
            day = _day_digits(value, self.pad)
            return day if self.is_text else int(day)
        if self.table is not None:
            iri = str(value)
            return plain_key(self.table, iri) if self.part < 0 else (parse_key(self.table, iri) or ("",))[self.part]
        return abs(value) if isinstance(value, int | float) else value


class QueryParts(NamedTuple, Generic[T]):
    """The text of a query around its holes, and whether the query limits its rows itself."""

    texts: list[str]
    holes: list[T]
    is_limited: bool

    def joined(self, written: Iterable[str], limit: int | None) -> str:
        """The text with something written into each hole, and at most `limit` rows."""
        parts = [each for pair in zip(self.texts, written, strict=False) for each in pair]
        limited = f"\nLIMIT {limit}" if limit is not None and not self.is_limited else ""
        return "".join([*parts, self.texts[-1], limited])


QueryTemplate = QueryParts[Hole]


def filled_template(template: QueryTemplate, params: Sequence[Cell], limit: int | None) -> NativeQuery:
    """The query with these values and at most `limit` rows."""
    bound: dict[str, int] = {}
    written = [_written(hole.value(params), bound) for hole in template.holes]
    return NativeQuery(template.joined(written, limit), tuple(bound))


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
    """The shape of a parameter: None, "-" and "+" for numbers, "t" for a text and "d" for one that is a date, the
    relation of a row with the parts of its key that are empty, or the text of an IRI that is no row."""
    if value is None:
        return None
    if not isinstance(value, str):
        return "-" if value < 0 else "+"
    table = tables.of_key(value)
    if table is None:
        is_row = value.startswith(ROW_BASE)
        return ("", value) if is_row else "d" if _ISO_DATE.fullmatch(value) else "t"
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
    if shape in ("t", "d"):
        return exp.Literal.string(mark + ("i" if shape == "d" else ""))
    literal = exp.Literal(this=mark, is_string=False)
    return exp.Neg(this=literal) if shape == "-" else literal


def template_of(tree: exp.Expr, shapes: Sequence[Shape], tables: KeyedTables, dialect: str) -> QueryTemplate:
    """The template of a translated tree with marks. Texts that could be read as SQL become holes, too."""
    return query_parts(tree, lambda node: _hole(node, shapes, tables), dialect, (":", "\\:"))


def query_parts(
    tree: exp.Expr, find_hole: Callable[[exp.Literal], T | None], dialect: str, escape: tuple[str, str]
) -> QueryParts[T]:
    """The text of a tree around the holes that some of its literals are; `escape` is a character of the text and what
    stands for it."""
    holes: list[T] = []
    for node in list(tree.find_all(exp.Literal)):
        hole = find_hole(node)
        if hole is not None:
            node.replace(exp.Var(this=f"${MARK}h{len(holes)}$"))
            holes.append(hole)
    is_limited = not isinstance(tree, exp.Query) or tree.args.get("limit") is not None
    text = tree.sql(dialect=dialect, pretty=True, comments=False, copy=False).replace(*escape)
    pieces = _HOLE.split(text)
    return QueryParts(pieces[::2], [holes[int(number)] for number in pieces[1::2]], is_limited)


def _hole(node: exp.Literal, shapes: Sequence[Shape], tables: KeyedTables) -> Hole | None:
    found = _MARKED.search(node.this)
    if found is None:
        return Hole(-1, node.this) if node.is_string and not _PLAIN.fullmatch(node.this) else None
    number = int(found[1])
    shape = shapes[number]
    table = tables.by_relation[shape[0]] if isinstance(shape, tuple) else None
    is_whole = found[0] == node.this
    return Hole(number, "", table, int(found[2]) if found[2] and is_whole else -1, found[3] or "", bool(found[4]))


def compare_days(tree: exp.Expr) -> exp.Expr:
    """The tree with comparisons of days in eight digits as comparisons of their columns, which indexes serve."""
    return tree.transform(_compare_days, copy=False)


# the comparisons with the sides exchanged
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    **{exp.EQ: exp.EQ, exp.NEQ: exp.NEQ},
    **{exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE},
}


def _compare_days(node: exp.Expr) -> exp.Expr:
    """A comparison of a day in eight digits, or of its year or month, with a value as a comparison of its column."""
    if isinstance(node, exp.Between):
        low, high = (node.args[name] for name in ("low", "high"))
        pairs = [(exp.GTE, low), (exp.LTE, high)]
        found = [_day_comparison(kind, node.this, value) for kind, value in pairs]
        return exp.Paren(this=exp.and_(*found)) if all(found) else node
    if isinstance(node, exp.In) and node.expressions:
        each = [_day_comparison(exp.EQ, node.this, value) for value in node.expressions]
        return exp.Paren(this=exp.or_(*each)) if all(each) else node
    if type(node) not in _MIRRORED:
        return node
    kind = type(node)
    return (
        _day_comparison(kind, node.this, node.expression)
        or _day_comparison(_MIRRORED[kind], node.expression, node.this)
        or node
    )


def _day_comparison(kind: type[exp.Expr], side: exp.Expr, value: exp.Expr) -> exp.Expr | None:
    """The comparison of a day, a month or a year with a constant; None if it is none."""
    side, value = (each.this if isinstance(each, exp.Collate) else each for each in (side, value))
    cut = side.this if isinstance(side, exp.Cast) else side
    is_part = isinstance(cut, exp.Substring)
    noted = (cut.this if is_part else side).meta.get(DAY)
    if noted is None or not isinstance(value, exp.Literal):
        return None
    if is_part and (cut.args["start"].name, cut.args["length"].name) not in (("1", "4"), ("1", "7")):
        return None
    column, is_text = noted
    first, last = (_day_bound(value, pad if is_part else "0", is_text) for pad in "09")
    if first is None or last is None:
        return None
    if kind in (exp.EQ, exp.NEQ):
        within = exp.and_(exp.GTE(this=column.copy(), expression=first), exp.LTE(this=column.copy(), expression=last))
        equal = exp.Paren(this=within) if is_part else exp.EQ(this=column.copy(), expression=first)
        return equal if kind is exp.EQ else exp.Not(this=exp.Paren(this=equal))
    return kind(this=column.copy(), expression=first if kind in (exp.LT, exp.GTE) else last)


def _day_bound(value: exp.Literal, pad: str, is_text: bool) -> exp.Literal | None:
    """A date or year, or the mark of one, as the first or last day in eight digits that it may be: `pad` fills what it
    lacks. None if it is no date."""
    found = _MARKED.fullmatch(value.this)
    if found is None and not (value.is_string and _ISO_DATE.fullmatch(value.this)) and not value.is_int:
        return None
    if found is None:
        day = _day_digits(value.this if value.is_string else int(value.this), pad)
    elif value.is_string and found[3] is None:
        return None
    else:
        day = f"{MARK}p{found[1]}i{pad}{'t' if is_text else ''}"
    return exp.Literal(this=day, is_string=is_text)


def _day_digits(value: str | int | float, pad: str) -> str:
    """The first or last day of a date or year in eight digits.

    >>> _day_digits("2018-02", "0"), _day_digits(2018, "9")
    ('20180200', '20189999')
    """
    if not isinstance(value, str):
        year = ceil(value) if pad == "0" else floor(value)
        value = f"{min(max(year, 0), END_OF_YEARS):04}"
    return value.replace("-", "").ljust(8, pad)
