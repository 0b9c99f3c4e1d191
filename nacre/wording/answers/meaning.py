"""Word rows of a model's query by what the model says they are: noun phrase or "whether ..." + Table ->
Verbalisation."""

from dataclasses import replace

from nacre.language.base import word_list
from nacre.language.forms.nouns import join_names, plural, singular
from nacre.language.thesaurus import superlative_spellings
from nacre.language.tokens import tokenize
from nacre.records.evidence import Table
from nacre.wording.answers.grid import Grid, GridColumn, build_grid
from nacre.wording.answers.lists import is_plural_phrase
from nacre.wording.answers.sentence import (
    capitalise_first,
    caption,
    definite_phrase,
    is_question_clause,
    join_first_names,
)
from nacre.wording.answers.tables import captioned_table
from nacre.wording.answers.verbalisation import Verbalisation

# more values than these follow a colon
MAX_SENTENCE_VALUES = 6


def verbalise_meaning(meaning: str, table: Table, data: Verbalisation) -> Verbalisation:
    """The same data in a sentence from their meaning: "the prices of the mills" or "whether the mill is old"; without a
    meaning from the headings.

    >>> table = Table(("n",), ((4,),))
    >>> verbalise_meaning("number of old mills", table, Verbalisation("4.", (4,))).text
    'The number of old mills is 4.'
    """
    words = " ".join(meaning.split()).rstrip(".?!")
    if table.columns[:1] == ("yes",) and table.rows:
        return Verbalisation(_truth(words, table), (bool(table.rows[0][0]),))
    found = build_grid(table)
    if len(found.columns) == 1:
        names = list(dict.fromkeys(filter(None, found.columns[0].texts)))
        text = _sentence(words or _heading(found.columns[0].heading, len(names)), names) if names else ""
    elif len(found.rows) == 1:
        text = _row_sentence(words, found)
    else:
        text = captioned_table(caption(words), found) if words else data.text
    return replace(data, text=text or data.text)


def _truth(words: str, table: Table) -> str:
    """Yes or no with the statement and the values that decide it."""
    yes = bool(table.rows[0][0])
    further = build_grid(
        replace(
            table,
            columns=table.columns[1:],
            rows=tuple(row[1:] for row in table.rows),
            units=table.units[1:],
        )
    )
    statement = words.removeprefix("whether ")
    said = {token.norm for token in tokenize(statement)} if yes else set()
    # what the statement says already is not said again
    deciding = [each for each in further.columns if not {token.norm for token in tokenize(each.texts[0])} <= said]
    values = join_names([_clause(column) for column in deciding])
    if statement == words:
        about = f", as to {words}" if words else ""
        return f"{'Yes' if yes else 'No'}{about}{f': {values}' if values else ''}."
    if yes:
        return f"Yes, {statement}{f': {values}' if values else ''}."
    return f"No: {values}." if values else f"No, it is not the case that {statement}."


def _sentence(words: str, names: list[str]) -> str:
    """What is asked for with its values. "The variants are A and B.", "The only variant is A."."""
    values = join_first_names(names)
    if not words or words.lower() in word_list("wording", "blank_headings"):
        return f"The answer is {values}." if len(names) == 1 else f"There are {len(names):,}: {values}."
    if is_question_clause(words):
        return f"{capitalise_first(words)}: {values}."
    phrase, is_many = definite_phrase(words), _is_plural(words)
    if is_many and len(names) == 1 and phrase.startswith("the ") and not names[0][:1].isdigit():
        return f"{_single(phrase)} is {values}."
    if not is_many and len(names) > 1:
        if (several := plural(phrase)) == phrase or len(names) > MAX_SENTENCE_VALUES:
            return f"{capitalise_first(phrase)}: {values}."
        phrase, is_many = several, True
    return f"{capitalise_first(phrase)} {'are' if is_many else 'is'} {values}."


def _single(phrase: str) -> str:
    """The subject of a sentence about the one thing that a plural phrase turned out to name.

    >>> _single("the mills with the lowest price"), _single("the mills of Hay"), _single("the mills that grind rye")
    ('The mill with the lowest price', 'The only mill of Hay', 'The only one of the mills that grind rye')
    """
    noun = phrase.removeprefix("the ")
    one, words = singular(noun), noun.split()
    if one == noun or noun[:1].isdigit() or not word_list("wording", "relative_pronouns").isdisjoint(words):
        return f"The only one of {phrase}"
    return f"The {'' if _is_ranked(noun) else 'only '}{one}"


def _is_ranked(phrase: str) -> bool:
    """Whether a phrase names the first by a measure: "the mill with the lowest price"."""
    ranks = superlative_spellings().keys() | word_list("texts", "superlative_words")
    return not ranks.isdisjoint(phrase.split())


def _heading(heading: str, number: int) -> str:
    return plural(heading) if number > 1 and heading not in word_list("wording", "blank_headings") else heading


def _is_plural(words: str) -> bool:
    """Whether the noun before a clause is plural: "the mills that are old"."""
    clauses = (words.find(f" {word} ") for word in word_list("wording", "relative_pronouns"))
    return is_plural_phrase(words[: min((at for at in clauses if at > 0), default=len(words))])


def _row_sentence(words: str, found: Grid) -> str:
    """Several values of one row: "The cheapest mill is A, and its price is 5 euro."; other rows after a colon."""
    shown = [column for column in found.columns if column.texts[0]]
    if not words or not shown:
        return ""
    phrase = capitalise_first(definite_phrase(words))
    first, _, second = phrase.partition(" and its ")
    if second and len(shown) == len(found.columns) == 2:
        return f"{first} is {shown[0].texts[0]}, and its {second} is {shown[1].texts[0]}."
    if " and " in words and len(shown) == len(found.columns) == 2 and not is_question_clause(words):
        return f"{phrase} are {join_names([column.texts[0] for column in shown])}."
    return f"{phrase}: {join_names([f'{column.heading} {column.texts[0]}'.strip() for column in shown])}."


def _clause(column: GridColumn) -> str:
    """The value of a column as a clause: "the height of the mill is 20 m"."""
    phrase = definite_phrase(column.heading)
    return f"{phrase} {'are' if is_plural_phrase(phrase) else 'is'} {column.texts[0]}"
