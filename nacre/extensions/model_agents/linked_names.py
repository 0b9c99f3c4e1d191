"""The names of a question as a model is shown them: Understanding + occurrences of values -> lines, each name once."""

import re
from collections.abc import Sequence

from agents.answering.select_answer import content_words
from agents.turn_view import Database
from nacre.language.sanitize import quote_line
from nacre.plans.sparql_vocabulary import format_iri
from nacre.records.evidence import Occurrence
from nacre.records.threads import run_in_thread
from nacre.records.turn import Mention, Understanding

MAX_LINES = 14

MAX_COLUMNS = 3

LONGEST_PHRASE = 6

MOST_PHRASES = 12

_QUOTED = re.compile(r"[\"“‘']([^\"”’']{2,80})[\"”’']")

_WORD = re.compile(r"[^\W_][\w.&'’-]*")


async def linked_name_lines(
    understanding: Understanding, database: Database, occurrences: Sequence[Occurrence] | None = None
) -> list[str]:
    """One line for each name: the words of the question, the column with the exact spelling, and the score. The
    `occurrences` of its values are looked up if they are not given."""
    if occurrences is None:
        occurrences = await database.occurrences(value_phrases(understanding.standalone))
    # the lines of things say the same of the names of their own tables
    labels = {(database.table_of(m.target), m.label) for m in understanding.mentions if m.kind == "entity"}
    lines = [_occurrence_line(each) for each in occurrences if (each.table, each.value) not in labels]
    for mention in understanding.mentions:
        # looks up the table of a thing on disk
        lines += await run_in_thread(_mention_lines, mention, database)
    return list(dict.fromkeys(lines))[:MAX_LINES]


def value_phrases(question: str) -> list[str]:
    """Spans of a question that may be values: quotations, runs of capitalised words, then single words.

    >>> value_phrases("Which dishes of Cape Town use 'black rice' in 2010?")
    ['black rice', 'Cape Town', 'dishes', 'use', '2010']
    """
    quotes = [match[1].strip() for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" ", question)
    words = [match[0].rstrip(".'’") for match in _WORD.finditer(rest)]
    runs: list[list[str]] = [[]]
    for number, word in enumerate(words):
        # a number belongs to the name before it; the first word is capitalised anyway
        if (any(map(str.isupper, word)) and number > 0) or (runs[-1] and any(map(str.isdigit, word))):
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    named = [" ".join(run[:LONGEST_PHRASE]) for run in runs if run]
    inside = {word for run in runs for word in run}
    single = [word for word in words if word not in inside and content_words(word)]
    return list(dict.fromkeys([*quotes, *named, *single]))[:MOST_PHRASES]


def _occurrence_line(found: Occurrence) -> str:
    how = "" if found.likeness >= 1 else f" (alike, {found.likeness:.2f})"
    return f"{found.table}.{found.column} has {_quoted_name(found.value)}{how}"


def _mention_lines(mention: Mention, database: Database) -> list[str]:
    """What a mention may stand for, in terms of tables."""
    span = quote_line(mention.text)[:80]
    sure = f" (score {mention.score:.2f})"
    if database.language == "sparql":
        return _iri_lines(mention, database)
    if mention.kind == "entity":
        table = database.table_of(mention.target)
        label = _quoted_name(mention.label)
        return [f"'{span}' may be {label} of table {table}{sure}"] if table else []
    if mention.kind == "value":
        places = _places(mention.predicate, database)
        return [f"'{span}' may be {' or '.join(places)} = {_quoted_name(mention.label)}{sure}"] if places else []
    # the prompt shows tables and columns anyway
    return []


def _iri_lines(mention: Mention, database: Database) -> list[str]:
    """The same in terms of SPARQL: IRIs, and values of properties."""
    span, sure = quote_line(mention.text)[:80], f" (score {mention.score:.2f})"
    if mention.kind == "entity":
        classes = database.table_of(mention.target)
        return (
            [f"'{span}' may be {format_iri(mention.target)}, {_quoted_name(mention.label)}, of {classes}{sure}"]
            if classes
            else []
        )
    if mention.kind == "value":
        return [f"'{span}' may be the value {_quoted_name(mention.label)} of {format_iri(mention.predicate)}{sure}"]
    return []


def _places(predicate: str, database: Database) -> Sequence[str]:
    """The columns of a predicate, tables before views."""
    found: list[str] = []
    for relation in sorted(database.schema.relations, key=lambda each: (each.kind == "view", each.name)):
        for column in relation.columns:
            if column.predicate == predicate and not (found and relation.kind == "view"):
                found.append(f"{relation.name}.{column.value or column.link}")
    return found[:MAX_COLUMNS]


def _quoted_name(text: str) -> str:
    return "'" + quote_line(text)[:80].replace("'", "''") + "'"
