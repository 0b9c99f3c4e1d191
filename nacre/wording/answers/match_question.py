"""Names in an answer as the question has them: "the Moon Jar", "the cornflower"."""

import re
from collections.abc import Sequence

import simplemma

from nacre.language.base import language
from nacre.language.forms.nouns import is_participle
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.records.turn import Mention
from nacre.wording.phrases.join_clauses import KIND_SUFFIX

# words of a kind that is said before a name, at most
MAX_KIND_WORDS = 3
_HYPHENED = re.compile(r"(?<!\w)[a-z]+(?:-[a-z]+)+(?!\w)")
# the words of a noun with its article, at an end
_LED = re.compile(r"\bthe ([\w'-]+(?: [\w'-]+)?)$")
# "GPA" and "GDP", and no number of a row
_SPELLED = re.compile(r"(?<![\w-])[A-Z]{3,5}(?![\w-])")
# "state/province/county"
_ALTERNATIVES = re.compile(r"(?<![\w/])[a-z]+(?:/[a-z]+)+(?![\w/])")
_BETWEEN = re.compile(r"[\s-]+")
_QUOTES = "\"'”’»"
# what a table has between its headings and its rows
_ROWS = "\n| -"


def match_question_spelling(text: str, question: str, mentions: Sequence[Mention]) -> str:
    """A sentence, with the lines below it, where names that have "the" in the question have it too, and words the
    hyphens and capitals that they have there."""
    head, mark, rows = text.partition(_ROWS)
    for written in _HYPHENED.findall(question):
        head = re.sub(rf"(?<!\w){written.replace('-', ' ')}(?!\w)", written, head)
    for spelled in (each for each in _SPELLED.findall(question) if not simplemma.is_known(each.lower(), lang="en")):
        head = re.sub(rf"(?<!\w){spelled.lower()}(?=s?(?!\w))", spelled, head)
    said, end, rest = f"{head}{mark}{rows}".partition("\n")
    for each in mentions:
        label = KIND_SUFFIX.sub("", each.label)
        if each.kind == "entity" and question[each.start : each.end] == each.text and _has_article(question, each):
            said = _with_article(said, label, _written(question, each))
        elif each.kind == "entity" and _is_hyphened(each.text, label):
            said = said.replace(label, each.text, 1)
        if each.kind == "predicate" and "/" in said:
            for names in _ALTERNATIVES.findall(said):
                said = said.replace(names, _one_of(names, each.text))
        if each.kind == "predicate" and (named := _LED.search(question[: each.end])):
            # the label has "distance to county seat"
            said = re.sub(rf"(?<= )(to|from) {re.escape(named[1])}(?!\w)", rf"\1 the {named[1]}", said, count=1)
    return f"{said}{end}{rest}"


def _one_of(names: str, asked: str) -> str:
    """Of names for the same the one that was asked for.

    >>> _one_of("states/provinces/counties", "state"), _one_of("km/h", "speed")
    ('states', 'km/h')
    """
    lemmas = {each.lemma for each in tokenize(asked)}
    return next((name for name in names.split("/") if lemmas & {each.lemma for each in tokenize(name)}), names)


def _has_article(question: str, mention: Mention) -> bool:
    """Whether the name has "the" of its own, and not that of a kind that follows it ("the Neurology department")."""
    before = tokenize(question[: mention.start])
    after = question[mention.end :].lstrip(_QUOTES)
    following = next(iter(tokenize(after)), None)
    if following is None or not after[: following.start].isspace():
        ends = True
    else:
        ends = following.norm in function_words() or is_participle(following.norm)
    return ends and bool(before) and before[-1].norm == "the"


def _written(question: str, mention: Mention) -> str:
    """The name as a common noun where it is asked for as one: in small letters by who writes capitals; with the hyphens
    of the question."""
    label = KIND_SUFFIX.sub("", mention.label)
    small = mention.text == label.lower() and question[:1].isupper()
    return mention.text if small or _is_hyphened(mention.text, label) else label


def _is_hyphened(text: str, label: str) -> bool:
    """Whether a name is typed with hyphens, and differs from the label in these alone.

    >>> _is_hyphened("plug-in hybrid", "plug-in-hybrid"), _is_hyphened("plug in hybrid", "plug-in-hybrid")
    (True, False)
    """
    return "-" in text and _BETWEEN.sub(" ", text) == _BETWEEN.sub(" ", label)


def _with_article(said: str, label: str, written: str) -> str:
    """The sentence with "the" before the first place of the name, unless that has one or is part of a longer name."""
    found = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", said)
    if found is None or label.casefold().startswith("the "):
        return said
    before, after = said[: found.start()], said[found.end() :]
    following = next(iter(tokenize(after)), None)
    longer = following is not None and after[: following.start].isspace() and _may_go_on(label, following)
    return said if longer or _is_led(before) else f"{before}{'the' if before else 'The'} {written}{after}"


def _may_go_on(label: str, following: Token) -> bool:
    """Whether a word may belong to a longer name: one with a capital or digit, or any after a name in small letters."""
    return following.norm not in function_words() and (label.islower() or not following.text.islower())


def _is_led(before: str) -> bool:
    """Whether an article stands before the name already, or before its kind ("the car variant Fox")."""
    words = [each.norm for each in tokenize(before)][-MAX_KIND_WORDS - 1 :]
    led = next((word for word in reversed(words) if word in function_words()), "")
    return led in language().words["article"]
