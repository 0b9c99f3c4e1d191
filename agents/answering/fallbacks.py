"""What is answered if no rows are sure: TurnView or Understanding + evidence -> AnswerDraft, offered readings.
The nearest sentences were looked up before (`nacre/access/nearest`) and have their nearness."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from rapidfuzz import process

from agents.answering.select_answer import (
    candidate_rows,
    column_values,
    content_words,
    empty_table,
    have_same_values,
    indexed_sentences,
    is_empty,
    is_nil,
    is_sure,
    is_trivial,
    plan_of,
    row_probability,
    unstated_rows,
)
from agents.turn_view import AnswerDraft, CitedSentence
from nacre.language.data import word_list
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, fold, name_tokens, tokenize
from nacre.language.values import format_date, format_value
from nacre.language.word_forms import join_names
from nacre.plans.selects import asked_select, is_unknown_truth, is_variant_plan, predicates_of
from nacre.records.evidence import Evidence, EvidenceSentence, Nearness, QueryError, Rows
from nacre.records.plan import Attribute, Itself, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.records.turn import NamedThing, Reading, Understanding
from nacre.understanding.ranking.probabilities import MIN_SHARE
from nacre.understanding.ranking.rank import load_weights
from nacre.wording.nouns import class_noun
from nacre.wording.plan_phrases import predicate_words

# facts, or sentences about no named thing, that are shown at most (given)
MOST_SHOWN = 3

# words of an answer with room for more than one fact of each thing, and of facts beside rows (given)
MOST_WORDS, MOST_WORDS_BESIDE = 150, 60

# texts that are less near than the nearest by more than this are not shown (given)
NEAR = 0.15
# words from which on a literal is a text, and from which on a text is a sentence (given)
PROSE_WORDS, SENTENCE_WORDS = 3, 6

# a whole amount as data writes it: "2100.00"; not the "2.0" of a version
_WHOLE_AMOUNT = re.compile(r"[0-9]{3,15}\.0+")
SENTENCE_ENDS = (".", "!", "?")

# minimum likeness of a sentence to a question that names no thing: the weighted share of its words (set by hand)
MIN_LIKENESS = 0.38

# minimum likeness of a fact beside unsure rows that use all words, and beside rows that leave some out (given)
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
    leads = ("That is", "And") if sure else ("That may be", "Or")
    sentences = [
        (f"{leads[min(n, 1)]} {quote_line(sentence.title)}: “{quoted_text(sentence) or sentence.text}”", (index,))
        for n, (index, sentence, _) in enumerate(matches)
    ]
    return AnswerDraft(
        tuple(sentences),
        "answered" if sure else "clarify",
        confidence=chance,
        values=tuple(things.values()),
        things=tuple(things.items()),
    )


def draft_nearest(understanding: Understanding, evidence: Sequence[Evidence], schema: Schema) -> AnswerDraft | None:
    """The facts of the named things that are nearest to the question, else the nearest texts; None without any.
    The best readings and everything about the things are offered."""
    near = [each for each in near_sentences(evidence) if not each[2].chance]
    named = {each.mention.target: each for each in understanding.named}
    facts = [each for each in near if each[2].thing in named]
    first = list(dict.fromkeys(map(_thing, facts)))[:MOST_SHOWN]
    most = max(1, MOST_SHOWN // max(1, len(first)))
    chosen = [each for thing in first for each in [own for own in facts if _thing(own) == thing][:most]]
    chosen = chosen or _nearest_others(near)[:MOST_SHOWN]
    if not chosen:
        return None
    things = [named[key] for key in dict.fromkeys(map(_thing, chosen)) if key in named]
    empty = empty_table(understanding, evidence)
    lead = _lead(understanding, things, empty[1] if empty is not None else None)
    lists_values = not things and any(_is_value(each, chosen) for each in chosen)
    wider = tuple(each.everything for each in things)
    wider += tuple(each for each in understanding.readings if each.near and not each.covered and lists_values)
    offered = likeliest_readings(understanding, evidence, schema, bool(things))
    readings = (*offered[: max(1, MOST_OFFERED - len(wider))], *wider)[:MOST_OFFERED]
    offer = offer_readings(readings) if readings else ""
    shown = _within_words(chosen, MOST_WORDS - len(f"{lead} {offer}".split()), bool(things))
    about = tuple((each.mention.target, each.mention.label) for each in things)
    return AnswerDraft(
        ((lead, ()), *(_worded(each, bool(things)) for each in shown)),
        "not_in_graph" if understanding.absent else "partial",
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
    shown = _within_words(others[:MOST_SHOWN], MOST_WORDS_BESIDE, bool(named)) if others else []
    if not shown:
        return ()
    of_name = f" of {quote_line(named[shown[0][2].thing].mention.label)}" if named else ""
    unclear = list(unclear_phrases(understanding)) if left_out else []
    if is_offering:
        lead = f"The graph also says{of_name}:"
    elif unclear:
        lead = f"I left out {quoted_list(unclear)}; if you meant something else, the graph says{of_name}:"
    else:
        lead = f"If you meant something else, the graph says{of_name}:"
    return ((lead, ()), *(_worded(each, bool(named)) for each in shown))


def _nearest_others(near: Sequence[NearSentence]) -> list[NearSentence]:
    """Texts of the asked class with some of the words, sentences like the question, values of near properties."""
    found = list({each[1].text: each for each in near if each[2].thing or each[2].likeness >= MIN_LIKENESS}.values())
    return [each for each in found if each[2].likeness >= found[0][2].likeness - NEAR]


def _is_value(near: NearSentence, found: Sequence[NearSentence]) -> bool:
    """Whether a sentence gives the value of a property that others give of other things: these are as near."""
    same = (each for _, each, nearness in found if nearness.thing and nearness.likeness == near[2].likeness)
    return bool(near[2].thing) and sum(_predicates(each) == _predicates(near[1]) for each in same) > 1


def _predicates(sentence: EvidenceSentence) -> set[str]:
    return {predicate for _, predicate, _ in sentence.triples}


def _within_words(chosen: Sequence[NearSentence], left: int, is_named: bool) -> list[NearSentence]:
    """The nearest sentences that are short enough, and of each thing at least one."""
    by_thing = {key: list(group) for key, group in groupby(sorted(chosen, key=_thing), _thing)}
    counts = {each[0]: len(_worded(each, is_named)[0].split()) + 1 for each in chosen}
    kept = {next((i for i, *_ in own if counts[i] <= left // len(by_thing)), own[0][0]) for own in by_thing.values()}
    left -= sum(counts[index] for index in kept)
    for index, _, _ in sorted(chosen, key=lambda each: -each[2].likeness):
        if index not in kept and counts[index] <= left:
            kept.add(index)
            left -= counts[index]
    return [each for each in chosen if each[0] in kept]


def _thing(near: NearSentence) -> str:
    return near[2].thing


def _lead(understanding: Understanding, things: Sequence[NamedThing], empty: Rows | None) -> str:
    """What is not understood or not in the graph, and what follows instead."""
    names = join_names([quote_line(each.mention.label) for each in things])
    if understanding.absent:
        unknown = [each for each in understanding.unknown if each[0] in understanding.absent]
        nearest = f"what it says of {names} that is closest" if things else "the closest that it says"
        missing = f"This graph knows nothing called {quoted_list(understanding.absent)}"
        return f"{missing}; this is {nearest}.{nearest_name_hint(unknown)}"
    nearest = f"what the graph says of {names} that is closest" if things else "the closest that the graph says"
    unclear = list(unclear_phrases(understanding))
    doubt = f"I left out {quoted_list(unclear)}" if unclear else "I am not sure what you ask"
    if empty is not None and empty.reading == 0 and not unclear:
        doubt = f"I found nothing for “{quote_line(empty.words)}”"
    return f"{doubt}; this is {nearest}."


def unclear_phrases(understanding: Understanding, place: int = 0) -> Iterator[str]:
    """The words that a reading does not use, those that stand side by side together."""
    best = understanding.readings[place] if understanding.readings else None
    texts = [*(word for word, _ in understanding.unknown), *(best.unused if best is not None else ())]
    named = _name_words(understanding)
    # a word that stands alone is not empty: "which are out"
    empty = function_words() - {text.casefold() for text in texts}
    words = {token.norm for text in texts for token in tokenize(text)} - named - empty
    text, tokens = understanding.standalone, tokenize(understanding.standalone)
    for is_unclear, run in groupby(tokens, lambda token: token.norm in words):
        found = list(run)
        if is_unclear:
            yield text[found[0].start : found[-1].end]


def likeliest_readings(
    understanding: Understanding, evidence: Sequence[Evidence], schema: Schema, is_named: bool = False
) -> tuple[Reading, ...]:
    """The likeliest readings that give something, to be offered; beside named things only those that use the names."""
    found = other_readings(None, understanding, evidence, schema)
    names = _name_words(understanding) if is_named else set()
    return tuple(each for each in found if names.isdisjoint(w for text in each.unused for w in name_tokens(text)))


def _name_words(understanding: Understanding) -> set[str]:
    return {w for each in understanding.named for w in name_tokens(f"{each.mention.text} {each.mention.label}")}


def _worded(near: NearSentence, is_named: bool) -> CitedSentence:
    """A sentence as it is shown, after the name of what it is about if that is not clear."""
    index, sentence, _ = near
    quoted, title = quoted_text(sentence), quote_line(sentence.title)
    text = quote_line(sentence.text)
    if quoted:
        # a text that ends like a sentence, or is as long, needs no words around it
        is_whole = quoted[-1:] in SENTENCE_ENDS or len(quoted.split()) >= SENTENCE_WORDS
        text = f"“{quoted}”" if is_whole else text.replace(quoted, f"“{quoted}”", 1)
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


def is_text(literal: str) -> bool:
    """Whether a literal is a text and no value: it has several words.

    >>> is_text("The lock sticks."), is_text("650 - 1870 l"), is_text("Mill Lane")
    (True, False, False)
    """
    return sum(word.isalpha() for word in name_tokens(literal)) >= PROSE_WORDS


MOST_PROPERTIES, MOST_MISSING_WORDS = 6, 4

STEM = 6


def is_unanswerable(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether the graph can only give an empty result: as the sure answer, or since it does not state what is asked."""
    is_known = not understanding.unknown
    if (understanding.unstated is not None and is_known) or unstated_rows(understanding, evidence) is not None:
        return True
    empty = empty_table(understanding, evidence)
    return empty is not None and is_known and is_sure(understanding, empty[1])


