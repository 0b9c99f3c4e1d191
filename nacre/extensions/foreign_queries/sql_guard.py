"""Accept one reading statement and nothing else: SQL text of a model -> a normalised query, or ToolError.

Then repairs: text + error -> a corrected query or a hint for the model; conditions that no row meets + the values of
columns -> a Repair.

Each kind of error has its own repair; unknown kinds are not repaired.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz, process
from sqlglot import Dialect, Token, TokenType, exp, parse, parse_one
from sqlglot.errors import SqlglotError

from nacre.errors import ToolError
from nacre.language.quantities import convert_unit, find_amounts
from nacre.language.tokens import fold
from nacre.records.evidence import Cell
from nacre.records.schema import Predicate, Relation, Schema
from nacre.stores.sqlite.tables import Tables
from tools.sandbox import LONGEST

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
        raise ToolError("syntax", f"The query can't be parsed: {first_line(error)}") from None
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
    clause = query.args.get("limit")
    number = clause.expression if isinstance(clause, exp.Limit) else None
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit() and int(number.name) <= limit:
        return query
    return query.limit(limit, copy=True)


def divide_as_reals(node: exp.Expr) -> exp.Expr:
    """A division with its dividend as a real number, since 7 / 2 is 3 in SQLite and PostgreSQL. `year / 10 * 10` and
    `CAST(x / 10 AS INTEGER)` ask for whole numbers.

    >>> parse_one("SELECT price / 1000, (year / 10) * 10 FROM car").transform(divide_as_reals).sql()
    'SELECT CAST(price AS DOUBLE) / 1000, (year / 10) * 10 FROM car'
    """
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    is_rounded = isinstance(around, exp.Mul) and node.expression in (around.this, around.expression)
    is_whole = isinstance(around, exp.Cast) and around.to.is_type(*exp.DataType.INTEGER_TYPES)
    if isinstance(node, exp.Div) and not is_rounded and not is_whole:
        node.set("this", exp.cast(node.this, exp.DType.DOUBLE))
    return node


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
        if not isinstance(node.this, exp.Identifier):
            raise ToolError("refused", f"{sql_text(node)} is not a table.")
        if node.catalog or node.db.lower() not in ("", "main"):
            raise ToolError("refused", f"Only the graph's own tables can be read, not {sql_text(node)}.")
        if node.name.lower() not in known:
            best = process.extractOne(node.name, sorted(relations), scorer=fuzz.ratio, score_cutoff=50)
            nearest = f" The nearest is {best[0]!r}." if best else ""
            raise ToolError("unknown_name", f"There is no table {node.name!r}.{nearest}")


def first_line(error: Exception) -> str:
    """The first line of an error, else its kind."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def check_measures(query: exp.Expr, schema: Schema) -> None:
    """Raise ToolError `multiplied` for a sum or average of a column whose rows a join repeats: its table is joined to
    another one that may have several rows for one of it, and that the groups do not tell apart. Columns of subqueries
    are not checked."""
    relations = named_relations(schema)
    for select in query.find_all(exp.Select):
        sources = {
            source.alias_or_name.lower(): relations[source.name.lower()]
            for source in row_sources(select)
            if isinstance(source, exp.Table) and source.name.lower() in relations
        }
        if len(sources) < 2 or not select.args.get("joins"):
            continue
        owners: dict[str, list[str]] = {}
        for alias, relation in sources.items():
            for name in relation_columns(relation):
                owners.setdefault(name.lower(), []).append(alias)

        def source_of(column: exp.Column, owners: Mapping[str, list[str]] = owners) -> str:
            known = owners.get(column.name.lower(), [])
            return column.table.lower() or (known[0] if len(known) == 1 else "")

        several: dict[str, set[str]] = {alias: set() for alias in sources}
        near: dict[str, set[str]] = {alias: set() for alias in sources}
        for equal in _equalities(select):
            left, right = equal.this, equal.expression
            for one, other in ((left, right), (right, left)):
                own, far = source_of(one), source_of(other)
                if own != far and own in sources and far in sources:
                    near[own].add(far)
                    if _may_repeat(sources[far], other.name, schema):
                        several[own].add(far)
        group = select.args.get("group")
        terms = [
            select.selects[int(term.name) - 1]
            if isinstance(term, exp.Literal) and term.name.isdigit() and 0 < int(term.name) <= len(select.selects)
            else term
            for term in (group.expressions if group else ())
        ]
        grouped = {source_of(column) for term in terms for column in term.find_all(exp.Column)}
        several = {alias: others - grouped for alias, others in several.items()}
        for measure in select.find_all(exp.Sum, exp.Avg):
            columns = list(measure.find_all(exp.Column))
            if measure.find_ancestor(exp.Select) is not select or not columns:
                continue
            repeated = [_repeating(source_of(column), near, several) for column in columns]
            if all(repeated):
                table, many = sources[source_of(columns[0])].name, sources[repeated[0]].name
                raise ToolError(
                    "multiplied",
                    f"{sql_text(measure)} counts a row of {table} once for each row of {many} that is joined to it. "
                    f"Compute it in a subquery over {table} alone, and test {many} with EXISTS or IN.",
                )


