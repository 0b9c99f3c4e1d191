"""Write names in an answer as the question does: answer + question + mentions -> answer with "the Moon Jar"."""

import re
from collections.abc import Sequence

import simplemma

from nacre.language.base import language, pattern, phrase_list
from nacre.language.forms.nouns import is_participle
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.records.turn import Mention
from nacre.wording.clauses.join_clauses import KIND_SUFFIX

# words of a class before a name
MAX_KIND_WORDS = 3
_HYPHENED = re.compile(r"(?<!\w)[a-z]+(?:-[a-z]+)+(?!\w)")
# "GPA" and "GDP"
_ACRONYM = re.compile(r"(?<![\w-])[A-Z]{3,5}(?![\w-])")
# "state/province/county"
_ALTERNATIVES = re.compile(r"(?<![\w/])[a-z]+(?:/[a-z]+)+(?![\w/])")
_WORD_BREAK = re.compile(r"[\s-]+")
_QUOTES = "\"'”’»"
# between the headings of a table and its rows
_ROWS = "\n| -"


def match_question_spelling(text: str, question: str, mentions: Sequence[Mention]) -> str:
    """An answer with the articles, hyphens and capitals of the question; rows of a table stay as they are."""
    head, mark, rows = text.partition(_ROWS)
    for hyphened in _HYPHENED.findall(question):
        head = re.sub(rf"(?<!\w){hyphened.replace('-', ' ')}(?!\w)", hyphened, head)
    for acronym in (each for each in _ACRONYM.findall(question) if not simplemma.is_known(each.lower(), lang="en")):
        head = re.sub(rf"(?<!\w){acronym.lower()}(?=s?(?!\w))", acronym, head)
    sentence, end, rest = f"{head}{mark}{rows}".partition("\n")
    for each in mentions:
        if each.kind == "entity":
            sentence = _match_entity(sentence, question, each)
        elif each.kind == "predicate":
            sentence = _match_predicate(sentence, question, each)
    return f"{sentence}{end}{rest}"


def _match_entity(sentence: str, question: str, mention: Mention) -> str:
    """The sentence with the article or the hyphens of a thing's name in the question."""
    label = KIND_SUFFIX.sub("", mention.label)
    if question[mention.start : mention.end] == mention.text and _has_article(question, mention):
        return _with_article(sentence, label, _written(question, mention))
    return sentence.replace(label, mention.text, 1) if _is_hyphened(mention.text, label) else sentence


def _match_predicate(sentence: str, question: str, mention: Mention) -> str:
    """The sentence with the alternative and the article of a property in the question."""
    if "/" in sentence:
        for names in _ALTERNATIVES.findall(sentence):
            sentence = sentence.replace(names, _one_of(names, mention.text))
    noun = pattern("wording", "article_noun_end").search(question[: mention.end])
    if noun is None:
        return sentence
    # the label has "distance to county seat"
    ways = "|".join(phrase_list("wording", "way_prepositions"))
    return re.sub(rf"(?<= )({ways}) {re.escape(noun[1])}(?!\w)", rf"\1 the {noun[1]}", sentence, count=1)


def _one_of(names: str, mentioned: str) -> str:
    """The one of several names for the same that the question has.

    >>> _one_of("states/provinces/counties", "state"), _one_of("km/h", "speed")
    ('states', 'km/h')
    """
    lemmas = {each.lemma for each in tokenize(mentioned)}
    return next((name for name in names.split("/") if lemmas & {each.lemma for each in tokenize(name)}), names)


def _has_article(question: str, mention: Mention) -> bool:
    """Whether the name has "the" of its own, and not that of a class after it ("the Neurology department")."""
    before = tokenize(question[: mention.start])
    after = question[mention.end :].lstrip(_QUOTES)
    following = next(iter(tokenize(after)), None)
    if following is None or not after[: following.start].isspace():
        ends = True
    else:
        ends = following.norm in function_words() or is_participle(following.norm)
    return ends and bool(before) and before[-1].norm == "the"


def _written(question: str, mention: Mention) -> str:
    """The name in small letters if the question has it so among capitals, and with the hyphens of the question."""
    label = KIND_SUFFIX.sub("", mention.label)
    small = mention.text == label.lower() and question[:1].isupper()
    return mention.text if small or _is_hyphened(mention.text, label) else label


def _is_hyphened(text: str, label: str) -> bool:
    """Whether a name has hyphens, and differs from the label only in these.

    >>> _is_hyphened("plug-in hybrid", "plug-in-hybrid"), _is_hyphened("plug in hybrid", "plug-in-hybrid")
    (True, False)
    """
    return "-" in text and _WORD_BREAK.sub(" ", text) == _WORD_BREAK.sub(" ", label)


def _with_article(sentence: str, label: str, written: str) -> str:
    """The sentence with "the" before the first place of the name, unless it has one or is part of a longer name."""
    found = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", sentence)
    if found is None or label.casefold().startswith("the "):
        return sentence
    before, after = sentence[: found.start()], sentence[found.end() :]
    following = next(iter(tokenize(after)), None)
    longer = following is not None and after[: following.start].isspace() and _may_go_on(label, following)
    return sentence if longer or _is_led(before) else f"{before}{'the' if before else 'The'} {written}{after}"


def _may_go_on(label: str, following: Token) -> bool:
    """Whether a word may continue a name: a word with a capital or digit, or any after a name in small letters."""
    return following.norm not in function_words() and (label.islower() or not following.text.islower())


def _is_led(before: str) -> bool:
    """Whether an article stands before the name already, or before its class ("the car variant Fox")."""
    words = [each.norm for each in tokenize(before)][-MAX_KIND_WORDS - 1 :]
    led = next((word for word in reversed(words) if word in function_words()), "")
    return led in language().words["article"]
