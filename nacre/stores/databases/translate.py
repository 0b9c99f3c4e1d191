"""Write a query over the relations of a schema for the database that holds their rows: SQL -> NativeQuery.

Only the checked tree of the query is written: its tables are those of the database that are attached, its functions
those that are allowed, and each text in it with more than letters, digits and harmless marks is a bound parameter.
What it returns is bounded in the database: a query that makes long texts of short ones is refused, long cells are cut.
A query is translated once for all values of its parameters.
"""

from collections.abc import Mapping, Sequence

from sqlglot import Schema, exp, parse_one
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from nacre.errors import ToolError
from nacre.records.evidence import Cell
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.databases.dialects import ALLOWED_FUNCTIONS, ALLOWED_TYPES, MAX_TYPE_LENGTH
from nacre.stores.databases.key_conditions import lower_keys, simplify_keys
from nacre.stores.databases.portable import make_portable
from nacre.stores.databases.relations import Relations
from nacre.stores.databases.row_keys import KeyedTables
from nacre.stores.databases.server.place import Kind
from nacre.stores.databases.server.types import Columns, kind_of, output_position, selects_of
from nacre.stores.databases.tables_of_query import source_of
from nacre.stores.databases.templates import NativeQuery, QueryTemplate, Shape, marked, param_shape, template_of

_REFUSED = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Parameter, exp.SessionParameter)
LONGEST_QUERY = 200_000
MOST_NODES = 20_000
# texts that are joined in one; characters of a cell, and of a row
MAX_JOINED, MAX_CELL, MAX_ROW = 100, 1_000_000, 10_000_000


def translate(
    sql: str, params: Sequence[Cell], database: AttachedDatabase, relations: Relations, *, limit: int | None = None
) -> NativeQuery:
    """The query for a database, with at most `limit` rows of bounded cells; with neither bound if `limit` is None.
    SQLite, whose functions end a text at its first NUL, bounds cells itself.
    Raises ToolError of kind syntax, unknown_name, refused or too_large."""
    shapes = tuple([param_shape(value, relations.keyed) for value in params])
    key = (sql, shapes, limit is not None and database.dialect != "sqlite")
    template = relations.templates.get(key, lambda: _template(*key, database, relations))
    return template.filled(params, limit)


def _template(
    sql: str, shapes: Sequence[Shape], is_bounded: bool, database: AttachedDatabase, relations: Relations
) -> QueryTemplate:
    tables = relations.keyed
    tree = checked_tree(sql, len(shapes), relations.schema)
    if is_bounded:
        bound_cells(tree, relations.kinds)
    _insert_marks(tree, shapes, tables)
    tree = relations.replace_tables(tree)
    tree = simplify_keys(tree, tables.by_relation)
    tree = lower_keys(tree, tables, database.dialect)
    tree = make_portable(tree, database.dialect)
    return template_of(tree, shapes, tables, database.dialect)


def checked_tree(sql: str, count: int, schema: Schema) -> exp.Expr:
    """The checked tree of a query, each column with its table; its parameters are still placeholders."""
    if len(sql) > LONGEST_QUERY:
        raise ToolError("too_large", f"The query has {len(sql)} characters; at most {LONGEST_QUERY} are allowed.")
    try:
        tree = parse_one(_numbered(sql, count), dialect="sqlite")
    except (SqlglotError, RecursionError) as error:
        raise ToolError("syntax", f"The query can't be parsed: {str(error)[:200]}") from None
    _check(tree)
    try:
        tree = qualify(tree, schema=schema, dialect="sqlite")
        _check_growth(tree)
        return tree
    except (SqlglotError, RecursionError) as error:
        raise ToolError("unknown_name", f"{str(error)[:200]}.") from None


def _numbered(sql: str, count: int) -> str:
    """The query with its question marks numbered in the order of the text, which a tree does not keep."""
    try:
        tokens = [t for t in SQLite().tokenize(sql) if t.token_type.name == "PLACEHOLDER"]
    except (SqlglotError, RecursionError) as error:
        raise ToolError("syntax", f"The query can't be read: {str(error)[:200]}") from None
    if len(tokens) != count:
        raise ToolError("syntax", f"The query has {len(tokens)} parameters, and {count} values are given.")
    parts, at = [], 0
    for number, token in enumerate(tokens):
        parts += [sql[at : token.start], f":nacre_{number}"]
        at = token.end + 1
    return "".join([*parts, sql[at:]])


