"""Propose the key and the name of a table, and its columns that refer to rows of others: profiles -> names of columns.

A key is a column of different values that is called a key, or the first one; a column refers to a table if its values
are nearly all in its key or name. Numbers refer to a table only if their column is called like it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ingestion.induce.names import lowercase_name
from nacre.extensions.spreadsheets.classify import words
from nacre.extensions.spreadsheets.columns import ColumnProfile, ColumnType
from nacre.language.data import word_list
from nacre.language.word_forms import singular

# distinct values that are looked up, the share of them that must be there, and fewest of them if no name shows a link
MAX_VALUES, MIN_SHARE, MIN_VALUES = 200, 0.9, 2

# the least share of texts that look like names, and of those that differ, for a column to name rows (given)
MIN_NAMES, MIN_DIFFERENT = 0.9, 0.5

# the fewest letters of a word in a compound (given)
MIN_STEM = 4

KEY_TYPES = ("integer", "text")


@dataclass(frozen=True)
class SheetColumn:
    """A column with its profile and type, and its place in the rows."""

    name: str
    profile: ColumnProfile
    type: ColumnType
    place: int


@dataclass(frozen=True)
class SheetTable:
    """What is known of a sheet before its rows become triples. `rows` counts those with a cell; `parts` are the columns
    of first and last names that name rows together."""

    label: str
    columns: tuple[SheetColumn, ...]
    rows: int
    key: SheetColumn | None = None
    name: SheetColumn | None = None
    parts: tuple[SheetColumn, SheetColumn] | None = None

    @property
    def name_repeats(self) -> bool:
        """Whether most rows share their name with others, and have a key that tells them apart."""
        is_other = self.name is not None and self.key is not None and self.name is not self.key
        return is_other and not self.parts and self.name is not None and not _are_different(self.name)


class FoundLink(NamedTuple):
    """A column that refers to rows of another sheet, by one of its columns, or to things of the graph, by their names
    or the like: what they are called, and the IRI of one by its text."""

    label: str
    by: str
    find: Callable[[str], str | None]
    sheet: str = ""


def choose_name(columns: Sequence[SheetColumn], key: SheetColumn | None, label: str) -> SheetColumn | None:
    """The column that names rows: one that is called a name, else the only column of different words, else a key of
    texts. Names of something else than the table ("site name") that rows share are those of groups of rows."""
    texts = [each for each in columns if each.type.name == "text" and each.profile.filled]
    rows = max((each.profile.filled for each in columns), default=0)
    called = _name_words() | word_list("ingestion", "description_words")
    # what most rows have no text of names none of them
    texts = [each for each in texts if 2 * each.profile.filled >= rows]
    ranked = [each for each in texts if called & set(words_of(each.name)) and each.profile.share_of_names > 0]
    kind = {singular(word) or word for word in words_of(label)}
    ranked = [each for each in ranked if set(words_of(each.name)) - called <= kind or _are_different(each)]
    compounds = [each for each in texts if each not in ranked and is_called_name(each.name)]
    if own := [each for each in compounds if _is_name_of(each.name, label)]:
        ranked = own
    ranked = ranked or [each for each in compounds if each.profile.is_unique]
    if ranked:
        # an "ale name" before a "description"
        is_text = word_list("ingestion", "description_words")
        return min(ranked, key=lambda x: (not is_text.isdisjoint(words_of(x.name)), len(words_of(x.name)) > 1, x.place))
    likely = [
        each
        for each in texts
        if each.profile.share_of_names >= MIN_NAMES
        and (each.profile.is_unique or (each.profile.is_complete and _are_different(each)))
    ]
    # a code has capital letters alone
    likely = [each for each in likely if not all(map(str.isupper, each.profile.sample))] or likely
    if unique := [each for each in likely if each.profile.is_unique]:
        return unique[0]
    if len(likely) == 1:
        return likely[0]
    large = [each for each in texts if not each.profile.is_complete and each.profile.share_of_names >= MIN_NAMES]
    return large[0] if large else key if key is not None and key.type.name == "text" else None


def _are_different(column: SheetColumn) -> bool:
    """Whether most texts of a column differ, as far as they are known."""
    profile = column.profile
    return not profile.is_complete or sum(1 for _ in profile.distinct) >= MIN_DIFFERENT * profile.filled


def name_parts(columns: Sequence[SheetColumn], name: SheetColumn | None) -> tuple[SheetColumn, SheetColumn] | None:
    """The columns of first names and of last names, if one of them would name rows: together they name a person."""
    texts = {"".join(words_of(each.name)): each for each in columns if each.type.name == "text"}
    given, family = (next((texts[word] for word in words(each) if word in texts), None) for each in ("given", "family"))
    return (given, family) if given is not None and family is not None and name in (given, family) else None


def is_called_name(heading: str) -> bool:
    """Whether a heading ends with a word for a name, also in a compound ("Linienname")."""
    own = words_of(heading)
    return bool(own) and own[-1].endswith(tuple(_name_words()))


def _is_name_of(heading: str, label: str) -> bool:
    """Whether a heading is a compound of a word of a label and one for a name: "Linienname" for lines ("Linien")."""
    *_, last = words_of(heading)
    stem = min((last.removesuffix(word) for word in _name_words()), key=len)
    return len(stem) >= MIN_STEM and any(word.startswith(stem) for word in words_of(label))


def choose_key(columns: Sequence[SheetColumn], rows: int) -> SheetColumn | None:
    """The column of different values, one in each row, that tells rows apart."""
    able = [
        each
        for each in columns
        if each.type.name in KEY_TYPES and each.profile.is_unique and each.profile.filled >= rows
    ]
    called = [each for each in able if has_key_word(each.name)]
    first = [each for each in able if each is columns[0]]
    return next(iter([*called, *first]), None)


def propose_link(
    column: SheetColumn,
    own: SheetTable,
    tables: Sequence[SheetTable],
    values: Callable[[SheetTable, SheetColumn], Collection[str]],
) -> tuple[SheetTable, SheetColumn] | None:
    """The table, and its key or name, that a column of another refers to."""
    if column.type.name not in KEY_TYPES or column in (own.key, own.name):
        return None
    used = list(islice(column.profile.distinct, MAX_VALUES))
    is_number = are_numbers(used)
    found = []
    for table in tables:
        if table is own:
            continue
        is_called = _is_called(column.name, table)
        for target in _targets(table):
            same_type = target.type.name == column.type.name
            enough = is_called or (column.type.name == "text" and len(used) >= MIN_VALUES and not is_number)
            if same_type and used and enough:
                known = values(table, target)
                if sum(each in known for each in used) >= MIN_SHARE * len(used):
                    found.append((not is_called, table, target))
    return min(found, key=lambda each: each[0])[1:] if found else None


def are_numbers(texts: Collection[str]) -> bool:
    """Whether most texts are numbers, as "02", which stays a text."""
    return sum(map(str.isdigit, texts)) > len(texts) / 2


def link_label(heading: str, target: str) -> str:
    """What people call a link: its heading without the word for a key, or the table that it refers to.

    >>> link_label("Borrower ID", "borrowers"), link_label("Code postal", "communes"), link_label("Id", "borrowers")
    ('Borrower', 'postal', 'borrowers')
    """
    return " ".join(_without(_key_words(), heading.replace("_", " ").split())) or target


def has_key_word(heading: str) -> bool:
    """Whether a heading begins or ends with a word for a key."""
    own = words_of(heading)
    return not _key_words().isdisjoint((*own[:1], *own[-1:]))


def without_key(heading: str) -> Sequence[str]:
    """The words of a heading without those for keys and names, and prepositions, around them.

    >>> without_key("Name of lender"), without_key("Borrower ID"), without_key("Nom")
    (['lender'], ['borrower'], [])
    """
    return list(_without(_key_words() | _name_words() | words("prepositions").keys(), words_of(heading)))


def _targets(table: SheetTable) -> Iterator[SheetColumn]:
    if table.key is not None:
        yield table.key
    if table.name is not None and table.name is not table.key and table.name.profile.is_unique:
        yield table.name


def _is_called(heading: str, table: SheetTable) -> bool:
    """Whether a heading is that of the key or name of a table, or has the name of the table before a word for a key."""
    if heading.casefold() in {each.name.casefold() for each in _targets(table)} and len(heading) > MIN_VALUES:
        return True
    own, kind = words_of(heading), [singular(word) or word for word in words_of(table.label)]
    stem = _without(_key_words(), own) or own
    return bool(kind) and [singular(word) or word for word in stem][-len(kind) :] == kind


def _without(known: Collection[str], words: Sequence[str]) -> Sequence[str]:
    """The words of a heading without known ones at its end or, as in Romance languages, at its start."""
    others = [i for i, word in enumerate(words) if word.casefold().strip(".:") not in known]
    return words[others[0] : others[-1] + 1] if others else ()


def words_of(heading: str) -> list[str]:
    """The words of a heading in small letters."""
    return [word.strip(".:") for word in lowercase_name(heading).casefold().split()]


def _name_words() -> frozenset[str]:
    return frozenset(word_list("ingestion", "name_words") | words("names").keys())


def _key_words() -> frozenset[str]:
    return frozenset(word_list("ingestion", "key_words") | words("keys").keys())
