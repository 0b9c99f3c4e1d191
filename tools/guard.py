"""Let one reading statement through and nothing else: SQL text of a model -> a normalised query, or ToolError."""

from collections.abc import Collection
from typing import cast

from rapidfuzz import fuzz, process
from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from records.errors import ToolError

LONGEST = 10_000

_REFUSED: tuple[type[exp.Expr], ...] = (
    exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable, exp.Into,
    exp.Command, exp.Pragma, exp.Attach, exp.Detach, exp.Transaction, exp.Commit, exp.Rollback, exp.Set, exp.Use,
    exp.Lock, exp.Analyze, exp.Copy, exp.LoadData, exp.Show, exp.Describe, exp.Kill, exp.Grant,
    exp.Placeholder, exp.Parameter, exp.SessionParameter,
)  # fmt: skip
_DENIED = frozenset({
    "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "eval", "exec", "shell",
    "randomblob", "zeroblob", "printf", "format", "json_each", "json_tree", "generate_series", "dbstat",
})  # fmt: skip


def guard(text: str, relations: Collection[str], *, limit: int) -> exp.Query:
    """The query as a tree whose outermost LIMIT is at most `limit`, comments gone.

    `relations` are the tables and views that may be read; names of its own WITH may be too. Raises ToolError: `syntax`
    for what SQLite could not parse, `unknown_name` for other tables, `refused` for all else. The connection it runs on
    has its own defences: this is the outer of several layers.
    """
    if len(text) > LONGEST:
        raise ToolError("refused", f"The query has {len(text)} characters; {LONGEST} are the most.")
    try:
        statements = [statement for statement in parse(text, read="sqlite") if statement is not None]
    except (SqlglotError, RecursionError) as error:
        raise ToolError("syntax", f"The query can't be parsed: {_first_line(error)}") from None
    if len(statements) != 1:
        raise ToolError("refused", f"One SELECT is allowed, not {len(statements)} statements.")
    query = statements[0].unnest() if isinstance(statements[0], exp.Subquery) else statements[0]
    if not isinstance(query, exp.Select | exp.SetOperation):
        raise ToolError("refused", f"Only SELECT is allowed, not {query.key.upper()}.")
    for node in query.walk():
        _check(node, query, relations)
    return _limited(cast(exp.Query, query), limit)


def sql_of(query: exp.Expr) -> str:
    """The tree as SQLite text on one line."""
    return query.sql(dialect="sqlite", comments=False)


def _check(node: exp.Expr, query: exp.Expr, relations: Collection[str]) -> None:
    if isinstance(node, _REFUSED):
        raise ToolError("refused", f"{node.key.upper()} is not allowed in a query.")
    if isinstance(node, exp.Func):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name in _DENIED or name.startswith(("sqlite_", "pragma_", "fts")):
            raise ToolError("refused", f"The function {name} is not allowed in a query.")
    if isinstance(node, exp.Table):
        _check_table(node, query, relations)


def _check_table(table: exp.Table, query: exp.Expr, relations: Collection[str]) -> None:
    if not isinstance(table.this, exp.Identifier):
        raise ToolError("refused", f"{sql_of(table)} is not a table.")
    if table.catalog or table.db.lower() not in ("", "main"):
        raise ToolError("refused", f"Only the graph's own tables can be read, not {sql_of(table)}.")
    known = {name.lower() for name in relations} | {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    if table.name.lower() not in known:
        raise ToolError("unknown_name", f"There is no table {table.name!r}.{_nearest(table.name, relations)}")


def _nearest(name: str, relations: Collection[str]) -> str:
    best = process.extractOne(name, sorted(relations), scorer=fuzz.ratio, score_cutoff=50)
    return f" The nearest is {best[0]!r}." if best else ""


def _limited(query: exp.Query, limit: int) -> exp.Query:
    given = query.args.get("limit")
    number = given.expression if isinstance(given, exp.Limit) else None
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit() and int(number.name) <= limit:
        return query
    return query.limit(limit, copy=True)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