def _check(tree: exp.Expr) -> None:
    """Raise ToolError if a query is more than one SELECT of allowed functions over plain tables."""
    if not isinstance(tree, exp.Query):
        raise ToolError("refused", "Only one SELECT statement is allowed.")
    if not tree.selects:
        raise ToolError("syntax", "The query selects nothing.")
    for number, node in enumerate(tree.walk()):
        if number > MOST_NODES:
            raise ToolError("too_large", "The query has too many parts.")
        if isinstance(node, exp.Func) and not isinstance(node, ALLOWED_FUNCTIONS):
            raise ToolError("refused", f"The function {node.name or node.sql_name()} is not allowed.")
        if isinstance(node, exp.Cast) and not isinstance(node.to, exp.DataType):
            raise ToolError("refused", f"The type {str(node.to)[:60]} is not allowed.")
        if isinstance(node, exp.DataType):
            _check_type(node)
        if isinstance(node, exp.Table) and (not isinstance(node.this, exp.Identifier) or node.db or node.catalog):
            raise ToolError("refused", "Only tables of the graph can be read.")
        if isinstance(node, _REFUSED) and not isinstance(node, exp.Query):
            raise ToolError("refused", "Only reading with SELECT is allowed.")
        if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES):
            # others fill a text with blanks, up to its length
            node.set("to", exp.DataType.build("TEXT"))


def _check_growth(tree: exp.Expr) -> None:
    """Raise ToolError `too_large` if a qualified query is too long with the expressions of its parts in place of their
    names. Databases write it so before they run it, and a text of a part that joins texts grows with each level."""
    sizes: dict[int, int] = {}

    def size(node: exp.Expr) -> int:
        if id(node) not in sizes:
            # what refers to itself could grow without end
            sizes[id(node)] = MAX_JOINED
            sizes[id(node)] = sum(max(1, sum(map(size, origins(column)))) for column in node.find_all(exp.Column))
        return sizes[id(node)]

    def origins(column: exp.Column) -> list[exp.Expr]:
        source = source_of(column)
        at = output_position(source, column.name)
        return [] if at < 0 else [each.selects[at] for each in selects_of(source) if at < len(each.selects)]

    if size(tree) > MOST_NODES:
        raise ToolError("too_large", "The query has too many parts.")
    for joined in tree.find_all(exp.DPipe, exp.Concat):
        if not isinstance(joined.parent, exp.DPipe) and size(joined) > MAX_JOINED:
            raise ToolError("too_large", f"The query joins more than {MAX_JOINED} texts in one. Select each of them.")


def bound_cells(tree: exp.Expr, kinds: Mapping[str, Mapping[str, Kind]]) -> None:
    """Cut the texts that a qualified query returns; `kinds` are those of the columns of its tables."""
    columns = Columns(kinds)
    for select in selects_of(tree):
        length = exp.Literal.number(min(MAX_CELL, MAX_ROW // len(select.selects)))
        order = select.args.get("order") if select.args.get("distinct") else None
        for shown in select.selects:
            value = shown.unalias()
            kind = kind_of(value, columns)
            if kind == "text" or (kind is None and value.find(exp.Column, exp.Query)):
                # distinct rows are ordered by what is shown
                terms = [term for term in order.find_all(type(value)) if term == value] if order else []
                text = value.copy() if kind else exp.cast(value.copy(), exp.DType.TEXT)
                cut = exp.Substring(this=text, start=exp.Literal.number(1), length=length)
                for each in (value, *terms):
                    each.replace(cut.copy())


def _check_type(node: exp.DataType) -> None:
    """Raise ToolError for a type that is not allowed, which is named, or one with more than a plain length."""
    lengths = [each.name for each in node.expressions]
    if node.this not in ALLOWED_TYPES or node.args.get("kind") or node.args.get("nested"):
        raise ToolError("refused", f"The type {node.sql()[:60]} is not allowed.")
    if any(not length.isdigit() or int(length) > MAX_TYPE_LENGTH for length in lengths):
        raise ToolError("refused", f"The type {node.sql()[:60]} has more than a length up to {MAX_TYPE_LENGTH}.")


def _insert_marks(tree: exp.Expr, shapes: Sequence[Shape], tables: KeyedTables) -> None:
    for node in list(tree.find_all(exp.Placeholder)):
        number = str(node.name).removeprefix("nacre_")
        if not number.isdigit() or int(number) >= len(shapes):
            raise ToolError("refused", "Named parameters are not allowed.")
        node.replace(marked(int(number), shapes[int(number)], tables))
