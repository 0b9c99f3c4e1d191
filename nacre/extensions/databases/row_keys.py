"""IRIs of rows after W3C's Direct Mapping: AttachedTable + expressions of its key -> an IRI in SQL, and back.

Conditions on keys of rows become conditions on their columns, so that a database can use its indexes: tree -> tree.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, unquote

from sqlglot import exp

from nacre.extensions.databases.attached import AttachedTable, Storage
from nacre.extensions.databases.dialects import concatenate, text_of
from nacre.stores.sqlite.tables import ROW_BASE, Cell

# stands for the IRI of a row until the whole query is known: ROW_KEY('relation', column, ...)
ROW_KEY = "NACRE_ROW_KEY"

# stands for a value or a part of a key until the value is known; nobody who writes queries or data can know it
MARK = f"nacremark{secrets.token_hex(8)}"


class KeyedTables:
    """Tables by the name of their relation, and by the IRIs of their rows."""

    def __init__(self, tables: Iterable[AttachedTable]) -> None:
        self.by_relation = {table.relation: table for table in tables}
        self._by_iri = {table.iri: table for table in self.by_relation.values()}

    def of_key(self, iri: str) -> AttachedTable | None:
        """The table that an IRI is a row of by its beginning; None if it is no IRI of a row."""
        if not iri.startswith(ROW_BASE):
            return None
        # the key follows the name of the table, or of its schema and the table
        first, _, rest = iri[len(ROW_BASE) :].partition("/")
        second, slash, _ = rest.partition("/")
        named = self._by_iri.get(f"{ROW_BASE}{first}/{second}") if slash else None
        return named or (self._by_iri.get(f"{ROW_BASE}{first}") if rest else None)

    def encoded(self, cell: Cell) -> Cell:
        """The IRI of a row from what `key_in_sql` gives; other cells as they are."""
        table = self.of_key(cell) if isinstance(cell, str) else None
        return cell if table is None else encoded_key(table, str(cell))


def iri_part(name: str) -> str:
    """A name or value as it stands in an IRI: all but unreserved characters is percent-encoded, and so are spaces and
    invisible marks of other scripts.

    >>> iri_part("Order Details"), iri_part("Länge=1")
    ('Order%20Details', 'Länge%3D1')
    """
    if name.isascii():
        return quote(name, safe="-._~")
    return "".join(each if _is_unreserved(each) else quote(each, safe="-._~") for each in name)


def _is_unreserved(character: str) -> bool:
    """Whether IRIs (RFC 3987, `ucschar`) hold a character as it is, and people can see it."""
    code = ord(character)
    in_use = 0xA0 <= code < 0xE000 or 0xF900 <= code < 0xFFF0 or 0x10000 <= code < 0xF0000
    return in_use and code & 0xFFFE != 0xFFFE and character.isprintable()


def table_iri(schema: str, table: str) -> str:
    """The IRI of the class of a table.

    >>> table_iri("", "Order Details")
    'urn:nacre:db:Order%20Details'
    """
    return ROW_BASE + "/".join(iri_part(part) for part in (schema, table) if part)


def row_key(relation: str, columns: Sequence[exp.Expr]) -> exp.Expr:
    """The placeholder for the IRI of a row."""
    return exp.Anonymous(this=ROW_KEY, expressions=[exp.Literal.string(relation), *columns])


def is_row_key(node: exp.Expr | None) -> bool:
    """Whether an expression is such a placeholder."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == ROW_KEY


def key_in_sql(table: AttachedTable, columns: Sequence[exp.Expr], dialect: str) -> exp.Expr:
    """The IRI of a row as an expression; its values are not encoded yet (`encoded_key`)."""
    parts: list[exp.Expr] = []
    separator = f"{table.iri}/"
    for name, storage, column in zip(table.key, table.storages, columns, strict=True):
        parts.append(exp.Literal.string(f"{separator}{iri_part(name)}="))
        # without a declared key, a row is known by all of its values, and some may be missing
        text = column.copy() if storage == "text" and dialect != "mysql" else text_of(column.copy(), dialect)
        may_lack = len(table.key) > 1 and table.guessed
        parts.append(exp.Coalesce(this=text, expressions=[exp.Literal.string("")]) if may_lack else text)
        separator = ";"
    return concatenate(parts)


