"""What differs between SQL dialects: one function for each, from an expression to an expression.

What SQLite takes and other databases do not is written for a dialect: tree -> tree.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Literal

from sqlglot import exp, parse_one

from nacre.errors import ToolError
from nacre.extensions.databases.attached import Kind, Storage

# functions that a query may call, by their classes in sqlglot; all others are refused in every dialect
ALLOWED_FUNCTIONS = (
    exp.Abs, exp.And, exp.Avg, exp.Case, exp.Cast, exp.Coalesce, exp.Collate, exp.Concat,
    exp.Count, exp.DenseRank, exp.Exists,
    exp.If, exp.Length, exp.Lower, exp.Max, exp.Min, exp.Nullif, exp.Or, exp.Rank, exp.Round, exp.RowNumber,
    exp.StrPosition, exp.Substring, exp.Sum, exp.Trim, exp.TryCast, exp.Upper,
)  # fmt: skip

# types that a query may cast to: others name what else a server has, such as the tables behind numbers (regclass)
ALLOWED_TYPES = frozenset({
    *exp.DataType.INTEGER_TYPES, *exp.DataType.REAL_TYPES, *exp.DataType.TEXT_TYPES, exp.DType.BOOLEAN,
    exp.DType.DATE, exp.DType.DATETIME, exp.DType.TIME, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ,
}) - {exp.DType.NAME}  # fmt: skip

# digits of a type of numbers (given)
MAX_TYPE_LENGTH = 1_000

# where it is noted that an expression is a column of integers
INTEGER = "nacre_integer"

# where it is noted that an expression is the ISO text of a column of days in eight digits, with that column
DAY = "nacre_day"

_TEXT, _CHAR, _DOUBLE = exp.DType.TEXT, exp.DType.CHAR, exp.DType.DOUBLE

# without backslashes, which MySQL reads as escapes, and with no more digits than a floating point number may have
_NUMBER = "^ *[-+]?[0-9]{1,255}([.][0-9]{1,255})? *$"

# the largest and the smallest that a number of 64 bits can be, and that every database compares with any number
LARGEST, SMALLEST = "1.79e308", "2.3e-308"


def text_of(value: exp.Expr, dialect: str) -> exp.Expr:
    """A value as text."""
    return exp.cast(value, _CHAR if dialect == "mysql" else _TEXT)


def concatenate(parts: list[exp.Expr]) -> exp.Expr:
    """Texts one after the other; NULL if one of them is NULL."""
    joined = parts[0]
    for part in parts[1:]:
        joined = exp.DPipe(this=joined, expression=part, safe=False)
    return exp.Paren(this=joined) if len(parts) > 1 else joined


def column_value(column: exp.Expr, storage: Storage, dialect: str, unit: str = "") -> exp.Expr:
    """A column as the cells of an ingested graph hold it: dates as ISO text, booleans as 1 and 0, decimals as floating
    point numbers. Texts with more than a number and its `unit` are NULL in a column of numbers."""
    if storage == "integer":
        column.meta[INTEGER] = True
        return column
    if storage == "single" and dialect == "sqlite":
        return column
    if storage == "decimal":
        size = exp.Abs(this=column)
        small = exp.If(this=exp.LT(this=size, expression=exp.Literal.number(SMALLEST)), true=exp.Literal.number(0))
        number = exp.LTE(this=size.copy(), expression=exp.Literal.number(LARGEST))
        # NaN is larger than all numbers
        return exp.Case(ifs=[small, exp.If(this=number, true=exp.cast(column.copy(), _DOUBLE))])
    if storage == "real":
        return exp.cast(column, _DOUBLE) if dialect != "sqlite" else column
    if storage == "single" and dialect != "sqlite":
        # a float of 32 bits has other digits as one of 64 bits, but the same text
        return exp.cast(text_of(column, dialect), _DOUBLE)
    if storage == "money":
        return exp.cast(exp.cast(column, exp.DType.DECIMAL), _DOUBLE)
    if storage == "boolean":
        return column if dialect == "sqlite" else exp.cast(column, exp.DType.INT)
    if storage == "list":
        return exp.Anonymous(this="ARRAY_TO_STRING", expressions=[column, exp.Literal.string(", ")])
    if storage == "number_text":
        return _number_in_text(_without_unit(column, unit, dialect) if unit else column, dialect)
    if storage == "datetime" and dialect == "sqlite":
        form = exp.Literal.string("%Y-%m-%dT%H:%M:%S")
        written = exp.Anonymous(this="STRFTIME", expressions=[form, column])
        return exp.Coalesce(this=written, expressions=[text_of(column.copy(), dialect)])
    if storage in ("day_number", "day_text"):
        return _iso_day(column, storage, dialect)
    if storage in ("date", "datetime", "time") and dialect != "sqlite":
        return _iso_text(column, storage, dialect)
    if dialect == "mysql":
        # its usual collations take upper and lower case for equal
        return exp.Collate(this=exp.cast(column, _CHAR), expression=exp.var("utf8mb4_bin"))
    return column if storage == "text" else text_of(column, dialect)


def _without_unit(column: exp.Expr, unit: str, dialect: str) -> exp.Expr:
    """A text without the unit that it ends or begins with."""
    size, text = len(unit), exp.Trim(this=text_of(column, dialect))
    form = parse_one(
        f"CASE WHEN SUBSTR(:text, LENGTH(:text) - {size} + 1) = :unit THEN SUBSTR(:text, 1, LENGTH(:text) - {size}) "
        f"WHEN SUBSTR(:text, 1, {size}) = :unit THEN SUBSTR(:text, {size} + 1) ELSE :text END",
        dialect="sqlite",
    )
    return exp.replace_placeholders(form, text=text, unit=exp.Literal.string(unit)).copy()


def _number_in_text(column: exp.Expr, dialect: str) -> exp.Expr:
    # it may be a type of the database that only its texts show to be numbers
    written = column if dialect == "sqlite" else text_of(column, dialect)
    number = exp.cast(written.copy(), exp.DType.FLOAT if dialect == "sqlite" else _DOUBLE)
    if dialect == "duckdb":
        return exp.TryCast(this=written, to=exp.DataType.build("DOUBLE"))
    if dialect == "sqlite":
        # SQLite casts the number that a text begins with
        trimmed = exp.Trim(this=column)
        # with other characters, a sign after a digit, two points, or nothing
        forms = map(exp.Literal.string, ("*[^-+.0-9]*", "*[.0-9][-+]*", "*.*.*", ""))
        others = [exp.Anonymous(this="GLOB", expressions=[form, trimmed.copy()]) for form in forms]
        return exp.Case(ifs=[exp.If(this=exp.not_(exp.or_(*others)), true=number)])
    pattern = exp.Literal.string(_NUMBER)
    if dialect == "mysql":
        # MariaDB has no REGEXP_LIKE
        place = exp.Anonymous(this="REGEXP_INSTR", expressions=[written, pattern])
        return exp.Case(ifs=[exp.If(this=exp.GT(this=place, expression=exp.Literal.number(0)), true=number)])
    return exp.Case(ifs=[exp.If(this=exp.RegexpLike(this=written, expression=pattern), true=number)])


def _iso_day(column: exp.Expr, storage: Storage, dialect: str) -> exp.Expr:
    """A day in eight digits as ISO text. Comparisons with it become comparisons of the column, which indexes serve."""
    digits = text_of(column, dialect) if storage == "day_number" else column
    parts = [
        exp.Substring(this=digits.copy(), start=exp.Literal.number(start), length=exp.Literal.number(size))
        for start, size in ((1, 4), (5, 2), (7, 2))
    ]
    dash = exp.Literal.string("-")
    written = concatenate([parts[0], dash, parts[1], dash.copy(), parts[2]])
    written.meta[DAY] = column, storage == "day_text"
    return written


def _iso_text(column: exp.Expr, storage: Storage, dialect: str) -> exp.Expr:
    if dialect == "mysql":
        form = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%i:%s", "time": "%H:%i:%s"}[storage]
        return exp.Anonymous(this="DATE_FORMAT", expressions=[column, exp.Literal.string(form)])
    if dialect == "duckdb":
        form = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S", "time": ""}[storage]
        if not form:
            return text_of(column, dialect)
        return exp.Anonymous(this="STRFTIME", expressions=[column, exp.Literal.string(form)])
    form = {"date": "YYYY-MM-DD", "datetime": 'YYYY-MM-DD"T"HH24:MI:SS', "time": "HH24:MI:SS"}[storage]
    return exp.Anonymous(this="TO_CHAR", expressions=[column, exp.Literal.string(form)])


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like)

_NUMERIC = (exp.Sum, exp.Avg, exp.Min, exp.Max)

_CONDITIONS = (exp.Predicate, exp.Escape, exp.Connector, exp.Not, exp.Boolean, exp.Null)

_TRUTHS = (exp.And, exp.Or, exp.Not, exp.Where, exp.Having, exp.If)


def make_portable(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree for a dialect. The result of a comparison may be a boolean there instead of 1 or 0."""
    tree = tree.transform(_without_case, copy=False)
    if dialect != "sqlite":
        tree = tree.transform(lambda node: _portable(node, dialect), copy=False)
    # in SQLite as well, so that the rows are the same everywhere
    return tree.transform(_one_value_per_group, copy=False)


