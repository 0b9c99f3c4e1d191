"""Why there is no answer: Understanding + evidence + failures -> Absence, with unknown words and the nearest names."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.answering.clarify import confirm_reading
from agents.answering.selection.refused_rows import is_trivial, unstated_rows
from agents.answering.selection.rows import candidate_rows, empty_table, indexed_sentences, is_empty, is_sure
from agents.answering.selection.word_cover import content_words
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.plans.missing_values import is_unknown_truth
from nacre.records.answer import Status
from nacre.records.evidence import Evidence, QueryError, Rows
from nacre.records.plan import Itself, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding
from nacre.wording.phrases.plan import predicate_words

MOST_PROPERTIES, MOST_WORDS = 6, 4
STEM = 6


@dataclass(frozen=True)
class Absence:
    """The text instead of an answer. `table` is the index of the empty rows that are the answer, if any."""

    text: str
    status: Status
    reason: str | None = None
    table: int | None = None


def is_unanswerable(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether the graph can only give an empty result: it surely is the answer, or the graph does not state what is
    asked of the named things."""
    is_known = not understanding.unknown
    if (understanding.unstated is not None and is_known) or unstated_rows(understanding, evidence) is not None:
        return True
    empty = empty_table(understanding, evidence)
    return empty is not None and is_known and is_sure(understanding, empty[1])


def explain_absence(
    understanding: Understanding, schema: Schema, evidence: Sequence[Evidence], failures: dict[str, QueryError]
) -> Absence:
    """The first reason that applies: unknown words, a property that is not stated, an empty result, failed queries, a
    question that was not understood. Else which words of the question the evidence lacks."""
    empty = empty_table(understanding, evidence)
    if understanding.unknown:
        text = _unknown_words_text(understanding, schema, evidence)
        return Absence(text, "not_in_graph", text)
    if understanding.unstated is not None:
        asked, other = understanding.unstated
        nearest = f"The nearest it has is {quote_line(other)}, which is no answer."
        text = f"This graph does not state {quote_line(asked)}. {nearest}"
        return Absence(text, "not_in_graph", text)
    unstated = unstated_rows(understanding, evidence)
    if unstated is not None and is_unknown_truth(unstated.table):
        text = f"This graph does not say {quote_line(unstated.words)}."
        return Absence(text, "not_in_graph", text)
    if unstated is not None and not _is_list(understanding.readings[0], schema):
        text = _unstated_text(understanding.readings[0])
        return Absence(text, "not_in_graph", text)
    if empty is not None and (unstated is not None or is_sure(understanding, empty[1])):
        index, rows = empty
        words = rows.words
        text = f"Nothing in this graph matches: {quote_line(words)}." if words else "Nothing in this graph matches."
        if is_sure(understanding, rows):
            return Absence(text, "answered", table=index)
        return Absence(text, "not_in_graph", text)
    failed = {branch: error for branch, error in failures.items() if error.kind != "empty"}
    if failed and empty is None:
        why = "; ".join(f"{branch}: {error.message}" for branch, error in failed.items())
        return Absence(f"I could not find out: my queries failed ({quote_line(why)}).", "failed", why)
    best = next((each for each in understanding.readings), None)
    if best is not None:
        return _misunderstanding(best, empty is not None)
    known = _known_words(schema, evidence)
    missing = [token.text for token in tokenize(understanding.standalone) if _is_unknown_word(token, known)]
    words = f" on {quoted_list(missing[:MOST_WORDS])}" if missing else " that answers this question"
    text = f"This graph holds nothing{words}." if schema.predicates else f"The texts say nothing{words}."
    return Absence(text, "not_in_graph", text)


def explain_reported_absence(
    missing: str, understanding: Understanding, schema: Schema, evidence: Sequence[Evidence]
) -> str:
    """What a model says that the graph lacks, and what the graph states of the thing that is asked about."""
    text = f"This graph does not hold {quote_line(missing)}."
    key, name = _subject(understanding, evidence)
    return f"{text}{_stated_properties_hint(name, _stated_properties(key, schema, evidence))}" if key else text


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
    missing = f"This graph {'knows nothing called' if understanding.absent else 'says nothing about'} {names}"
    with_texts = any(each.document is not None for _, each in indexed_sentences(evidence))
    return f"{missing}{', and its texts do not answer this' if with_texts else ''}.{hint}"


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


def _misunderstanding(best: Reading, empty: bool) -> Absence:
    """What was understood, and which words were not."""
    unplaced = f" What I could not place: {quoted_list(best.unused)}." if best.unused else ""
    no_rows = " It gives nothing in this graph." if empty and unplaced else ""
    lead = "I did not understand this well enough to answer." if unplaced or not empty else "I found nothing for this."
    text = f"{lead}{unplaced} {confirm_reading(best.words)}{no_rows}"
    return Absence(text, "not_understood", text)


def quoted_list(names: Sequence[str]) -> str:
    """Names in quotes.

    >>> quoted_list(["a", "b", "c"])
    '“a”, “b” and “c”'
    """
    quotes = [f"“{quote_line(name)}”" for name in dict.fromkeys(names)]
    return quotes[0] if len(quotes) == 1 else f"{', '.join(quotes[:-1])} and {quotes[-1]}"


def _stated_properties_hint(name: str, properties: Sequence[str]) -> str:
    """A sentence with the properties that the graph states of a thing, or ""."""
    listed = ", ".join(map(quote_line, properties[:MOST_PROPERTIES]))
    return f" What it says of {quote_line(name)}: {listed}." if listed else ""


def _known_words(schema: Schema, evidence: Sequence[Evidence]) -> frozenset[str]:
    """The words of the schema and of what was found."""
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


def _stated_properties(thing: str, schema: Schema, evidence: Sequence[Evidence]) -> list[str]:
    """The labels of the properties that the evidence states of a thing."""
    known = schema.predicate_of
    stated = {t[1] for each in evidence for t in each.triples if t[0] == thing and t[1] in known}
    return sorted(predicate_words(iri, schema) for iri in stated if known[iri].role == "fact")
