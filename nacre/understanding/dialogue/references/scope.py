"""The things of the conversation among the links and candidates of a question: Links + Scope -> Links."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.plans.merge import EARLIER_TURN_MARK, is_from_earlier_turn
from nacre.records.plan import Aggregate, Ask, Attribute, Compute, Itself, Select
from nacre.records.turn import Scope
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Link, Question, Ref

# What the score of things of the conversation gains over others with the same name.
SCOPE_BONUS = 0.25


def scope_links(links: list[Link], scope: Scope | None, question: Question, index: LinkingIndex) -> list[Link]:
    """The links, with the things of the conversation preferred, and linked to a plural pronoun."""
    if scope is None or not scope.keys:
        return links
    keys = set(scope.keys)
    preferred = [
        x._replace(score=x.score + SCOPE_BONUS, keys=tuple(k for k in x.keys if k in keys))
        if x.kind == "entity" and keys & set(x.keys)
        else x
        for x in links
    ]
    is_group = len(scope.keys) > 1 or scope.how
    link = _pronoun_link(scope, question, index) if is_group else None
    return preferred if link is None else [*preferred, link]


def scope_candidates(candidates: list[Candidate], question: Question) -> list[Candidate]:
    """The candidates about the things of the conversation if there are any, else all.

    "How much do they cost" asks for the cost of each and not for a total, unless the question says so. "Are they full?"
    asks about all of them.
    """
    about = [c for c in candidates if any(x.match == "scope" for x in c.derivation.links)]
    if _asks_how_many(about, question):
        about = [c for c in about if _counts_scope(c)] or about
    if not {t.norm for t in question.tokens} & language().words["existing"]:
        about = [_test_all(c, of_class=False) for c in about]
    if not about and _asks_of_all(question):
        candidates = [_test_all(c, of_class=True) for c in candidates]
    degrees = {c.start for c in question.cues if c.kind == "degree"}
    asks_total = any(c.kind == "sum" and c.start not in degrees for c in question.cues)
    return (about if asks_total else [_value_of_each(c) for c in about]) or candidates


def _asks_how_many(about: Sequence[Candidate], question: Question) -> bool:
    """Whether the things of the conversation are counted: "how many of them are full?"."""
    places = {x.start for c in about for x in c.derivation.links if x.match == "scope"}
    count_ends = {end for c in question.cues if c.kind == "count" for end in (c.end, c.end + 1)}
    return bool(places & count_ends)


def _counts_scope(candidate: Candidate) -> bool:
    """Whether a candidate counts the things of the conversation."""
    body = candidate.body
    answer = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(body, Select) or not isinstance(answer, Aggregate) or answer.function != "count":
        return False
    return any(v.name == answer.of.variable and is_from_earlier_turn(v) for v in body.variables)


def _asks_of_all(question: Question) -> bool:
    """Whether a question asks if something is true of all things of a class: "are all doors open?"."""
    words, known = [t.norm for t in question.tokens[:2]], language().words
    return len(words) > 1 and words[0] in known["asking_yes_no"] and words[1] in known["of_all_things"]


def _test_all(candidate: Candidate, *, of_class: bool) -> Candidate:
    """A yes/no question about the things of the conversation, or `of_class`, as whether all of them meet its
    conditions: the number that does equals the number of all."""
    select = candidate.body.select if isinstance(candidate.body, Ask) else None
    if select is None or not (select.filters or select.edges) or not isinstance(select.answers[0], Itself):
        return candidate
    name = select.answers[0].variable
    those = next(v for v in select.variables if v.name == name)
    if not is_from_earlier_turn(those) and not (of_class and not those.keys):
        return candidate
    number = (Aggregate("count", Itself(those.name)),)
    meeting = replace(select, answers=number, order=None, limit=None)
    return candidate._replace(body=Compute("=", meeting, Select(number, (those,))))


def _value_of_each(candidate: Candidate) -> Candidate:
    """A total over the things of the conversation, as the value of each."""
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) != 1:
        return candidate
    answer = body.answers[0]
    if not isinstance(answer, Aggregate) or answer.function != "sum" or not isinstance(answer.of, Attribute):
        return candidate
    return candidate._replace(body=replace(body, answers=(answer.of,)))


def _pronoun_link(scope: Scope, question: Question, index: LinkingIndex) -> Link | None:
    """The link of the word that stands for the things of the conversation. None if there is no such word."""
    node, at = _narrowest_node(scope, index), _pronoun_position(question, scope)
    if node is None or at is None:
        return None
    label = f"({len(scope.keys)} {EARLIER_TURN_MARK}" if scope.how or len(scope.labels) != 1 else scope.labels[0]
    return Link(at, at + 1, "entity", (Ref(node),), 1.0, 1 << at, True, "", scope.keys, label, "scope")


def _pronoun_position(question: Question, scope: Scope) -> int | None:
    """The first pronoun. If the plan is to be changed, also a word for its result: "list", "table"."""
    pronouns = language().words["pronouns"]
    at = next((i for i, t in enumerate(question.tokens) if t.norm in pronouns), None)
    if at is None and scope.how:
        result = language().dialogue["result"]
        at = next((i for i, t in enumerate(question.tokens) if result.search(t.norm)), None)
    return at


def _narrowest_node(scope: Scope, index: LinkingIndex) -> int | None:
    """The narrowest node with all things of the scope. Nodes of classes come first."""
    relations = {thing.relation for key in scope.keys if (thing := index.lexicon.thing(key))}
    nodes = [n for n in index.graph.nodes if relations and relations <= n.relations]
    return min(nodes, key=lambda n: (not n.classes, n.count, n.index)).index if nodes else None