def _without_case(node: exp.Expr) -> exp.Expr:
    """COLLATE NOCASE as lower() of both sides, which all databases have."""
    if isinstance(node, _COMPARISONS) and any(_is_nocase(side) for side in (node.this, node.expression)):
        node.set("this", exp.Lower(this=_bare(node.this)))
        node.set("expression", exp.Lower(this=_bare(node.expression)))
    elif isinstance(node, exp.In) and _is_nocase(node.this):
        node.set("this", exp.Lower(this=_bare(node.this)))
        node.set("expressions", [exp.Lower(this=each) for each in node.expressions])
    return node


def _is_nocase(node: exp.Expr) -> bool:
    return isinstance(node, exp.Collate) and node.expression.name.upper() == "NOCASE"


def _bare(node: exp.Expr) -> exp.Expr:
    inner: exp.Expr = node.this if _is_nocase(node) else node
    return inner


def _portable(node: exp.Expr, dialect: str) -> exp.Expr:
    # what CASE compares is no condition
    if isinstance(node, _TRUTHS) and not (isinstance(node.parent, exp.Case) and node.parent.this):
        for name in ("this", "expression"):
            side = node.args.get(name)
            if isinstance(side, exp.Expr) and not _is_condition(side):
                node.set(name, exp.NEQ(this=side, expression=exp.Literal.number(0)))
    elif isinstance(node, exp.Join):
        on = node.args.get("on")
        if on is not None and node.kind == "CROSS":
            node.set("kind", None)
        if isinstance(on, exp.Literal):
            node.set("on", exp.EQ(this=exp.Literal.number(1), expression=on))
    elif isinstance(node, exp.Filter):
        return _conditional(node)
    elif isinstance(node, exp.Substring) and dialect == "postgres":
        start = node.args.get("start")
        if isinstance(start, exp.Neg) and node.args.get("length") is None:
            # a negative start counts from the beginning in PostgreSQL
            return exp.Anonymous(this="RIGHT", expressions=[node.this, start.this])
    elif isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null | exp.Boolean):
        # IS compares values in SQLite alone
        return exp.NullSafeEQ(this=node.this, expression=node.expression)
    elif isinstance(node, exp.Like):
        # SQLite's LIKE takes upper and lower case for equal
        node.set("this", exp.Lower(this=node.this))
        node.set("expression", exp.Lower(this=node.expression))
    elif isinstance(node, _NUMERIC) and _is_condition(node.this):
        # a condition as 1, 0 or NULL
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        not_it = exp.Not(this=exp.Paren(this=node.this.copy()))
        node.set("this", exp.Case(ifs=[exp.If(this=node.this, true=one), exp.If(this=not_it, true=zero)]))
    elif isinstance(node, exp.Round) and dialect == "postgres":
        node.set("this", exp.cast(node.this, exp.DType.DECIMAL))
        return exp.cast(node, exp.DType.DOUBLE, copy=False)
    elif isinstance(node, exp.Avg) and dialect != "duckdb":
        # an average of integers has few digits in MySQL
        node.set("this", _as_double(node.this, dialect))
    elif isinstance(node, exp.Div):
        return _division(node)
    elif isinstance(node, exp.DPipe) and dialect == "mysql":
        return exp.Anonymous(this="CONCAT", expressions=list(node.flatten()))
    elif isinstance(node, exp.Cast) and dialect == "duckdb" and not isinstance(node, exp.TryCast):
        return exp.TryCast(this=node.this, to=node.args["to"])
    return node


