"""Accept one reading statement and nothing else: SQL text of a model -> a normalised query, or ToolError."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import cast

from rapidfuzz import fuzz, process
from sqlglot import Dialect, Token, TokenType, exp, parse
from sqlglot.errors import SqlglotError

from nacre.errors import ToolError

LONGEST = 10_000
# checked before parsing: beyond these the parser, or SQLite, takes longer than any limit
MAX_CONSTRUCTS = {"SELECT": 40, "JOIN": 20, "WITH": 8, "nesting": 40, "tables of a WITH": 16}
MOST_BARE_JOINS = 3
MOST_TABLES = 40

_COUNTED = {TokenType.SELECT, TokenType.JOIN, TokenType.WITH}
_OPENING, _CLOSING = {TokenType.L_PAREN, TokenType.CASE}, {TokenType.R_PAREN, TokenType.END}
_CONDITION = {TokenType.ON, TokenType.USING, TokenType.SELECT, TokenType.WHERE}
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


def guard_sql(text: str, relations: Collection[str], *, limit: int) -> exp.Query:
    """The query as a tree without comments, whose outermost LIMIT is at most `limit`.

    `relations` are the tables and views that it may read besides those of its WITH. Raises ToolError: `syntax` for a
    text that SQLite can't parse, `unknown_name` for other tables, `refused` for anything else. The connection has
    defences as well: this is the outer of several layers.
    """
    if len(text) > LONGEST:
        raise ToolError("refused", f"The query has {len(text)} characters; {LONGEST} are the most.")
    try:
        tokens = Dialect.get_or_raise("sqlite").tokenize(text)
        _check_size(tokens)
        return _checked_query(text, relations, limit)
    except SqlglotError as error:
        raise ToolError("syntax", f"The query can't be parsed: {_first_line(error)}") from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> ToolError:
    return ToolError("too_large", "The query is nested too deep. Write it with fewer levels.")


def _check_size(tokens: Sequence[Token]) -> None:
    """Raises ToolError `too_large` for more joins, SELECTs or levels than a question needs."""
    counted: Counter[str] = Counter(token.text.upper() for token in tokens if token.token_type in _COUNTED)
    counted["tables of a WITH"] = sum(
        before.token_type == TokenType.ALIAS and token.token_type == TokenType.L_PAREN
        for before, token in pairwise(tokens)
    )
    depth = bare = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        counted["nesting"] = max(counted["nesting"], depth)
        # joins without a condition make the parser try every way to nest them
        bare = 0 if token.token_type in _CONDITION else bare + (token.token_type == TokenType.JOIN)
        if bare > MOST_BARE_JOINS:
            raise ToolError("too_large", "Every JOIN needs its ON.")
    for what, most in MAX_CONSTRUCTS.items():
        if counted[what] > most:
            raise ToolError("too_large", f"The query has more than {most} of {what}. Write a shorter one.")


def _checked_query(text: str, relations: Collection[str], limit: int) -> exp.Query:
    statements = [statement for statement in parse(text, read="sqlite") if statement is not None]
    if len(statements) != 1:
        raise ToolError("refused", f"One SELECT is allowed, not {len(statements)} statements.")
    query = statements[0].unnest() if isinstance(statements[0], exp.Subquery) else statements[0]
    if not isinstance(query, exp.Select | exp.SetOperation):
        raise ToolError("refused", f"Only SELECT is allowed, not {query.key.upper()}.")
    tables = list(query.find_all(exp.Table))
    if len(tables) > MOST_TABLES:
        raise ToolError("too_large", f"The query reads {len(tables)} tables; {MOST_TABLES} are the most.")
    known = {name.lower() for name in relations} | {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    for node in query.walk():
        _check(node, known, relations)
    return _with_limit(cast(exp.Query, query), limit)


def sql_text(query: exp.Expr) -> str:
    """The tree as SQLite text on one line; raises ToolError `too_large` if it is too deep to be written."""
    try:
        return query.sql(dialect="sqlite", comments=False)
    except RecursionError:
        raise _too_deep() from None


def _check(node: exp.Expr, known: Collection[str], relations: Collection[str]) -> None:
    if isinstance(node, _REFUSED):
        raise ToolError("refused", f"{node.key.upper()} is not allowed in a query.")
    if isinstance(node, exp.Func):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name in _DENIED or name.startswith(("sqlite_", "pragma_", "fts")):
            raise ToolError("refused", f"The function {name} is not allowed in a query.")
    if isinstance(node, exp.Table):
        _check_table(node, known, relations)


def _check_table(table: exp.Table, known: Collection[str], relations: Collection[str]) -> None:
    if not isinstance(table.this, exp.Identifier):
        raise ToolError("refused", f"{sql_text(table)} is not a table.")
    if table.catalog or table.db.lower() not in ("", "main"):
        raise ToolError("refused", f"Only the graph's own tables can be read, not {sql_text(table)}.")
    if table.name.lower() not in known:
        raise ToolError("unknown_name", f"There is no table {table.name!r}.{_nearest(table.name, relations)}")


def _nearest(name: str, relations: Collection[str]) -> str:
    best = process.extractOne(name, sorted(relations), scorer=fuzz.ratio, score_cutoff=50)
    return f" The nearest is {best[0]!r}." if best else ""


def _with_limit(query: exp.Query, limit: int) -> exp.Query:
    clause = query.args.get("limit")
    number = clause.expression if isinstance(clause, exp.Limit) else None
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit() and int(number.name) <= limit:
        return query
    return query.limit(limit, copy=True)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
