"""IRIs of rows after W3C's Direct Mapping: AttachedTable + expressions of its key -> an IRI in SQL, and back."""

import secrets
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from sqlglot import exp

from nacre.stores.databases.attached import BASE, AttachedTable, Storage
from nacre.stores.databases.dialects import concatenate, text_of

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
        if not iri.startswith(BASE):
            return None
        # the key follows the name of the table, or of its schema and the table
        first, _, rest = iri[len(BASE) :].partition("/")
        second, slash, _ = rest.partition("/")
        named = self._by_iri.get(f"{BASE}{first}/{second}") if slash else None
        return named or (self._by_iri.get(f"{BASE}{first}") if rest else None)


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
    return BASE + "/".join(iri_part(part) for part in (schema, table) if part)


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
    return concatenate(parts, dialect)


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
    if values is None:
        return None
    return key_text(table, values)


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