def _is_condition(node: exp.Expr) -> bool:
    return isinstance(node.unnest() if isinstance(node, exp.Paren) else node, _CONDITIONS)


def _division(node: exp.Div) -> exp.Expr:
    """Integers give an integer, and division by zero gives NULL."""
    if _is_integer(node.this) and _is_integer(node.expression):
        divisor = exp.Nullif(this=node.expression, expression=exp.Literal.number(0))
        return exp.IntDiv(this=node.this, expression=divisor)
    node.set("typed", True)
    node.set("safe", True)
    return node


def _is_integer(node: exp.Expr) -> bool:
    if isinstance(node, exp.Paren | exp.Neg):
        return _is_integer(node.this)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod):
        return _is_integer(node.this) and _is_integer(node.expression)
    if isinstance(node, exp.Literal):
        return not node.is_string and str(node.this).isdigit()
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type(*exp.DataType.INTEGER_TYPES))
    return isinstance(node, exp.Count | exp.Length) or bool(node.meta.get(INTEGER))


def _as_double(value: exp.Expr, dialect: str) -> exp.Expr:
    if isinstance(value, exp.Distinct):
        return exp.Distinct(expressions=[_as_double(each, dialect) for each in value.expressions])
    return exp.cast(value, exp.DType.DOUBLE)