def encoded_key(table: AttachedTable, text: str) -> str:
    """The IRI of a row from what `key_in_sql` gives."""
    rest, parts = text[len(table.iri) + 1 :], []
    for number, name in enumerate(table.key):
        rest = rest.removeprefix(f"{iri_part(name)}=")
        after = f";{iri_part(table.key[number + 1])}=" if number + 1 < len(table.key) else ""
        value, _, rest = rest.partition(after) if after else (rest, "", "")
        rest = after[1:] + rest
        parts.append(f"{iri_part(name)}={iri_part(value)}")
    return f"{table.iri}/{';'.join(parts)}"


def plain_key(table: AttachedTable, iri: str) -> str | None:
    """What `key_in_sql` gives for the row with an IRI; None if the IRI is no row of this table."""
    values = parse_key(table, iri)
    return None if values is None else key_text(table, values)


def key_text(table: AttachedTable, values: Sequence[str | int]) -> str:
    """The IRI of a row without encoding its values, as `key_in_sql` gives it."""
    pairs = zip(table.key, values, strict=True)
    return f"{table.iri}/{';'.join(f'{iri_part(name)}={value}' for name, value in pairs)}"


def parse_key(table: AttachedTable, iri: str) -> tuple[str | int, ...] | None:
    """The values of the key of a row; None if the IRI is no row of this table."""
    start = f"{table.iri}/"
    if not iri.startswith(start):
        return None
    pieces = iri[len(start) :].split(";")
    if len(pieces) != len(table.key):
        return None
    values: list[str | int] = []
    for piece, name, storage in zip(pieces, table.key, table.storages, strict=True):
        own, equals, value = piece.partition("=")
        if not equals or own != iri_part(name):
            return None
        cell = _key_value(unquote(value), storage)
        if cell is None:
            return None
        values.append(cell)
    return tuple(values)


def _key_value(text: str, storage: Storage) -> str | int | None:
    if storage != "integer" or text.startswith(MARK):
        return text
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 else None


Tables = Mapping[str, AttachedTable]

# where `Relations` notes of which relation both sides of a comparison are keys
KIND = "nacre_kind"


def simplify_keys(tree: exp.Expr, tables: Tables) -> exp.Expr:
    """The tree with comparisons of two keys, and of a key with an IRI, as comparisons of columns."""
    return tree.transform(lambda node: _simplified(node, tables), copy=False)


def lower_keys(tree: exp.Expr, tables: KeyedTables, dialect: str) -> exp.Expr:
    """The tree with the remaining keys as the text of their IRIs."""

    def lowered(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal) and node.is_string and (table := tables.of_key(node.this)) is not None:
            # as `key_in_sql` gives it
            plain = plain_key(table, node.this)
            return node if plain is None else exp.Literal.string(plain)
        if not is_row_key(node):
            return node
        relation, *columns = node.expressions
        return key_in_sql(tables.by_relation[relation.this], columns, dialect)

    return tree.transform(lowered, copy=False)


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
    table = tables[relation.this]
    if is_row_key(right):
        other, *others = right.expressions
        if other.this != relation.this:
            return exp.false()
        # a row without a declared key is known by all of its values, and some may be missing
        same = exp.NullSafeEQ if table.guessed and len(table.key) > 1 else exp.EQ
        return _all([same(this=a.copy(), expression=b.copy()) for a, b in zip(columns, others, strict=True)])
    if isinstance(right, exp.Literal):
        values = parse_key(table, str(right.this))
        if values is None:
            return exp.false()
        return _all([_is_value(a, b, s) for a, b, s in zip(columns, values, table.storages, strict=True)])
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
    key = inner.selects[0].unalias()
    if is_row_key(key) and len(key.expressions) == 2 and key.expressions[0].this == node.this.expressions[0].this:
        key.replace(key.expressions[1].copy())
        node.set("this", node.this.expressions[1].copy())
    return node


def _is_value(column: exp.Expr, value: str | int, storage: Storage) -> exp.Expr:
    """A column of a key with a value; an empty text also stands for a missing value."""
    equal = exp.EQ(this=_compared(column, storage), expression=exp.convert(value))
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
        return exp.In(
            this=_compared(columns[0], table.storages[0]), expressions=[exp.convert(values[0]) for values in rows]
        )
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


def _all(conditions: Sequence[exp.Expr]) -> exp.Expr:
    return conditions[0] if len(conditions) == 1 else exp.Paren(this=exp.and_(*conditions))
