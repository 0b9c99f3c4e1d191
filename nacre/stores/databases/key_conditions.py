"""Conditions on keys of rows as conditions on their columns, so that a database can use its indexes: tree -> tree."""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from nacre.stores.databases.attached import BASE, AttachedTable, Storage
from nacre.stores.databases.row_keys import KeyedTables, iri_part, is_row_key, key_in_sql, parse_key, plain_key

Tables = Mapping[str, AttachedTable]
# where `Relations` notes of which relation both sides of a comparison are keys
KIND = "nacre_kind"


def simplify_keys(tree: exp.Expr, tables: Tables) -> exp.Expr:
    """The tree with comparisons of two keys, and of a key with an IRI, as comparisons of columns."""
    return tree.transform(lambda node: _simplified(node, tables), copy=False)


def lower_keys(tree: exp.Expr, tables: KeyedTables, dialect: str) -> exp.Expr:
    """The tree with the remaining keys as the text of their IRIs."""

    def lowered(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal) and node.is_string and node.this.startswith(BASE):
            return _plain(node, tables)
        if not is_row_key(node):
            return node
        relation, *columns = node.expressions
        return key_in_sql(tables.by_relation[relation.this], columns, dialect)

    return tree.transform(lowered, copy=False)


def _plain(node: exp.Literal, tables: KeyedTables) -> exp.Expr:
    """The IRI of a row as `key_in_sql` gives it."""
    table = tables.of_key(node.this)
    plain = plain_key(table, node.this) if table is not None else None
    return node if plain is None else exp.Literal.string(plain)


def _simplified(node: exp.Expr, tables: Tables) -> exp.Expr:
    if isinstance(node, (exp.EQ, exp.NEQ)):
        equal = _equal(node.this, node.expression, tables) or _is_row_of(node, tables)
        if equal is not None:
            return equal if isinstance(node, exp.EQ) else exp.Not(this=exp.Paren(this=equal))
    if isinstance(node, exp.In) and is_row_key(node.this):
        return _among(node, tables) if node.expressions else _in_query(node)
    if isinstance(node, exp.Count) or (isinstance(node, exp.Is) and is_row_key(node.this)):
        return _of_first_column(node)
    return node


def _equal(left: exp.Expr, right: exp.Expr, tables: Tables) -> exp.Expr | None:
    if is_row_key(right) and not is_row_key(left):
        left, right = right, left
    if not is_row_key(left):
        return None
    relation, *columns = left.expressions
    if is_row_key(right):
        other, *others = right.expressions
        if other.this != relation.this:
            return exp.false()
        table = tables[relation.this]
        # a row without a declared key is known by all of its values, and some may be missing
        same = exp.NullSafeEQ if table.guessed and len(table.key) > 1 else exp.EQ
        return _all([same(this=a.copy(), expression=b.copy()) for a, b in zip(columns, others, strict=True)])
    if isinstance(right, exp.Literal):
        return _is_row(columns, str(right.this), tables[relation.this])
    return None


def _is_row_of(node: exp.Expr, tables: Tables) -> exp.Expr | None:
    """A key that equals the text of a key of the same table, which `Relations` noted: its column equals the end."""
    key, text = (node.this, node.expression) if is_row_key(node.this) else (node.expression, node.this)
    if not is_row_key(key) or len(key.expressions) != 2 or key.expressions[0].this != node.meta.get(KIND):
        return None
    table = tables[node.meta[KIND]]
    start = len(f"{table.iri}/{iri_part(table.key[0])}=") + 1
    value: exp.Expr = exp.Substring(this=text.copy(), start=exp.Literal.number(start))
    if table.storages[0] == "integer":
        value = exp.cast(value, exp.DType.BIGINT)
    return exp.EQ(this=_compared(key.expressions[1], table.storages[0]), expression=value)


def _in_query(node: exp.In) -> exp.Expr:
    """A key among keys of the same table: its column among their columns."""
    query = node.args.get("query")
    inner = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(inner, exp.Select) or len(inner.selects) != 1 or len(node.this.expressions) != 2:
        return node
    shown = inner.selects[0]
    key = shown.this if isinstance(shown, exp.Alias) else shown
    if is_row_key(key) and len(key.expressions) == 2 and key.expressions[0].this == node.this.expressions[0].this:
        key.replace(key.expressions[1].copy())
        node.set("this", node.this.expressions[1].copy())
    return node


def _is_row(columns: Sequence[exp.Expr], iri: str, table: AttachedTable) -> exp.Expr:
    values = parse_key(table, iri)
    if values is None:
        return exp.false()
    return _all([_is_value(a, b, s) for a, b, s in zip(columns, values, table.storages, strict=True)])


def _is_value(column: exp.Expr, value: str | int, storage: Storage) -> exp.Expr:
    """A column of a key with a value; an empty text also stands for a missing value."""
    equal = exp.EQ(this=_compared(column, storage), expression=_value(value))
    if value != "":
        return equal
    missing = exp.Is(this=column.copy(), expression=exp.Null())
    return exp.Paren(this=exp.or_(missing, equal)) if storage == "text" else missing


def _compared(column: exp.Expr, storage: Storage) -> exp.Expr:
    """A column as its values stand in a key."""
    return exp.cast(column.copy(), exp.DType.TEXT) if storage in ("other", "list") else column.copy()


def _among(node: exp.In, tables: Tables) -> exp.Expr:
    relation, *columns = node.this.expressions
    if not all(isinstance(each, exp.Literal) for each in node.expressions):
        return node
    table = tables[relation.this]
    rows = [values for each in node.expressions if (values := parse_key(table, str(each.this))) is not None]
    if not rows:
        return exp.false()
    if len(columns) == 1:
        return exp.In(this=_compared(columns[0], table.storages[0]), expressions=[_value(values[0]) for values in rows])
    each_row = [
        _all([_is_value(a, b, s) for a, b, s in zip(columns, row, table.storages, strict=True)]) for row in rows
    ]
    return exp.Paren(this=exp.or_(*each_row))


def _of_first_column(node: exp.Expr) -> exp.Expr:
    """`count(key)` and `key IS NULL` over the key's only column."""
    inner = node.this
    wraps = inner if isinstance(inner, exp.Distinct) else None
    key = inner.expressions[0] if wraps is not None and len(inner.expressions) == 1 else inner
    if is_row_key(key) and len(key.expressions) == 2:
        key.replace(key.expressions[1].copy())
    return node


def _value(value: str | int) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    number = exp.Literal.number(abs(value))
    return exp.Neg(this=number) if value < 0 else number


def _all(conditions: Sequence[exp.Expr]) -> exp.Expr:
    return conditions[0] if len(conditions) == 1 else exp.Paren(this=exp.and_(*conditions))
