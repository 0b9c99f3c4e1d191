"""Read yes/no questions: Candidate or Question + Links -> Candidate that asks whether there is a row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nacre.language.data import WORDS, phrase_list, word_list
from nacre.language.labels import alternative_values, none_value, true_value
from nacre.plans.selects import filtered_variable
from nacre.records.plan import Aggregate, Ask, Attribute, Filter, Itself, Select, Variable
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate, ParseContext, whole_reading
from nacre.understanding.question.records import Link, Question, Ref, Target, token_mask

MAX_SECOND_QUESTION_WORDS = 3  # the longest second question that asks which: "which of them"


def as_yes_no(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading as a yes/no question if the question begins like one; requested properties are checked."""
    body, links = candidate.body, candidate.derivation.links
    question, graph = context.question, context.graph
    if not _asks_yes_no(candidate, question) or not isinstance(body, Select):
        return candidate
    if (choice := _choice_of_values(body, links, question, graph)) is not None:
        return candidate._replace(body=choice)
    answer = body.answers[0]
    variable = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    has_group_filter = any(isinstance(each.left, Aggregate) for each in body.filters)
    select = replace(
        body,
        answers=(Itself(variable),),
        filters=(*body.filters, *_property_checks(body, links, question, graph)),
        group=body.group if has_group_filter else (),
        by=(),
        order=None,
        limit=None,
    )
    return candidate._replace(body=Ask(select))


def _asks_yes_no(candidate: Candidate, question: Question) -> bool:
    """Whether the question begins like one for yes or no; "can you list ..." is polite."""
    first, second = [*(token.norm for token in question.tokens[:2]), "", ""][:2]
    is_polite = first in WORDS["polite"] and second in WORDS["polite_object"]
    if is_polite and "flag" not in candidate.derivation.trace:
        return False
    return isinstance(candidate.body, Select) and first in WORDS["asking_yes_no"] and not _asks_which(question)


def _asks_which(question: Question) -> bool:
    """Whether a second question asks for the things: "Is there a room without a window? Which one?"."""
    if len(question.tokens) <= MAX_SECOND_QUESTION_WORDS:
        return False
    before, last = (token.norm for token in question.tokens[-2:])
    return last in WORDS["asking_which"] or (before in WORDS["asking_which"] and last in WORDS["pronouns"])


