"""Doubts about rows of a model's queries: TurnView + answer form + results -> feedback for the model, or None."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.answering.select_answer import is_empty
from agents.turn_view import TurnView
from nacre.language.data import word_list
from nacre.language.labels import false_value, is_boolean_predicate
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, language_codes, split_name, tokenize
from nacre.language.word_forms import number_with_noun
from nacre.records.evidence import AnswerForm, BranchResult, Table
from nacre.records.schema import Schema
from nacre.records.turn import Mention, Understanding

# a mention with a lower score may not name the thing
NAME_SCORE = 0.9

# letters of a condition's word that a word of the question begins with ("sport" for "sporty") (given)
SHORTEST_STEM = 3

# texts of a query without rows whose nearest values are looked up (given)
MOST_COMPARED = 3

_LITERAL = re.compile(r"['\"]((?:[^'\"]|'')*+)['\"]")

_STATED = re.compile(r'\b(\w++)"?\s++IS\s++NOT\s++NULL\b', re.IGNORECASE)

_PREFIX = re.compile(r"\bPREFIX\s+([\w-]+):\s*<([^<>\s]+)>", re.IGNORECASE)

EMPTY = (
    "It ran and gave no rows. Check names, spellings and joins, or ask in another way; "
    "if that is the answer, give the same query again."
)

FORMS: dict[str, str] = {
    "number": "a number",
    "date": "a date",
    "names": "names",
    "yes_no": "a row that begins with 1 or 0",
}


def find_doubt(
    view: TurnView,
    wants: AnswerForm | None,
    ran: Sequence[BranchResult],
    schema: Schema,
    standalone: str = "",
    *,
    is_large: bool = False,
) -> str | None:
    """The first doubt: an error, no rows, another form of answer, a yes or no that need only be stated, or a name of
    the question that no condition uses. With `standalone`, a follow-up as the model understands it, names that the
    rules alone put into it do not count. A large model leaves out no value in small letters by mistake."""
    for found in ran:
        if found.error is not None:
            return found.error.message
    tables = [each.table for found in ran for each in found.rows]
    if not tables or all(is_empty(table) for table in tables):
        return EMPTY
    if wants in FORMS and not is_of_kind(wants, tables[0]):
        return f"It ran, but you said that the question asks for {FORMS[wants]}, and no column shows that."
    stated = _truths_only_stated(ran, schema)
    if stated:
        return f"It ran, but {stated[0]} IS NOT NULL holds for a no as well. Compare {stated[0]} with its values."
    left = _unused_names(view.understanding, ran, schema) if wants != "prose" else []
    if standalone:
        asked = fold(standalone if view.rewrite.is_unread else f"{view.question} {standalone}")
        left = [mention for mention in left if fold(mention.text) in asked]
    if is_large and not view.understanding.standalone.islower():
        left = [mention for mention in left if mention.kind == "entity" or not mention.text.islower()]
    if left:
        names = ", ".join(f"'{mention.text}' (may be '{mention.label}')" for mention in left[:3])
        return (
            f"It ran, but no condition uses {names}, which the question seems to name. Give it again if that is right."
        )
    return None


def _truths_only_stated(ran: Sequence[BranchResult], schema: Schema) -> list[str]:
    """The columns of a yes or no that queries only require to be stated, neither compare nor show, where the data has
    a no."""
    queries = " ".join(query.text for found in ran for query in found.queries[-1:])
    stated = [name for name in _STATED.findall(queries) if len(re.findall(rf"(?i)\b{name}\b", queries)) == 1]
    columns = (column for relation in schema.relations for column in relation.columns if stated)
    predicates = {each.value.casefold(): schema.predicate_of.get(each.predicate) for each in columns}
    found = ((name, predicates.get(name.casefold())) for name in stated)
    truths = ((name, known) for name, known in found if known is not None and is_boolean_predicate(known))
    return [name for name, known in truths if known.objects > 1 or false_value(known) is not None]


def compared_texts(ran: Sequence[BranchResult]) -> list[str]:
    """The first texts that queries compare with: spelt as no value is, they leave no rows."""
    texts = (each.strip("% ") for part in ran for query in part.queries for each in _LITERAL.findall(query.text))
    return list(dict.fromkeys(text for text in texts if any(map(str.isalpha, text))))[:MOST_COMPARED]


def is_of_kind(wants: AnswerForm, table: Table) -> bool:
    """Whether rows can have the form that was asked for."""
    cells = [cell for row in table.rows for cell in row if cell is not None]
    if wants == "number":
        return any(_is_number(cell) for cell in cells)
    if wants == "yes_no":
        return len(table.rows) == 1 and table.rows[0][0] in (0, 1)
    return any(isinstance(cell, str) or (wants == "date" and isinstance(cell, int)) for cell in cells)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.replace(".", "", 1).lstrip("-").isdigit()
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _unused_names(understanding: Understanding, ran: Sequence[BranchResult], schema: Schema) -> list[Mention]:
    """The names of the question that restrict the answer and that neither a condition nor the rows show."""
    mentions = [mention for mention in understanding.mentions if _is_name(mention)]
    # what the same words may name as well
    others = [each for each in understanding.candidates if _is_name(each)]
    queries = " ".join(_with_full_names(query.text) for found in ran for query in found.queries)
    known = (*mentions, *understanding.candidates)
    linked = {each.label for each in known if each.kind == "entity" and each.target in queries}
    # parts of the name of a thing that the query has by its address
    parts = {token.norm for label in linked for token in tokenize(label)}
    left: list[Mention] = []
    for mention in mentions:
        if _is_alternative(mention, understanding.standalone) or _is_common_noun(mention, understanding.standalone):
            continue
        overlapping = (m for m in (*mentions, *others) if m.start < mention.end and mention.start < m.end)
        same = [mention, *overlapping]
        is_part = {token.norm for token in tokenize(mention.label)} <= parts
        if (
            not is_part
            and not any(each.target in queries or _is_used(each, ran) for each in same)
            and not _names_everything(mention, schema)
        ):
            left.append(mention)
    return left


def _is_alternative(mention: Mention, question: str) -> bool:
    """Whether a mention is one of the answers to choose from, and no condition: "is the tram red or a green one?"."""
    before = [token.norm for token in tokenize(question[: mention.start])]
    after = [token.norm for token in tokenize(question[mention.end :])]
    while before and before[-1] in function_words() and before[-1] not in word_list("answering", "choices"):
        before.pop()
    return not word_list("answering", "choices").isdisjoint([*before[-1:], *after[:1]])


def _is_common_noun(mention: Mention, question: str) -> bool:
    """Whether a word is written small that a name has in capitals, in a question that has capitals: "How many lifts"
    asks for no maker that is called LIFT."""
    return mention.kind == "entity" and mention.text.islower() and mention.label.isupper() and not question.islower()


def _is_name(mention: Mention) -> bool:
    return mention.kind in ("entity", "value") and mention.score >= NAME_SCORE and bool(mention.label)


def _with_full_names(query: str) -> str:
    """A query with the addresses that its prefixes stand for.

    >>> _with_full_names("PREFIX d: <http://e.org/> SELECT ?n { d:r4 ?p ?n }")
    'PREFIX d: <http://e.org/> SELECT ?n { http://e.org/r4 ?p ?n }'
    """
    for prefix, space in _PREFIX.findall(query):
        query = re.sub(rf"(?<![\w<:]){re.escape(prefix)}:(?=\w)", space.replace("\\", r"\\"), query)
    return query


def _is_used(mention: Mention, ran: Sequence[BranchResult]) -> bool:
    """Whether a query contains one of the longest words of the name, or the start of a word of the question, or its
    rows show the thing or are of the kind."""
    queries = " ".join(query.text for found in ran for query in found.queries)
    written = fold(queries)
    words = [*_longest(mention.label)[:2], *_longest(mention.text)[:1]]
    if not words or any(word in written for word in words) or _chooses_column(mention, queries):
        return True
    named = [token.norm for text in (mention.text, mention.label) for token in tokenize(text)]
    stems = [token.norm for literal in _LITERAL.findall(queries) for token in tokenize(literal.replace("%", " "))]
    if any(len(stem) >= SHORTEST_STEM and word.startswith(stem) for stem in stems for word in named):
        return True
    asked = set(_longest(mention.text))
    return any(_shows(rows.table, mention, asked) for found in ran for rows in found.rows)


def _chooses_column(mention: Mention, queries: str) -> bool:
    """Whether a word is a language, and a query has a column for it: "French" and `official_name_fr`."""
    return any(re.search(rf"(?i)[_@]{code}\b", queries) for code in language_codes({mention.text.lower()}))


def _shows(table: Table, mention: Mention, words: set[str]) -> bool:
    """Whether the thing is among the rows, all rows have the words, or a column is called by them."""
    if any(mention.target in keys for keys in table.keys) or any(
        words <= {token.norm for token in tokenize(split_name(column))} for column in table.columns
    ):
        return True
    cells = [" ".join(str(cell) for cell in row if isinstance(cell, str)) for row in table.rows]
    label = fold(mention.label)
    return any(fold(cell) == label for row in table.rows for cell in row if isinstance(cell, str)) or (
        bool(cells) and all(words <= {token.norm for token in tokenize(cell)} for cell in cells)
    )


def _names_everything(mention: Mention, schema: Schema) -> bool:
    """Whether a name is the word for a class, or the only value of its property: it restricts nothing."""
    said = [token.lemma for token in tokenize(mention.text)]
    if any(said == [token.lemma for token in tokenize(each.label)] for each in schema.shown_classes):
        return True
    predicate = schema.predicate_of.get(mention.predicate)
    return mention.kind == "value" and predicate is not None and len(predicate.values) == 1


def _longest(text: str) -> list[str]:
    return sorted({token.norm for token in tokenize(text)}, key=lambda word: (-len(word), word))


def preview_rows(table: Table, rows: int = 5, longest: int = 120) -> str:
    """The first rows as lines after a header; a truth as a word."""
    if not table.rows:
        return "no rows"
    if table.columns[:1] == ("yes",):
        table = with_truth_words(table)
    body = (" | ".join(_cell(cell)[:longest] for cell in row) for row in table.rows[:rows])
    lines = [" | ".join(table.columns), *body]
    more = len(table.rows) - rows
    return "\n".join(lines) + (f"\n... {number_with_noun(more, 'more row')}" if more > 0 else "")


def with_truth_words(table: Table) -> Table:
    """The table of a yes or no, whose first cells are numbers, with words: "yes" over a 0 would be read as a yes."""
    truths = tuple(("yes" if row[0] else "no", *row[1:]) for row in table.rows)
    return replace(table, columns=("answer", *table.columns[1:]), rows=truths)


def _cell(value: object) -> str:
    """A cell as text; a long fraction with two decimals."""
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) and abs(value) >= 1 and value != round(value, 2) else str(value)
