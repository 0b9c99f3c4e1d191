"""Make a sentence, or the lead of a list: a noun phrase + names or values -> "The captains are Ann and Bo."."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile

from nacre.language.data import pattern, phrase_list, word_list
from nacre.language.sanitize import quote_line
from nacre.language.word_forms import is_plural, join_names, place_phrase
from nacre.records.evidence import Mark, Table
from nacre.records.plan import Itself, Select

MAX_LISTED_NAMES = 30

MIN_SENTENCE_SPACES = 3  # a name with so many spaces and a full stop is a sentence
MAX_CLEAR_PHRASE_WORDS = 20  # a reader does not keep more words in mind to the end of the sentence


def is_unwieldy(words: str, link_like: Collection[str] = ()) -> bool:
    """Whether a noun phrase is too long or too nested to go on from, or has a noun that is named like a link."""
    is_long = len(words.split()) > MAX_CLEAR_PHRASE_WORDS
    is_nested = len(pattern("wording", "clause_start").findall(words)) > 1
    has_inner_superlative = bool(pattern("wording", "superlative_in_clause").search(words))
    return is_long or is_nested or has_inner_superlative or any(f" {noun} " in f" {words} " for noun in link_like)


def answer_sentence(words: str, values: str, many: bool) -> str:
    """What is asked for with its values; the values alone if the phrase is unwieldy.

    >>> answer_sentence("the new or used of the car Fox", "used", False)
    'The car Fox is used.'
    """
    if is_unwieldy(words):
        return f"{values}."
    choice = pattern("wording", "choice_property").match(words)
    if choice is not None and values.casefold() in (choice["one"], choice["other"]):
        words = choice["owner"]
    of_those = pattern("wording", "one_of_those").fullmatch(words)
    if of_those is not None:
        words = f"of {of_those['those']}, the one {of_those['placed']}"
    words = words if many else pattern("wording", "one_that_is").sub(r"\g<noun> \g<rest>", words)
    if is_question_clause(words):
        return f"{capitalise_first(words)}: {values}."
    be = "are" if many else "is"
    return f"{capitalise_first(words)} {be} {place_phrase(words.removeprefix('the '), values)}."


def is_question_clause(words: str) -> bool:
    """Whether words are a question clause: "when the mills were built"."""
    return words.partition(" ")[0].lower() in phrase_list("wording", "question_clause_starts")


def caption(words: str) -> str:
    """The caption of a list or table, as a sentence.

    >>> caption("the names and ages of the captains"), caption("the number of mills for each town")
    ('Here are the names and ages of the captains', 'Here is the number of mills for each town')
    """
    lead = words.partition(" ")[0].lower()
    if words[:1].isdigit() or lead in ("there", "of"):
        return capitalise_first(words)
    if is_question_clause(words):
        return f"Here is {words[:1].lower()}{words[1:]}"
    if lead != "the":
        return f"Here are {definite_phrase(words)}"
    return f"Here {'are' if _names_several(words[4:]) else 'is'} the {words[4:]}"


def definite_phrase(words: str) -> str:
    """A noun phrase with "the", unless a name or another determiner begins it."""
    first = words.partition(" ")[0]
    return f"the {words}" if first.islower() and first not in word_list("wording", "determiners") else words


def list_lead(words: str, number: int, body: object) -> str:
    """The lead of a list with the number of its items: "3 stadiums whose ..."."""
    if words.startswith("the ") or (isinstance(body, Select) and not isinstance(body.answers[-1], Itself)):
        return capitalise_first(words)
    if words.startswith("those "):
        clause = pattern("wording", "condition_words").search(words)
        if clause is None:
            return f"{number:,} of {words}"
        statement = _counted_statement(f"{number:,}{words[clause.start() - 1 :]}")
        return f"Of {words[: clause.start() - 1]}, {statement[:1].lower()}{statement[1:]}"
    return _counted_statement(f"{number:,} {words}")


def join_first_names(names: Sequence[str]) -> str:
    """At most 30 names, then how many more there are and how to see them; sentences in quotation marks.

    >>> join_first_names(["Ann", "Bo"]), join_first_names(["I came here first.", "No."])
    ('Ann and Bo', '“I came here first.” and “No.”')
    """
    shown = list(names[:MAX_LISTED_NAMES])
    if any(name.endswith((".", "!", "?")) and name.count(" ") >= MIN_SENTENCE_SPACES for name in shown):
        shown = [f"“{name}”" for name in shown]
    more = len(names) - len(shown)
    return f"{join_names(shown)}{f' and {more:,} more (ask with --json for all)' if more else ''}"


def sentence_about(clause: str, name: str) -> str:
    """A clause as a sentence; a `name` at its beginning keeps its first letter."""
    return f"{clause if name and clause.startswith(name) else capitalise_first(clause)}."


def capitalise_first(text: str) -> str:
    """A text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _names_several(words: str) -> bool:
    """Whether a noun phrase has a plural head, or nouns joined by "and" as its head."""
    first, _, other = words.partition(" and ")
    ends = {*phrase_list("wording", "noun_prepositions"), *word_list("wording", "relative_pronouns")}
    head = list(takewhile(lambda word: word not in ends, words.split()))
    return is_plural(first) or "and" in head or other.startswith("the ")


def _counted_statement(words: str) -> str:
    """A number of things with a condition, as a statement.

    >>> _counted_statement("2 stages that have a roof"), _counted_statement("2 stages")
    ('2 stages have a roof', 'There are 2 stages')
    >>> _counted_statement("2 lots that a ship carries")
    'There are 2 lots that a ship carries'
    """
    noun, *rest = pattern("wording", "relative_clause").split(words, maxsplit=1)
    clause = rest[0] if rest else ""
    is_only_clause = not pattern("wording", "condition_words").search(f"{noun} {clause}".replace(" without ", " "))
    first = clause.partition(" ")[0]
    # the noun is the subject of the clause unless another noun comes first
    if rest and is_only_clause and first.islower() and first not in word_list("wording", "determiners"):
        return f"{noun} {clause}"
    return f"There are {words}"


# what is said of one and of several marked things
MARKED: Mapping[Mark, tuple[str, str]] = {
    "deprecated": ("is deprecated", "are deprecated"),
    "several records": ("has several records", "have several records"),
    "exact match": ("has an exact match among them", "have an exact match among them"),
}


def other_spellings(table: Table) -> Iterator[str]:
    """Which further spellings of a value are among what was found, and which may be the same and are not."""
    found: dict[tuple[str, bool, bool], list[str]] = {}
    for each in table.spellings:
        other = f"“{quote_line(each.other)}”" + (f" ({each.count})" if each.count else "")
        found.setdefault((quote_line(each.value), each.is_joined, each.count is None), []).append(other)
    for (value, is_joined, is_group), others in found.items():
        listed, are = join_names(others), "is" if len(others) == 1 else "are"
        if is_joined:
            yield f"{listed} {are} counted as “{value}” too."
        else:
            apart = "" if is_group else f" {are} not counted, but"
            yield f"{listed}{apart} may be “{value}” in another spelling."


MAX_MARKED = 5  # names of marked things


def marked_things(table: Table) -> Iterator[str]:
    """Which of the things that were found are deprecated, or stand for several records."""
    for marked in table.marked:
        names, more = marked.names[:MAX_MARKED], len(marked.names) - MAX_MARKED
        listed = join_names([*names, *([f"{more} more"] if more > 0 else [])])
        yield f"{len(marked.names)} of them {MARKED[marked.mark][len(marked.names) > 1]}: {listed}."
