"""Questions that ask for a description: Question + Links -> Profile; and those about the graph as a whole."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.records.plan import Attribute, Filter, Itself, Profile, Select, Variable
from nacre.records.turn import Scope
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.question.types import Link, Question

# how a thing is linked that is named in full, and in part
WHOLE = ("whole", "nearly whole", "scope")
PART = "part"
# readings of a group that are looked at, and the letters that a word of a text has at least
GROUPS, SHORTEST = 4, 4

# reads a phrase as things of a kind that meet conditions, likeliest first
GroupReader = Callable[[str], Sequence[Select]]


class _Subject(NamedTuple):
    """What may be described: the tokens that name it, and how much speaks for it, the most telling first."""

    select: Select
    covered: frozenset[int]
    worth: tuple[float, ...]


def is_about_graph(question: str) -> bool:
    """Is a question about the graph as a whole?"""
    return bool(language().patterns["whole"].search(question.casefold()))


def profile_plan(
    question: Question, links: Sequence[Link], known: LinkingIndex, scope: Scope | None, grouped: GroupReader
) -> Profile | None:
    """What a question that asks for prose is about: a thing or a group, or two to compare; the rest is its topic.

    Without a word that asks for prose ("describe", "compare") it is one only where nothing but one or two whole names
    is left beside "who is" or "what about".
    """
    # the things of the conversation stand in `scope`
    named = [x for x in links if x.match != "scope" and _is_named(x, links, question)]
    # of several things of one name, one whose kind is said, or that has it by itself: a car before its engine
    things = _apart(sorted(named, key=lambda x: (not _has_kind(x, links), not known.graph.nodes[x.refs[0].node].named)))
    if not language().patterns["prose"].search(question.text.casefold()):
        return _of_names(question, things, known, links)
    found: list[_Subject] = []
    if scope is not None and len(scope.keys) > 1:
        those = Select((Itself("thing"),), (_those(scope, known),))
        found.append(_Subject(those, frozenset(), ()))
    reader = _Reader(question, links, known, grouped)
    if len(things) > 1 and len({x.refs[0].node for x in things[:2]}) == 1:
        found += [reader.thing(x) for x in things[:2]]
    else:
        found += reader.compared() or reader.one()
    if not found:
        return None
    if not things and scope is None and _strange(question, links):
        return None
    covered = frozenset[int]().union(*(s.covered for s in found[:2]))
    content = (i for i in range(len(question.tokens)) if i not in question.stopwords and i not in covered)
    topic = " ".join(question.tokens[i].norm for i in content)
    return Profile(found[0].select, found[1].select if len(found) > 1 else None, topic)


def _strange(question: Question, links: Sequence[Link]) -> bool:
    """Whether the question holds a name that is unknown here: it is not about what has a part of it."""
    known = {i for x in links for i in range(x.start, x.end)}
    tokens = enumerate(question.tokens)
    return any(i and t.text[0].isupper() and i not in question.stopwords and i not in known for i, t in tokens)


def _of_names(question: Question, things: Sequence[Link], known: LinkingIndex, links: Sequence[Link]) -> Profile | None:
    """ "Who is X?": nothing is said but the names; of two neither is what is asked of the other, "the chair of X"."""
    words = language().words
    if question.tokens and question.tokens[0].norm in words["asking_yes_no"]:
        return None
    covered = {i for x in things for i in range(len(question.tokens)) if x.covered >> i & 1}
    rest = (t.norm for i, t in enumerate(question.tokens) if i not in covered)
    if not 1 <= len(things) <= 2 or not all(word in words["about"] for word in rest):
        return None
    asked = {(x.start, x.end) for x in links if x.kind == "property" and x.exact}
    if len(things) > 1 and any((x.start, x.end) in asked for x in things):
        return None
    selects = [_of_link(x, known) for x in things]
    return Profile(selects[0], selects[1] if len(selects) > 1 else None)


class _Reader(NamedTuple):
    """Looks for subjects in stretches of a question."""

    question: Question
    links: Sequence[Link]
    known: LinkingIndex
    grouped: GroupReader

    def compared(self) -> list[_Subject]:
        """The two sides of a comparison, of one kind, which a word such as "than" parts; none where there is none."""
        words = self.question.tokens
        for at in range(len(words) - 1, 0, -1):
            if words[at].norm not in language().words["parting"]:
                continue
            left = list(self._subjects(0, at))
            stand_in = left[0].select if left else None
            right = list(self._subjects(at + 1, len(words), stand_in))
            # names that are words for a kind as well: "sale and purchase", of transaction types
            left, right = [*left, *self._called(0, at)], [*right, *self._called(at + 1, len(words))]
            pairs = [(a, b) for a in left for b in right if _kind(a.select) == _kind(b.select) and a.select != b.select]
            best = max(pairs, key=lambda p: (_alike(p[0].select, p[1].select), p[0].worth, p[1].worth), default=None)
            if best is not None:
                return list(best)
        return []

    def one(self) -> list[_Subject]:
        """What the question is about as a whole."""
        found = max(self._subjects(0, len(self.question.tokens)), key=lambda s: s.worth, default=None)
        if found is not None and len(found.worth) > 1:
            return [found]
        # words that only texts have say more than the kind of the things
        told = self._told_of() or found
        return [told] if told is not None else []

    def thing(self, link: Link) -> _Subject:
        """A named thing, or several of one name."""
        covered = frozenset(i for i in range(len(self.question.tokens)) if link.covered >> i & 1)
        start = link.start - 1
        words = self.question.tokens
        while start > 0 and words[start].norm in language().words["article"]:
            start -= 1
        pointed = start >= 0 and words[start].norm in language().words["introducing"]
        node = self.known.graph.nodes[link.refs[0].node]
        described = any(self.known.graph.about(p).role == "text" for p in self.known.graph.literals[node.index])
        # a verb, a name without a word before it ("interior of X", "X"), is what is asked of the thing
        of_kind = _has_kind(link, self.links)
        whole = link.match in WHOLE
        worth = (float(of_kind), float(pointed), float(node.named), float(described), float(whole), link.score)
        return _Subject(_of_link(link, self.known), covered, worth)

    def _called(self, start: int, end: int) -> Iterator[_Subject]:
        """The things that a stretch names in full, whatever else its words are."""
        for each in self.links:
            if each.kind == "entity" and each.match in WHOLE and each.exact and start <= each.start and each.end <= end:
                yield self.thing(each)

    def _subjects(self, start: int, end: int, like: Select | None = None) -> Iterator[_Subject]:
        """All that a stretch may be about; `like` is what "ones" stand for."""
        own = [x for x in self.links if start <= x.start and x.end <= end and x.match != "scope"]
        groups = list(self._groups(own, start, end, like))
        yield from groups
        covered = frozenset[int]().union(*(g.covered for g in groups))
        named = [x for x in own if _is_named(x, self.links, self.question)]
        named += [x for x in own if x.kind == "entity" and x.match == PART and x.score > self._best_class(x, own)]
        whole = [x.covered for x in named if x.match in WHOLE]
        named = [x for x in named if not any(x.covered & mask == x.covered != mask for mask in whole)]
        for each in named:
            if not covered & {i for i in range(start, end) if each.covered >> i & 1}:
                yield self.thing(each)
        if not named and not groups:
            for each in _apart([x for x in own if x.kind == "class" and x.exact]):
                node = self.known.graph.nodes[each.refs[0].node]
                select = Select((Itself("thing"),), (Variable("thing", node.classes, node.without),))
                yield _Subject(select, frozenset(range(each.start, each.end)), (0.0,))

    @staticmethod
    def _best_class(link: Link, own: Sequence[Link]) -> float:
        """How well the words of a thing name a class."""
        return max((x.score for x in own if x.kind == "class" and x.covered & link.covered), default=0.0)

    def _groups(self, own: Sequence[Link], start: int, end: int, like: Select | None) -> Iterator[_Subject]:
        """Kinds of things with what goes before them: "the electric models", "petrol ones"."""
        words, stand_in = self.question.tokens, language().words["stand_in"]
        heads = {x.end: x.start for x in own if x.kind == "class" and words[x.end - 1].norm != words[x.end - 1].lemma}
        kind = self._noun(like) if like is not None else ""
        for after, head in sorted(heads.items()):
            yield from self._of_phrase(own, head, after, "")
        for at in range(start, end):
            if words[at].norm in stand_in and kind:
                yield from self._of_phrase(own, at, at + 1, kind)

    def _noun(self, select: Select) -> str:
        """What the things of a select are called."""
        classes, without = _kind(select)
        return next((n.label for n in self.known.graph.nodes if (n.classes, n.without) == (classes, without)), "")

    def _of_phrase(self, own: Sequence[Link], head: int, after: int, noun: str) -> Iterator[_Subject]:
        words = self.question.tokens
        before = [x.start for x in own if x.kind in ("entity", "value") and x.end == head]
        if not before:
            return
        first = min(before)
        said = self.question.text[words[first].start : words[head].start]
        noun = noun or self.question.text[words[head].start : words[after - 1].end]
        for place, select in enumerate(self.grouped(f"{said}{noun}")[:GROUPS]):
            yield _Subject(select, frozenset(range(first, after)), (1.0, 1.0, 1.0, 1.0, 1.0 - place / GROUPS))

    def _told_of(self) -> _Subject | None:
        """Things of whose texts words tell that name nothing else: "open-top cars"."""
        text = next((p for p in self.known.graph.schema.predicates if p.role == "text" and p.has_literals), None)
        words = self.question.tokens
        said = {i for x in self.links for i in range(x.start, x.end) if x.exact}
        common = self.known.value_linker.entities.common_words
        run: list[int] = []
        for i, token in enumerate(words):
            if (
                i in self.question.stopwords
                or i in said
                or {token.lemma, token.norm, token.norm.removesuffix("s")} & common
            ):
                if run:
                    break
            else:
                run.append(i)
        if text is None or not run or not text.domains:
            return None
        phrase = self.question.text[words[run[0]].start : words[run[-1]].end]
        if len(phrase) < SHORTEST:
            return None
        classes = self.known.graph.schema.class_of
        kinds = [c for c in text.domains if c in self.known.graph.node_of_class]
        if not kinds:
            return None
        # the class that the texts are of, and not what it is a part of
        kind = max(kinds, key=lambda c: (text.domains[c] / classes[c].count, classes[c].count, c))
        told = Filter(Attribute("thing", text.iri), "contains", phrase)
        select = Select((Itself("thing"),), (Variable("thing", (kind,)),), (), (told,))
        return _Subject(select, frozenset(run), (0.0,))


def _those(scope: Scope, known: LinkingIndex) -> Variable:
    """The things of the conversation, with the narrowest kind that all are of."""
    relations = {thing.relation for key in scope.keys if (thing := known.lexicon.thing(key))}
    kinds = [n for n in known.graph.nodes if relations and relations <= n.relations]
    kind = min(kinds, key=lambda n: (n.count, n.index), default=None)
    classes, without = (kind.classes, kind.without) if kind is not None else ((), ())
    return Variable("thing", classes, without, scope.keys, "those")


def _of_link(link: Link, known: LinkingIndex) -> Select:
    node = known.graph.nodes[link.refs[0].node]
    return Select((Itself("thing"),), (Variable("thing", node.classes, node.without, link.keys, link.label),))


def _kind(select: Select) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The classes of the things that a select gives."""
    answer = select.answers[0]
    assert isinstance(answer, Itself)
    variable = next(v for v in select.variables if v.name == answer.variable)
    return variable.classes, variable.without


