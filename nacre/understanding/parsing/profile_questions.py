"""Questions for prose: Question + Links -> Profile ("describe the electric models", "compare A and B", "who is X")."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.records.plan import Itself, Profile, Select, Variable
from nacre.records.turn import Scope
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.parsing.profile_subjects import (
    GroupReader,
    ProfileSubject,
    SubjectFinder,
    is_named_in_full,
    select_of_link,
    without_overlaps,
)
from nacre.understanding.question.types import Link, Question


def profile_plan(
    question: Question, links: Sequence[Link], index: LinkingIndex, scope: Scope | None, read_group: GroupReader
) -> Profile | None:
    """Return what a question for prose is about: a thing or a group, or two to compare; its other words are the topic.

    Without a word that asks for prose ("describe", "compare"), only names may be left beside "who is" or "what about".
    """
    # the things of the conversation stand in `scope`
    named = [link for link in links if link.match != "scope" and is_named_in_full(link, links, question)]
    finder = SubjectFinder(question, links, index, read_group)
    things = without_overlaps(sorted(named, key=finder.name_rank))
    if not language().patterns["prose"].search(question.text.casefold()):
        return _only_names(question, things, index, links)
    subjects: list[ProfileSubject] = []
    if scope is not None and len(scope.keys) > 1:
        scoped = Select((Itself("thing"),), (_scope_variable(scope, index),))
        subjects.append(ProfileSubject(scoped, frozenset(), ()))
    if len(things) > 1 and len({thing.refs[0].node for thing in things[:2]}) == 1:
        subjects += map(finder.subject_of, things[:2])
    else:
        subjects += finder.compared() or finder.whole()
    if not subjects or (not things and scope is None and _has_unknown_name(question, links)):
        return None
    covered = frozenset[int]().union(*(subject.covered for subject in subjects[:2]))
    content = (i for i in range(len(question.tokens)) if i not in question.stopwords and i not in covered)
    topic = " ".join(question.tokens[i].norm for i in content)
    return Profile(subjects[0].select, subjects[1].select if len(subjects) > 1 else None, topic)


def _only_names(
    question: Question, things: Sequence[Link], index: LinkingIndex, links: Sequence[Link]
) -> Profile | None:
    """ "Who is X?": one or two names and nothing else. "The chair of X" asks for one of the names."""
    words = language().words
    if question.tokens and question.tokens[0].norm in words["asking_yes_no"]:
        return None
    covered = {i for thing in things for i in range(len(question.tokens)) if thing.covered >> i & 1}
    rest = (token.norm for i, token in enumerate(question.tokens) if i not in covered)
    if not things:
        return _defined_class(question, links, index)
    if len(things) > 2 or not all(word in words["about"] for word in rest):
        return None
    properties = {(link.start, link.end) for link in links if link.kind == "property" and link.exact}
    if len(things) > 1 and any((thing.start, thing.end) in properties for thing in things):
        return None
    selects = [select_of_link(thing, index) for thing in things]
    return Profile(selects[0], selects[1] if len(selects) > 1 else None)


def _defined_class(question: Question, links: Sequence[Link], index: LinkingIndex) -> Profile | None:
    """ "What is a mortgage?", "what does mortgage mean?": a class that the graph defines, and nothing else."""
    words, tokens = language().words, question.tokens
    for link in (each for each in links if each.kind == "class" and each.exact):
        node = index.graph.nodes[link.refs[0].node]
        rest = [tokens[i].norm for i in range(len(tokens)) if not link.start <= i < link.end]
        asks = bool(words["meaning"].intersection(rest)) or tokens[link.start - 1].norm in words["indefinite"]
        defined = index.graph.schema.class_of.get(node.classes[0]) if len(node.classes) == 1 else None
        is_defined = defined is not None and bool(defined.comment) and not node.without
        if link.start and asks and is_defined and all(word in words["about"] | words["meaning"] for word in rest):
            return Profile(Select((Itself("thing"),), (Variable("thing", node.classes),)))
    return None


def _has_unknown_name(question: Question, links: Sequence[Link]) -> bool:
    """Whether a question has a name that is not in the graph, so that it is not about a part of that name."""
    known = {i for link in links for i in range(link.start, link.end)}
    tokens = enumerate(question.tokens)
    return any(i and token.text[0].isupper() and i not in question.stopwords | known for i, token in tokens)


def _scope_variable(scope: Scope, index: LinkingIndex) -> Variable:
    """The things of the conversation, with their narrowest common class."""
    tables = {thing.relation for key in scope.keys if (thing := index.lexicon.thing(key))}
    classes = [node for node in index.graph.nodes if tables and tables <= node.relations]
    common = min(classes, key=lambda node: (node.count, node.index), default=None)
    iris, without = (common.classes, common.without) if common is not None else ((), ())
    return Variable("thing", iris, without, scope.keys, "those")