def _equalities(select: exp.Select) -> Iterator[exp.EQ]:
    """The conditions of the joins and of WHERE that make two columns equal."""
    where = select.args.get("where")
    conditions = [join.args.get("on") for join in select.args.get("joins") or ()] + [where.this if where else None]
    for condition in filter(None, conditions):
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            equal = part.unnest()
            if isinstance(equal, exp.EQ) and all(
                isinstance(side, exp.Column) for side in (equal.this, equal.expression)
            ):
                yield equal


def _may_repeat(relation: Relation, name: str, schema: Schema) -> bool:
    """Whether several rows of a relation may have the same value in a column."""
    if relation.name == "entity" or (name.lower() == relation.key.lower() and relation.kind != "junction"):
        return False
    for column in relation.columns:
        predicate = schema.predicate_of[column.predicate]
        if name.lower() == relation.key.lower():
            return predicate.triples > predicate.subjects
        if name.lower() in (column.link.lower(), column.value.lower()):
            return predicate.triples > predicate.objects
    return False


def _repeating(alias: str, near: Mapping[str, set[str]], several: Mapping[str, set[str]]) -> str:
    """A source that may have several rows for one of `alias`, by way of others; "" for none."""
    seen, waiting = {alias}, [alias]
    while waiting:
        own = waiting.pop()
        for far in sorted(near.get(own, set()) - seen):
            if far in several[own]:
                return far
            seen.add(far)
            waiting.append(far)
    return ""


NEAR_SCORE = 80
LISTED = 25
_NO_TABLE = re.compile(r"no (?:such )?table:? '?([^'\s]+?)'?\.(?:\s|$)", re.IGNORECASE)
_NO_COLUMN = re.compile(r"^(?>.*?no such column: )(.+)\.$", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"^(?>.*?ambiguous column name: )(.+)\.$", re.IGNORECASE)


@dataclass(frozen=True)
class Repair:
    """What was wrong, in `hint`; `sql` is the corrected query, None if only the model can correct it."""

    kind: str
    hint: str
    sql: str | None = None


def repair_query(text: str, error: ToolError, schema: Schema) -> Repair:
    """The repair for a query that failed."""
    if (repair := _REPAIRS.get(error.kind)) is not None:
        with suppress(SqlglotError, RecursionError):
            return repair(parse_one(text, read="sqlite"), str(error), schema)
    return Repair(error.kind, f"{error} {_HINTS.get(error.kind, '')}".strip())