def _conditional(node: exp.Filter) -> exp.Expr:
    """`sum(x) FILTER (WHERE c)` as `sum(CASE WHEN c THEN x END)`, since MariaDB has no FILTER."""
    function: exp.Expr = node.this
    condition = node.expression.this
    value = exp.Literal.number(1) if isinstance(function.this, exp.Star) else function.this
    function.set("this", exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return function


def _one_value_per_group(node: exp.Expr) -> exp.Expr:
    """A SELECT with GROUP BY, with `min(column)` for each column that it shows, orders or filters by and does not group
    by; any other node as it is.

    SQLite takes the value of any row; other databases refuse such a query. Plans show only columns that have one value
    in each group, so the smallest one is the same.
    """
    if not isinstance(node, exp.Select):
        return node
    group = node.args.get("group")
    if group is None:
        return node
    grouped = {each.sql() for each in group.expressions}
    having, order = node.args.get("having"), node.args.get("order")
    for shown in [*node.selects, *([having.this] if having else []), *(order.expressions if order else [])]:
        _take_one(shown, grouped)
    return node


def _take_one(node: exp.Expr, grouped: set[str]) -> None:
    if isinstance(node, (exp.AggFunc, exp.Window, exp.Query)) or node.sql() in grouped:
        return
    if isinstance(node, exp.Column):
        # a name without a table is one of the SELECT itself
        if node.table:
            node.replace(exp.Min(this=node.copy()))
        return
    for each in list(node.iter_expressions()):
        _take_one(each, grouped)


def refuse_other_tables(tree: exp.Expr, known: Container[str]) -> None:
    """Raise ToolError `unknown_name` for a table that is not of the graph; the database may have one of this name."""
    for table in tree.find_all(exp.Table):
        if table.name not in known and cte_of(table) is None:
            raise ToolError("unknown_name", f"No such table: {table.name[:80]}.")


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The CTE that a table names: one that a query around it defines before, or the recursive one that it is in."""
    node: exp.Expr | None = table
    inside: exp.Expr | None = None
    while node is not None:
        if isinstance(node, exp.CTE):
            inside = node
        clause = node.args.get("with_") or node.args.get("with")
        for each in clause.expressions if clause is not None else ():
            # in a CTE that is not recursive, its own name and those after it are tables of the database
            if each is inside and not (clause and clause.args.get("recursive")):
                break
            if each.alias == table.name:
                found: exp.CTE = each
                return found
        node = node.parent
    return None


def own_sources(select: exp.Select) -> Iterator[exp.Expr]:
    """The tables and subqueries that a SELECT reads."""
    clause = select.args.get("from_") or select.args.get("from")
    for part in ([clause] if clause else []) + list(select.args.get("joins") or []):
        source = part.this
        while isinstance(source, exp.Paren):
            source = source.this
        yield source


def source_of(column: exp.Column) -> exp.Expr | None:
    """The table, subquery or CTE that a column belongs to: of the nearest SELECT around it that has this alias."""
    select = column.find_ancestor(exp.Select)
    while select is not None:
        for source in own_sources(select):
            if source.alias_or_name == column.table:
                return cte_of(source) or source if isinstance(source, exp.Table) else source
        select = select.find_ancestor(exp.Select)
    return None


# types of the server by kind
TYPES: Mapping[Kind, str] = {"integer": "BIGINT", "real": "DOUBLE PRECISION", "number": "NUMERIC", "text": "TEXT"}

# `truth` is what comparisons give, `null` is NULL in every row
ValueKind = Literal["integer", "real", "number", "text", "truth", "null"]

NUMBERS = frozenset(("integer", "real", "number"))

# expressions whose kind does not depend on their parts
_TEXTS = (exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.DPipe, exp.Concat)

_WHOLE = (exp.Count, exp.Length, exp.StrPosition, exp.RowNumber, exp.Rank, exp.DenseRank)

_TRUTH_VALUES = (exp.Predicate, exp.And, exp.Or, exp.Not, exp.Boolean)

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)

# expressions with the kind of one of their parts
_SAME = (exp.Paren, exp.Alias, exp.Neg, exp.Abs, exp.Min, exp.Max, exp.Distinct, exp.Collate, exp.Nullif, exp.Filter)

_MOST_STEPS = 40

# a query of a plan takes some hundred look-ups; nested ones could take any number
_MOST_LOOK_UPS = 300_000


class Columns:
    """The kinds of the columns of all tables, for one query. It counts the look-ups, which the query bounds else
    nowhere."""

    def __init__(self, by_table: Mapping[str, Mapping[str, Kind]]) -> None:
        self.by_table = by_table
        self._left = _MOST_LOOK_UPS

    def count(self) -> None:
        """Count a look-up; raises ToolError `too_large` after too many."""
        self._left -= 1
        if self._left < 0:
            raise ToolError("too_large", "The query has too many parts.")


def kind_of(node: exp.Expr | None, columns: Columns, depth: int = 0) -> ValueKind | None:
    """The kind of an expression; None if it is not known. `columns` are those of the tables."""
    if node is None or depth > _MOST_STEPS:
        return None
    columns.count()
    if isinstance(node, exp.Null):
        return "null"
    if isinstance(node, exp.Literal):
        return "text" if node.is_string else "integer" if str(node.this).isdigit() else "real"
    if isinstance(node, _TEXTS):
        return "text"
    if isinstance(node, _WHOLE):
        return "integer"
    if isinstance(node, _TRUTH_VALUES):
        return "truth"
    if isinstance(node, exp.Column):
        return _kind_of_column(node, columns, depth)
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return _kind_of_cast(node)
    if isinstance(node, exp.Window):
        return kind_of(node.this, columns, depth + 1)
    if isinstance(node, (exp.Sum, exp.Avg, exp.Round)):
        return "real" if isinstance(node, exp.Avg) else "number"
    return _kind_of_parts(node, columns, depth)


def _kind_of_parts(node: exp.Expr, columns: Columns, depth: int) -> ValueKind | None:
    if isinstance(node, _ARITHMETIC):
        parts = {kind_of(part, columns, depth + 1) for part in (node.this, node.expression)}
        return "integer" if parts == {"integer"} else "number"
    if isinstance(node, exp.Subquery):
        return kind_of_output(node.this, 0, columns, depth + 1)
    if isinstance(node, exp.Distinct):
        return kind_of(node.expressions[0], columns, depth + 1) if node.expressions else None
    if isinstance(node, _SAME):
        return kind_of(node.this, columns, depth + 1)
    if isinstance(node, (exp.Coalesce, exp.Case, exp.If)):
        kinds = (kind_of(part, columns, depth + 1) for part in choices(node))
        return next((kind for kind in kinds if kind not in (None, "null")), None)
    return None


def choices(node: exp.Expr) -> list[exp.Expr]:
    """The expressions that COALESCE, CASE or IF chooses from."""
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    cases = [node] if isinstance(node, exp.If) else node.args["ifs"]
    default = node.args.get("false" if isinstance(node, exp.If) else "default")
    return [each.args["true"] for each in cases] + ([default] if default is not None else [])


def selects_of(query: exp.Expr | None) -> Iterator[exp.Select]:
    """The SELECT of a query, or those that a set operation combines."""
    while isinstance(query, (exp.Subquery, exp.Paren, exp.CTE)):
        query = query.this
    if isinstance(query, exp.SetOperation):
        yield from selects_of(query.this)
        yield from selects_of(query.expression)
    elif isinstance(query, exp.Select):
        yield query


def outputs(query: exp.Expr | None, at: int) -> list[exp.Expr]:
    """The expressions of one column of a query, of each SELECT that it combines; none for a position below 0."""
    return [each.selects[at] for each in selects_of(query) if 0 <= at < len(each.selects)]


def kind_of_output(query: exp.Expr | None, at: int, columns: Columns, depth: int = 0) -> ValueKind | None:
    """The kind of one column of a query: that of the first SELECT where it is known."""
    found: ValueKind | None = None
    for shown in outputs(query, at):
        kind = kind_of(shown, columns, depth + 1)
        if kind not in (None, "null"):
            return kind
        found = found or kind
    return found


def output_position(query: exp.Expr | None, name: str) -> int:
    """The position of a column in a query by its name; -1 for none."""
    if isinstance(query, exp.CTE) and query.args["alias"].args.get("columns"):
        names = [each.name for each in query.args["alias"].args["columns"]]
    else:
        names = [each.alias_or_name for each in next(selects_of(query), exp.Select()).selects]
    return names.index(name) if name in names else -1


def _kind_of_column(column: exp.Column, columns: Columns, depth: int) -> ValueKind | None:
    source = source_of(column)
    if isinstance(source, exp.Table):
        return columns.by_table.get(source.name, {}).get(column.name)
    return kind_of_output(source, output_position(source, column.name), columns, depth + 1)


def _kind_of_cast(node: exp.Expr) -> ValueKind | None:
    to: exp.DataType = node.args["to"]
    if to.is_type(*exp.DataType.TEXT_TYPES):
        return "text"
    if to.is_type(*exp.DataType.INTEGER_TYPES):
        return "integer"
    return "real" if to.is_type(*exp.DataType.NUMERIC_TYPES) else None
