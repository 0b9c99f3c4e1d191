"""What the first words of a question can't be answered by: "where" by a date ...: Candidates -> those left."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.records.plan import Attribute, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.expressions import find_expressions
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question, Ref, Target

# what a question asks for by its first words
WHO, WHERE, WHEN, AGE, SPAN = "who", "where", "when", "how old", "how long"


class AnswerTypeMatch(NamedTuple):
    """The readings that may answer. `nearest` is the one that accounts for more of the question than any of them, and
    gives another kind of thing than was asked for; `asked` are the words that say what was."""

    kept: list[Candidate]
    nearest: Candidate | None = None
    asked: str = ""


def filter_by_answer_type(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> AnswerTypeMatch:
    """The readings without those that give another kind of thing than the question asks for by its first words."""
    asked = requested_answer_type(question)
    if not asked:
        return AnswerTypeMatch(list(candidates))
    other = [c for c in candidates if _misses(c, asked, graph)]
    if asked == WHEN:
        sought, others = _day_asked(question)
        other += [c for c in candidates if c not in other and _is_other_day(c, sought, others, graph)]
    if asked == WHO:
        other += _done_by(candidates, question, graph)
    kept = [c for c in candidates if c not in other]
    if asked == WHERE:
        kept = [c for c in kept if _is_place_of(c, graph)] or kept
        placed = [c for c in kept if not _is_what_is_sought(c, question)]
        most = max((_content(c, question) for c in kept), default=0)
        kept = placed if any(_content(c, question) == most for c in placed) else kept
    nearest = max(other, key=lambda c: (_content(c, question), c.derivation.prior), default=None)
    if nearest is None or any(_content(c, question) >= _content(nearest, question) for c in kept):
        return AnswerTypeMatch(kept)
    return AnswerTypeMatch(kept, nearest, asked)


def _done_by(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings that give what was done, by a word that only says so ("who is renting ...") or as a thing without a
    name (a measurement), where others that account for as much give who did it."""
    doers = [c for c in candidates if _gives(c, graph)]
    most = max((_content(c, question) for c in doers), default=-1)
    return [
        c
        for c in candidates
        if c not in doers and (_is_verb(c) or _is_nameless(c, graph)) and _content(c, question) <= most
    ]


