"""SQL names of tables and columns: labels and IRIs -> short, unique identifiers."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote

from ingestion.vocabulary import local_name
from nacre.language.base import word_list

_KEYWORDS = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
    cast check collate column commit conflict constraint create cross current current_date current_time
    current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape
    except exclude exclusive exists explain fail filter first following for foreign from full generated glob group
    groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join
    key last left like limit match materialized natural no not nothing notnull null nulls of offset on or order others
    outer over partition plan pragma preceding primary query raise range recursive references regexp reindex release
    rename replace restrict returning right rollback row rows savepoint select set table temp temporary then ties to
    transaction trigger true false unbounded union unique update using vacuum values view virtual when where window with
    without
"""
SQL_KEYWORDS = frozenset(_KEYWORDS.split())
_TAKEN_BY_SQLITE = frozenset({"id", "rowid", "oid", "_rowid_", "entity", "iri"})
_LONGEST = 60
_SPELT = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
# "aB", "ABCd", and "A2Cd" after the digit
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?:(?<=[A-Z])|(?<=[A-Z]\d))(?=[A-Z][a-zß-öø-ÿ]{2})")

_SEPARATORS = re.compile(r"[\s_\-+.:/\\]+")
_NUMBER = re.compile(r"(?<=[a-z]{3})(?=\d)|(?<=\d)(?=[a-zA-Z]{3})")
_SPACES = re.compile(" +")
_NO_WORD = re.compile(r"\W+")
_LINES = re.compile("__+")


@lru_cache(maxsize=1024)
def readable_name(text: str) -> str:
    """A readable name: escapes decoded, camel case and separators replaced by spaces.

    >>> readable_name("HTTPVersion_used"), readable_name("New%20roof-box"), readable_name("sprint062mph")
    ('HTTP Version used', 'New roof box', 'sprint 062 mph')
    >>> readable_name("CO2Level"), readable_name("totalCO2Level")
    ('CO2 Level', 'total CO2 Level')
    """
    if text.isascii() and text.isalpha():
        # most names have letters only, without separators and numbers
        return text if text.islower() else _HUMP.sub(" ", text)
    if "%" in text:
        text = unquote(text, errors="replace")
    text = _HUMP.sub(" ", _SEPARATORS.sub(" ", text))
    if " " not in text:
        text = _NUMBER.sub(" ", text)
    return _SPACES.sub(" ", text).strip()


def lowercase_name(text: str) -> str:
    """A readable name in lower case, except for abbreviations.

    >>> lowercase_name("OrderItem"), lowercase_name("HTTPVersion"), lowercase_name("birthPlace")
    ('order item', 'HTTP version', 'birth place')
    """
    return " ".join(w if any(c.isupper() for c in w[1:]) else w.lower() for w in readable_name(text).split())


def label_from_iri(iri: str) -> str:
    """The decoded local name of an IRI, with separators replaced by spaces; letters keep their case.

    >>> label_from_iri("http://example.org/a/New%20York_City")
    'New York City'
    """
    text = local_name(iri)
    if "%" in text:
        text = unquote(text, errors="replace")
    return " ".join(text.replace("_", " ").split()) or iri


@lru_cache(maxsize=1024)
def column_name(name: str) -> str:
    """The SQL identifier of a label or a local name; letters of other scripts stay.

    >>> column_name("birthPlace"), column_name("Größe (m²)"), column_name("order"), column_name("id")
    ('birth_place', 'groesse_m2', 'order_', 'id_value')
    """
    text = readable_name(name)
    if not text.isascii():
        for letter, plain in _SPELT.items():
            text = text.replace(letter, plain)
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
        text = unicodedata.normalize("NFC", text)
    plain = text.lower().replace(" ", "_")
    text = plain if plain.isascii() and plain.isidentifier() else _NO_WORD.sub("_", text.lower())
    text = _LINES.sub("_", text).strip("_")
    if len(text.encode()) > _LONGEST:
        text = text.encode()[:_LONGEST].decode(errors="ignore").rstrip("_")
    if not text:
        return "x_" + blake2b(name.encode(errors="replace"), digest_size=3).hexdigest()
    if text[0].isdigit() or text.startswith("sqlite"):
        text = "n_" + text
    if text in _TAKEN_BY_SQLITE:
        return text + "_value"
    return text + "_" if text in SQL_KEYWORDS else text


def namespace_word(iri: str) -> str:
    """The distinctive word of a namespace.

    >>> namespace_word("http://xmlns.com/foaf/0.1/name"), namespace_word("https://schema.org/name")
    ('foaf', 'schema')
    """
    head = iri[: len(iri.rstrip("/#")) - len(local_name(iri))]
    authority, _, path = head.partition("://")[2].partition("/")
    plain = [part for part in re.split(r"[/#:]", path) if len(part) > 1 and not re.search(r"\d", part)]
    useful = [part for part in plain if part.lower() not in word_list("ingestion", "namespace_words")]
    if useful:
        return column_name(useful[-1]).strip("_")
    host = [part for part in authority.split(":")[0].split(".") if part != "www"]
    return column_name(host[-2] if len(host) > 1 else (host or ["other"])[0]).strip("_")


class SqlIdentifiers:
    """The identifiers in use; SQLite ignores the case of names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}

    def free(self, *names: str) -> bool:
        """Whether none of the names is in use."""
        return not any(name.lower() in self._taken for name in names)

    def claim(self, candidates: Iterable[str], suffixes: Iterable[str] = ("",)) -> str:
        """Claim the first candidate that is free with every suffix, else the last one with a number."""
        suffixes = tuple(suffixes)
        last = ""
        for last in candidates:
            if self._take(last, suffixes):
                return last
        number = 2
        while not self._take(f"{last.rstrip('_')}_{number}", suffixes):
            number += 1
        return f"{last.rstrip('_')}_{number}"

    def _take(self, name: str, suffixes: tuple[str, ...]) -> bool:
        names = {(name.rstrip("_") + suffix if suffix else name).lower() for suffix in suffixes}
        if names & self._taken:
            return False
        self._taken |= names
        return True
