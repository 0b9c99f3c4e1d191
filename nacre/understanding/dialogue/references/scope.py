"""What a conversation is about, among the links of a question: Links + Scope -> Links."""

from dataclasses import dataclass, replace

from nacre.language.base import language
from nacre.plans.merge import EARLIER_TURN_MARK, is_from_earlier_turn
from nacre.records.plan import Aggregate, Ask, Attribute, Compute, Itself, Select
from nacre.records.turn import Scope
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Link, Question, Ref

# what the conversation is about is meant before others of the same name
SCOPE_BONUS = 0.25


@dataclass(frozen=True)
class _About:
    node: int
    keys: tuple[str, ...]
    label: str


def scope_links(links: list[Link], scope: Scope | None, question: Question, known: LinkingIndex) -> list[Link]:
    """The links, with the things of the conversation preferred, or standing where a plural pronoun stands."""
    if scope is None or not scope.keys:
        return links
    keys = set(scope.keys)
    found = [
        x._replace(score=x.score + SCOPE_BONUS, keys=tuple(k for k in x.keys if k in keys))
        if x.kind == "entity" and keys & set(x.keys)
        else x
        for x in links
    ]
    if len(scope.keys) > 1 or scope.how:
        about, at = _about(scope, known), _pointing(question, scope)
        if about is not None and at is not None:
            ref = (Ref(about.node),)
            found.append(Link(at, at + 1, "entity", ref, 1.0, 1 << at, True, "", about.keys, about.label, "scope"))
    return found


def scope_candidates(candidates: list[Candidate], question: Question) -> list[Candidate]:
    """The readings that speak of the things of the conversation, where some do; "how much do they cost" asks each of
    them, not for a total that nothing says, and "are they full?" all of them."""
    about = [c for c in candidates if any(x.match == "scope" for x in c.derivation.links)]
    about = [c for c in about if _counts_those(c)] or about if _are_counted(about, question) else about
    if not {t.norm for t in question.tokens} & language().words["existing"]:
        about = [_of_all(c) for c in about]
    degrees = {c.start for c in question.cues if c.kind == "degree"}
    if any(c.kind == "sum" and c.start not in degrees for c in question.cues):
        return about or candidates
    return [_of_each(c) for c in about] or candidates


def _are_counted(about: list[Candidate], question: Question) -> bool:
    """Whether the things before are what is counted: "how many of them are full?"."""
    at = {x.start for c in about for x in c.derivation.links if x.match == "scope"}
    ends = {end for c in question.cues if c.kind == "count" for end in (c.end, c.end + 1)}
    return bool(at & ends)


def _counts_those(candidate: Candidate) -> bool:
    body = candidate.body
    answer = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(answer, Aggregate) or answer.function != "count":
        return False
    return any(v.name == answer.of.variable and is_from_earlier_turn(v) for v in body.variables)  # type: ignore[union-attr]


def _of_all(candidate: Candidate) -> Candidate:
    """Of a yes-or-no question about the things before: whether as many of them as there are meet its conditions."""
    select = candidate.body.select if isinstance(candidate.body, Ask) else None
    if select is None or not (select.filters or select.edges) or not isinstance(select.answers[0], Itself):
        return candidate
    those = next(
        (v for v in select.variables if v.name == select.answers[0].variable and is_from_earlier_turn(v)), None
    )
    if those is None:
        return candidate
    number = (Aggregate("count", Itself(those.name)),)
    left = replace(select, answers=number, order=None, limit=None)
    return candidate._replace(body=Compute("=", left, Select(number, (those,))))


def _of_each(candidate: Candidate) -> Candidate:
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) != 1:
        return candidate
    answer = body.answers[0]
    if not isinstance(answer, Aggregate) or answer.function != "sum" or not isinstance(answer.of, Attribute):
        return candidate
    return candidate._replace(body=replace(body, answers=(answer.of,)))


def _pointing(question: Question, scope: Scope) -> int | None:
    """The word that stands for the things of the conversation."""
    pronouns = language().words["pronouns"]
    at = next((i for i, t in enumerate(question.tokens) if t.norm in pronouns), None)
    if at is None and scope.how:
        result = language().dialogue["result"]
        at = next((i for i, t in enumerate(question.tokens) if result.search(t.norm)), None)
    return at


def _about(scope: Scope, known: LinkingIndex) -> _About | None:
    """The narrowest kind of things that holds all that the scope has."""
    relations = {thing.relation for key in scope.keys if (thing := known.lexicon.thing(key))}
    nodes = [n for n in known.graph.nodes if relations and relations <= n.relations]
    if not nodes:
        return None
    # a class before whatever stands at an end of a link
    node = min(nodes, key=lambda n: (not n.classes, n.count, n.index))
    label = f"({len(scope.keys)} {EARLIER_TURN_MARK}" if scope.how or len(scope.labels) != 1 else scope.labels[0]
    return _About(node.index, scope.keys, label)