def _gives(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives persons, or bodies of them."""
    targets = candidate.derivation.targets
    words = _words(targets[0].ref, graph) if targets else ()
    if targets and not targets[0].ref.predicate and targets[0].ref.node in graph.persons:
        return True
    return bool(words) and words[-1] in nouns_of_kind("persons") | nouns_of_kind("bodies")


def _is_verb(candidate: Candidate) -> bool:
    """Whether the kind that a reading gives is named by no more than a word like it."""
    target = candidate.derivation.targets[0].ref if candidate.derivation.targets else None
    if target is None or target.predicate:
        return False
    named = [x for x in candidate.derivation.links if x.kind == "class" and x.refs[0].node == target.node]
    return bool(named) and all(x.match == "like" for x in named)


def _is_nameless(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives things that nobody calls by a name."""
    targets = candidate.derivation.targets
    return bool(targets) and all(not t.ref.predicate and not graph.nodes[t.ref.node].named for t in targets)


def _is_place_of(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives what stands at the end of a link that the question names and that says where: of what
    "works at" a firm the firm, and not the town of the firm."""
    d, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(body.edges) != 1 or len(d.targets) != 1 or d.targets[0].ref.predicate:
        return False
    edge = body.edges[0]
    named = {ref.via for x in d.links if x.kind == "property" for ref in x.refs}
    shown = isinstance(body.answers[0], Itself) and body.answers[0].variable == edge.object
    label = graph.about(edge.predicate).label.casefold().split()
    return shown and edge.predicate in named and len(label) > 1 and label[-1] in language().words["standing_at"]


def _is_what_is_sought(candidate: Candidate, question: Question) -> bool:
    """Whether a reading gives the things themselves whose place is asked for: "where is the club that ..."."""
    words, known = [t.norm for t in question.tokens], language().words
    if len(words) < 3 or words[1] not in known["being"] or words[2] not in known["article"]:
        return False
    targets = candidate.derivation.targets
    sought = min((x for x in candidate.derivation.links if x.start >= 3), key=lambda x: x.start, default=None)
    if sought is None or sought.kind != "class" or not targets:
        return False
    return not targets[0].ref.predicate and targets[0].ref.node == sought.refs[0].node


def is_part_name_guess(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether "the P of Y" is read as things of a kind P that hang, by a link that is called otherwise, on something of
    whose name Y is a part: such a kind is likelier to have the name by chance."""
    d, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(d.targets) != 1 or d.targets[0].ref.predicate or d.targets[0].function:
        return False
    kind = next((x for x in d.links if x.kind == "class" and x.refs[0].node == d.targets[0].ref.node), None)
    if kind is None or not kind.start or question.tokens[kind.end - 1].norm != question.tokens[kind.end - 1].lemma:
        return False
    cue = next((c for c in question.cues if c.kind == "of" and c.start == kind.end), None)
    part = any(x.kind == "entity" and x.match == "part" and cue is not None and x.start >= cue.end for x in d.links)
    own = set(graph.nodes[kind.refs[0].node].words)
    return part and not any(own & set(graph.words[edge.predicate]) for edge in body.edges)


def requested_answer_type(question: Question) -> str:
    """What the first words ask for, "" where they may ask for anything."""
    words = [t.norm for t in question.tokens]
    lead = " ".join(words[:2])
    if lead in (AGE, SPAN):
        return lead
    first = words[0] if words else ""
    if first in language().words["asking_who"]:
        return WHO
    return first if first in (WHERE, WHEN) else ""


def _misses(candidate: Candidate, asked: str, graph: SchemaGraph) -> bool:
    """Whether nothing that a reading shows is of the kind that was asked for."""
    body = candidate.body
    targets = candidate.derivation.targets
    if not isinstance(body, Select) or not targets:
        return False
    if not any(isinstance(a, Attribute | Itself) for a in body.answers):
        # the first of several days is one
        return asked in (WHO, WHERE) or (asked == WHEN and not all(_is_day(t, graph) for t in targets))
    return all(_is_other(target, asked, graph) for target in targets)


def _day_asked(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the day that is asked for, the first or the last, and of the other one; none where it may be any."""
    known = language().words
    said = {w for i, t in enumerate(question.tokens) if i not in question.stopwords for w in (t.norm, t.lemma)}
    said |= {concept for _, _, concepts in find_expressions(question, 0) for concept in concepts}
    for sought, others in ((known["end"], known["start"]), (known["start"], known["end"])):
        if said & sought and not said & others:
            return sought, others
    return frozenset(), frozenset()


def _is_other_day(candidate: Candidate, sought: frozenset[str], others: frozenset[str], graph: SchemaGraph) -> bool:
    """Whether "when does it end" is read as the day on which it begins, or the other way round."""
    named = [set(_words(t.ref, graph)) for t in candidate.derivation.targets if t.ref.predicate]
    return bool(named) and all(words & others and not words & sought for words in named)


def _is_day(target: Target, graph: SchemaGraph) -> bool:
    """Whether the first or the last of several dates is given."""
    return target.function in ("min", "max") and bool(target.ref.predicate) and graph.is_date(target.ref.predicate)


def _is_other(target: Target, asked: str, graph: SchemaGraph) -> bool:
    if target.function:
        return asked in (WHO, WHERE, WHEN) and target.function not in ("min", "max")
    ref = target.ref
    words = _words(ref, graph)
    if not ref.predicate:
        return asked == WHEN and words[-1:] != () and words[-1] in nouns_of_kind("persons") | nouns_of_kind("places")
    date, number = graph.is_date(ref.predicate), graph.is_numeric(ref.predicate)
    if asked in (AGE, SPAN):
        return graph.about(ref.predicate).datatype in ("date", "datetime")
    if asked == WHERE:
        return date and not set(words) & nouns_of_kind("places")
    if asked == WHO:
        return (date or number) and graph.about(ref.predicate).role == "fact"
    return not date and not number and bool(set(words) & (nouns_of_kind("persons") | nouns_of_kind("places")))


def _words(ref: Ref, graph: SchemaGraph) -> tuple[str, ...]:
    return graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words


def _content(candidate: Candidate, question: Question) -> int:
    """How many words of meaning a reading accounts for."""
    covered = candidate.derivation.covered
    return sum(covered >> i & 1 for i in range(len(question.tokens)) if i not in question.stopwords)