def explain_absence(
    understanding: Understanding, schema: Schema, evidence: Sequence[Evidence], failures: dict[str, QueryError]
) -> AnswerDraft:
    """The first reason that applies: unknown words, a property that is not stated, an empty result, failed queries, a
    question that was not understood. Else which words of the question the evidence lacks."""
    empty = empty_table(understanding, evidence)
    if understanding.unknown and understanding.cut:
        why = "not all names in it could be looked up in time."
        return AnswerDraft(((f"I could not find out: {why} Please ask again.", ()),), "failed", reason=why)
    if understanding.unknown:
        return _absent(_unknown_words_text(understanding, schema, evidence))
    if understanding.unstated is not None:
        asked, other = understanding.unstated
        nearest = f"The nearest it has is {quote_line(other)}, which is no answer."
        return _absent(f"This graph does not state {quote_line(asked)}. {nearest}")
    unstated = unstated_rows(understanding, evidence)
    if unstated is not None and is_unknown_truth(unstated.table):
        return _absent(f"This graph does not say {quote_line(unstated.words)}.")
    if unstated is not None and not _is_list(understanding.readings[0], schema):
        return _absent(_unstated_text(understanding.readings[0]))
    if empty is not None and (unstated is not None or is_sure(understanding, empty[1])):
        index, rows = empty
        plan = plan_of(understanding, rows)
        values = stated_values(plan, schema) if plan is not None else ""
        text = f"Nothing in this graph matches{f': {quote_line(rows.words)}' if rows.words else ''}. {values}".rstrip()
        is_answer = is_sure(understanding, rows)
        return AnswerDraft(((text, (index,)),), "answered", table=index) if is_answer else _absent(text)
    failed = {branch: error for branch, error in failures.items() if error.kind != "empty"}
    if failed and empty is None:
        why = "; ".join(f"{branch}: {error.message}" for branch, error in failed.items())
        text = f"I could not find out: my queries failed ({quote_line(why)})."
        return AnswerDraft(((text, ()),), "failed", reason=why)
    if understanding.readings and not understanding.readings[0].near:
        return _misunderstanding(understanding.readings[0], empty[1] if empty is not None else None, schema)
    known = _known_words(schema, evidence)
    missing = [token.text for token in tokenize(understanding.standalone) if _is_unknown_word(token, known)]
    words = f" on {quoted_list(missing[:MOST_MISSING_WORDS])}" if missing else " that answers this question"
    return _absent(f"This graph holds nothing{words}." if schema.predicates else f"The texts say nothing{words}.")