def _unknown_name(query: exp.Expr, message: str, schema: Schema) -> Repair:
    if found := _NO_COLUMN.search(message):
        return _unknown_column(query, found[1].replace('"', ""), message, schema)
    if not (found := _NO_TABLE.search(message)):
        return Repair("unknown_name", message)
    name = found[1]
    best = process.extractOne(name.lower(), [*schema.relation_of, "entity"], scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    if best is None:
        tables = ", ".join(sorted(r.name for r in schema.relations if r.kind != "junction")[:LISTED])
        return Repair("unknown_name", f"{message} The tables are: {tables}.")
    for table in query.find_all(exp.Table):
        if table.name.lower() == name.lower():
            # columns may be qualified by the wrong name
            alias = table.alias or name
            table.set("this", exp.to_identifier(best[0], quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return Repair("unknown_name", f"The table {name} is called {best[0]}.", sql_text(query))


def _unknown_column(query: exp.Expr, name: str, message: str, schema: Schema) -> Repair:
    owner, _, column = name.rpartition(".")
    tables = query_relations(query, schema)
    columns_of = {a: relation_columns(r) for a, r in tables.items() if not owner or a == owner.lower()}
    if column.lower() in ("label", "name") and "entity" not in columns_of and columns_of:
        alias = next(iter(columns_of))
        label = parse_one(
            f'(SELECT "e_"."label" FROM entity AS "e_" WHERE "e_"."id" = "{alias}"."{tables[alias].key}")'
        )
        return _replace_column(query, name, label, f"{name} is the label of a thing, kept in entity.")
    elsewhere = [a for a, r in tables.items() if column.lower() in map(str.lower, relation_columns(r))]
    if owner and elsewhere:
        right = exp.column(column, table=elsewhere[0], quoted=True)
        return _replace_column(query, name, right, f"{column} is a column of {elsewhere[0]}.")
    near = {c: a for a, columns in columns_of.items() for c in columns}
    best = process.extractOne(column.lower(), list(near), scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    if best:
        right = exp.column(best[0], table=near[best[0]], quoted=True)
        return _replace_column(query, name, right, f"The column {name} is called {best[0]}.")
    listed = "; ".join(f"{a} has {', '.join(columns[:LISTED])}" for a, columns in columns_of.items())
    others = [r.name for r in schema.relations if column.lower() in map(str.lower, relation_columns(r))]
    elsewhere_hint = f" A column of that name is in {', '.join(others[:3])}: join it." if others else ""
    return Repair("unknown_name", f"{message} {listed}.{elsewhere_hint}")


def _ambiguous(query: exp.Expr, message: str, schema: Schema) -> Repair:
    match = _AMBIGUOUS.search(message)
    if match is None:
        return Repair("ambiguous", message)
    name = match[1]
    owner = next(
        (a for a, r in query_relations(query, schema).items() if name.lower() in map(str.lower, relation_columns(r))),
        None,
    )
    if owner is None:
        return Repair("ambiguous", f"{message} Write its table before it.")
    right = exp.column(name, table=owner, quoted=True)
    return _replace_column(query, name, right, f"{name} is taken from {owner}, which goes first.")


def _type(query: exp.Expr, message: str, schema: Schema) -> Repair:
    known = schema.predicate_of
    types = {
        f"{alias}.{column.value} is {known[column.predicate].datatype}"
        for alias, relation in query_relations(query, schema).items()
        for column in relation.columns
        if column.value and any(c.name.lower() == column.value.lower() for c in query.find_all(exp.Column))
    }
    return Repair("type", f"{message} {'; '.join(sorted(types))}".strip())


def _timeout(query: exp.Expr, message: str, schema: Schema) -> Repair:
    loose = [j.this.alias_or_name for j in query.find_all(exp.Join) if not j.args.get("on") and not j.args.get("using")]
    if loose:
        return Repair("timeout", f"{message} {', '.join(loose)} is joined without a condition: add ON with its key.")
    if any(True for _ in query.find_all(exp.With)):
        return Repair("timeout", f"{message} Leave WITH RECURSIVE out.")
    return Repair("timeout", f"{message} Join by keys, and compare single columns.")


def _replace_column(query: exp.Expr, name: str, right: exp.Expr, hint: str) -> Repair:
    """The query with another expression for every column that is written as `name`."""
    wanted = name.lower()

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        written = f"{node.table}.{node.name}".lower() if node.table else node.name.lower()
        return right.copy() if written == wanted else node

    return Repair("", hint, sql_text(query.transform(swap)))


def query_relations(query: exp.Expr, schema: Schema) -> dict[str, Relation]:
    """The relations of a query by their aliases, in order."""
    relations = named_relations(schema)
    return {
        table.alias_or_name.lower(): relations[table.name.lower()]
        for table in query.find_all(exp.Table)
        if table.name.lower() in relations
    }


def row_sources(select: exp.Select) -> Iterator[exp.Expr]:
    """What FROM and the joins of a SELECT read."""
    # the argument is named from or from_, depending on the release
    for clause in (select.args.get("from_") or select.args.get("from"), *(select.args.get("joins") or ())):
        if clause is not None:
            yield clause.this


def named_relations(schema: Schema) -> dict[str, Relation]:
    """The relations by their names in lower case, with the table of the names of all things."""
    relations = {name.lower(): relation for name, relation in schema.relation_of.items()}
    return {"entity": Relation("entity", "table", "id", ()), **relations}


def relation_columns(relation: Relation) -> list[str]:
    """The names of the columns of a relation, each once."""
    names = [relation.key, *(("iri", "label") if relation.name == "entity" else ())]
    return list(dict.fromkeys([*names, *(name for column in relation.columns for name in column.names)]))


_HINTS = {
    "refused": "Write one SELECT over the tables listed, without anything that writes or sets.",
    "syntax": "Write one SELECT that SQLite can parse, and nothing around it.",
    "too_large": "Select fewer columns, count instead of listing, or add a condition.",
}

_REPAIRS: dict[str, Callable[[exp.Expr, str, Schema], Repair]] = {
    "unknown_name": _unknown_name,
    "ambiguous": _ambiguous,
    "type": _type,
    "timeout": _timeout,
}

VALUES = 3000
SHOWN = 5


def repair_empty(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """The repair of a query without rows; None if every condition can be met: then the empty result is the answer.
    Numbers written as text become numbers in the column's unit, misspelt values become values of the column."""
    try:
        return (
            _repair_units(query, tables)
            or _repair_spelling(query, tables, seconds)
            or _find_excluding_condition(query, tables, seconds)
        )
    except ToolError:
        # the query is used as it is if the check takes too long
        return None


def _repair_units(query: exp.Query, tables: Tables) -> Repair | None:
    """Text as numbers: "weight > '2 t'" matches nothing if weights are numbers of kg."""
    fixed, hints = query.copy(), list[str]()
    for literal, _, predicate, _ in _text_comparisons(fixed, tables):
        amounts = find_amounts(literal.name)
        if predicate is None or predicate.datatype not in ("integer", "real") or len(amounts) != 1:
            continue
        unit = amounts[0].unit
        value = convert_unit(amounts[0].value, unit, predicate.unit) if unit and predicate.unit else amounts[0].value
        if value is not None:
            hints.append(f"{literal.name!r} is {value:.10g}{f' {predicate.unit}' if predicate.unit else ''} here")
            literal.replace(exp.Literal.number(f"{value:.10g}"))
    return Repair("type", f"{'; '.join(hints)}.", sql_text(fixed)) if hints else None


def _repair_spelling(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """Unknown values replaced by the nearest values of their columns; a hint with the values if none is near."""
    fixed, hints, unknown = query.copy(), list[str](), list[str]()
    for literal, column, _, relation in _text_comparisons(fixed, tables):
        text = literal.name.strip("%")
        values = [str(v) for v in _values(relation, column, tables, seconds)]
        if not text or any(_matches(literal.name, value) for value in values):
            continue
        folded = {fold(value): value for value in values}
        best = process.extractOne(fold(text), list(folded), scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
        if best:
            hints.append(f"{text!r} is spelt {folded[best[0]]!r}")
            # the column may be compared in lower case
            lower = literal.find_ancestor(exp.EQ, exp.In, exp.Like, exp.ILike)
            new = folded[best[0]]
            small = lower is not None and lower.find(exp.Lower) is not None
            literal.replace(exp.Literal.string(new.lower() if small else new))
        elif values:
            unknown.append(f"No {column} is {text!r}; there are {', '.join(map(repr, values[:SHOWN]))}.")
    if hints:
        return Repair("value", f"{'; '.join(hints)}.", sql_text(fixed))
    return Repair("value", " ".join(unknown)) if unknown else None


def _find_excluding_condition(query: exp.Query, tables: Tables, seconds: float) -> Repair | None:
    """A hint about the one condition without which there are rows."""
    where = query.args.get("where")
    conditions = list(where.this.flatten()) if where is not None and isinstance(where.this, exp.And) else []
    for condition in conditions if len(conditions) > 1 else ():
        rest = [each.copy() for each in conditions if each is not condition]
        less = query.copy()
        less.set("where", exp.Where(this=exp.and_(*rest)))
        if tables.run(sql_text(less), limit=1, seconds=seconds).rows:
            return Repair("overfiltered", f"No rows; without {sql_text(condition)} there are some.")
    return None


def _text_comparisons(query: exp.Query, tables: Tables) -> Iterator[tuple[exp.Literal, str, Predicate | None, str]]:
    """Each text that a column is compared with: the literal, the column, its predicate and its relation."""
    schema = tables.schema
    relations = query_relations(query, schema)
    for literal in list(query.find_all(exp.Literal)):
        compares = literal.find_ancestor(exp.EQ, exp.In, exp.Like, exp.ILike, exp.GT, exp.GTE, exp.LT, exp.LTE)
        column = compares.find(exp.Column) if compares is not None and literal.is_string else None
        if column is None or compares is None or compares.find(exp.Select):
            continue
        for alias, relation in relations.items():
            if column.table.lower() not in ("", alias):
                continue
            if relation.name == "entity" and column.name.lower() == "label":
                yield literal, "label", None, "entity"
                break
            lower = column.name.lower()
            own = next(
                (c for c in relation.columns if lower in map(str.lower, c.names) and c.link.lower() != lower), None
            )
            if own is not None:
                yield literal, column.name, schema.predicate_of.get(own.predicate), relation.name
                break


def _values(relation: str, column: str, tables: Tables, seconds: float) -> list[Cell]:
    name, of = (exp.to_identifier(text, quoted=True).sql("sqlite") for text in (column, relation))
    query = f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL"
    return [row[0] for row in tables.run(query, limit=VALUES, seconds=seconds).rows]


def _matches(pattern: str, value: str) -> bool:
    """Whether a value matches a LIKE or =, ignoring case."""
    wanted, own = fold(pattern.strip("%")), fold(value)
    return wanted in own if "%" in pattern else wanted == own
