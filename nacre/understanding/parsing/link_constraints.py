"""Which readings stay, by the links they follow: Candidates + Question -> the readings that are not ruled out.

The label of a link says which of its ends acts: the subject of "feeds", "taught" or "deputy of", the object of "fed
by" or "mentor". The words of the question say whether a named thing acts.

A link between things belongs to a question if a word of the question names it, or what it leads to. A link that
merely exists does not: what Dallas has no number of is not answered by the number of its state.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from nacre.language.data import WORDS, word_list
from nacre.language.thesaurus import converse_roles, function_words
from nacre.language.tokens import lemma
from nacre.language.word_forms import is_participle
from nacre.plans.selects import asked_select, predicates_of, selects_of, variable_of
from nacre.records.plan import EXTREMES, Aggregate, Attribute, Edge, Itself, Select, aggregated_value
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.finish import QUESTION_WORD_RULES
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.records import Derivation, Link, Question, covered_mask
from nacre.wording.labels import predicate_label


def drop_reversed_links(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings in which a named thing stands at the wrong end of a link between things of one class."""
    return [each for each in candidates if not _is_reversed(each, context.question, context.graph)]


def drop_single_counts(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that rank things by how many they have of what each has one of at most."""
    return [each for each in candidates if not any(_counts_single(x, context.graph) for x in selects_of(each.body))]


def _counts_single(select: Select, graph: SchemaGraph) -> bool:
    """Whether a select ranks by the number of things at the other end of a link that each thing has once at most."""
    ranked = select.order.by if select.order is not None else None
    if not isinstance(ranked, Aggregate) or ranked.function != "count" or len(select.edges) != 1:
        return False
    edge = select.edges[0]
    is_counted = isinstance(ranked.of, Itself) and ranked.of.variable == edge.object
    return is_counted and select.group == (edge.subject,) and graph.about(edge.predicate).functional


def _is_reversed(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a named thing stands at the wrong end of a link that the question names next to it."""
    body = candidate.body
    if not isinstance(body, Select):
        return False
    links = candidate.derivation.links
    named: dict[tuple[str, ...], str] = {
        variable.keys: variable.name for variable in body.variables if len(variable.keys) == 1
    }
    for verb in links:
        predicates = named_predicates(verb, graph)
        edges = [edge for edge in body.edges if edge.predicate in predicates]
        for name in (link for link in links if link.keys in named):
            variable = named[name.keys]
            ends = {"subject" for edge in edges if edge.subject == variable}
            ends |= {"object" for edge in edges if edge.object == variable}
            if len(ends) == 1 and ends == {_wrong_end(edges[0].predicate, name, verb, question, graph)}:
                return True
    return False


def _wrong_end(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end at which the named thing cannot stand; "" if the words do not tell."""
    if not _joins_same_class(graph, predicate) or WORDS["symmetric"] & set(graph.words[predicate]):
        return ""
    acts, agent_end = _acts(predicate, name, verb, question, graph), _agent_end(predicate, verb, question, graph)
    if acts is None or not agent_end:
        return ""
    return _opposite(agent_end) if acts else agent_end


def _opposite(end: str) -> str:
    return "object" if end == "subject" else "subject"


def _joins_same_class(graph: SchemaGraph, predicate: str) -> bool:
    """Whether one thing may stand at both ends of a link."""
    ends = graph.ends.get(predicate, ())
    sources, targets = (
        frozenset[str]().union(*(graph.nodes[node].relations for node in set(nodes)))
        for nodes in ((source for source, _ in ends), (target for _, target in ends))
    )
    return bool(sources & targets)


def _agent_end(predicate: str, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link at which the agent of the words that name it stands; "" if its label does not tell."""
    label, words = predicate_label(predicate, graph.schema), graph.surface_words(predicate)
    says = tuple(token.lemma for token in question.tokens[verb.start : verb.end])
    is_perfect = len(words) > 1 and words[0] in WORDS["owning"] and is_participle(words[1])
    is_third_person = len(words) == 1 and words[0].endswith("s") and lemma(words[0]) != words[0]
    if words[-1:] == ["by"]:
        end = "object"
    elif label.kind != "noun" or is_perfect or (is_third_person and says == (lemma(words[0]),)):
        end = "" if label.kind == "flag" else "subject"
    else:
        end = "object"
    own, other = _role(graph.words[predicate]), _role(says)
    is_converse = own is not None and other is not None and own[0] == other[0] and own != other
    if is_converse:
        return _opposite(end) if end else ""
    # the words of the label, and not of a further name: "feeds" of "fed equipment"
    words = [question.tokens[i].lemma for i in range(verb.start, verb.end) if i not in question.stopwords]
    return end if words == [word for word in graph.words[predicate] if word not in function_words()] else ""


def _role(words: tuple[str, ...]) -> tuple[int, int] | None:
    """The relation and the role that words name: "learn" as "learn from", "taught by" as "teach"."""
    roles = converse_roles()
    found = roles.get(words) or roles.get(words[:-1])
    return found or next((role for phrase, role in roles.items() if len(phrase) > 1 and phrase[:1] == words[:1]), None)


def _acts(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether the named thing is the agent of the verb, or what the noun names; None if the words do not tell."""
    norms = [token.norm for token in question.tokens]
    between = range(min(name.end, verb.end), max(name.start, verb.start))
    if name.covered & verb.covered or any(i not in question.stopwords for i in between):
        return None
    follows = name.start > verb.start
    gap = question.text[question.tokens[name.end - 1].end : question.tokens[verb.start].start]
    if not follows and gap.startswith(("'", "’")):
        # "Ann's mentor"
        return False
    if set(norms[verb.end - 1 : verb.end + 1]) & WORDS["noun_links"]:
        # "the mentor of Ann" and "who is Ann the mentor of"
        return not follows
    before = set(norms[max(0, verb.start - 1) : verb.start])
    if before & (WORDS["whose"] if follows else WORDS["article"]):
        # "whose mentor is Ann", "for whom is Ann the mentor"
        return True
    return _acts_in_clause(predicate, name, verb, question, graph)


def _acts_in_clause(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether the named thing is the agent of a verb, by the order of words, "by", and the voice of the verb."""
    norms = [token.norm for token in question.tokens]
    follows, said = name.start > verb.start, norms[verb.start]
    prepositions = set(word_list("wording", "prepositions"))
    end = norms[verb.end - 1]
    last = end if end in prepositions else "".join(graph.surface_words(predicate)[-1:])
    if last != "by" and last in prepositions and last in norms[verb.start :]:
        # "what is derived from the chart", "what was the chart derived from"
        return not follows if not follows or name.start > norms.index(last, verb.start) else None
    by = next((i for i in range(verb.start, len(norms)) if norms[i] == "by"), None)
    inside = {*question.stopwords, *range(name.start, name.end)} - {
        i for i, norm in enumerate(norms) if norm in WORDS["relative"]
    }
    being = (i for i in range(verb.start) if norms[i] in WORDS["being"] | WORDS["been"])
    is_passive = is_participle(said) and any(inside.issuperset(range(i + 1, verb.start)) for i in being)
    if by is None and (not is_passive or last in prepositions - {"by"}):
        # "to whom was Ann apprenticed"
        return not follows
    if not follows:
        return False
    return None if by is None else by < name.start


def prefer_named_links(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that leave a named link out or follow one without a name, where another reading that asks the
    same of the same names does not. What a workshop "is owned by" is not what somebody works in."""
    question, graph = context.question, context.graph
    rivals: dict[object, list[tuple[int, _Losses]]] = defaultdict(list)
    keyed = [(each, _asked(each, graph), _losses(each, question, graph)) for each in candidates]
    for each, asked, losses in keyed:
        rivals[asked].append((each.derivation.covered, losses))
    return [
        each
        for each, asked, losses in keyed
        if not any(
            other.is_less(losses) and each.derivation.covered & ~covered == 0 for covered, other in rivals[asked]
        )
    ]


class _Losses(NamedTuple):
    """How many links a reading names without following them, how many it follows unnamed, and how many in all."""

    unfollowed: int
    unnamed: int
    edges: int

    def is_less(self, other: "_Losses") -> bool:
        """Whether a reading follows more of what is named, over no more unnamed links."""
        if self.unfollowed < other.unfollowed:
            return self.unnamed <= other.unnamed
        return self.unfollowed == other.unfollowed and self.unnamed < other.unnamed and self.edges <= other.edges


def _asked(candidate: Candidate, graph: SchemaGraph) -> object:
    """What a reading asks for, and the words that it takes for names, values and classes."""
    d = candidate.derivation
    names = (link for link in d.links if link.kind != "property" and not named_predicates(link, graph))
    targets = tuple((target.function, target.ref.node, target.ref.predicate) for target in d.targets)
    spans = frozenset((link.start, link.end, link.kind) for link in names)
    return targets, spans, d.combine, len(d.group), d.order is None, len(d.conditions), candidate.body.kind


def _losses(candidate: Candidate, question: Question, graph: SchemaGraph) -> _Losses:
    body, links = candidate.body, candidate.derivation.links
    if not isinstance(body, Select):
        return _Losses(0, 0, 0)
    followed = predicates_of(body)
    # a part of a name ("values" of "value type") does not say which link is meant
    whole = [link for link in links if link.kind != "property" or not link.match.endswith("partial")]
    sure = (link for link in whole if not link.match.endswith(("like", "partial")))
    named = [predicates for link in sure if (predicates := named_predicates(link, graph))]
    known = named_edges(body, whole, question, graph)
    unnamed = [edge for edge in body.edges if edge not in known and not _leads_to_its_class(edge, body, graph)]
    return _Losses(sum(not predicates & followed for predicates in named), len(unnamed), len(body.edges))


def _leads_to_its_class(edge: Edge, body: Select, graph: SchemaGraph) -> bool:
    """Whether a link is called like the class of the named thing: the artist of an album by an artist."""
    end = next(variable for variable in body.variables if variable.name == edge.object)
    node = graph.node_of_classes.get((end.classes, end.without)) if end.keys else None
    return node is not None and tuple(graph.nodes[node].words) == graph.words[edge.predicate]


def named_predicates(link: Link, graph: SchemaGraph) -> Set[str]:
    """The links between things that a mention names, also where it stands for the things that they lead to."""
    if link.kind == "class":
        return graph.mixed_predicates.get(link.refs[0].node, frozenset())
    return frozenset(ref.via for ref in link.refs if ref.via and link.kind == "property")


def named_edges(body: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Edge]:
    """The links of a plan that words of the question name, each as often as it is named."""
    if not body.edges:
        return []
    left = Counter[str]()
    for link in links:
        first = link.refs[0].predicate if link.kind == "property" else ""
        left.update((first,) if first else named_predicates(link, graph))
    words: frozenset[str] | None = None
    found: dict[str, list[Edge]] = {}
    for edge in body.edges:
        same = found.setdefault(edge.predicate, [])
        if len(same) < left[edge.predicate]:
            same.append(edge)
        elif not same:
            words = _mentioned_words(links, question, graph) if words is None else words
            same += [edge] if _is_mentioned_edge(edge, body, words, graph) else []
    return [edge for same in found.values() for edge in same]


def _mentioned_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> frozenset[str]:
    """The words of a question and of the properties that it names, without generic words and names."""
    names = covered_mask(link for link in links if link.kind in ("entity", "value"))
    said = {t.lemma for i, t in enumerate(question.tokens) if i not in question.stopwords and not names >> i & 1}
    properties = {ref.predicate for link in links for ref in link.refs[:1] if ref.predicate}
    said.update(word for predicate in properties for word in graph.words[predicate])
    return frozenset(said - WORDS["generic"] - function_words())


def _is_mentioned_edge(edge: Edge, body: Select, mentioned: frozenset[str], graph: SchemaGraph) -> bool:
    """Whether a link has a mentioned word in its name that does not only name a class at one of its ends."""
    words, agents = graph.words[edge.predicate], word_list("wording", "agents")
    # also as the agent noun of a mentioned verb: "borrower" where somebody borrows
    found = [w for w in words if w in mentioned or (w[-2:] in agents and not mentioned.isdisjoint((w[:-2], w[:-1])))]
    if not found:
        return False
    ends = (variable for variable in body.variables if variable.name in (edge.subject, edge.object))
    classes = [each for variable in ends for each in variable.classes if each in graph.node_of_class]
    class_words = {word for each in classes for word in graph.nodes[graph.node_of_class[each]].words}
    return len(found) == len(words) or not class_words.issuperset(found)


MIN_HELD_SHARE = 0.1  # share of the things of a class that have a property of the class, at least (given)


def prefer_own_properties(
    candidates: list[Candidate], context: ParseContext, whole: Callable[[Candidate], bool]
) -> list[Candidate]:
    """Drop the readings that pass unnamed links, if a `whole` one reads the words as own properties."""
    question, graph = context.question, context.graph
    own = [each.derivation for each in candidates if looks_up_own(each, question, graph) and whole(each)]
    return [
        each
        for each in candidates
        if not any(_reads_same_words(each.derivation, other) for other in own)
        or not unnamed_edges(each, question, graph)
    ]


def _reads_same_words(derivation: Derivation, own: Derivation) -> bool:
    """Whether a reading uses no word that the other does not use, and takes the same words for a property."""
    named, others = (
        {(link.start, link.end) for link in each.links if link.kind == "property"} for each in (derivation, own)
    )
    return derivation.covered & ~own.covered == 0 and bool(named & others)


def looks_up_own(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a reading gives a property of one named thing, or what a link of it leads to that a word names."""
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by or body.order or body.filters:
        return False
    named = {variable.name for variable in body.variables if variable.keys}
    if len(named) != 1 or len(body.edges) > 1 or len(body.variables) != 1 + len(body.edges):
        return False
    answers = [aggregated_value(answer) for answer in body.answers]
    if not body.edges:
        return all(isinstance(answer, Attribute) and _is_typical(answer, body, graph) for answer in answers)
    is_far = all(isinstance(answer, Itself) and answer.variable not in named for answer in answers)
    return is_far and len(named_edges(body, candidate.derivation.links, question, graph)) == 1


def _is_typical(answer: Attribute, body: Select, graph: SchemaGraph) -> bool:
    """Whether most things of a class have a property: the length of car models is that of their variants."""
    variable = next(each for each in body.variables if each.name == answer.variable)
    node = graph.node_of_classes.get((variable.classes, variable.without))
    if node is None:
        return True
    return graph.value_counts.get((node, answer.predicate), 0) >= MIN_HELD_SHARE * graph.nodes[node].count


def unnamed_edges(candidate: Candidate, question: Question, graph: SchemaGraph) -> list[Edge]:
    """The links of a plan that no word of the question names, unless both ends are named. A link that is named once is
    followed once. "Who" and "where" name the end that they ask for."""
    body = candidate.body
    if not isinstance(body, Select) or not body.edges:
        return []
    derivation = candidate.derivation
    mentioned = {link.refs[0].node for link in derivation.links if link.kind == "class"}
    if QUESTION_WORD_RULES & set(derivation.trace):
        mentioned |= {target.ref.node for target in derivation.targets}
    ends = {v.name for v in body.variables if v.keys or graph.node_of_classes.get((v.classes, v.without)) in mentioned}
    named = named_edges(body, derivation.links, question, graph)
    return [edge for edge in body.edges if edge not in named and not {edge.subject, edge.object} <= ends]


def prefer_named_extremes(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Keep the readings that give what "the highest fare" names by its whole name, if there are any."""
    tokens = context.question.tokens
    cue = next((each for each in context.question.cues if each.kind == "superlative"), None)
    before = {token.norm for token in tokens[1 : cue.start]} if cue is not None else set()
    if cue is None or tokens[0].norm not in WORDS["asking_kind"] or not before & WORDS["being"]:
        return candidates
    if not before <= WORDS["being"] | WORDS["article"]:
        return candidates

    def gives_it(d: Derivation) -> bool:
        named = {x.refs[0].predicate for x in d.links if x.kind == "property" and x.exact and x.start == cue.end}
        return any(target.function in EXTREMES and target.ref.predicate in named for target in d.targets)

    return [c for c in candidates if gives_it(c.derivation)]


_PRESENT = frozenset(("known", "unknown"))  # Operators of a value that is there or is not.


def drop_dates_beside(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings in which a date that no word names is not one of a named thing beside what is asked for: "the
    repairs of Emma in 2020" are the repairs of that year, and not those of Emma, who was painted then."""

    def is_beside(candidate: Candidate) -> bool:
        select = asked_select(candidate.body)
        if select is None:
            return False
        named = {ref.predicate for link in candidate.derivation.links for ref in link.refs}
        passed = {each.name for each in select.variables if not each.keys}
        reached = {*select.group, *map(variable_of, select.answers)}
        for _ in select.edges:
            ends = ({edge.subject, edge.object} for edge in select.edges)
            reached |= {name for pair in ends if pair & reached for name in pair & passed}
        terms = [("known", x) for x in select.answers if x not in select.by] + [(f.op, f.left) for f in select.filters]
        values = [(op, x) for op, x in terms if isinstance(x, Attribute)]
        dates = [(op, x) for op, x in values if context.graph.is_date(x.predicate)]
        # "was it oiled in 2020" asks for the day that it names
        reached -= {x.variable for op, x in dates if op == "known"}
        return any(op not in _PRESENT and x.predicate not in named and x.variable not in reached for op, x in dates)

    return [each for each in candidates if not is_beside(each)]
