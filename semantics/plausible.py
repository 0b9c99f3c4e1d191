"""Leave out what a span of a question can't name where it stands: candidates -> those that are plausible there."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from records.schema import Schema
from semantics.candidates import Candidate
from semantics.english import measure
from semantics.markers import Form
from semantics.words import Token


def plausible(candidates: Sequence[Candidate], words: Sequence[Token], shape: Form, schema: Schema) -> list[Candidate]:
    """The candidates without those that a word beside them rules out; things of one name and two kinds told apart."""
    counted = {bound.end for bound in shape.bounds}
    told = _told_apart(candidates, schema)
    kept = [c for c in told if not _kind_word(c, words) and not _measures(c, words, counted)]
    return [c for c in kept if not _other_kind(c, kept, words)]


def _told_apart(candidates: Sequence[Candidate], schema: Schema) -> Iterable[Candidate]:
    """ "Dune (film)" and "Dune (book)"."""
    kinds = {group.relation: group.label for group in schema.groups}
    places = Counter((c.kind, c.start, c.end, c.label) for c in candidates)
    for c in candidates:
        kind = kinds.get(next(iter(c.relations))) if len(c.relations) == 1 else None
        several = c.kind == "entity" and places[c.kind, c.start, c.end, c.label] > 1
        yield replace(c, label=f"{c.label} ({kind})") if several and kind else c


def _kind_word(candidate: Candidate, words: Sequence[Token]) -> bool:
    """ "Which songs": a plural after the question word asks for a kind, whatever names happen to hold it."""
    token = words[candidate.start]
    before = words[candidate.start - 1].norm if candidate.start else ""
    plural = token.norm != token.lemma and token.norm.endswith("s")
    return _is_weak(candidate) and plural and before in ("which", "what", "many", "all")


def _measures(candidate: Candidate, words: Sequence[Token], counted: set[int]) -> bool:
    """ "8000 crowns", "big": a unit or an adjective, not a part of a name."""
    adjective = words[candidate.start].text.islower() and measure(words[candidate.start]) is not None
    return _is_weak(candidate) and (candidate.start in counted or adjective)


def _other_kind(candidate: Candidate, all_: Sequence[Candidate], words: Sequence[Token]) -> bool:
    """ "Rivers called X": a thing of another kind, where there is a river of that name."""
    if candidate.kind != "entity" or words[max(0, candidate.start - 1)].norm not in ("called", "named"):
        return False
    kinds = [c.relations for c in all_ if c.kind == "class" and c.exact and c.end < candidate.start]
    same = [c for c in all_ if c.kind == "entity" and c.start == candidate.start]
    fits = any(c.relations & kind for c in same for kind in kinds)
    return fits and not any(candidate.relations & kind for kind in kinds)


def _is_weak(candidate: Candidate) -> bool:
    """Whether one word stands for a longer name."""
    return candidate.kind == "entity" and not candidate.exact and candidate.end == candidate.start + 1
