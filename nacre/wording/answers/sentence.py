"""A sentence or the lead of a list: a noun phrase + names or values -> "The captains are Ann and Bo."."""

import re
from collections.abc import Collection

from nacre.language.forms.nouns import is_plural, join_names, place_phrase, wording_entry
from nacre.records.plan import Itself, Select

MAX_LISTED_NAMES = 30
# words that a sentence has before its last one, at least
MIN_SENTENCE_SPACES = 3
_OF_THOSE = re.compile(
    r"the one of (?P<those>those [\d,]+ .+?|.+ and .+?) "
    r"(?P<placed>(?:with|that|who|whose) .+|\S*[^\Ws] (?:\S+ )?(?:last|first))"
)
# "the van that is based at the port", which is said without "that is"
_ONE_THAT_IS = re.compile(
    r"^(?P<noun>the [^ ,]+(?: [^ ,]+)?) (?:that|who) (?:is|was) "
    r"(?P<rest>(?!the |a |an |not an? )(?!.* (?:that|who|whose|with) )\S+ .+)$"
)
# more words than this name nothing that a reader keeps in mind to the end of the sentence
MAX_CLEAR_PHRASE_WORDS = 20
# where what is said of a thing begins; after "and" it is said of the same thing as what stands before
_CLAUSE = re.compile(
    r"(?<!and )(?<!or )\b(?:whose|that|who|with(?:out)?(?= (?:an?|no|one|more|fewer|at|between|exactly|\d+)\b))\b"
)

# a property that is called by its values: "the new or used of the car Fox"
_CHOICE = re.compile(r"^the (?P<one>\w+) or (?P<other>\w+)(?: \w+)? (?:of|for) (?P<owner>.+)$")

# how what is asked for begins where it has no noun
_ASKING = ("when", "whether", "what")
_SAYING = re.compile(r"(?<= )(?:that|who|whose|with|without)(?= )")
_RELATIVE = re.compile(r" (?:that|who) ")
# the best of what only says something of another thing
_BEST_OF = re.compile(r"\b(?:whose|that|who|with(?:out)?) .* with the ")


def is_unwieldy(words: str, unspoken: Collection[str] = ()) -> bool:
    """Whether a noun phrase is too long to go on from, says something of what only says something of another thing, or
    has one of the nouns that are none.

    >>> is_unwieldy("the names of the mills whose town is Rome and whose height is 3")
    False
    >>> is_unwieldy("the names of the mills with a miller whose age is 30")
    True
    >>> is_unwieldy("the town with the mill with the most sails")
    True
    """
    nested = (
        len(words.split()) > MAX_CLEAR_PHRASE_WORDS or len(_CLAUSE.findall(words)) > 1 or bool(_BEST_OF.search(words))
    )
    return nested or any(f" {noun} " in f" {words} " for noun in unspoken)


def answer_sentence(words: str, said: str, many: bool) -> str:
    """What is asked for with its values; the values alone where that winds.

    >>> answer_sentence("the new or used of the car Fox", "used", False)
    'The car Fox is used.'
    """
    if is_unwieldy(words):
        return f"{said}."
    choice = _CHOICE.match(words)
    if choice is not None and said.casefold() in (choice["one"], choice["other"]):
        words = choice["owner"]
    of_those = _OF_THOSE.fullmatch(words)
    if of_those is not None:
        words = f"of {of_those['those']}, the one {of_those['placed']}"
    words = words if many else _ONE_THAT_IS.sub(r"\g<noun> \g<rest>", words)
    if is_question_clause(words):
        return f"{capitalise_first(words)}: {said}."
    return f"{capitalise_first(words)} {'are' if many else 'is'} {place_phrase(words.removeprefix('the '), said)}."


def is_question_clause(words: str) -> bool:
    """Whether words say what is asked for with a clause: "when the mills were built"."""
    return words.partition(" ")[0].lower() in _ASKING


def caption(words: str) -> str:
    """What stands above a list or table, as a sentence.

    >>> caption("the names and ages of the captains"), caption("the number of mills for each town")
    ('Here are the names and ages of the captains', 'Here is the number of mills for each town')
    >>> caption("mills and their towns"), caption("3 of those mills"), caption("There are 3 such mills")
    ('Here are the mills and their towns', '3 of those mills', 'There are 3 such mills')
    """
    lead = words.partition(" ")[0].lower()
    if words[:1].isdigit() or lead == "there":
        return capitalise_first(words)
    if is_question_clause(words):
        return f"Here is {words[:1].lower()}{words[1:]}"
    if lead != "the":
        return f"Here are {definite_phrase(words)}"
    return f"Here {'are' if is_plural(words[4:]) else 'is'} the {words[4:]}"


def definite_phrase(words: str) -> str:
    """Things with "the", where nothing else says which.

    >>> definite_phrase("mills and their towns"), definite_phrase("those 3 mills"), definite_phrase("Fox variants")
    ('the mills and their towns', 'those 3 mills', 'Fox variants')
    """
    first = words.partition(" ")[0]
    return f"the {words}" if first.islower() and first not in wording_entry("determiners") else words


def list_lead(words: str, number: int, body: object) -> str:
    """What a list is of, with how many there are: "3 stadiums whose ..."."""
    if words.startswith("the ") or (isinstance(body, Select) and not isinstance(body.answers[-1], Itself)):
        return capitalise_first(words)
    if words.startswith("those "):
        return f"{number:,} of {words}"
    return _as_sentence(f"{number:,} {words}")


def _as_sentence(words: str) -> str:
    """A noun with what is said of it, as a sentence.

    >>> _as_sentence("2 stages that have a roof"), _as_sentence("2 lots that a ship carries"), _as_sentence("2 stages")
    ('2 stages have a roof', 'There are 2 lots that a ship carries', 'There are 2 stages')
    """
    noun, *rest = _RELATIVE.split(words, maxsplit=1)
    said = rest[0] if rest else ""
    plain = not _SAYING.search(f"{noun} {said}".replace(" without ", " "))
    first = said.partition(" ")[0]
    # the noun is who does it, where no other noun comes first
    if rest and plain and first.islower() and first not in wording_entry("determiners"):
        return f"{noun} {said}"
    return f"There are {words}"


def join_first_names(names: list[str]) -> str:
    """All names up to 30, else the first 30, the count, and how to see the rest; sentences in quotation marks.

    >>> join_first_names(["Ann", "Bo"]), join_first_names(["I came here first.", "No."])
    ('Ann and Bo', '“I came here first.” and “No.”')
    """
    if any(
        name.endswith((".", "!", "?")) and name.count(" ") >= MIN_SENTENCE_SPACES for name in names[:MAX_LISTED_NAMES]
    ):
        names = [f"“{name}”" for name in names]
    if len(names) <= MAX_LISTED_NAMES:
        return join_names(names)
    return f"{join_names(names[:MAX_LISTED_NAMES])}{remaining_names(names)}"


def remaining_names(names: list[str]) -> str:
    """How many names come after the first 30; "" where none do."""
    return (
        f" and {len(names) - MAX_LISTED_NAMES:,} more (ask with --json for all)"
        if len(names) > MAX_LISTED_NAMES
        else ""
    )


def capitalise_first(text: str) -> str:
    """A text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
