"""Readings that give what the first words of a question ask for: Candidates + Question -> AnswerTypeMatch ("where")."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.records.plan import Attribute, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.expressions import find_expressions
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Question, Ref, Target

# what a question asks for by its first words
WHO, WHERE, WHEN, AGE, SPAN = "who", "where", "when", "how old", "how long"


class AnswerTypeMatch(NamedTuple):
    """The readings that may answer a question.

    `nearest` is a reading that uses more of the words than any of them, but gives another type of answer than the words
    `asked` ask for.
    """

    kept: list[Candidate]
    nearest: Candidate | None = None
    asked: str = ""


def filter_by_answer_type(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> AnswerTypeMatch:
    """Drop the readings that give another type of answer than the question asks for by its first words."""
    asked = requested_answer_type(question)
    if not asked:
        return AnswerTypeMatch(list(candidates))
    dropped = _of_other_type(candidates, asked, question, graph)
    kept = [each for each in candidates if each not in dropped]
    if asked == WHERE:
        kept = _prefer_places(kept, question, graph)
    nearest = max(dropped, key=lambda each: (_used_words(each, question), each.derivation.prior), default=None)
    if nearest is None or any(_used_words(each, question) >= _used_words(nearest, question) for each in kept):
        return AnswerTypeMatch(kept)
    return AnswerTypeMatch(kept, nearest, asked)


def requested_answer_type(question: Question) -> str:
    """Return what the first words ask for; "" if they may ask for anything."""
    words = [token.norm for token in question.tokens]
    lead = " ".join(words[:2])
    if lead in (AGE, SPAN):
        return lead
    first = words[0] if words else ""
    if first in language().words["asking_who"]:
        return WHO
    return first if first in (WHERE, WHEN) else ""


def _of_other_type(
    candidates: Sequence[Candidate], asked: str, question: Question, graph: SchemaGraph
) -> list[Candidate]:
    other = [each for each in candidates if _misses_type(each, asked, graph)]
    if asked == WHEN:
        asked_words, other_words = _requested_end(question)
        other += [
            each for each in candidates if each not in other and _is_other_end(each, asked_words, other_words, graph)
        ]
    if asked == WHO:
        other += _actions_beside_agents(candidates, question, graph)
    return other


def _used_words(candidate: Candidate, question: Question) -> int:
    """How many content words a reading accounts for."""
    covered = candidate.derivation.covered
    return sum(covered >> i & 1 for i in range(len(question.tokens)) if i not in question.stopwords)


def _misses_type(candidate: Candidate, asked: str, graph: SchemaGraph) -> bool:
    """Whether no column of a reading has the requested type."""
    body, targets = candidate.body, candidate.derivation.targets
    if not isinstance(body, Select) or not targets:
        return False
    if not any(isinstance(answer, Attribute | Itself) for answer in body.answers):
        # the first of several days is a day
        return asked in (WHO, WHERE) or (asked == WHEN and not all(_is_extreme_date(t, graph) for t in targets))
    return all(_has_other_type(target, asked, graph) for target in targets)


def _is_extreme_date(target: Target, graph: SchemaGraph) -> bool:
    is_extreme = target.function in ("min", "max")
    return is_extreme and bool(target.ref.predicate) and graph.is_date(target.ref.predicate)


def _has_other_type(target: Target, asked: str, graph: SchemaGraph) -> bool:
    """Whether a column cannot have the requested type."""
    if target.function:
        return asked in (WHO, WHERE, WHEN) and target.function not in ("min", "max")
    ref, words = target.ref, _words(target.ref, graph)
    persons, places = nouns_of_kind("persons"), nouns_of_kind("places")
    if not ref.predicate:
        return asked == WHEN and bool(words) and words[-1] in persons | places
    is_date, is_number = graph.is_date(ref.predicate), graph.is_numeric(ref.predicate)
    about = graph.about(ref.predicate)
    if asked in (AGE, SPAN):
        return about.datatype in ("date", "datetime")
    if asked == WHERE:
        return is_date and not set(words) & places
    if asked == WHO:
        return (is_date or is_number) and about.role == "fact"
    return not is_date and not is_number and bool(set(words) & (persons | places))


def _words(ref: Ref, graph: SchemaGraph) -> tuple[str, ...]:
    """The words of the name of a property or a class."""
    return graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words


def _requested_end(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the date that is asked for, a beginning or an end, and those of the other; none if it may be any."""
    known = language().words
    said = {
        form
        for i, token in enumerate(question.tokens)
        if i not in question.stopwords
        for form in (token.norm, token.lemma)
    }
    said |= {concept for _, _, concepts in find_expressions(question, 0) for concept in concepts}
    for asked, other in ((known["end"], known["start"]), (known["start"], known["end"])):
        if said & asked and not said & other:
            return asked, other
    return frozenset(), frozenset()