def _absent(text: str) -> AnswerDraft:
    return AnswerDraft(((text, ()),), "not_in_graph", reason=text)


def explain_reported_absence(
    missing: str, understanding: Understanding, schema: Schema, evidence: Sequence[Evidence]
) -> AnswerDraft:
    """What a model says that the graph lacks, and what the graph states of the thing that is asked about."""
    text = f"This graph does not hold {quote_line(missing)}."
    key, name = _subject(understanding, evidence)
    known = schema.predicate_of
    stated = {t[1] for each in evidence for t in each.triples if t[0] == key and t[1] in known} if key else set()
    properties = sorted(predicate_words(iri, schema) for iri in stated if known[iri].role == "fact")
    listed = ", ".join(map(quote_line, properties[:MOST_PROPERTIES]))
    return _absent(f"{text} What it says of {quote_line(name)}: {listed}." if listed else text)


def _unknown_words_text(understanding: Understanding, schema: Schema, evidence: Sequence[Evidence]) -> str:
    """Which names the graph lacks; else which other words of the question it lacks."""
    known = _known_words(schema, evidence)
    unknown = (
        [each for each in understanding.unknown if each[0] in understanding.absent]
        # of words that the graph has elsewhere, it does not say nothing
        or [each for each in understanding.unknown if content_words(each[0]) - known]
        or understanding.unknown
    )
    names, hint = quoted_list([word for word, _ in unknown]), nearest_name_hint(unknown)
    if not schema.predicates:
        return f"The texts do not tell of {names}."
    lead = "This graph knows nothing called" if understanding.absent else "I found nothing for"
    with_texts = any(each.document is not None for _, each in indexed_sentences(evidence))
    return f"{lead} {names}{', and the texts do not answer this' if with_texts else ''}.{hint}"


