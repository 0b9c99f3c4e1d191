"""Questions for prose: Question + Links -> Profile ("describe the electric models", "compare A and B", "who is X").

Its subjects are things, groups of things, or classes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nacre.language.data import WORDS, pattern
from nacre.records.plan import Attribute, Filter, Itself, Profile, Select, Variable
from nacre.records.turn import Scope
from nacre.understanding.linking.link_mentions import LinkingIndex
from nacre.understanding.parsing.state import without_overlaps
from nacre.understanding.question.records import Link, Question

# reads a phrase as things of a class that meet conditions, the likeliest first
GroupReader = Callable[[str], Sequence[Select]]


def profile_plan(
    question: Question, links: Sequence[Link], index: LinkingIndex, scope: Scope | None, read_group: GroupReader
) -> Profile | None:
    """Return what a question for prose is about: a thing or a group, or two to compare; its other words are the topic.

    Without a word that asks for prose ("describe", "compare"), only names may be left beside "who is" or "what about".
    """
    # the things of the conversation stand in `scope`
    named = [link for link in links if link.match != "scope" and is_named_in_full(link, links, question)]
    finder = SubjectFinder(question, links, index, read_group)
    things = _longest_names(sorted(named, key=finder.name_rank))
    if not pattern("patterns", "prose").search(question.text.casefold()):
        return _only_names(question, things, index, links)
    subjects: list[ProfileSubject] = []
    if scope is not None and len(scope.keys) > 1:
        scoped = Select((Itself("thing"),), (_scope_variable(scope, index),))
        subjects.append(ProfileSubject(scoped, frozenset(), ()))
    if len(things) > 1 and len({thing.refs[0].node for thing in things[:2]}) == 1:
        subjects += map(finder.subject_of, things[:2])
    else:
        subjects += finder.compared() or finder.whole()
    known = {i for link in links for i in range(link.start, link.end)} | question.stopwords
    names = {i for i, token in enumerate(question.tokens) if i and token.text[0].isupper()}
    if not subjects or (not things and scope is None and names - known):
        # what is asked about a name that is not in the graph is not about a part of that name
        return None
    covered = frozenset[int]().union(*(subject.covered for subject in subjects[:2]))
    content = (i for i in range(len(question.tokens)) if i not in question.stopwords and i not in covered)
    topic = " ".join(question.tokens[i].norm for i in content)
    return Profile(subjects[0].select, subjects[1].select if len(subjects) > 1 else None, topic)


def _only_names(
    question: Question, things: Sequence[Link], index: LinkingIndex, links: Sequence[Link]
) -> Profile | None:
    """ "Who is X?": one or two names and nothing else. "The chair of X" asks for one of the names."""
    if question.tokens and question.tokens[0].norm in WORDS["asking_yes_no"]:
        return None
    covered = {i for thing in things for i in range(len(question.tokens)) if thing.covered >> i & 1}
    rest = (token.norm for i, token in enumerate(question.tokens) if i not in covered)
    if not things:
        return _defined_class(question, links, index)
    if len(things) > 2 or not all(word in WORDS["about"] for word in rest):
        return None
    properties = {(link.start, link.end) for link in links if link.kind == "property" and link.exact}
    if len(things) > 1 and any((thing.start, thing.end) in properties for thing in things):
        return None
    first, last = min(things, key=lambda x: x.start), max(things, key=lambda x: x.start)
    if WORDS["noun_links"].intersection(token.norm for token in question.tokens[first.end : last.start]):
        # "who is the chairman of the board" does not compare chairmen with the board
        return None
    selects = [select_of_link(thing, index) for thing in things]
    return Profile(selects[0], selects[1] if len(selects) > 1 else None)


def _defined_class(question: Question, links: Sequence[Link], index: LinkingIndex) -> Profile | None:
    """ "What is a mortgage?", "what does mortgage mean?": a class that the graph defines, and nothing else."""
    tokens = question.tokens
    for link in (each for each in links if each.kind == "class" and each.exact):
        node = index.graph.nodes[link.refs[0].node]
        rest = [tokens[i].norm for i in range(len(tokens)) if not link.start <= i < link.end]
        asks = bool(WORDS["meaning"].intersection(rest)) or tokens[link.start - 1].norm in WORDS["indefinite"]
        defined = index.graph.schema.class_of.get(node.classes[0]) if len(node.classes) == 1 else None
        is_defined = defined is not None and bool(defined.comment) and not node.without
        if link.start and asks and is_defined and all(word in WORDS["about"] | WORDS["meaning"] for word in rest):
            return Profile(Select((Itself("thing"),), (Variable("thing", node.classes),)))
    return None


def _scope_variable(scope: Scope, index: LinkingIndex) -> Variable:
    """The things of the conversation, with their narrowest common class."""
    tables = {thing.relation for key in scope.keys if (thing := index.lexicon.thing(key))}
    classes = [node for node in index.graph.nodes if tables and tables <= node.relations]
    common = min(classes, key=lambda node: (node.count, node.index), default=None)
    iris, without = (common.classes, common.without) if common is not None else ((), ())
    return Variable("thing", iris, without, scope.keys, "those")


FULL_MATCHES = ("whole", "nearly whole", "scope")  # matches of a name that is mentioned in full, and in part

PARTIAL_MATCH = "part"

# how many readings of a group are tried, and how many letters a phrase of texts has at least
MAX_GROUP_READINGS, MIN_PHRASE_LETTERS = 4, 4


class ProfileSubject(NamedTuple):
    """What may be described: the tokens that name it, and how well, the most telling sign first."""

    select: Select
    covered: frozenset[int]
    worth: tuple[float, ...]


class SubjectFinder(NamedTuple):
    """Looks for subjects in ranges of tokens."""

    question: Question
    links: Sequence[Link]
    linking_index: LinkingIndex
    read_group: GroupReader

    def name_rank(self, link: Link) -> tuple[bool, bool]:
        """Order things of one name: first those whose class is mentioned, then those that have the name themselves."""
        return not self._has_class_beside(link), not self.linking_index.graph.nodes[link.refs[0].node].named

    def _has_class_beside(self, link: Link) -> bool:
        """Whether the class of a thing stands beside its name: "room 12"."""
        classes = [each for each in self.links if each.kind == "class" and each.refs[0].node == link.refs[0].node]
        return any(each.end == link.start or each.start == link.end for each in classes)

    def compared(self) -> list[ProfileSubject]:
        """Return the two sides of a comparison, which are of one class and parted by a word such as "than"."""
        words = self.question.tokens
        for at in range(len(words) - 1, 0, -1):
            if words[at].norm not in WORDS["parting"]:
                continue
            left = list(self._subjects(0, at))
            right = list(self._subjects(at + 1, len(words), left[0].select if left else None))
            # names that are words for a class as well: "sale and purchase", of transaction types
            left, right = [*left, *self._named_in(0, at)], [*right, *self._named_in(at + 1, len(words))]
            pairs = [
                (one, other)
                for one in left
                for other in right
                if _class_of(one.select) == _class_of(other.select) and one.select != other.select
            ]
            best = max(
                pairs,
                key=lambda pair: (_differ_in_value(pair[0].select, pair[1].select), pair[0].worth, pair[1].worth),
                default=None,
            )
            if best is not None:
                return list(best)
        return []

    def whole(self) -> list[ProfileSubject]:
        """Return what the question is about as a whole."""
        subjects = self._subjects(0, len(self.question.tokens))
        best = max(subjects, key=lambda subject: subject.worth, default=None)
        if best is not None and len(best.worth) > 1:
            return [best]
        tokens, indefinite = self.question.tokens, WORDS["indefinite_pronouns"]
        if best is not None and self._unknown_words() and all(tokens[i].norm in indefinite for i in best.covered):
            # "anything about loose bolts" asks for texts
            return []
        # words that only texts have say more than a class
        best = self._by_words_of_texts() or best
        return [best] if best is not None else []

    def subject_of(self, link: Link) -> ProfileSubject:
        """Return a named thing, or several of one name, as a subject."""
        words = self.question.tokens
        before = link.start - 1
        while before > 0 and words[before].norm in WORDS["article"]:
            before -= 1
        is_introduced = before >= 0 and words[before].norm in WORDS["introducing"]
        graph = self.linking_index.graph
        node = graph.nodes[link.refs[0].node]
        has_texts = any(graph.about(predicate).role == "text" for predicate in graph.literals[node.index])
        # a name without a class or such a word is often what is asked about the thing ("interior of X", "X")
        signs = (self._has_class_beside(link), is_introduced, node.named, has_texts, link.match in FULL_MATCHES)
        covered = frozenset(i for i in range(len(words)) if link.covered >> i & 1)
        return ProfileSubject(select_of_link(link, self.linking_index), covered, (*map(float, signs), link.score))

    def _named_in(self, start: int, end: int) -> Iterator[ProfileSubject]:
        """The things that are named in full in a range, whatever else the words mean."""
        for link in self.links:
            is_name = link.kind == "entity" and link.match in FULL_MATCHES and link.exact
            if is_name and start <= link.start and link.end <= end:
                yield self.subject_of(link)

    def _subjects(self, start: int, end: int, like: Select | None = None) -> Iterator[ProfileSubject]:
        """All that a range may be about; `like` is what "ones" stand for."""
        own = [link for link in self.links if start <= link.start and link.end <= end and link.match != "scope"]
        groups = list(self._groups(own, start, end, like))
        yield from groups
        covered = frozenset[int]().union(*(group.covered for group in groups))
        named = self._named_things(own)
        for link in named:
            if not covered & {i for i in range(start, end) if link.covered >> i & 1}:
                yield self.subject_of(link)
        if not named and not groups:
            for link in _longest_names([each for each in own if each.kind == "class" and each.exact]):
                node = self.linking_index.graph.nodes[link.refs[0].node]
                select = Select((Itself("thing"),), (Variable("thing", node.classes, node.without),))
                yield ProfileSubject(select, frozenset(range(link.start, link.end)), (0.0,))

    def _named_things(self, own: Sequence[Link]) -> list[Link]:
        """The things that are named in full, or in part by words that name no class better."""
        named = [link for link in own if is_named_in_full(link, self.links, self.question)]
        for link in own:
            scores = (each.score for each in own if each.kind == "class" and each.covered & link.covered)
            if link.kind == "entity" and link.match == PARTIAL_MATCH and link.score > max(scores, default=0.0):
                named.append(link)
        full = [link.covered for link in named if link.match in FULL_MATCHES]
        return [link for link in named if not any(link.covered & mask == link.covered != mask for mask in full)]

    def _groups(self, own: Sequence[Link], start: int, end: int, like: Select | None) -> Iterator[ProfileSubject]:
        """Classes with the words before them: "the electric models", "petrol ones"."""
        words, stand_ins = self.question.tokens, WORDS["stand_in"]
        plurals = [
            link for link in own if link.kind == "class" and words[link.end - 1].norm != words[link.end - 1].lemma
        ]
        for after, noun_start in sorted({link.end: link.start for link in plurals}.items()):
            yield from self._group(own, noun_start, after, "")
        kind = _class_of(like) if like is not None else None
        noun = next((n.label for n in self.linking_index.graph.nodes if (n.classes, n.without) == kind), "")
        for at in range(start, end):
            if noun and words[at].norm in stand_ins:
                yield from self._group(own, at, at + 1, noun)

    def _group(self, own: Sequence[Link], noun_start: int, after: int, stand_in_noun: str) -> Iterator[ProfileSubject]:
        """The readings of a noun with the names and values right before it."""
        text, words = self.question.text, self.question.tokens
        before = [link.start for link in own if link.kind in ("entity", "value") and link.end == noun_start]
        if not before:
            return
        first = min(before)
        modifiers = text[words[first].start : words[noun_start].start]
        noun = stand_in_noun or text[words[noun_start].start : words[after - 1].end]
        for place, select in enumerate(self.read_group(f"{modifiers}{noun}")[:MAX_GROUP_READINGS]):
            worth = (1.0, 1.0, 1.0, 1.0, 1.0 - place / MAX_GROUP_READINGS)
            yield ProfileSubject(select, frozenset(range(first, after)), worth)

    def _by_words_of_texts(self) -> ProfileSubject | None:
        """Things whose texts contain words that name nothing in the graph: "open-top cars"."""
        schema, tokens = self.linking_index.graph.schema, self.question.tokens
        text = next((each for each in schema.predicates if each.role == "text" and each.has_literals), None)
        run = self._unknown_words()
        if text is None or not run or not text.domains:
            return None
        phrase = self.question.text[tokens[run[0]].start : tokens[run[-1]].end]
        classes = [each for each in text.domains if each in self.linking_index.graph.node_of_class]
        if len(phrase) < MIN_PHRASE_LETTERS or not classes:
            return None
        # the class that the texts are of, and not what it is a part of
        count_of = {each: schema.class_of[each].count for each in classes}
        own = max(classes, key=lambda each: (text.domains[each] / count_of[each], count_of[each], each))
        contains = Filter(Attribute("thing", text.iri), "contains", phrase)
        select = Select((Itself("thing"),), (Variable("thing", (own,)),), (), (contains,))
        return ProfileSubject(select, frozenset(run), (0.0,))

    def _unknown_words(self) -> list[int]:
        """The first run of content words that name nothing and are not common."""
        known = {i for link in self.links for i in range(link.start, link.end) if link.exact}
        common = self.linking_index.value_linker.entities.common_words
        run: list[int] = []
        for i, token in enumerate(self.question.tokens):
            is_common = bool({token.lemma, token.norm, token.norm.removesuffix("s")} & common)
            if i not in self.question.stopwords and i not in known and not is_common:
                run.append(i)
            elif run:
                break
        return run


def is_named_in_full(link: Link, links: Sequence[Link], question: Question) -> bool:
    """Whether a thing is named in full, by words that name no class or property as well, or as its name is written."""
    if link.kind != "entity" or link.match not in FULL_MATCHES:
        return False
    if link.exact and link.start and link.label[:1].isupper():
        written = question.text[question.tokens[link.start].start : question.tokens[link.end - 1].end]
        if written == link.label:
            return True
    has_several_words = link.end - link.start > 1
    names_more = any(
        other.covered == link.covered and other.kind in ("class", "property") and other.score >= link.score
        for other in links
    )
    return (link.exact or has_several_words) and (not names_more or (has_several_words and link.exact))


def _longest_names(links: Sequence[Link]) -> list[Link]:
    """The links with the most words, each counted once, then the best scores, that do not overlap."""

    def rank(link: Link) -> tuple[int, float, int]:
        return -min(link.covered.bit_count(), len(link.label.split())), -link.score, link.start

    return without_overlaps(sorted(links, key=rank))


def select_of_link(link: Link, index: LinkingIndex) -> Select:
    """Return a select of the things that a link names."""
    node = index.graph.nodes[link.refs[0].node]
    return Select((Itself("thing"),), (Variable("thing", node.classes, node.without, link.keys, link.label),))


def _class_of(select: Select) -> tuple[tuple[str, ...], tuple[str, ...]]:
    answer = select.answers[0]
    assert isinstance(answer, Itself)
    variable = next(each for each in select.variables if each.name == answer.variable)
    return variable.classes, variable.without


def _differ_in_value(one: Select, other: Select) -> bool:
    """Whether two groups differ only in the values of the same properties."""
    edges = [[edge.predicate for edge in select.edges] for select in (one, other)]
    properties = [[each.left for each in select.filters] for select in (one, other)]
    return edges[0] == edges[1] and properties[0] == properties[1]
