"""Answer with what is nearest to a question that no rows answer: TurnView -> AnswerDraft, or None.

The sentences were looked up for this (`nacre/access/nearest`) and have their nearness.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from agents.answering.answer_draft import AnswerDraft, CitedSentence
from agents.answering.clarify import offer_readings
from agents.answering.fallbacks.absence import nearest_name_hint, quoted_list
from agents.answering.selection.refused_rows import is_trivial
from agents.answering.selection.rows import (
    candidate_rows,
    indexed_sentences,
    is_empty,
    is_nil,
    plan_of,
    row_probability,
)
from nacre.language.format_values import format_date, format_value
from nacre.language.forms.nouns import join_names
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, name_tokens, tokenize
from nacre.plans.inspect_select import predicates_of
from nacre.records.evidence import Evidence, EvidenceSentence, Nearness, Rows
from nacre.records.plan import Select
from nacre.records.turn import NamedThing, Reading, Understanding
from nacre.understanding.ranking.weights import load_weights

# facts of one thing that are shown at least and at most, and sentences about no named thing
FEWEST_FACTS, MOST_FACTS, MOST_OTHERS = 3, 6, 3
# words of an answer, with what is offered, that have room for more than one fact of each thing, and of facts beside
# rows (both given)
MOST_WORDS, MOST_WORDS_BESIDE = 150, 60
# facts that are less near than the nearest by more than this are shown only to have enough (given)
NEAR = 0.15
# likeness of the nearest fact below which any other may be the one that is asked for (given)
UNCERTAIN = 0.4
# words from which on a literal is a text, and from which on a text is a sentence (given)
PROSE_WORDS, SENTENCE_WORDS = 3, 6
# a whole amount as data writes it: "2100.00"; not the "2.0" of a version
_WHOLE_AMOUNT = re.compile(r"[0-9]{3,15}\.0+")
SENTENCE_ENDS = (".", "!", "?")
# minimum likeness of a sentence to a question that names no thing (given): of 101 questions about other graphs, 4 have
# one of 0.35 and none has one of 0.40; of 146 about the graph itself, 110 have one of 0.40 (measured)
MIN_LIKENESS = 0.38
# minimum likeness of a fact of a named thing that is shown beside unsure rows: if they use all words, and if they leave
# some out (given)
MIN_LIKENESS_BESIDE = (0.3, 0.15)

NearSentence = tuple[int, EvidenceSentence, Nearness]


def near_sentences(evidence: Sequence[Evidence]) -> list[NearSentence]:
    """The sentences that were looked up as nearest to the question, with their indexes, the nearest first."""
    found = [(i, each, each.nearness) for i, each in indexed_sentences(evidence) if each.nearness is not None]
    return sorted(found, key=lambda each: (-each[2].chance, -each[2].likeness, each[0]))


def draft_matches(evidence: Sequence[Evidence]) -> AnswerDraft | None:
    """The things of the requested class whose texts have all words that no reading uses, with these texts."""
    matches = [each for each in near_sentences(evidence) if each[2].chance]
    if not matches:
        return None
    # things whose text has all words in one sentence leave no doubt about others
    matches = [each for each in matches if each[2].chance == matches[0][2].chance]
    chance = matches[0][2].chance
    sure = chance >= load_weights().threshold
    things = {nearness.thing: sentence.title for _, sentence, nearness in matches}
    sentences = [
        (f"{_match_lead(n, sure)} {quote_line(sentence.title)}: “{quoted_text(sentence) or sentence.text}”", (index,))
        for n, (index, sentence, _) in enumerate(matches)
    ]
    return AnswerDraft(
        tuple(sentences),
        "answered" if sure else "clarify",
        confidence=chance,
        values=tuple(things.values()),
        things=tuple(things.items()),
    )


def draft_nearest(understanding: Understanding, evidence: Sequence[Evidence]) -> AnswerDraft | None:
    """The facts of the named things that are nearest to the question, else the nearest texts; None without any.

    The best reading and everything about the things are offered.
    """
    near = [each for each in near_sentences(evidence) if not each[2].chance]
    named = {each.mention.target: each for each in understanding.named}
    facts = [each for each in near if each[2].thing in named]
    chosen = _nearest_facts(facts) or _nearest_others(near)
    if not chosen:
        return None
    things = [named[key] for key in dict.fromkeys(map(_thing, chosen)) if key in named]
    lead = _lead(understanding, things)
    readings = (*likeliest_reading(understanding, evidence, bool(things)), *(each.everything for each in things))
    lists_values = not things and any(_is_value(each, chosen) for each in chosen)
    if lists_values:
        readings += tuple(each for each in understanding.readings if each.near)
    offer = offer_readings(readings) if readings else ""
    shown = _within_words(chosen, MOST_WORDS - len(f"{lead} {offer}".split()), bool(things))
    about = tuple((each.mention.target, each.mention.label) for each in things)
    absent = bool(understanding.absent)
    return AnswerDraft(
        ((lead, ()), *(_worded(each, bool(things)) for each in shown)),
        "not_in_graph" if absent else "partial",
        reason=lead,
        options=readings,
        things=about or (() if lists_values else _thing_of_text(shown[0])),
        topic=things[0].everything if things else None,
    )


def _thing_of_text(near: NearSentence) -> tuple[tuple[str, str], ...]:
    """The thing that a sentence is about, which later turns may refer to; none for documents."""
    _, sentence, nearness = near
    if sentence.document is not None or not (nearness.thing or sentence.keys):
        return ()
    return ((nearness.thing or sentence.keys[0], sentence.title),)


def facts_beside(
    understanding: Understanding, evidence: Sequence[Evidence], rows: Rows, *, is_offering: bool
) -> tuple[CitedSentence, ...]:
    """The nearest facts of the named thing that the question is about, to stand beside unsure rows, after a lead with
    what is doubtful. Empty without such facts. Facts of the properties that the rows give are left out."""
    plan = plan_of(understanding, rows)
    left_out = understanding.readings[rows.reading].unused if rows.reading is not None else ()
    named = {each.mention.target: each for each in understanding.named}
    # a yes does not say what there is
    given = predicates_of(plan.body) if plan is not None and isinstance(plan.body, Select) else set()
    least = MIN_LIKENESS_BESIDE[bool(left_out)]
    near = [each for each in near_sentences(evidence) if not each[2].chance]
    others = [
        each
        for each in (near if named else _nearest_others(near) if left_out else ())
        if given.isdisjoint(predicate for _, predicate, _ in each[1].triples)
        if each[2].likeness >= (least if named else MIN_LIKENESS) and (each[2].thing in named or not named)
    ]
    others = [each for each in others if not named or each[2].thing == others[0][2].thing]
    shown = _within_words(others[:FEWEST_FACTS], MOST_WORDS_BESIDE, bool(named)) if others else []
    if not shown:
        return ()
    of_name = f" of {quote_line(named[shown[0][2].thing].mention.label)}" if named else ""
    unclear = list(_unclear_phrases(understanding)) if left_out else []
    if is_offering:
        lead = f"The graph also says{of_name}:"
    elif unclear:
        lead = (
            f"I am not sure how to read {quoted_list(unclear)}; if you meant something else, the graph says{of_name}:"
        )
    else:
        lead = f"If you meant something else, the graph says{of_name}:"
    return ((lead, ()), *(_worded(each, bool(named)) for each in shown))


def _nearest_facts(facts: Sequence[NearSentence]) -> list[NearSentence]:
    """The nearest facts of each named thing, those of one thing together."""
    by_thing = {key: list(group) for key, group in groupby(sorted(facts, key=_thing), _thing)}
    most = max(FEWEST_FACTS, MOST_FACTS // len(by_thing)) if by_thing else 0
    shown: list[NearSentence] = []
    for key in dict.fromkeys(map(_thing, facts)):
        own = by_thing[key]
        best = own[0][2].likeness
        near = 0.0 if best < UNCERTAIN else best - NEAR
        shown += [each for n, each in enumerate(own[:most]) if n < FEWEST_FACTS or each[2].likeness >= near]
    return shown


def _nearest_others(near: Sequence[NearSentence]) -> list[NearSentence]:
    """Texts of things of the requested class that have some of the words, and sentences that are like the question; and
    values of the nearest property, if it is nearly as near."""
    found = list({each[1].text: each for each in near if each[2].thing or each[2].likeness >= MIN_LIKENESS}.values())
    found = [each for each in found if each[2].likeness >= found[0][2].likeness - NEAR]
    texts = [each for each in found if not _is_value(each, found)][:MOST_OTHERS]
    return [each for each in found if each in texts or _is_value(each, found)]


def _is_value(near: NearSentence, found: Sequence[NearSentence]) -> bool:
    """Whether a sentence gives the value of a property that others give of other things: these are as near."""
    same = (each for _, each, nearness in found if nearness.thing and nearness.likeness == near[2].likeness)
    return bool(near[2].thing) and sum(_predicates(each) == _predicates(near[1]) for each in same) > 1


def _predicates(sentence: EvidenceSentence) -> set[str]:
    return {predicate for _, predicate, _ in sentence.triples}


def _within_words(chosen: Sequence[NearSentence], left: int, is_named: bool) -> list[NearSentence]:
    """The nearest sentences that are short enough, and of each thing at least one."""
    kept: set[int] = set()
    by_thing = {key: list(group) for key, group in groupby(sorted(chosen, key=_thing), _thing)}
    counts = {each[0]: len(_worded(each, is_named)[0].split()) + 1 for each in chosen}
    for own in by_thing.values():
        first = next((index for index, _, _ in own if counts[index] <= left // len(by_thing)), own[0][0])
        kept.add(first)
    left -= sum(counts[index] for index in kept)
    for index, _, _ in sorted(chosen, key=lambda each: -each[2].likeness):
        if index not in kept and counts[index] <= left:
            kept.add(index)
            left -= counts[index]
    return [each for each in chosen if each[0] in kept]


def _thing(near: NearSentence) -> str:
    return near[2].thing


def _lead(understanding: Understanding, things: Sequence[NamedThing]) -> str:
    """What is not understood or not in the graph, and what follows instead."""
    names = join_names([quote_line(each.mention.label) for each in things])
    if understanding.absent:
        unknown = [each for each in understanding.unknown if each[0] in understanding.absent]
        nearest = f"what it says of {names} that is closest" if things else "the closest that it says"
        missing = f"This graph knows nothing called {quoted_list(understanding.absent)}"
        return f"{missing}; this is {nearest}.{nearest_name_hint(unknown)}"
    nearest = f"what the graph says of {names} that is closest" if things else "the closest that the graph says"
    unclear = list(_unclear_phrases(understanding))
    if unclear:
        return f"I am not sure how to read {quoted_list(unclear)}; this is {nearest}."
    return f"I am not sure what you ask; this is {nearest}."


def _unclear_phrases(understanding: Understanding) -> Iterator[str]:
    """The words that no reading uses, those that stand side by side together."""
    best = understanding.readings[0] if understanding.readings else None
    texts = [*(word for word, _ in understanding.unknown), *(best.unused if best is not None else ())]
    named = _name_words(understanding)
    words = {token.norm for text in texts for token in tokenize(text)} - named - function_words()
    text, tokens = understanding.standalone, tokenize(understanding.standalone)
    for is_unclear, run in groupby(tokens, lambda token: token.norm in words):
        found = list(run)
        if is_unclear:
            yield text[found[0].start : found[-1].end]


def likeliest_reading(
    understanding: Understanding, evidence: Sequence[Evidence], is_named: bool = False
) -> tuple[Reading, ...]:
    """The likeliest reading that gives something, to be offered; beside named things only one that uses the names."""
    rows = [each for _, each in candidate_rows(evidence) if each.reading is not None and not is_empty(each.table)]
    rows = [each for each in rows if not is_nil(each.table) and not is_trivial(understanding, each)]
    best = max(rows, key=lambda each: row_probability(understanding, each), default=None)
    if best is None or best.reading is None or row_probability(understanding, best) < load_weights().offered:
        return ()
    reading = understanding.readings[best.reading]
    left_out = {word for text in reading.unused for word in name_tokens(text)}
    return () if is_named and left_out & _name_words(understanding) else (reading,)


def _name_words(understanding: Understanding) -> set[str]:
    return {w for each in understanding.named for w in name_tokens(f"{each.mention.text} {each.mention.label}")}


def _match_lead(place: int, sure: bool) -> str:
    if place:
        return "And" if sure else "Or"
    return "That is" if sure else "That may be"


def _worded(near: NearSentence, is_named: bool) -> CitedSentence:
    """A sentence as it is shown, after the name of what it is about if that is not clear."""
    index, sentence, _ = near
    quoted, title = quoted_text(sentence), quote_line(sentence.title)
    text = quote_line(sentence.text)
    if quoted:
        text = f"“{quoted}”" if _is_sentence(quoted) else text.replace(quoted, f"“{quoted}”", 1)
    else:
        for _, _, literal in sentence.triples:
            shown = format_value(float(literal)) if _WHOLE_AMOUNT.fullmatch(literal) else format_date(literal)
            text = text.replace(literal, shown) if literal else text
    return (text if is_named or not title or fold(title) in fold(text) else f"{title}: {text}"), (index,)


def quoted_text(sentence: EvidenceSentence) -> str:
    """The text that a sentence quotes: all of it if it is part of a text; "" for a value."""
    text = quote_line(sentence.text)
    literal = quote_line(sentence.triples[0][2]) if len(sentence.triples) == 1 else ""
    if sentence.document is not None or text in literal:
        return text
    return literal if literal in text and is_text(literal) else ""


def _is_sentence(text: str) -> bool:
    """Whether a text needs no words around it: it ends like a sentence, or is as long."""
    return text[-1:] in SENTENCE_ENDS or len(text.split()) >= SENTENCE_WORDS


def is_text(literal: str) -> bool:
    """Whether a literal is a text and no value: it has several words.

    >>> is_text("The lock sticks."), is_text("650 - 1870 l"), is_text("Mill Lane")
    (True, False, False)
    """
    return sum(word.isalpha() for word in name_tokens(literal)) >= PROSE_WORDS
