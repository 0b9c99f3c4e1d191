"""Analyse a question without the graph: text -> Question with tokens, cues, numbers, quotations and stop words.

Cues that overlap are all kept; parsing decides.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from nacre.language.data import WORDS, cues, phrase_list, word_list
from nacre.language.thesaurus import (
    GradableAdjective,
    english_data,
    function_words,
    gradable_adjective,
    synonyms,
    unit_words,
)
from nacre.language.tokens import Token, tokenize
from nacre.language.word_forms import is_participle
from nacre.understanding.question.numbers import OCCASION, find_numbers, find_quotations, is_stand_in
from nacre.understanding.question.records import Cue, Number, Question

MAX_TOKENS = 120  # a longer question is read up to here

# pint units of time: "how many days" may ask for something that is computed
TIME_UNITS = frozenset(("s", "min", "h", "day", "week", "month", "year"))


@lru_cache(maxsize=256)
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
    counted = {number.end for number in numbers if number.unit == OCCASION}
    units = _requested_units(tokens) | {at for at in counted if tokens[at : at + 1] and tokens[at].norm == "times"}
    not_cues = {i for start, end in quoted for i in range(start, end)} | units
    stopwords = (function_words() | WORDS["filler"]) - WORDS["telling"]
    return Question(
        text,
        tokens,
        tuple(
            cue
            for cue in cues
            if not_cues.isdisjoint(range(cue.start, cue.end)) and not is_part_of_other(cue, cues, numbers)
            # "how many are in" is no "in" before a place
            if cue.kind != "having" or not is_state(tokens, cue.start)
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
    """Whether a word of requests or a particle says how things are: "on display", "are displayed", "are still out"."""
    token = tokens[at]
    if at and token.norm in word_list("question", "states"):
        return _is_predicate([t.norm for t in tokens], at)
    if not at or token.lemma not in WORDS["requesting"]:
        return False
    before = tokens[at - 1].norm
    is_shown = token.norm != token.lemma and token.norm.endswith("ed") and before in WORDS["being"]
    return is_shown or before in word_list("question", "before_state")


def _is_predicate(norms: Sequence[str], at: int) -> bool:
    """Whether a particle is all that is said of things; not in "is carried out", "is in the hall", "that it is in"."""
    being, around = WORDS["being"], word_list("question", "around_states")
    verb = next(i for i in range(at - 1, -1, -1) if not i or norms[i] not in around)
    if not word_list("question", "after_states") | around >= {*norms[at + 1 : at + 2]}:
        return False
    if norms[verb] not in being:
        return norms[0] in being and not is_participle(norms[verb])
    before = norms[1:verb] if norms[at] in word_list("question", "before_state") else ()
    return (being | word_list("question", "dropped_relatives")).isdisjoint(before)


def question_of_tokens(tokens: Sequence[Token]) -> Question:
    """Return a question without cues and numbers, of which only names are looked up."""
    text = " ".join(token.text for token in tokens)
    stopwords = frozenset(i for i, token in enumerate(tokens) if token.norm in function_words())
    return Question(text, tuple(tokens), (), (), (), stopwords)


def _is_stopword(token: Token, stopwords: Collection[str], text: str) -> bool:
    """Whether a word carries no meaning; acronyms ("US") and letters that are no part of a word carry one."""
    is_parted = token.start > 0 and (text[token.start - 1].isspace() or text[token.start - 1] in '"“‘(')
    if len(token.text) == 1 and is_parted and token.norm not in WORDS["letters"]:
        return False
    is_acronym = token.norm in WORDS["acronyms"] and token.text.isupper() and not text.isupper()
    return not is_acronym and (token.norm in stopwords or token.lemma in stopwords)


def _requested_units(tokens: Sequence[Token]) -> frozenset[int]:
    """The words that only say in which unit a number is wanted: "in miles per hour", "how many metres high"."""
    units = unit_words()

    def is_unit(token: Token) -> bool:
        return len(token.norm) > 1 and bool({token.norm, token.lemma} & units)

    found: set[int] = set()
    inside = WORDS["rate"] | WORDS["of_units"]
    for i, token in enumerate(tokens[1:], 1):
        if tokens[i - 1].norm != "in" or not is_unit(token):
            continue
        rest = (j for j in range(i, len(tokens)) if not (is_unit(tokens[j]) or tokens[j].norm in inside))
        end = next(rest, len(tokens))
        if end == len(tokens) or tokens[end].norm in function_words():
            found.update(range(i, end))
    lead = [token.norm for token in tokens[:4]]
    asks_number = len(lead) == 4 and lead[0] in WORDS["degree"] and lead[1] in WORDS["how_much"]
    if asks_number and is_unit(tokens[2]):
        unit = english_data()["units"].get(tokens[2].norm) or english_data()["units"].get(tokens[2].lemma)
        adjective = gradable_adjective(tokens[3])
        is_measured = adjective is not None and adjective.degree == "positive"
        if unit is not None and unit not in TIME_UNITS and is_measured:
            # "how many metres high is ..."
            found.update((0, 1, 2))
    return frozenset(found)


MAX_WORDS_BEFORE_THAN = 6  # how many words after a comparative its "than" may stand: "a bigger budget than"
MAX_SPAN = 8  # the longest "from the most expensive to the least expensive"

RANKING_KINDS = ("superlative", "most")

INDIVISIBLE_KINDS = ("now", "distinct")  # cues in which shorter cues mean nothing: "no longer", "without duplicates"


def find_cues(words: Sequence[Token]) -> list[Cue]:
    """Return the cues of a question: by position, then those of the whole question."""
    cues = [cue for at in range(len(words)) for cue in _cues_at(words, at)]
    if words and words[-1].norm in WORDS["summed_up"] and not any(cue.end == len(words) for cue in cues):
        # "what did they cost together?"
        cues.append(Cue(len(words) - 1, len(words), "sum"))
    for rule in QUESTION_RULES:
        cues += rule(words)
    # "highest first" is a direction, and no superlative
    directions = [(cue.start, cue.end) for cue in cues if cue.kind in ("direction", "ordered") and _length(cue) > 1]
    return [
        cue
        for cue in cues
        if cue.kind not in RANKING_KINDS or not any(start <= cue.start and cue.end <= end for start, end in directions)
    ]


def is_part_of_other(cue: Cue, cues: Sequence[Cue], numbers: Sequence[Number]) -> bool:
    """Whether a cue only belongs to a longer one, or to a number: "no more than 3", "at least one"."""
    if any(o.kind in INDIVISIBLE_KINDS and o.start <= cue.start and cue.end <= o.end and o is not cue for o in cues):
        return True
    if cue.kind not in ("negation", "most"):
        return False
    comparisons = [(number.start, number.end) for number in numbers if number.op]
    comparisons += [(other.start, other.end) for other in cues if other.kind == "compare"]
    return any(start <= cue.start and cue.end <= end and _length(cue) < end - start for start, end in comparisons)


def _length(cue: Cue) -> int:
    return cue.end - cue.start


def _cues_at(words: Sequence[Token], at: int) -> Iterator[Cue]:
    """The cues that begin at a word: listed expressions, a degree, and what its form or the word after it says."""
    listed = list(_listed(words, at))
    yield from listed
    yield from _degree(words, at)
    is_compared = any(cue.kind == "compare" for cue in listed)
    adjective = gradable_adjective(words[at])
    if adjective is not None and adjective.degree == "superlative":
        yield _superlative(at, at + 1, adjective.descending, adjective)
    elif adjective is not None and adjective.degree == "comparative":
        yield from _comparative(words, at, adjective, is_compared)
    else:
        yield from _by_word(words, at)


def _by_word(words: Sequence[Token], at: int) -> Iterator[Cue]:
    """The cues of a word that is no superlative and no comparative itself: "more", "last", "most"."""
    word = words[at].norm
    is_last = at + 1 == len(words)
    if word in WORDS["more"] | WORDS["fewer"] and not is_last and _chooses(words, len(words) - 1):
        # "which of them has more shelves?"
        yield Cue(at, at + 1, "most", "up" if word in WORDS["more"] else "down")
    elif word in english_data()["at_end"] and (0 < at == len(words) - 1 or _is_first_of(words, at)):
        # "who joined last?", "the first concert"
        adjective = _as_adjective(words[at], english_data()["at_end"][word])
        if adjective is not None:
            yield _superlative(at, at + 1, adjective.descending, adjective)
    elif not is_last and word in ("most", "least"):
        adjective = gradable_adjective(words[at + 1])
        if adjective is not None and adjective.degree == "positive":
            yield _superlative(at, at + 2, adjective.descending == (word == "most"), adjective)
    elif not is_last and word in ("more", "less"):
        adjective = gradable_adjective(words[at + 1])
        if adjective is not None and adjective.degree == "positive":
            yield _compared(words, at, at + 2, adjective.descending == (word == "more"), adjective)


def _as_adjective(token: Token, word: str) -> GradableAdjective | None:
    """The adjective that another word stands for."""
    return gradable_adjective(token._replace(norm=word, lemma=word))


def _superlative(start: int, end: int, up: bool, adjective: GradableAdjective) -> Cue:
    return Cue(start, end, "superlative", _ranking("up" if up else "down", adjective))


def _compared(words: Sequence[Token], start: int, end: int, up: bool, adjective: GradableAdjective) -> Cue:
    """A comparative with its "than", or without: "more expensive than", "more expensive"."""
    value = _ranking(">" if up else "<", adjective)
    has_than = end < len(words) and words[end].norm == "than"
    return Cue(start, end + 1, "comparative", value) if has_than else Cue(start, end, "compared", value)


def _ranking(direction: str, adjective: GradableAdjective) -> str:
    """The value of a cue that ranks or compares; see `Cue.ranking`."""
    return f"{direction} {'|'.join(adjective.concepts)}"


def _listed(words: Sequence[Token], at: int) -> Iterator[Cue]:
    """The listed expressions that begin at a word, the longest of each kind."""
    norms = [word.norm for word in words]
    before = norms[at - 1] if at else ""
    longest: dict[str, int] = {}
    for expression, kind, value in cues().get(norms[at], ()):
        end = at + len(expression)
        if tuple(norms[at:end]) != expression or longest.get(kind, 0) > len(expression):
            continue
        if kind == "count" and before in WORDS["numbered"]:
            # "the phone number of" identifies phones
            continue
        if kind == "group" and at and is_stand_in(words, end) and before not in WORDS["locating"]:
            # "the year each one was built"
            continue
        longest[kind] = len(expression)
        yield Cue(at, end, kind, value)


def _degree(words: Sequence[Token], at: int) -> Iterator[Cue]:
    """ "How long"."""
    if words[at].norm in WORDS["degree"] and at + 1 < len(words):
        adjective = gradable_adjective(words[at + 1])
        if adjective is not None and adjective.degree == "positive":
            yield Cue(at, at + 2, "degree", "|".join(adjective.concepts))


def _comparative(words: Sequence[Token], at: int, adjective: GradableAdjective, is_compared: bool) -> Iterator[Cue]:
    """ "Longer than", "a longer river than", "which of them is longer"."""
    cue = _compared(words, at, at + 1, adjective.descending, adjective)
    yield cue
    if cue.kind == "comparative":
        return
    following = [word.norm for word in words[at + 2 : at + MAX_WORDS_BEFORE_THAN]]
    if not is_compared and "than" in following:
        # "a bigger budget than"
        yield Cue(at, at + 1, "compare", ">" if adjective.descending else "<")
    if _chooses(words, at):
        # "which of them is cheaper?"
        yield _superlative(at, at + 1, adjective.descending, adjective)


def _from_to(words: Sequence[Token]) -> Iterator[Cue]:
    """ "From the tallest to the shortest": both ends of one measure."""
    for start, word in enumerate(words):
        if word.norm not in WORDS["from"]:
            continue
        span = enumerate(words[start + 1 : start + MAX_SPAN], start + 1)
        content = [at for at, each in span if each.norm not in WORDS["article"] | WORDS["most"]][:3]
        if len(content) < 3 or words[content[1]].norm != "to":
            continue
        first, last = (gradable_adjective(words[at]) for at in (content[0], content[2]))
        if first is None or last is None:
            continue
        # what is new has a late date, and what is old an early one
        if not _measures(first.concepts).isdisjoint(_measures(last.concepts)):
            is_least = words[content[0] - 1].norm in WORDS["least"]
            direction = "down" if first.descending != is_least else "up"
            yield Cue(start, content[2] + 1, "ordered", _ranking(direction, first))


def _measures(concepts: Iterable[str]) -> set[str]:
    """What an adjective with these concepts measures, in whichever direction."""
    return {concept.lstrip("-") for concept in concepts}


def _both_ends(words: Sequence[Token]) -> Iterator[Cue]:
    """ "The highest and lowest price", "the lowest price and the average price": aggregates, and no ranking."""
    functions = {
        **dict.fromkeys(WORDS["highest"], "max"),
        **dict.fromkeys(WORDS["lowest"], "min"),
        **dict.fromkeys(WORDS["middle"], ""),
    }
    idle = WORDS["article"] | WORDS["joining"]
    paired: set[int] = set()
    for i, j in pairwise(at for at, word in enumerate(words) if word.norm in functions):
        between = [word.norm for word in words[i + 1 : j] if word.norm not in idle]
        repeated = [word.norm for word in words[j + 1 : j + 1 + len(between)]]
        # "the highest average price" is one number, "the highest, average and lowest" are three
        is_parted = j > i + 1 or words[j].start > words[i].end + 1
        if is_parted and between == repeated and functions[words[i].norm] != functions[words[j].norm]:
            paired |= {i, j}
    yield from (Cue(at, at + 1, functions[words[at].norm]) for at in sorted(paired) if functions[words[at].norm])


def _worth(words: Sequence[Token]) -> Iterator[Cue]:
    """ "Worth more than", "worth the least": a measure whose word is no adjective."""
    measures = english_data()["as_measure"]
    for start, word in enumerate(words):
        if word.norm not in measures:
            continue
        after = enumerate(words[start + 1 : start + 3], start + 1)
        at = next((i for i, each in after if each.norm not in WORDS["article"]), None)
        adjective = _as_adjective(word, measures[word.norm])
        if at is None or adjective is None:
            continue
        degree = words[at].norm
        # "spent the most money"
        at += any(each.norm in WORDS["money"] for each in words[at + 1 : at + 2])
        if degree in WORDS["more"] | WORDS["fewer"]:
            yield _compared(words, start, at + 1, degree in WORDS["more"], adjective)
        elif degree in WORDS["most"] | WORDS["least"]:
            yield _superlative(start, at + 1, degree not in WORDS["least"], adjective)


def _capacity(words: Sequence[Token]) -> Iterator[Cue]:
    """ "How many cars can the yard take", "how many fit in it": a measure, and no number of cars."""
    norms = [word.norm for word in words]
    if norms[:1] and norms[0] in WORDS["degree"] and {*norms[1:2]} & WORDS["how_much"]:
        is_held = not word_list("question", "holding").isdisjoint(norms)
        able = (i for i, norm in enumerate(norms) if is_held and norm in WORDS["polite"])
        fitting = (i for i, norm in enumerate(norms) if norm in word_list("question", "fitting"))
        at = min((*able, *fitting), default=MAX_SPAN)
        if at < MAX_SPAN:
            yield Cue(0, at + 1, "degree", "|".join(phrase_list("question", "holding_concepts")))


# cues of several words that no list has
QUESTION_RULES: tuple[Callable[[Sequence[Token]], Iterator[Cue]], ...] = (_from_to, _both_ends, _worth, _capacity)


def _is_first_of(words: Sequence[Token], at: int) -> bool:
    """Whether "first" ranks things: it may also belong to a number, a name ("first name") or time."""
    if at + 1 == len(words) or (at and words[at - 1].norm not in WORDS["article"] | WORDS["whose_own"]):
        return False
    following, data = words[at + 1], english_data()
    names: Collection[str] = WORDS["naming"] | WORDS["given"] | WORDS["family"] | WORDS["first_of_no_kind"]
    forms = {following.norm, following.lemma}
    is_number = following.norm[0].isdigit() or any(forms & set(data[key]) for key in ("numbers", "ordinals", "units"))
    return not is_number and not forms & (function_words() | set(names))


def _chooses(words: Sequence[Token], at: int) -> bool:
    """Whether a question says no more than "per hour", "to rent" or "in width" after a comparative, which then chooses:
    "which of them is cheaper"."""
    norms = [word.norm for word in words]
    if (WORDS["than"] | WORDS["either"]) & set(norms):
        return False
    after = at + 3 if set(norms[at + 1 : at + 2]) & WORDS["after_choice"] else at + 1
    return norms[0] in WORDS["choosing"] and set(norms[after:]) <= function_words() | WORDS["stand_in"]


MEASURE_KINDS = ("superlative", "most", "compare", "comparative")  # cues of a measure that a later clause may ask for
MIN_WORDS_BEFORE = 3  # a question has at least so many words before the clause


def trailing_clause_start(text: str, words: Sequence[Token], cues: Sequence[Cue]) -> int | None:
    """Return the token at which a last clause begins that only asks for the measure of what is ranked or bounded."""
    measured = [cue for cue in cues if cue.kind in MEASURE_KINDS]
    if not measured:
        return None
    for at in range(len(words) - 1, MIN_WORDS_BEFORE - 1, -1):
        is_joined = words[at].norm in WORDS["joining"]
        clause = words[at + 1 :] if is_joined else words[at:]
        before = [cue for cue in measured if cue.end <= at]
        if not before or not clause:
            continue
        if _asks_for_figures(clause):
            return at
        is_parted = is_joined or "," in text[words[at - 1].end : words[at].start]
        if not is_parted or clause[0].norm not in WORDS["asking_measure"]:
            continue
        concepts = {each for cue in before if cue.kind == "superlative" for each in _measures(cue.ranking[1])}
        if _asks_for_measure(clause, concepts):
            return at
    return None


def _asks_for_figures(clause: Sequence[Token]) -> bool:
    """Whether a clause is "with the figures"."""
    *lead, last = (token.norm for token in clause)
    begins_with = bool(lead) and lead[0] in WORDS["owning"] and set(lead[1:]) <= WORDS["article"] | WORDS["possessive"]
    return begins_with and last in WORDS["figures"]


def _asks_for_measure(clause: Sequence[Token], concepts: set[str]) -> bool:
    """Whether a clause only asks for a measure: "how much is it", "what does it cost", "how tall is it"."""
    content = [token for token in clause if token.norm not in function_words() | WORDS["exactly"]]
    adjectives = (each for each in map(gradable_adjective, content) if each is not None and each.degree == "positive")
    meant = [*(synonyms(token.lemma) for token in content), *(_measures(each.concepts) for each in adjectives)]
    if not concepts.isdisjoint(chain.from_iterable(meant)):
        return len(content) == 1
    asks_number = len(clause) > 1 and clause[0].norm in WORDS["degree"] and clause[1].norm in WORDS["how_much"]
    if asks_number and len(content) == 1 and clause[2] is content[0]:
        # "how many days is that"
        return content[0].norm in unit_words() or content[0].lemma in unit_words()
    if asks_number and len(clause) in (3, 4) and clause[2].norm in WORDS["second_pronoun"]:
        # "how many they made"
        return True
    pronouns = WORDS["being"] | WORDS["pronoun_one"]
    asks_what_it_is = len(clause) > 1 and all(token.norm in pronouns for token in clause[1:])
    return not content and (asks_number or asks_what_it_is)