def _choice_of_values(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Select | None:
    """The value that a question ending in "red or blue" asks for; None if it asks whether there is either."""
    words = question.tokens
    if words[0].norm not in WORDS["being"] or words[1].norm in WORDS["there"]:
        return None
    asked = select.answers[0]
    if isinstance(asked, Attribute) and alternative_values(graph.about(asked.predicate)):
        properties = (link for link in links if link.kind == "property")
        named = [link for link in properties if any(ref.predicate == asked.predicate for ref in link.refs)]
        says_both = any(words[i].norm in WORDS["either"] for link in named for i in range(link.start, link.end))
        return select if says_both else None
    of_any = [each for each in select.filters if isinstance(each.right, tuple) and isinstance(each.left, Attribute)]
    last = {link.start for link in links if link.kind == "value" and link.end == len(words)}
    if len(of_any) != 1 or not any(cue.kind == "or" and cue.end in last for cue in question.cues):
        return None
    left = of_any[0].left
    assert isinstance(left, Attribute)
    return replace(select, answers=(left,), filters=tuple(each for each in select.filters if each is not of_any[0]))


def _property_checks(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Filter]:
    """What must hold for the properties that a yes/no question names without a comparison. A boolean holds ("is he
    blocked"), an amount is more than nothing ("does it cost anything"), any other property has a value."""
    compared = {each.left for each in select.filters}
    named = {ref.predicate for link in links for ref in link.refs}
    says_anything = any(token.norm in WORDS["anything"] for token in question.tokens)
    for attribute in dict.fromkeys(answer for answer in select.answers if isinstance(answer, Attribute)):
        if attribute in compared or attribute.predicate not in named:
            continue
        about = graph.about(attribute.predicate)
        is_zero_or_one = (about.datatype, about.minimum, about.maximum) == ("integer", 0, 1)
        yes = 1 if is_zero_or_one else true_value(about)
        is_amount = graph.is_numeric(attribute.predicate) and not graph.is_date(attribute.predicate)
        if yes is not None:
            yield Filter(attribute, "=", yes)
        elif says_anything and is_amount:
            yield Filter(attribute, ">", 0)
        else:
            own = next(each for each in select.variables if each.name == attribute.variable)
            node = graph.node_of_classes.get((own.classes, own.without))
            none = none_value(about) if node is None else graph.none_of(node, attribute.predicate)
            yield Filter(attribute, "known") if none is None else Filter(attribute, "!=", none)


def keep_named_things(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the yes/no readings that leave out a named thing which others use."""
    names = [link.covered for link in context.links if link.kind == "entity" and link.exact]
    asking = [_asks_yes_no(each, context.question) for each in candidates]
    counts = [sum(each.derivation.covered & name == name for name in names) for each in candidates]
    most = max((count for count, asks in zip(counts, asking, strict=True) if asks), default=0)
    checked = zip(candidates, counts, asking, strict=True)
    return [each for each, count, asks in checked if count == most or not asks]


MIN_KIND_QUESTION_WORDS = 3  # The shortest question for a kind: "are", and two nouns.

KIND_RULE = "of kind"


def read_kind_question(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield "is Emma a novel": whether a named thing, or things of a class, are of another class."""
    words = question.tokens
    if len(words) < MIN_KIND_QUESTION_WORDS or words[0].norm not in WORDS["being"]:
        return
    # "is the tuba a brass instrument"
    starts = (1, 2) if words[1].norm in WORDS["article"] else (1,)
    subjects = [x for x in links if x.exact and x.start in starts and x.kind in ("entity", "class")]
    last = [x for x in links if x.kind == "class" and x.end == len(words) and (x.exact or x.match == "like")]
    # the classes that the last words name, by their names before nouns for wider kinds
    for kind in sorted(last, key=lambda x: (not x.exact, bool(graph.nodes[x.refs[0].node].any_of), x.start)):
        for subject in sorted(subjects, key=lambda x: (x.kind != "entity", -x.end)):
            between = [word.norm for word in words[subject.end : kind.start]]
            # "is it a novel", "is it equipment"
            is_mass = words[kind.end - 1].lemma in word_list("wording", "pieces") | word_list("wording", "mass")
            has_article = is_mass or (bool(between) and between[-1] in WORDS["article"])
            if subject.end > kind.start or not set(between) <= set(phrase_list("parsing", "before_kind")):
                continue
            if subject.kind == "entity" and has_article:
                names = [x for x in subjects if x.kind == "entity" and x.end == subject.end]
                yield _candidate(_named_thing(names, kind, question, graph), (subject, kind), question)
                return
            if subject.kind == "class" and (has_article or words[0].norm in phrase_list("parsing", "being_many")):
                yield _candidate(_things_of_class(subject, kind, question, graph), (subject, kind), question)
                return


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
    asked, target = Ask(Select((Itself(thing.name),), (thing,))), Target(Ref(links[1].refs[0].node))
    return whole_reading(asked, target, token_mask(0, len(question.tokens)), 1.0, (KIND_RULE,), links)


KEYWORD_RULE = "keyword"  # The rule in the trace of what only keywords ask.


def is_keywords(question: Question) -> bool:
    """Whether a question has content words alone, and so no word that says what is asked of what."""
    return len(question.tokens) > 1 and not question.stopwords and not question.cues


def as_condition(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading of keywords as a yes/no question if it gives one named thing under further conditions."""
    body = candidate.body
    if not is_keywords(context.question) or not isinstance(body, Select) or not _tests_thing(body):
        return candidate
    asked = Ask(replace(body, order=None))
    return candidate._replace(body=asked, derivation=candidate.derivation.apply_rule(KEYWORD_RULE))


def _tests_thing(body: Select) -> bool:
    """Whether a plan gives one named thing under conditions that can be true or false of it. A condition names a value
    or another thing; whether the thing has any value at all is rarely asked."""
    if len(body.answers) != 1 or not isinstance(body.answers[0], Itself):
        return False
    named = next((v for v in body.variables if v.name == body.answers[0].variable), None)
    if named is None or len(named.keys) != 1 or body.group or body.limit:
        return False
    compared = {filtered_variable(f) for f in body.filters if f.op != "known"}
    others = [v for v in body.variables if v.name != named.name]
    return bool(compared or others) and all(v.keys or v.name in compared for v in others)
