"""Why there is no answer: what was understood and tried -> what is unknown and the nearest that is, or what failed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from agents.answering.clarify import confirm
from agents.answering.select_answer import content_words, empty_table, is_sure, sentences_of, unsaid
from nacre.language.sanitize import quoted
from nacre.language.thesaurus import measure
from nacre.language.tokens import Token, tokens
from nacre.plans.missing_values import is_unknown
from nacre.records.answer import Status
from nacre.records.evidence import Evidence, QueryError, Rows
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding
from nacre.wording.phrases.plan import predicate_words

MOST_PROPERTIES = 6
STEM = 6


@dataclass(frozen=True)
class Absence:
    """What is said instead of an answer. `table` is the index of the empty rows that are the answer, if any."""

    text: str
    status: Status
    reason: str | None = None
    table: int | None = None


def closed(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether nothing but an empty result can answer from the graph: that it is the answer is sure, or what is asked is
    stated of nothing that is named."""
    if understanding.unstated is not None or unsaid(understanding, evidence) is not None:
        return True
    empty = empty_table(understanding, evidence)
    return empty is not None and not understanding.unknown and is_sure(understanding, empty[1])


def absence(
    understanding: Understanding, schema: Schema, evidence: Sequence[Evidence], failures: dict[str, QueryError]
) -> Absence:
    """In this order: what the graph does not know, an empty result, failures, a question that was not understood, and
    what the graph does know."""
    empty = empty_table(understanding, evidence)
    if understanding.unknown:
        names = listed([word for word, _ in understanding.unknown])
        hint = nearest(understanding.unknown)
        text = f"This graph knows nothing called {names}.{hint}"
        if not schema.predicates:
            text = f"The texts do not tell of {names}."
        elif any(each.document is not None for _, each in sentences_of(evidence)):
            text = f"This graph knows nothing called {names}, and its texts do not answer this.{hint}"
        return Absence(text, "not_in_graph", text)
    if understanding.unstated is not None:
        asked, other = understanding.unstated
        text = f"This graph does not state {quoted(asked)}. The nearest it has is {quoted(other)}, which is no answer."
        return Absence(text, "not_in_graph", text)
    silent = unsaid(understanding, evidence)
    if silent is not None and is_unknown(silent.table):
        text = f"This graph does not say {quoted(silent.words)}."
        return Absence(text, "not_in_graph", text)
    if silent is not None:
        text = f"This graph does not state this: it has nothing for “{quoted(silent.words)}”."
        return Absence(text, "not_in_graph", text)
    if empty is not None and is_sure(understanding, empty[1]):
        index, rows = empty
        words = rows.words
        text = f"Nothing in this graph matches: {quoted(words)}." if words else "Nothing in this graph matches."
        return Absence(text, "answered", table=index)
    broken = {branch: error for branch, error in failures.items() if error.kind != "empty"}
    if broken and empty is None:
        why = "; ".join(f"{branch}: {error.message}" for branch, error in broken.items())
        return Absence(f"I could not find out: my queries failed ({quoted(why)}).", "failed", why)
    best = next((each for each in understanding.readings), None)
    if best is not None:
        return _not_understood(best, empty is not None)
    text = _known_instead(understanding, schema, evidence)
    return Absence(text, "not_in_graph", text)


def nearest(unknown: Sequence[tuple[str, str]]) -> str:
    """A sentence with the names that words which name nothing may be meant for, "" where there are none."""
    near = [name for _, name in unknown if name]
    return f" The nearest name it has is {listed(near)}." if near else ""


def _not_understood(best: Reading, empty: bool) -> Absence:
    """What was understood, and which words were not."""
    left = f" What I could not place: {listed(best.unused)}." if best.unused else ""
    gave = " It gives nothing in this graph." if empty and left else ""
    lead = "I did not understand this well enough to answer." if left or not empty else "I found nothing for this."
    text = f"{lead}{left} {confirm(best.words)}{gave}"
    return Absence(text, "not_understood", text)


def listed(names: Sequence[str]) -> str:
    """Names in quotes.

    >>> listed(["a", "b", "c"])
    '“a”, “b” and “c”'
    """
    quotes = [f"“{quoted(name)}”" for name in dict.fromkeys(names)]
    return quotes[0] if len(quotes) == 1 else f"{', '.join(quotes[:-1])} and {quotes[-1]}"


def _known_instead(understanding: Understanding, schema: Schema, evidence: Sequence[Evidence]) -> str:
    """Which words of the question lead nowhere, and what the graph says of the thing that it asks about."""
    key, name = _thing(understanding, evidence)
    about = [each for each in evidence if not key or key in each.keys]
    asked_for = [each.words for each in about if isinstance(each, Rows)]
    labels = [*(each.label for each in schema.classes), *(each.label for each in schema.predicates)]
    named = [name, *labels, *(each.title for each in evidence)]
    known = content_words(" ".join([*named, *(each.text for each in about), *asked_for]))
    missing = [t.text for t in tokens(understanding.standalone) if _is_missing(t, known)]
    words = f" on {listed(missing[:4])}" if missing else ""
    if not schema.predicates:
        return f"The texts say nothing{words or ' that answers this question'}."
    if not key:
        return f"This graph holds nothing{words or ' that answers this question'}."
    told = _properties(key, schema, evidence)
    asked = content_words(understanding.standalone) - content_words(name)
    unrecorded = [
        label
        for predicate in schema.predicates
        if predicate.role == "fact" and (label := predicate_words(predicate.iri, schema)) not in told
        if content_words(label) & asked
    ]
    text = f"This graph says nothing{words or ' that answers this'} for {quoted(name)}."
    if unrecorded and not words:
        text = f"This graph records no {quoted(unrecorded[0])} of {quoted(name)}."
    near = process.extractOne(" ".join(missing), told, scorer=fuzz.partial_ratio, score_cutoff=80)
    if near:
        return f"{text} The nearest it has is {quoted(near[0])}."
    return f"{text} What it says of it: {', '.join(map(quoted, told[:MOST_PROPERTIES]))}." if told else text


def _is_missing(token: Token, known: frozenset[str]) -> bool:
    """Whether the word carries meaning and is no form of one that is known ("accelerates", where acceleration is)."""
    if token.norm[0].isdigit() or measure(token) or not content_words(token.text) - known:
        return False
    return not any(word[:STEM] == token.norm[:STEM] for word in known if len(word) >= STEM)


def _thing(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[str, str]:
    """The IRI and name of the thing that is asked about; empty where the question names none."""
    for mention in understanding.mentions:
        if mention.kind == "entity":
            return mention.target, mention.label
    asked = content_words(understanding.standalone)
    facts = [each for _, each in sentences_of(evidence) if each.title and each.keys and each.document is None]
    named = [each for each in facts if content_words(each.title) <= asked]
    best = max(named, key=lambda each: len(content_words(each.title)), default=None)
    return (best.keys[0], best.title) if best is not None else ("", "")


def _properties(thing: str, schema: Schema, evidence: Sequence[Evidence]) -> list[str]:
    """The properties that the evidence tells of a thing, in words."""
    known = schema.predicate_of
    told = {t[1] for each in evidence for t in each.triples if t[0] == thing and t[1] in known}
    return sorted(predicate_words(iri, schema) for iri in told if known[iri].role == "fact")
