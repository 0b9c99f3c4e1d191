"""Write a query over the relations of a schema for the database that holds their rows: SQL -> NativeQuery.

Only the checked tree of the query is written: its tables are those of the database that are attached, its functions
those that are allowed, and each text in it with more than letters, digits and harmless marks is a bound parameter. A
query is translated once for all values of its parameters. Relations become tables: a tree over relations -> the tree
over the tables of a database.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sqlglot import Schema, exp, parse_one
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from nacre.errors import ToolError
from nacre.extensions.databases.attached import (
    ROW_NUMBERS,
    AttachedDatabase,
    AttachedLink,
    AttachedTable,
    Kind,
    Storage,
)
from nacre.extensions.databases.dialects import (
    ALLOWED_FUNCTIONS,
    ALLOWED_TYPES,
    MAX_TYPE_LENGTH,
    Columns,
    column_value,
    concatenate,
    cte_of,
    kind_of,
    make_portable,
    output_position,
    outputs,
    own_sources,
    refuse_other_tables,
    selects_of,
    source_of,
    text_of,
)
from nacre.extensions.databases.row_keys import KIND, KeyedTables, lower_keys, row_key, simplify_keys
from nacre.extensions.databases.templates import (
    NativeQuery,
    QueryTemplate,
    Shape,
    Templates,
    compare_days,
    filled_template,
    marked,
    param_shape,
    template_of,
)
from nacre.records.evidence import Cell

_REFUSED = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Parameter, exp.SessionParameter)

LONGEST_QUERY = 200_000

# columns that name a row without a name and a key
MAX_LABEL_COLUMNS = 4

MOST_NODES = 20_000

# texts that are joined in one; characters of a cell, and of a row
MAX_JOINED, MAX_CELL, MAX_ROW = 100, 1_000_000, 10_000_000


class Relations:
    """The relations of one attached database."""

    def __init__(self, database: AttachedDatabase) -> None:
        self.database = database
        self.keyed = KeyedTables(database.tables)
        self.tables = self.keyed.by_relation
        self.templates = Templates()

    @cached_property
    def columns(self) -> dict[str, dict[str, str]]:
        found = {**_EMPTY, ENTITY: (KEY, "iri", "label")}
        for each in self.database.tables:
            found[each.relation] = (KEY, *(c.name for c in each.columns), *(link.name for link in each.links))
        return {name: dict.fromkeys(columns, "TEXT") for name, columns in found.items()}

    @cached_property
    def kinds(self) -> dict[str, dict[str, Kind]]:
        """What the cells of each column are."""
        found: dict[str, dict[str, Kind]] = {name: dict.fromkeys(own, "text") for name, own in self.columns.items()}
        for table in self.database.tables:
            found[table.relation] |= {c.name: _NUMBERS[c.storage] for c in table.columns if c.storage in _NUMBERS}
        return found

    @cached_property
    def schema(self) -> MappingSchema:
        """The columns as sqlglot reads them; to make it takes longer than to qualify a query."""
        return MappingSchema(dict(self.columns), dialect="sqlite")

    def replace_tables(self, tree: exp.Expr) -> exp.Expr:
        """The qualified tree over tables of the database; keys are still placeholders."""
        tree = tree.transform(_without_look_up, copy=False)
        refuse_other_tables(tree, self.columns)
        things = {id(table): self._kinds(table) for table in tree.find_all(exp.Table) if table.name == ENTITY}
        sources = [table for table in tree.find_all(exp.Table) if table.name in self.columns and cte_of(table) is None]
        for table in sources:
            kinds = things.get(id(table), frozenset({table.name}))
            if table.name in _EMPTY or kinds is None or len(kinds) != 1:
                table.replace(self._subquery(table, kinds))
            else:
                self._inline(table, self.tables[next(iter(kinds))])
        return tree

    def _inline(self, table: exp.Table, attached: AttachedTable) -> None:
        """Read the table of the database under the alias of a relation, and its columns as expressions."""
        alias, is_entity = table.alias_or_name, table.name == ENTITY
        for column in _columns_of(table):
            column.replace(self._expression(attached, column.name, alias, is_entity))
        table.replace(self._source(attached, alias))

    def _expression(self, attached: AttachedTable, name: str, alias: str, is_entity: bool) -> exp.Expr:
        dialect = self.database.dialect
        if name == KEY or (is_entity and name == "iri"):
            return row_key(attached.relation, [_column(alias, column) for column in attached.key])
        if is_entity:
            return self.label(attached, alias)
        for column in attached.columns:
            if column.name == name:
                return column_value(_column(alias, column.column), column.storage, dialect, column.unit)
        link = next(link for link in attached.links if link.name == name)
        return self._link(link, alias)

    def _link(self, link: AttachedLink, alias: str) -> exp.Expr:
        """The key of the row that a foreign key refers to; looked up if it refers to other columns than the key."""
        target = self.tables[link.target]
        own = dict(zip(link.referred, link.columns, strict=True))
        if set(own) == set(target.key):
            return row_key(link.target, [self._referring(alias, own[column], link) for column in target.key])
        inner = f"{alias}_{link.name}"
        found = exp.select(row_key(link.target, [_column(inner, column) for column in target.key]))
        pairs = ((_column(inner, a), self._referring(alias, b, link)) for a, b in own.items())
        conditions = [exp.EQ(this=a, expression=b) for a, b in pairs]
        return exp.Subquery(this=found.from_(self._source(target, inner)).where(*conditions))

    def _referring(self, alias: str, name: str, link: AttachedLink) -> exp.Expr:
        """A column of a foreign key, as the type of what it refers to."""
        column, dialect = _column(alias, name), self.database.dialect
        if link.cast == "integer":
            return exp.cast(column_value(column, "number_text", dialect), exp.DType.BIGINT)
        return text_of(column, dialect) if link.cast == "text" else column

    def label(self, attached: AttachedTable, alias: str) -> exp.Expr:
        dialect = self.database.dialect
        storages = {column.column: column.storage for column in attached.columns}
        storages |= dict(zip(attached.key, attached.storages, strict=True))
        # the number that a database gives to a row says nothing
        is_numbered = attached.guessed and attached.key == (ROW_NUMBERS.get(dialect),)
        first = tuple(column.column for column in attached.columns[:MAX_LABEL_COLUMNS])
        names = attached.label or (first if is_numbered and first else attached.key)
        parts: list[exp.Expr] = []
        for name in names:
            storage = storages.get(name, "other")
            value = column_value(_column(alias, name), storage, dialect)
            text = text_of(value, dialect) if storage in _NUMBERS else value
            spaced = [exp.Literal.string(" "), text] if parts else [text]
            if names is first:
                # some of them may be missing
                spaced = [exp.Coalesce(this=concatenate(spaced), expressions=[exp.Literal.string("")])]
            parts += spaced
        return concatenate(parts)

    def _source(self, attached: AttachedTable, alias: str) -> exp.Expr:
        named = exp.to_identifier(attached.schema, quoted=True) if attached.schema else None
        table = exp.Table(this=exp.to_identifier(attached.table, quoted=True), db=named)
        return exp.alias_(table, exp.to_identifier(alias, quoted=True), table=True)

    def _subquery(self, table: exp.Table, kinds: frozenset[str] | None) -> exp.Subquery:
        """All things, or those of some relations, or the rows of a table that only ingested graphs fill."""
        alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
        if table.name in _EMPTY:
            empty = exp.select(*(exp.alias_(exp.Null(), name, quoted=True) for name in _EMPTY[table.name]))
            return exp.Subquery(this=empty.where(exp.false()), alias=alias)
        used = {column.name for column in _columns_of(table)} or {KEY}
        selects = []
        for attached in self.database.tables:
            if kinds is None or attached.relation in kinds:
                parts = {name: self._expression(attached, name, "t", is_entity=True) for name in sorted(used)}
                shown = [exp.alias_(part, name, quoted=True) for name, part in parts.items()]
                selects.append(exp.select(*shown).from_(self._source(attached, "t")))
        if not selects:
            selects.append(exp.select(*(exp.alias_(exp.Null(), n) for n in sorted(used))).where(exp.false()))
        union = exp.union(*selects, distinct=False) if len(selects) > 1 else selects[0]
        return exp.Subquery(this=union, alias=alias)

    def _kinds(self, entity: exp.Table, depth: int = 0) -> frozenset[str] | None:
        """The relations whose rows a use of the table of all things can be; None if they are not known."""
        select = entity.find_ancestor(exp.Select)
        if select is None or depth > _MOST_STEPS:
            return None
        for condition in _conjuncts(select):
            for own, other in _equated(condition):
                if own.table == entity.alias_or_name and own.name in (KEY, "iri"):
                    kinds = self._kinds_of(other, depth + 1)
                    if kinds is not None:
                        if len(kinds) == 1 and isinstance(condition, exp.EQ):
                            condition.meta[KIND] = next(iter(kinds))
                        return kinds
        return None

    def _kinds_of(self, value: exp.Expr, depth: int) -> frozenset[str] | None:
        """The relations whose keys an expression can have."""
        if depth > _MOST_STEPS:
            return None
        value = value.unnest() if isinstance(value, exp.Paren) else value
        if isinstance(value, exp.Literal):
            table = self.keyed.of_key(str(value.this))
            return frozenset({table.relation} if table is not None else ())
        if isinstance(value, exp.Tuple):
            return self._kinds_of_all(value.expressions, depth)
        if isinstance(value, (exp.Subquery, exp.Query)):
            return self._kinds_of_all(outputs(value, 0), depth)
        if not isinstance(value, exp.Column):
            return None
        source = source_of(value)
        if isinstance(source, exp.Table) and source.name == ENTITY and value.name in (KEY, "iri"):
            return self._kinds(source, depth + 1)
        if isinstance(source, exp.Table):
            attached = self.tables.get(source.name)
            if attached is None:
                return None
            link = next((link for link in attached.links if link.name == value.name), None)
            return frozenset({link.target}) if link else frozenset({source.name}) if value.name == KEY else None
        return self._kinds_of_all(outputs(source, output_position(source, value.name)), depth)

    def _kinds_of_all(self, values: Sequence[exp.Expr], depth: int) -> frozenset[str] | None:
        each = [self._kinds_of(value.unalias(), depth + 1) for value in values]
        return None if None in each or not each else frozenset().union(*(kinds for kinds in each if kinds))


def translate(
    sql: str, params: Sequence[Cell], database: AttachedDatabase, relations: Relations, *, limit: int | None = None
) -> NativeQuery:
    """The query for a database, with at most `limit` rows of bounded cells; with neither bound if `limit` is None.
    SQLite, whose functions end a text at its first NUL, bounds cells itself.
    Raises ToolError of kind syntax, unknown_name, refused or too_large."""
    shapes = tuple([param_shape(value, relations.keyed) for value in params])
    key = (sql, shapes, limit is not None and database.dialect != "sqlite")
    template = relations.templates.get(key, lambda: _template(*key, database, relations))
    return filled_template(template, params, limit)


def _template(
    sql: str, shapes: Sequence[Shape], is_bounded: bool, database: AttachedDatabase, relations: Relations
) -> QueryTemplate:
    tables = relations.keyed
    tree = checked_tree(sql, len(shapes), relations.schema)
    if is_bounded:
        bound_cells(tree, relations.kinds)
    for node in list(tree.find_all(exp.Placeholder)):
        number = str(node.name).removeprefix("nacre_")
        if not number.isdigit() or int(number) >= len(shapes):
            raise ToolError("refused", "Named parameters are not allowed.")
        node.replace(marked(int(number), shapes[int(number)], tables))
    tree = relations.replace_tables(tree)
    tree = simplify_keys(compare_days(tree), tables.by_relation)
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
        return outputs(source := source_of(column), output_position(source, column.name))

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


ENTITY, KEY = "entity", "id"

# from a key to the relation that it comes from
_MOST_STEPS = 12

_NUMBERS: dict[Storage, Kind] = {
    "integer": "integer", "boolean": "integer", "real": "real", "single": "real", "decimal": "real",
    "number_text": "real", "money": "real",
}  # fmt: skip

# tables that only ingested graphs fill
_EMPTY = {
    "_nacre_exact": ("predicate", "row", "lexical", "datatype", "language"),
    "_nacre_type": ("entity", "class", "graph"),
    "_nacre_derived": ("predicate", "row"),
    "_nacre_aside": ("subject", "predicate", "kind", "object", "datatype", "language", "graph", "reason"),
    "entity_class": ("entity_id", "class"),
    "entity_kind": ("class", "entity_id"),
}


def _without_look_up(node: exp.Expr) -> exp.Expr:
    """`(SELECT iri FROM entity WHERE id = key)` as the key, which is an IRI; keys among those with IRIs as keys among
    IRIs."""
    query = node.args.get("query") if isinstance(node, exp.In) else node
    select = query.this if isinstance(query, exp.Subquery) else query if isinstance(node, exp.In) else None
    if not isinstance(select, exp.Select) or len(select.selects) != 1 or (where := select.args.get("where")) is None:
        return node
    column, sources = select.selects[0].unalias(), list(own_sources(select))
    if len(sources) != 1 or not isinstance(source := sources[0], exp.Table) or source.name != ENTITY:
        return node
    if isinstance(node, exp.In):
        listed = where.this.expressions if isinstance(where.this, exp.In) else []
        is_look_up = listed and all(isinstance(each, exp.Literal) for each in listed)
        return exp.In(this=node.this, expressions=[each.copy() for each in listed]) if is_look_up else node
    if isinstance(column, exp.Column) and column.name in (KEY, "iri") and isinstance(where.this, exp.EQ):
        for own, other in _equated(where.this):
            is_key = own.table == source.alias_or_name and own.name in (KEY, "iri")
            if is_key and isinstance(other, exp.Column | exp.Literal):
                return other
    return node


def _column(alias: str, name: str) -> exp.Column:
    return exp.column(name, table=alias, quoted=True)


def _columns_of(table: exp.Table) -> list[exp.Column]:
    """The columns that are read from one use of a table."""
    select = table.find_ancestor(exp.Select)
    if select is None:
        return []
    wanted = (column for column in select.find_all(exp.Column) if column.table == table.alias_or_name)
    return [column for column in wanted if source_of(column) is table]


def _conjuncts(select: exp.Select) -> Iterator[exp.Expr]:
    where = select.args.get("where")
    waiting = [where.this] if where is not None else []
    waiting += [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on") is not None]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Paren):
            waiting.append(node.this)
        elif isinstance(node, exp.And):
            waiting += [node.this, node.expression]
        else:
            yield node


def _equated(condition: exp.Expr) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """The columns of a condition with what they must be equal to or among."""
    if isinstance(condition, exp.EQ):
        for own, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
            if isinstance(own, exp.Column):
                yield own, other
    inner = condition.args.get("query") if isinstance(condition, exp.In) else None
    if isinstance(condition, exp.In) and isinstance(condition.this, exp.Column):
        yield condition.this, inner if inner is not None else exp.Tuple(expressions=condition.expressions)
    query = inner.this if isinstance(inner, exp.Subquery) else inner
    if isinstance(condition, exp.In) and isinstance(condition.this, exp.Tuple) and isinstance(query, exp.Select):
        # (thing, other) IN (SELECT id, link FROM table)
        for own, shown in zip(condition.this.expressions, query.selects, strict=False):
            if isinstance(own, exp.Column):
                yield own, shown.unalias()