def _is_other_end(candidate: Candidate, asked: frozenset[str], other: frozenset[str], graph: SchemaGraph) -> bool:
    """Whether a reading gives the date on which something begins for "when does it end", or the other way round."""
    columns = [set(_words(target.ref, graph)) for target in candidate.derivation.targets if target.ref.predicate]
    return bool(columns) and all(words & other and not words & asked for words in columns)


def _actions_beside_agents(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings that give what was done, where others that use as many words give who did it.

    What was done is mentioned ("who is renting ...", "who owns the workshop"), or has no name (a measurement).
    """
    agents = [each for each in candidates if _gives_agents(each, graph)]
    most = max((_used_words(each, question) for each in agents), default=-1)
    return [
        each
        for each in candidates
        if each not in agents
        and (_gives_mentioned_class(each) or _is_unnamed(each, graph))
        and _used_words(each, question) <= most
    ]


def _gives_agents(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives persons, organisations, or those by whom something is done."""
    if not candidate.derivation.targets:
        return False
    ref = candidate.derivation.targets[0].ref
    done_by = (s.predicate for s in graph.steps[ref.node] if not s.forward)
    if not ref.predicate and (ref.node in graph.persons or any(graph.words[iri][-1:] == ("by",) for iri in done_by)):
        return True
    words = _words(ref, graph)
    return bool(words) and words[-1] in nouns_of_kind("persons") | nouns_of_kind("bodies")


def _gives_mentioned_class(candidate: Candidate) -> bool:
    """Whether a reading gives things of a class that the question mentions."""
    derivation = candidate.derivation
    if not derivation.targets or derivation.targets[0].ref.predicate:
        return False
    node = derivation.targets[0].ref.node
    return any(link.kind == "class" and link.refs[0].node == node for link in derivation.links)


def _is_unnamed(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives things without names."""
    targets = candidate.derivation.targets
    return bool(targets) and all(not each.ref.predicate and not graph.nodes[each.ref.node].named for each in targets)


def _prefer_places(candidates: list[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings that give a place at the end of a link, then those that do not give the things to be located."""
    kept = [each for each in candidates if _gives_place_of_link(each, graph)] or candidates
    located = [each for each in kept if not _gives_located_things(each, question)]
    most = max((_used_words(each, question) for each in kept), default=0)
    return located if any(_used_words(each, question) == most for each in located) else kept


def _gives_place_of_link(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives the end of a link that says where: the firm of "works at", not its town."""
    derivation, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(body.edges) != 1 or len(derivation.targets) != 1:
        return False
    if derivation.targets[0].ref.predicate:
        return False
    edge, answer = body.edges[0], body.answers[0]
    named = {ref.via for link in derivation.links if link.kind == "property" for ref in link.refs}
    is_end = isinstance(answer, Itself) and answer.variable == edge.object and edge.predicate in named
    label = graph.about(edge.predicate).label.casefold().split()
    return is_end and len(label) > 1 and label[-1] in language().words["standing_at"]


def _gives_located_things(candidate: Candidate, question: Question) -> bool:
    """Whether a reading gives the things whose place is asked for: "where is the club that ..."."""
    words, known = [token.norm for token in question.tokens], language().words
    if len(words) < 3 or words[1] not in known["being"] or words[2] not in known["article"]:
        return False
    derivation = candidate.derivation
    first = min((link for link in derivation.links if link.start >= 3), key=lambda link: link.start, default=None)
    if first is None or first.kind != "class" or not derivation.targets:
        return False
    ref = derivation.targets[0].ref
    return not ref.predicate and ref.node == first.refs[0].node


def is_part_name_guess(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether "the P of Y" is read as things of a class P, linked by another name to something with Y in its name.

    Such a class is likely to have the name by chance.
    """
    derivation, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(derivation.targets) != 1:
        return False
    target = derivation.targets[0]
    if target.ref.predicate or target.function:
        return False
    own = (link for link in derivation.links if link.kind == "class" and link.refs[0].node == target.ref.node)
    noun = next(own, None)
    if noun is None or not noun.start or question.tokens[noun.end - 1].norm != question.tokens[noun.end - 1].lemma:
        return False
    cue = next((each for each in question.cues if each.kind == "of" and each.start == noun.end), None)
    has_partial_name = cue is not None and any(
        link.kind == "entity" and link.match == "part" and link.start >= cue.end for link in derivation.links
    )
    class_words = set(graph.nodes[noun.refs[0].node].words)
    return has_partial_name and not any(class_words & set(graph.words[edge.predicate]) for edge in body.edges)
