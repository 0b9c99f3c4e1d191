"""Where the values of a SELECT come from: a guarded query + Schema -> an Origin of each column that it shows."""

import re
from collections.abc import Iterator

from sqlglot import exp

from nacre.extensions.foreign_queries.origins import NOTHING, WHOLE, Origin, check_headings, check_origins, unfounded
from nacre.extensions.foreign_queries.sql_guard import relation_columns, row_sources
from nacre.records.schema import Schema

# functions that give their first argument in another form, a part of it, or a value that it decides
_SAME = (exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.Collate, exp.Round, exp.Abs, exp.Ceil, exp.Floor,
         exp.Lower, exp.Upper, exp.Nullif, exp.Order)  # fmt: skip

_PIECES = (exp.Substring, exp.Left, exp.Right)

_INTEGERS = tuple(exp.DataType.INTEGER_TYPES)

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "/",
    exp.Mod: "%",
}

_COUNTS = (exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
_AT = (exp.Lag, exp.Lead)
_NUMERIC = (exp.Sqrt, exp.Ln)
_DATES = frozenset({"date", "datetime", "time", "julianday", "unixepoch", "strftime"})
_DATED = (exp.Date, exp.TimeToStr, exp.TsOrDsToTimestamp, exp.TsOrDsToDate, exp.Year, exp.Month, exp.Day)
_NOW = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)

# what functions of dates take besides a date: codes of its parts, and steps from it
_DATE_FORM = re.compile(r"(?:%[A-Za-z]|[^\w%]|[TZ])+")

_DATE_STEP = re.compile(r"(?:[+-]?(\d+(?:\.\d+)?) )?[a-z ]+")

Outputs = list[tuple[str, Origin]]


def check_sql_values(query: exp.Query, schema: Schema, numbers: frozenset[float]) -> None:
    """Raise ToolError if a value or a heading of a query rests on neither stored values nor these numbers."""
    check_origins(sql_origins(query, schema), numbers)
    used = [column.name for column in query.find_all(exp.Column)]
    given = {each.alias.lower() for each in query.find_all(exp.Alias)}
    check_headings(query.named_selects, [name for name in used if name.lower() not in given], numbers)


def sql_origins(query: exp.Query, schema: Schema) -> tuple[Origin, ...]:
    """An Origin of each column that a query shows. Raises ToolError `refused` for a query that reads no table."""
    if all(_query_of(table) is not None for table in query.find_all(exp.Table)):
        raise unfounded("A query that reads no table")
    return tuple(origin for _, origin in _Lineage(schema).outputs(query))


