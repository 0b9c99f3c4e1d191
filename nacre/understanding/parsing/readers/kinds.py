"""Read questions for the kind of something: Question + Links -> Candidate ("is Emma a novel", "are ewes animals")."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language, phrase_list, word_list
from nacre.records.plan import Ask, Itself, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target, token_mask

# The shortest question for a kind: "are", and two nouns.
MIN_KIND_QUESTION_WORDS = 3
KIND_RULE = "of kind"


def read_kind_question(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield the reading of "is Emma a novel": whether a named thing, or the things of a class, are of another class,
    if nothing else is said."""
    words, known = question.tokens, language().words
    if len(words) < MIN_KIND_QUESTION_WORDS or words[0].norm not in known["being"]:
        return
    # "is the tuba a brass instrument"
    starts = (1, 2) if words[1].norm in known["article"] else (1,)
    subjects = [x for x in links if x.exact and x.start in starts and x.kind in ("entity", "class")]
    for kind in _kinds_at_end(question, links, graph):
        for subject in sorted(subjects, key=lambda x: (x.kind != "entity", -x.end)):
            between = [word.norm for word in words[subject.end : kind.start]]
            # "is it a novel", "is it equipment"
            is_mass = words[kind.end - 1].lemma in word_list("wording", "pieces") | word_list("wording", "mass")
            has_article = is_mass or (bool(between) and between[-1] in known["article"])
            if subject.end > kind.start or not set(between) <= set(phrase_list("parsing", "before_kind")):
                continue
            if subject.kind == "entity" and has_article:
                names = [x for x in subjects if x.kind == "entity" and x.end == subject.end]
                yield _candidate(_named_thing(names, kind, question, graph), (subject, kind), question)
                return
            if subject.kind == "class" and (has_article or words[0].norm in phrase_list("parsing", "being_many")):
                yield _candidate(_things_of_class(subject, kind, question, graph), (subject, kind), question)
                return


def _kinds_at_end(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """The classes that the last words name, by their names before nouns for wider kinds."""
    last = [x for x in links if x.kind == "class" and x.end == len(question.tokens)]
    yield from sorted(
        (x for x in last if x.exact or x.match == "like"),
        key=lambda x: (not x.exact, bool(graph.nodes[x.refs[0].node].any_of), x.start),
    )


def _named_thing(names: Sequence[Link], kind: Link, question: Question, graph: SchemaGraph) -> Variable:
    """A named thing of a kind. `any_of` are the classes of the thing, which an answer "no" tells."""
    node = graph.nodes[kind.refs[0].node]
    keys = tuple(dict.fromkeys(key for name in names for key in name.keys))
    own = tuple(dict.fromkeys(c for name in names for c in graph.nodes[name.refs[0].node].classes))
    noun = question.tokens[kind.end - 1].lemma
    return Variable("thing", node.classes, node.without, keys, names[0].label, any_of=node.any_of or own, noun=noun)


def _things_of_class(subject: Link, kind: Link, question: Question, graph: SchemaGraph) -> Variable:
    """The things of a class that are also of another one, or of none if the noun for the wider kind is English."""
    own, node = graph.nodes[subject.refs[0].node], graph.nodes[kind.refs[0].node]
    classes = tuple(dict.fromkeys((*own.classes, *node.classes)))
    noun = question.tokens[kind.end - 1].lemma
    return Variable("thing", classes, own.without, any_of=node.any_of or own.any_of or own.classes, noun=noun)


def _candidate(thing: Variable, links: tuple[Link, Link], question: Question) -> Candidate:
    ref = Ref(links[1].refs[0].node)
    derivation = Derivation(
        targets=(Target(ref),),
        conditions=(),
        group=(),
        order=None,
        nodes=(ref,),
        combine="",
        covered=token_mask(0, len(question.tokens)),
        prior=1.0,
        trace=(KIND_RULE,),
        links=links,
    )
    return Candidate(derivation, Ask(Select((Itself(thing.name),), (thing,))), 0.0, 0, 0, 0)