def _unstated_text(reading: Reading) -> str:
    """That the graph lacks what a reading asks for: "the height of the kiln", or things, "masons who built it"."""
    body, words = reading.plan.body, quote_line(reading.words)
    lists_things = isinstance(body, Select) and isinstance(body.answers[0], Itself) and not words.startswith("the ")
    return f"This graph names no {words}." if lists_things else f"This graph does not state {words}."


def nearest_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The rows of the likeliest reading that gives one fact of the thing that is asked about, with their index."""
    named = _named_keys(understanding, 0)
    found = [
        (i, each)
        for i, each in candidate_rows(evidence)
        if each.reading and not is_empty(each.table) and len(each.table.rows) == 1
        if named & _named_keys(understanding, each.reading) and not is_trivial(understanding, each)
    ]
    return max(found, key=lambda each: understanding.readings[each[1].reading or 0].score, default=None)


def _named_keys(understanding: Understanding, reading: int) -> frozenset[str]:
    body = understanding.readings[reading].plan.body
    variables = body.variables if isinstance(body, Select) else ()
    return frozenset(key for variable in variables for key in variable.keys)


def _is_list(reading: Reading, schema: Schema) -> bool:
    """Whether a reading lists things and an empty list is an answer: "rivers that traverse Utah"."""
    body = reading.plan.body
    if not isinstance(body, Select) or not body.edges:
        return False
    (edge,) = body.edges[:1]
    named = {variable.name for variable in body.variables if variable.keys}
    return edge.subject not in named or not schema.predicate_of[edge.predicate].functional


def nearest_name_hint(unknown: Sequence[tuple[str, str]]) -> str:
    """A sentence with the names nearest to unknown words, or ""."""
    near = [name for _, name in unknown if name]
    return f" The nearest name it has is {quoted_list(near)}." if near else ""


def stated_values(plan: Plan, schema: Schema) -> str:
    """Which values a property has whose condition in a plan none of them meets, the most similar first, or the range of
    its numbers; "" if one may meet it, or if the schema lists no values."""
    select = asked_select(plan.body)
    for each in select.filters if select is not None else ():
        if each.negated or not isinstance(each.left, Attribute):
            continue
        predicate, asked = schema.predicate_of[each.left.predicate], each.right
        label = f"“{quote_line(predicate.label)}”"
        known = predicate.values or predicate.samples
        if isinstance(asked, str) and known and predicate.role == "fact" and not predicate.hidden:
            if any(fold(asked) in fold(value) for value in known):
                continue
            near = [found[0] for found in process.extract(asked, known, processor=fold, limit=MAX_POSSIBLE)]
            more = "" if predicate.values and len(near) == len(known) else ", for example"
            return f"The values of {label} are{more} {join_names(list(map(quote_line, near)))}."
        low, high = predicate.minimum, predicate.maximum
        if low is not None and high is not None and isinstance(asked, int | float) and not low <= asked <= high:
            shown = [format_value(bound, predicate.unit, counted=False) for bound in (low, high)]
            return f"The values of {label} are from {shown[0]} to {shown[1]}."
    return ""


MAX_POSSIBLE = 5  # names of things that may fit


def possible_fits(rows: Rows) -> str:
    """What may fit beside the rows, since its date is not exact; "" if nothing may."""
    names = rows.table.possible
    if not names:
        return ""
    more = len(names) - MAX_POSSIBLE
    listed = join_names([*names[:MAX_POSSIBLE], *([f"{more} more"] if more > 0 else [])])
    why = "its date is" if len(names) == 1 else "their dates are"
    return f"{listed} may fit{' too' if rows.table.rows else ''}: {why} not exact enough to be sure."


def _misunderstanding(best: Reading, empty: Rows | None, schema: Schema) -> AnswerDraft:
    unplaced = f" What I could not place: {quoted_list(best.unused)}." if best.unused else ""
    if empty is None:
        text = f"I did not understand this well enough to answer.{unplaced}"
        return AnswerDraft(((text, ()),), "not_understood", reason=text, confirm=best.words)
    text = f"I found nothing for “{quote_line(best.words)}”.{unplaced}"
    also = possible_fits(empty) or stated_values(best.plan, schema)
    return AnswerDraft(((f"{text} {also}".rstrip(), ()),), "not_understood", reason=text)


def quoted_list(names: Sequence[str]) -> str:
    """Names in quotes.

    >>> quoted_list(["a", "b", "c"])
    '“a”, “b” and “c”'
    """
    quotes = [f"“{quote_line(name)}”" for name in dict.fromkeys(names)]
    return quotes[0] if len(quotes) == 1 else f"{', '.join(quotes[:-1])} and {quotes[-1]}"


def _known_words(schema: Schema, evidence: Sequence[Evidence]) -> frozenset[str]:
    labels = [*(each.label for each in schema.classes), *(each.label for each in schema.predicates)]
    return content_words(" ".join([*labels, *(f"{each.title} {each.text}" for each in evidence)]))


def _is_unknown_word(token: Token, known: frozenset[str]) -> bool:
    """Whether the word has meaning and is no form of a known word ("accelerates" if "acceleration" is known)."""
    if token.norm[0].isdigit() or gradable_adjective(token) or not content_words(token.text) - known:
        return False
    return not any(word[:STEM] == token.norm[:STEM] for word in known if len(word) >= STEM)


def _subject(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[str, str]:
    """The IRI and name of the thing that is asked about; empty if the question names none."""
    for mention in understanding.mentions:
        if mention.kind == "entity":
            return mention.target, mention.label
    asked_words = content_words(understanding.standalone)
    facts = [each for _, each in indexed_sentences(evidence) if each.title and each.keys and each.document is None]
    named = [each for each in facts if content_words(each.title) <= asked_words]
    best = max(named, key=lambda each: len(content_words(each.title)), default=None)
    return (best.keys[0], best.title) if best is not None else ("", "")


MOST_OFFERED = 3


def other_readings(
    chosen: Rows | None,
    understanding: Understanding,
    evidence: Sequence[Evidence],
    schema: Schema,
    least: float = MIN_SHARE,
) -> tuple[Reading, ...]:
    """The likeliest readings that give something else than `chosen` and than each other, at most three; of two with the
    same words the later names its class. The shares of readings with the same rows add up to `least` or more. Further
    columns are something else if the question asks for them. Identifiers that it does not ask for are left out, unless
    `chosen` gives some."""
    named = {each.target for each in (*understanding.mentions, *understanding.candidates) if each.kind == "predicate"}
    rows = [(each, column_values(each.table)) for _, each in candidate_rows(evidence)]
    given = [chosen] if chosen is not None else []
    shown = [(each.words, column_values(each.table), _shown_properties(plan_of(understanding, each))) for each in given]
    has_codes = any(
        _selects_identifiers(plan_of(understanding, each), understanding.standalone, schema) for each in given
    )
    found: list[Reading] = []
    for each, values in sorted(rows, key=lambda row: -row_probability(understanding, row[0])):
        if each.reading is None or is_empty(each.table) or is_nil(each.table) or is_trivial(understanding, each):
            continue
        reading = understanding.readings[each.reading]
        same = {e.reading for e, other in rows if e.reading is not None and have_same_values(values, other)}
        share = sum(understanding.readings[i].score for i in same)
        if share < least or (not has_codes and _selects_identifiers(reading.plan, understanding.standalone, schema)):
            continue
        properties = _shown_properties(reading.plan) & named if reading.score >= least else set()
        if any(
            # a further column that the question names is something else
            have_same_values(values, own) and not (len(values) > len(own) and properties - before)
            for _, own, before in shown
        ):
            continue
        words = {other for other, _, _ in shown}
        reading = _with_classes(reading, schema) if each.words in words else reading
        plans = [*filter(None, (plan_of(understanding, one) for one in given)), *(one.plan for one in found)]
        if reading.words not in words and not any(is_variant_plan(reading.plan, plan) for plan in plans):
            shown.append((reading.words, values, properties))
            found.append(reading)
    # readings that change the plan of these rows were not run; one of them is offered before the last of the others
    unrun = (each for each in understanding.readings if each.near and each.covered and each.probability is None)
    changed = [each for each in unrun if all(each.words != words for words, _, _ in shown)]
    ran = found[: MOST_OFFERED - bool(changed)]
    return (*ran, *changed, *found[len(ran) :])[:MOST_OFFERED]


def _shown_properties(plan: Plan | None) -> set[str]:
    answers = plan.body.answers if plan is not None and isinstance(plan.body, Select) else ()
    return {each.predicate for each in map(aggregated_value, answers) if isinstance(each, Attribute)}


def _selects_identifiers(plan: Plan | None, asked: str, schema: Schema) -> bool:
    """Whether a plan gives only identifiers, and the question does not ask for them."""
    body = plan.body if plan is not None else None
    return isinstance(body, Select) and all(
        isinstance(answer, Attribute)
        and (predicate := schema.predicate_of[answer.predicate]).role == "identifier"
        and content_words(predicate.label).isdisjoint(content_words(asked))
        for answer in body.answers
    )


def _with_classes(reading: Reading, schema: Schema) -> Reading:
    select = asked_select(reading.plan.body)
    variables = select.variables if select is not None else ()
    kinds = dict.fromkeys(class_noun(each, schema) for each in variables if each.keys)
    return replace(reading, words=f"{reading.words} ({', '.join(kinds)})") if kinds else reading


def offer_readings(readings: Sequence[Reading]) -> str:
    """The readings in words, to be chosen by number."""
    quotes = [f"“{quote_line(each.words)}”" for each in readings]
    if len(quotes) == 1:
        return f"Or did you mean {quotes[0]}?"
    return f"Or did you mean: {'; '.join(f'{n}. {each}' for n, each in enumerate(quotes, 1))}?"


CONFIRM = "Is that what you meant?"


def confirm_reading(words: str, answer: str = "") -> str:
    """Ask to confirm a reading if there is no other to offer; its words are left out if the answer has them.

    >>> confirm_reading("the age of Ann", "The age of Ann is 40.")
    'Is that what you meant?'
    >>> confirm_reading("towns that Ann lives in", "Ann lives in Hay.")
    'I read this as “towns that Ann lives in”. Is that what you meant?'
    """
    answer_words = {token.norm for token in tokenize(answer)}
    if answer and {token.norm for token in tokenize(words)} <= answer_words | word_list("answering", "reading_forms"):
        return CONFIRM
    return f"I read this as “{quote_line(words)}”. {CONFIRM}"
