"""Analyse a question without the graph: text -> Question with tokens, cues, numbers, quotations and stop words."""

from collections.abc import Collection, Sequence

from nacre.language.base import language, word_list
from nacre.language.thesaurus import english_data, function_words, gradable_adjective, unit_words
from nacre.language.tokens import Token, tokenize
from nacre.understanding.question.cues import find_cues, is_part_of_other
from nacre.understanding.question.numbers import find_numbers
from nacre.understanding.question.quotations import find_quotations
from nacre.understanding.question.trailing_clause import trailing_clause_start
from nacre.understanding.question.types import Question

# a longer question is read up to here
MAX_TOKENS = 120
# pint units of time: "how many days" may ask for something that is computed
TIME_UNITS = frozenset(("s", "min", "h", "day", "week", "month", "year"))


def analyse_question(text: str) -> Question:
    """Return the parts of a question; cues that overlap are all kept, the parser chooses."""
    tokens = tuple(tokenize(text)[:MAX_TOKENS])
    cues = find_cues(tokens)
    trailing = trailing_clause_start(text, tokens, cues)
    if trailing is not None:
        tokens = tokens[:trailing]
        cues = find_cues(tokens)
    text = text[: tokens[-1].end + 1] if tokens else text
    quoted = find_quotations(text, tokens)
    numbers = find_numbers(text, tokens)
    units = _requested_units(tokens)
    not_cues = {i for start, end in quoted for i in range(start, end)} | units
    stopwords = (function_words() | language().words["filler"]) - language().words["telling"]
    return Question(
        text,
        tokens,
        tuple(
            cue
            for cue in cues
            if not_cues.isdisjoint(range(cue.start, cue.end)) and not is_part_of_other(cue, cues, numbers)
        ),
        numbers,
        quoted,
        frozenset(
            i
            for i, token in enumerate(tokens)
            if i in units or (_is_stopword(token, stopwords, text) and not is_state(tokens, i))
        ),
        wants_measure=trailing is not None,
    )


def is_state(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word of requests says how things are: "on display", "are displayed".

    >>> [is_state(tokenize(text), at) for text, at in (("which are on display", 3), ("display them", 0))]
    [True, False]
    """
    token = tokens[at]
    if not at or token.lemma not in language().words["requesting"]:
        return False
    before = tokens[at - 1].norm
    is_participle = token.norm != token.lemma and token.norm.endswith("ed") and before in language().words["being"]
    return is_participle or before in word_list("question", "before_state")


def question_of_tokens(tokens: Sequence[Token]) -> Question:
    """Return a question without cues and numbers, of which only names are looked up."""
    text = " ".join(token.text for token in tokens)
    stopwords = frozenset(i for i, token in enumerate(tokens) if token.norm in function_words())
    return Question(text, tuple(tokens), (), (), (), stopwords)


def _is_stopword(token: Token, stopwords: Collection[str], text: str) -> bool:
    """Whether a word carries no meaning.

    Acronyms among words in lower case do ("US", "IT"), and so do letters that are no part of a word ("it's", "Ph.D.").
    """
    is_parted = token.start > 0 and (text[token.start - 1].isspace() or text[token.start - 1] in '"“‘(')
    if len(token.text) == 1 and is_parted and token.norm not in language().words["letters"]:
        return False
    is_acronym = token.norm in language().words["acronyms"] and token.text.isupper() and not text.isupper()
    return not is_acronym and (token.norm in stopwords or token.lemma in stopwords)


def _requested_units(tokens: Sequence[Token]) -> frozenset[int]:
    """The words that only say in which unit a number is wanted: "in miles per hour", "how many metres high"."""
    known, units = language().words, unit_words()

    def is_unit(token: Token) -> bool:
        return len(token.norm) > 1 and bool({token.norm, token.lemma} & units)

    found: set[int] = set()
    inside = known["rate"] | known["of_units"]
    for i, token in enumerate(tokens[1:], 1):
        if tokens[i - 1].norm != "in" or not is_unit(token):
            continue
        rest = (j for j in range(i, len(tokens)) if not (is_unit(tokens[j]) or tokens[j].norm in inside))
        end = next(rest, len(tokens))
        if end == len(tokens) or tokens[end].norm in function_words():
            found.update(range(i, end))
    lead = [token.norm for token in tokens[:4]]
    asks_number = len(lead) == 4 and lead[0] in known["degree"] and lead[1] in known["how_much"]
    if asks_number and is_unit(tokens[2]):
        unit = english_data()["units"].get(tokens[2].norm) or english_data()["units"].get(tokens[2].lemma)
        adjective = gradable_adjective(tokens[3])
        is_measured = adjective is not None and adjective.degree == "positive"
        if unit is not None and unit not in TIME_UNITS and is_measured:
            # "how many metres high is ..."
            found.update((0, 1, 2))
    return frozenset(found)
