"""Questions that ask for a description: Question + Links -> Profile; and those about the graph as a whole."""

from collections.abc import Sequence

from records.plan import Itself, Profile, Select, Variable
from records.turn import Scope
from semantics.language.base import language
from semantics.linking.index import Index
from semantics.types import Link, Question

# how a thing is linked that is named in full
WHOLE = ("whole", "nearly whole", "scope")


def about_whole(question: str) -> bool:
    """Is a question about the graph as a whole?"""
    return bool(language().patterns["whole"].search(question.casefold()))


def profile(question: Question, links: Sequence[Link], known: Index, scope: Scope | None) -> Profile | None:
    """What a question that asks for prose is about: one thing, or two that are compared; the other words are its topic.

    Without a word that asks for prose ("describe", "compare") it is one only where nothing but one or two whole names
    is left beside "who is" or "what about".
    """
    content = [i for i in range(len(question.tokens)) if i not in question.light]
    # the things of the conversation stand in `scope`
    things = _apart([x for x in links if x.how != "scope" and _is_named(x, links)])
    covered = {i for x in things for i in range(len(question.tokens)) if x.covered >> i & 1}
    if not language().patterns["prose"].search(question.text.casefold()):
        about = language().words["about"]
        if question.tokens and question.tokens[0].norm in language().words["asking_yes_no"]:
            return None
        rest = (t.norm for i, t in enumerate(question.tokens) if i not in covered)
        if not 1 <= len(things) <= 2 or not all(word in about for word in rest):
            return None
    selects = []
    if scope is not None and len(scope.keys) > 1:
        selects.append(Select((Itself("thing"),), (Variable("thing", (), (), scope.keys, "those"),)))
    for each in things[:2]:
        node = known.graph.nodes[each.refs[0].node]
        variable = Variable("thing", node.classes, node.without, each.keys, each.label)
        selects.append(Select((Itself("thing"),), (variable,)))
    if not selects:
        for each in _apart([x for x in links if x.kind == "class" and x.exact])[:2]:
            node = known.graph.nodes[each.refs[0].node]
            selects.append(Select((Itself("thing"),), (Variable("thing", node.classes, node.without),)))
    if not selects:
        return None
    topic = " ".join(question.tokens[i].norm for i in content if i not in covered)
    return Profile(selects[0], selects[1] if len(selects) > 1 else None, topic)


def _is_named(link: Link, links: Sequence[Link]) -> bool:
    """Whether a thing is named in full, by words that name no class or property as well."""
    if link.kind != "entity" or link.how not in WHOLE:
        return False
    words = link.end - link.start
    same = any(x.covered == link.covered and x.kind in ("class", "property") and x.score >= link.score for x in links)
    return (link.exact or words > 1) and (not same or (words > 1 and link.exact))


def _apart(links: Sequence[Link]) -> list[Link]:
    """The longest and surest links that do not overlap, in order."""
    found: list[Link] = []
    for each in sorted(links, key=lambda x: (-(x.end - x.start), -x.score, x.start)):
        if not any(each.covered & other.covered for other in found):
            found.append(each)
    return sorted(found, key=lambda x: x.start)
