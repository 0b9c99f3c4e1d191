"""Words that are wider than a class: Question or Links -> those that name a union, and what its classes share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from nacre.language.base import language, phrase_list
from nacre.language.forms.nouns import is_plural
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.question.types import INEQUALITIES, Link, Question, Ref

# Cues right before nouns.
_BEFORE_NOUNS = frozenset(("superlative", "most", "count", "comparative"))


def names_union(question: Question, at: int, graph: SchemaGraph) -> bool:
    """Whether a token is a noun for the things of a union: "works", and not the verb of "who works here"."""
    token = question.tokens[at]
    forms = {token.norm, token.lemma}
    if not forms & graph.unions.words.keys():
        return False
    if forms & set(phrase_list("parsing", "nouns_of_no_thing")):
        return True
    known, before = language().words, question.tokens[at - 1].norm if at else ""
    follows_cue = any(c.start < at <= c.end and c.kind in _BEFORE_NOUNS for c in question.cues)
    if not is_plural(token.norm):
        return follows_cue or before in known["article"] | known["asking_kind"] | known["demonstrative"]
    if not forms & set(phrase_list("linking", "nouns_and_verbs")):
        return True
    subjects = known["asking_who"] | known["pronouns"] - known["demonstrative"] | known["helping"]
    return not at or follows_cue or (at - 1 in question.stopwords and before not in subjects)


def choose_unions(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links, with one union for a word that may name several: the smallest whose things have what the other words
    name, as far as the things of the largest have it."""
    by_span: dict[tuple[int, int], list[Link]] = defaultdict(list)
    for x in links:
        if x.kind == "class" and graph.nodes[x.refs[0].node].any_of:
            by_span[x.start, x.end].append(x)
    links = [_with_wide_noun(x, by_span, graph) for x in links]
    classes = {(x.start, x.end) for x in links if x.kind == "class"}
    dropped: set[Link] = set()
    for (start, _), found in by_span.items():
        if any(s < start < e for s, e in classes):
            # "death events" are deaths
            dropped.update(found)
            continue
        ordered = sorted(found, key=lambda x: len(graph.nodes[x.refs[0].node].relations))
        asked = [_asked_of(x.refs[0].node, links, question, graph) for x in ordered]
        chosen = next(x for x, own in zip(ordered, asked, strict=True) if own >= asked[-1])
        dropped.update(x for x in ordered if x is not chosen)
    return [x for x in links if x not in dropped]


def _with_wide_noun(link: Link, unions: Mapping[tuple[int, int], Sequence[Link]], graph: SchemaGraph) -> Link:
    """The link of a class with the wide noun after it, if its things are some of the union's: "death events"."""
    if link.kind != "class" or not link.exact or graph.nodes[link.refs[0].node].any_of:
        return link
    after = next((found for (start, _), found in unions.items() if start == link.end), ())
    if not any(graph.is_subclass(link.refs[0].node, x.refs[0].node) for x in after):
        return link
    return link._replace(end=after[0].end, covered=link.covered | after[0].covered)


def _asked_of(union: int, links: Sequence[Link], question: Question, graph: SchemaGraph) -> set[tuple[int, int]]:
    """The places of the question that name properties, values or measures which things of a union have."""
    found = {
        (x.start, x.end)
        for x in links
        if x.kind in ("property", "value") and any(graph.is_subclass(ref.node, union) for ref in x.refs)
    }
    for cue in question.cues:
        if cue.kind in ("superlative", "comparative") and (concepts := cue.ranking[1]) != ("",):
            measures = measured_properties(graph, union, concepts)
            found |= {(cue.start, cue.end)} if any(ref.node == union for ref, _, _ in measures) else set()
    return found


def widened_links(links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties, values and links of the classes of a mentioned union, as those of the union: the "condition" of
    objects, "kept in" of any of them.

    "Who" may be of any class of persons, and "what is on loan" of any class with that value.
    """
    unions = {x.refs[0].node for x in links if x.kind == "class"} & graph.unions.members.keys()
    seen: set[Link] = set()
    for link in links:
        if link.kind not in ("property", "value"):
            continue
        for union in sorted(unions | _asked_unions(link, links, question, graph)):
            members = set(graph.unions.members[union])

            def widened(ref: Ref, union: int = union, members: set[int] = members) -> Ref:
                is_member = ref.node in members or graph.is_subclass(ref.node, union)
                return ref._replace(node=union) if is_member else ref

            wide = link._replace(refs=tuple(dict.fromkeys(map(widened, link.refs))))
            if wide.refs != link.refs and wide not in seen:
                seen.add(wide)
                yield wide


def _asked_unions(link: Link, links: Sequence[Link], question: Question, graph: SchemaGraph) -> set[int]:
    """The union that the first word of a question asks for, if a property or value of it is named and no class is."""
    first = question.tokens[0].norm if question.tokens else ""
    predicate, known = link.refs[0].predicate, language().words
    classes = [x.refs[0].node for x in links if x.kind == "class"]
    by_size = [n.index for n in sorted(graph.unions.nodes, key=lambda n: len(n.relations))]
    if predicate and first in known["asking_who"] and graph.persons.isdisjoint(classes):
        return set([i for i in by_size if i in graph.persons][-1:])
    is_bounded = link.kind == "value" or any(n.op in INEQUALITIES for n in question.numbers)
    if not predicate or not is_bounded or first not in known["asking_kind"] or classes:
        return set()
    holders = set(graph.property_nodes(predicate))
    wide = (union for union in by_size if all(graph.is_subclass(i, union) for i in holders))
    return set(islice(wide, 1)) if len(holders) > 1 else set()
