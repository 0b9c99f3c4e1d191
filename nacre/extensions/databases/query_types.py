"""The sources of a query and the kinds of values that its expressions give, as far as they are known."""

from collections.abc import Container, Iterator, Mapping
from typing import Literal

from sqlglot import exp

from nacre.errors import ToolError
from nacre.extensions.databases.attached import Kind


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

_TRUTHS = (exp.Predicate, exp.And, exp.Or, exp.Not, exp.Boolean)

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
    if isinstance(node, _TRUTHS):
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


def kind_of_output(query: exp.Expr | None, at: int, columns: Columns, depth: int = 0) -> ValueKind | None:
    """The kind of one column of a query: that of the first SELECT where it is known."""
    found: ValueKind | None = None
    for select in selects_of(query):
        if at < len(select.selects):
            kind = kind_of(select.selects[at], columns, depth + 1)
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
    at = output_position(source, column.name)
    return kind_of_output(source, at, columns, depth + 1) if at >= 0 else None


def _kind_of_cast(node: exp.Expr) -> ValueKind | None:
    to: exp.DataType = node.args["to"]
    if to.is_type(*exp.DataType.TEXT_TYPES):
        return "text"
    if to.is_type(*exp.DataType.INTEGER_TYPES):
        return "integer"
    return "real" if to.is_type(*exp.DataType.NUMERIC_TYPES) else None