class _Lineage:
    """Follows columns to their tables. Each query is read once."""

    def __init__(self, schema: Schema) -> None:
        self._relations = {
            name.lower(): {"rowid", *map(str.lower, relation_columns(relation))}
            for name, relation in schema.relation_of.items()
        }
        self._relations["entity"] = {"id", "iri", "label"}
        texts = {each.iri for each in schema.predicates if each.datatype == "text"}
        self._words = {
            name.lower(): {each.value.lower() for each in relation.columns if each.predicate in texts and not each.link}
            for name, relation in schema.relation_of.items()
        }
        self._outputs: dict[int, Outputs] = {}
        self._open: set[int] = set()
        self._rows_of: dict[int, Origin] = {}

    def outputs(self, query: exp.Expr) -> Outputs:
        """The columns of a query by their lower-case names; "*" is every column of a table."""
        if id(query) in self._open:
            # what follows from itself in a recursive query has the values of its first part, if it stays as it is
            return [("*", Origin("again"))]
        if id(query) not in self._outputs:
            self._open.add(id(query))
            self._outputs[id(query)] = self._read(query)
            self._open.remove(id(query))
        return self._outputs[id(query)]

    def _read(self, query: exp.Expr) -> Outputs:
        if isinstance(query, exp.Subquery | exp.Paren | exp.CTE):
            return self.outputs(query.this)
        if isinstance(query, exp.SetOperation):
            # what it excludes or has in common with the second query, the first one shows
            first, second = self.outputs(query.this), self.outputs(query.expression)
            if not isinstance(query, exp.Union):
                return first
            if len(first) != len(second):
                every = Origin("either", tuple(origin for _, origin in (*first, *second)))
                return [(name, every) for name, _ in first]
            return [(name, Origin("either", (one, other[1]))) for (name, one), other in zip(first, second, strict=True)]
        if isinstance(query, exp.Values):
            listed = zip(*(each.expressions for each in query.expressions), strict=False)
            columns = [Origin("either", tuple(map(self.value, cells))) for cells in listed]
            return [(f"column{number}", origin) for number, origin in enumerate(columns, start=1)]
        if not isinstance(query, exp.Select):
            return [("*", Origin("unknown", text=f"What {query.key.upper()} gives"))]
        found: Outputs = []
        for shown in query.expressions:
            inner = shown.this if isinstance(shown, exp.Column) else shown
            if isinstance(inner, exp.Star):
                owner = shown.table.lower() if isinstance(shown, exp.Column) else ""
                for alias, source in _sources(query):
                    if owner in ("", alias):
                        own = sorted(self._relations.get(source.name.lower(), ())) if _query_of(source) is None else ()
                        shown_ones = self._columns_of(source, alias)
                        found += [(name, self._named(shown_ones[0][1], name, source)) for name in own] or shown_ones
            else:
                found.append((shown.alias_or_name.lower(), self.value(shown)))
        return found

    def _columns_of(self, source: exp.Expr, alias: str) -> Outputs:
        place = f"{_text(source.parent_select)} {alias}"
        query = _query_of(source)
        if query is None:
            return [("*", Origin("column", (Origin("stored", text=place),)))]
        named = self.outputs(query)
        names = [each.name.lower() for each in _column_names(source, query)]
        if names and len(names) == len(named) and all(name != "*" for name, _ in named):
            named = [(name, origin) for name, (_, origin) in zip(names, named, strict=True)]
        elif names:
            every = Origin("either", tuple(origin for _, origin in named))
            named = [(name, every) for name in names]
        return [(name, Origin("column", (origin,), place)) for name, origin in named]

    def value(self, node: exp.Expr) -> Origin:
        if isinstance(node, exp.Literal):
            return Origin("text" if node.is_string else "number", text=node.name)
        if isinstance(node, exp.Boolean):
            return Origin("number", text=str(int(node.this)))
        if isinstance(node, exp.Null):
            return NOTHING
        if isinstance(node, exp.Placeholder):
            return Origin("stored", text=_text(node))
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Subquery | exp.Query):
            shown = self.outputs(node)
            return shown[0][1] if len(shown) == 1 else Origin("either", tuple(origin for _, origin in shown))
        if isinstance(node, exp.Exists):
            return Origin("truth", (Origin("count", (self.rows(node.this),), _text(node)),), _text(node))
        if isinstance(node, exp.And | exp.Or | exp.Not):
            return Origin("all", self._parts(node), _text(node))
        if isinstance(node, exp.Predicate | exp.RegexpLike | exp.Escape):
            return Origin("truth", self._parts(node), _text(node))
        if isinstance(node, exp.Neg):
            value = self.value(node.this)
            return (
                Origin("number", text=f"-{value.text}")
                if value.op == "number"
                else Origin("*", (value, Origin("number", text="-1")))
            )
        if type(node) in _OPERATORS:
            return Origin(_OPERATORS[type(node)], (self.value(node.this), self.value(node.expression)))
        return self._function(node)

    def _parts(self, node: exp.Expr) -> tuple[Origin, ...]:
        return tuple(self.value(each) for each in node.iter_expressions() if not isinstance(each, exp.DataType))

    def _function(self, node: exp.Expr) -> Origin:
        if isinstance(node, exp.Window | exp.Filter):
            inner = self.value(node.this)
            return Origin(inner.op, inner.parts, _text(node)) if inner.text else inner
        if isinstance(node, exp.Case | exp.If):
            return self._case(node)
        if isinstance(node, exp.Coalesce):
            return Origin("choice", (self.value(node.this), *map(self.value, node.expressions)))
        if isinstance(node, exp.Greatest | exp.Least):
            return Origin("either", (self.value(node.this), *map(self.value, node.expressions)), _text(node))
        if isinstance(node, exp.DPipe | exp.Concat | exp.ConcatWs):
            parts = list(node.flatten()) if isinstance(node, exp.DPipe) else node.expressions
            return Origin("joined", tuple(map(self.value, parts)))
        if isinstance(node, exp.Replace):
            changed = (node.this, node.expression, node.args["replacement"])
            return Origin("replaced", tuple(map(self.value, changed)), _text(node))
        if isinstance(node, _PIECES) or (isinstance(node, exp.Trim) and node.expression):
            return Origin("piece", (self.value(node.this),), _text(node))
        if isinstance(node, exp.Distinct):
            return self.value(node.expressions[0])
        if isinstance(node, (*_SAME, exp.Trim)):
            kind = node.to if isinstance(node, exp.Cast) else None
            if isinstance(node, exp.Round | exp.Ceil | exp.Floor) or (kind and kind.is_type(*_INTEGERS)):
                return Origin("same", (self.value(node.this),), WHOLE)
            is_text = kind is None or kind.is_type(*exp.DataType.TEXT_TYPES)
            type_name = "REAL" if isinstance(node, exp.Abs) else "" if is_text else str(kind)
            return Origin("same", (self.value(node.this),), type_name)
        if isinstance(node, exp.Length | exp.StrPosition):
            op = "length" if isinstance(node, exp.Length) else "position"
            return Origin(op, (self.value(node.this),), _text(node))
        if isinstance(node, _NUMERIC):
            return Origin("function", (self.value(node.this),), _text(node))
        if isinstance(node, exp.Pow) and node.expression.name in ("2", "2.0"):
            # of other powers some are the same for every value
            return Origin("*", (self.value(node.this),) * 2)
        return self._aggregate(node)

    def _aggregate(self, node: exp.Expr) -> Origin:
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        place = f"{_text(node.parent_select)} {_text(node)}"
        if isinstance(node, _COUNTS):
            return Origin("count", (self._rows_around(node),), place)
        if isinstance(node, exp.Sum) or name == "total":
            value = self.value(node.expressions[0] if name else node.this)
            return Origin("total", (value, self._rows_around(node)), place)
        if isinstance(node, exp.GroupConcat):
            separator = node.args.get("separator")
            value = self.value(node.this)
            # the texts of several rows are joined, by a comma if nothing else is said
            mark = Origin("text", text=",") if separator is None else self.value(separator)
            return Origin("joined", (value, mark, value))
        if isinstance(node, _AT) and node.args.get("default") is not None:
            return Origin("choice", (self.value(node.this), self.value(node.args["default"])), place)
        if isinstance(node, exp.AggFunc) and isinstance(node.this, exp.Expr):
            value = self.value(node.this)
            is_number = not isinstance(node, exp.Max | exp.Min | exp.AnyValue | exp.First | exp.Last)
            return Origin("aggregate", (Origin("same", (value,), "REAL") if is_number else value,), place)
        if isinstance(node, _NOW):
            return Origin("today")
        if isinstance(node, _DATED) or name in _DATES:
            parts = list(node.iter_expressions())
            form = parts.pop(0 if name else 1) if isinstance(node, exp.TimeToStr) or name == "strftime" else None
            is_plain = form is None or (isinstance(form, exp.Literal) and _DATE_FORM.fullmatch(form.name))
            shown = [] if is_plain or form is None else [self.value(form)]
            # parts of a date after each other are a text
            shown += [Origin("joined")] if form is not None and form.name.count("%") > 1 else []
            return Origin("function", (*shown, *map(self._date_part, parts)), _text(node))
        return Origin("unknown", self._parts(node), f"What {name or node.key} gives")

    def _date_part(self, node: exp.Expr) -> Origin:
        if not (isinstance(node, exp.Literal) and node.is_string):
            return self.value(node)
        text = node.name.strip().lower()
        if text == "now":
            return Origin("today")
        step = _DATE_STEP.fullmatch(text)
        if step is not None:
            return Origin("number", text=step[1]) if step[1] else NOTHING
        numerals = re.findall(r"\d+", text)
        if numerals and not re.search(r"[^\d:. tz-]", text):
            return Origin("function", tuple(Origin("number", text=each) for each in numerals))
        return Origin("text", text=node.name)

    def _case(self, node: exp.Case | exp.If) -> Origin:
        """A CASE or IIF; the value that a CASE compares is a condition too."""
        branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
        default = node.args.get("false" if isinstance(node, exp.If) else "default")
        compared = node.this if isinstance(node, exp.Case) else None
        tests = (
            [Origin("truth", (self.value(compared), self.value(each.this))) for each in branches]
            if compared is not None
            else [self.value(each.this) for each in branches]
        )
        results = [self.value(each.args["true"]) for each in branches]
        results += [self.value(default)] if default is not None else []
        return Origin("case", (Origin("all", tuple(tests)), *results))

    def _column(self, column: exp.Column) -> Origin:
        name, owner = column.name.lower(), column.table.lower()
        select = column.parent_select
        while select is not None:
            found = [
                self._named(origin, name, source)
                for alias, source in _sources(select)
                if owner in ("", alias)
                for known, origin in self._columns_of(source, alias)
                if self._is_named(name, known, source)
            ]
            if found:
                return found[0] if len(found) == 1 else Origin("either", tuple(found), f"{_text(select)} {name}")
            select = select.parent_select
        # the store reports a name that no table has; but one in quotation marks would be a text to SQLite
        return Origin("missing" if column.this.args.get("quoted") else "stored", text=column.name)

    def _named(self, origin: Origin, name: str, source: exp.Expr) -> Origin:
        """The origin of a column of a source."""
        if origin.op != "column" or origin.parts[0].op != "stored" or _query_of(source) is not None:
            return origin
        stored = Origin("stored", text=f"{origin.parts[0].text} {name}")
        relation = source.name.lower()
        is_text = name in ("label", "iri") or name in self._words.get(relation, ())
        return Origin("words", (stored,)) if is_text else stored

    def _is_named(self, name: str, known: str, source: exp.Expr) -> bool:
        """Whether a column of a source has a name; "*" has all names that its table has."""
        if known != "*" or _query_of(source) is not None:
            return known in (name, "*")
        return name in self._relations.get(source.name.lower(), ())

    def _rows_around(self, node: exp.Expr) -> Origin:
        """The rows that a count or a sum reads."""
        select = node.parent_select
        return self._rows_read(select) if select is not None else NOTHING

    def _rows_read(self, select: exp.Select) -> Origin:
        if _multiplies_rows(select):
            raise unfounded("A count or sum over tables that are joined without a condition")
        return Origin("rows", tuple(self.rows(each) for _, each in _sources(select)))

    def rows(self, source: exp.Expr) -> Origin:
        """Where the rows of a query or a table come from."""
        if id(source) not in self._rows_of:
            self._rows_of[id(source)] = NOTHING
            self._rows_of[id(source)] = self._read_rows(source)
        return self._rows_of[id(source)]

    def _read_rows(self, source: exp.Expr) -> Origin:
        if isinstance(source, exp.Table):
            query = _query_of(source)
            return Origin("stored", text=source.name) if query is None else self.rows(query)
        if isinstance(source, exp.Subquery | exp.Paren):
            return self.rows(source.this)
        limit = source.args.get("limit")
        limits = [Origin("limit", (self.value(limit.expression),))] if isinstance(limit, exp.Limit) else []
        if isinstance(source, exp.Select):
            return Origin("rows", (self._rows_read(source), *limits))
        if not isinstance(source, exp.SetOperation):
            return Origin("unknown", text="What VALUES lists")
        if not isinstance(source, exp.Union):
            return Origin("rows", (self.rows(source.this), *limits))
        every = [self.rows(source.this), self.rows(source.expression)]
        name = source.parent.alias.lower() if isinstance(source.parent, exp.CTE) else ""
        if name and any(table.name.lower() == name for table in source.find_all(exp.Table)):
            # rows that follow from others end where no new ones are found
            if not source.args.get("distinct"):
                return Origin("unknown", text="A count of rows of UNION ALL in WITH RECURSIVE")
            every.append(Origin("either", tuple(origin for _, origin in self.outputs(source))))
        return Origin("rows", (Origin("every", tuple(every)), *limits))