def _alike(one: Select, other: Select) -> bool:
    """Whether two groups differ in the value of the same property."""
    return [e.predicate for e in one.edges] == [e.predicate for e in other.edges] and [f.left for f in one.filters] == [
        f.left for f in other.filters
    ]


def _is_named(link: Link, links: Sequence[Link], question: Question) -> bool:
    """Whether a thing is named in full, by words that name no class or property as well, or written as its name is."""
    if link.kind != "entity" or link.match not in WHOLE:
        return False
    words = link.end - link.start
    if link.exact and link.start and link.label[:1].isupper():
        said = question.text[question.tokens[link.start].start : question.tokens[link.end - 1].end]
        if said == link.label:
            return True
    same = any(x.covered == link.covered and x.kind in ("class", "property") and x.score >= link.score for x in links)
    return (link.exact or words > 1) and (not same or (words > 1 and link.exact))


def _has_kind(link: Link, links: Sequence[Link]) -> bool:
    """Whether what a thing is stands beside its name: "room 12"."""
    kinds = [x for x in links if x.kind == "class" and x.refs[0].node == link.refs[0].node]
    return any(x.end == link.start or x.start == link.end for x in kinds)


def _words(link: Link) -> int:
    """How many words a link stands for: no more than its name has, where one is said twice."""
    return min(link.covered.bit_count(), len(link.label.split()))


def _apart(links: Sequence[Link]) -> list[Link]:
    """The links of the most words, and the surest, that do not overlap, in order."""
    found: list[Link] = []
    for each in sorted(links, key=lambda x: (-_words(x), -x.score, x.start)):
        if not any(each.covered & other.covered for other in found):
            found.append(each)
    return sorted(found, key=lambda x: x.start)