def _sources(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    """The sources of rows of a SELECT by their lower-case aliases."""
    for source in row_sources(select):
        yield from _flat(source)


def _flat(source: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    if isinstance(source, exp.Subquery | exp.Paren) and isinstance(source.this, exp.Table | exp.Subquery):
        # joins in brackets
        yield from _flat(source.this)
    else:
        yield source.alias_or_name.lower(), source
    for join in source.args.get("joins") or ():
        yield from _flat(join.this)


def _query_of(source: exp.Expr) -> exp.Expr | None:
    """The query whose rows a source has; None for a table of the graph."""
    if not isinstance(source, exp.Table):
        return source.this if isinstance(source, exp.Subquery) else source
    name, around = source.name.lower(), source.parent
    while around is not None and not source.db:
        if isinstance(around, exp.Query):
            for cte in around.ctes:
                if cte.alias.lower() == name:
                    inner: exp.Expr = cte.this
                    return inner
        around = around.parent
    return None


def _column_names(source: exp.Expr, query: exp.Expr) -> list[exp.Expr]:
    """The names that a WITH or an alias gives the columns of a query."""
    alias = source.args.get("alias")
    own = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if not own and isinstance(query.parent, exp.CTE):
        alias = query.parent.args.get("alias")
        own = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return list(own or ())


def _text(node: exp.Expr | None) -> str:
    return node.sql("sqlite") if node is not None else ""


def _multiplies_rows(select: exp.Select) -> bool:
    """Whether stored tables are joined without a condition for each join, so that the number of rows says nothing."""
    joins = [each for each in select.find_all(exp.Join) if each.parent_select is select]
    tables = [source for _, source in _sources(select) if isinstance(source, exp.Table) and _query_of(source) is None]
    where = select.args.get("where")
    stated = [each.args["on"] for each in joins if each.args.get("on")] + ([where.this] if where is not None else [])
    parts = [part for each in stated for part in (each.flatten() if isinstance(each, exp.And) else [each])]
    linking = sum(len({column.sql() for column in part.find_all(exp.Column)}) > 1 for part in parts)
    named = sum(bool(each.args.get("using")) or each.method == "NATURAL" for each in joins)
    return bool(len(tables) - 1 > linking + named)
