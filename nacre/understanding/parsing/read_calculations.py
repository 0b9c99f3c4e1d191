"""Read questions whose answer is computed, and two questions in one: Question + Links -> Candidates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, TypeGuard

from nacre.language.data import WORDS, phrase_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.language.word_forms import plural
from nacre.plans.selects import join_measures, measure_parts, merge_selects
from nacre.records.plan import (
    AGGREGATES,
    MEANS,
    Aggregate,
    Attribute,
    Body,
    Compute,
    Edge,
    Itself,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import PathStep, SchemaNode
from nacre.understanding.parsing.constraints import AGE, SPAN, requested_answer_type
from nacre.understanding.parsing.state import Candidate, unused_tokens, whole_reading
from nacre.understanding.question.records import Cue, Link, Question, Ref, Target, covered_mask, token_mask
from nacre.wording.nouns import class_noun

ELAPSED_RULE = ("elapsed",)
DATE_TYPES = frozenset(("date", "datetime", "year"))

ElapsedOperation = Literal["years", "days", "hours", "minutes", "age"]

# the unit in which a time may be asked for
TIME_UNITS: Mapping[str, ElapsedOperation] = {"minute": "minutes", "hour": "hours", "day": "days", "year": "years"}

MAX_NAMES = 2  # how many names for the same words are read
BASE_PRIOR = 2.0  # the prior of a reading without its name


def read_ages(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield readings of "how old is A", "how old was A when he died", "how long did A last", "for how many years"."""
    unit = _requested_unit(question)
    asked = SPAN if unit else requested_answer_type(question)
    if asked not in (AGE, SPAN):
        return
    # the things that the longest names mean, one thing each
    names = [link for link in links if link.kind == "entity" and link.exact and len(link.keys) == 1]
    longest = max((link.end - link.start for link in names), default=0)
    for name in [link for link in names if link.end - link.start == longest][:MAX_NAMES]:
        node = name.refs[0].node
        concepts = phrase_list("parsing", "age_concepts" if asked == AGE else "duration_concepts")
        measures = measured_properties(graph, node, concepts)
        if any(ref.node == node and not graph.is_date(ref.predicate) for ref, _, _ in measures):
            # the graph holds the age or the duration
            continue
        first, last = _dates(question, node, asked, graph)
        owner = graph.nodes[node]
        of = Select((), (Variable("thing", owner.classes, owner.without, name.keys, name.label),))
        is_living = _is_about_life(question, asked)
        if first and asked == AGE and not _says_any(question, "life_end"):
            yield _reading(question, [name], owner, of, "age", first, last, graph)
        elif first and last:
            operation: ElapsedOperation = "years" if is_living else TIME_UNITS.get(unit, "days")
            yield _reading(question, [name], owner, of, operation, first, last, graph)


def read_terms(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield readings of "how long was A at B": the dates of what links both, such as a membership."""
    unit = _requested_unit(question)
    if not unit and requested_answer_type(question) != SPAN:
        return
    names = [link for link in links if link.kind == "entity" and link.exact and len(link.keys) == 1]
    # names inside longer ones are not meant
    longest = [x for x in names if not any(x.covered & y.covered and y.covered & ~x.covered for y in names)]
    if len(longest) != 2 or longest[0].covered & longest[1].covered:
        return
    for node in graph.nodes:
        ends = [next((s for s in graph.steps[node.index] if s.target == x.refs[0].node), None) for x in longest]
        steps = [step for step in ends if step is not None]
        first, last = _dates(question, node.index, SPAN, graph)
        if len(steps) == 2 and steps[0] != steps[1] and first and last:
            of = Select((), *_linked(node, longest, steps, graph))
            yield _reading(question, longest, node, of, TIME_UNITS.get(unit, "days"), first, last, graph)


def _linked(
    node: SchemaNode, names: Sequence[Link], steps: Sequence[PathStep], graph: SchemaGraph
) -> tuple[tuple[Variable, ...], tuple[Edge, ...]]:
    """A thing of a class that is linked to named things by a step each."""
    variables, edges = [Variable("term", node.classes, node.without)], []
    for i, (name, step) in enumerate(zip(names, steps, strict=True)):
        end = graph.nodes[name.refs[0].node]
        variables.append(Variable(f"thing{i}", end.classes, end.without, name.keys, name.label))
        subject, object = ("term", f"thing{i}") if step.forward else (f"thing{i}", "term")
        edges.append(Edge(subject, step.predicate, object))
    return tuple(variables), tuple(edges)


def _is_about_life(question: Question, asked: str) -> bool:
    return asked == AGE or _says_any(question, "living")


def _says_any(question: Question, words: str) -> bool:
    return any(_is_word_of(token, WORDS[words]) for token in question.tokens)


def _is_word_of(token: Token, words: frozenset[str]) -> bool:
    return token.norm in words or token.lemma in words


def _dates(question: Question, node: int, asked: str, graph: SchemaGraph) -> tuple[str, str]:
    """The properties of the first and the last day; "" for each that is missing."""
    is_living = _is_about_life(question, asked)
    first = _date_named(graph, node, WORDS["life_start" if is_living else "start"])
    last = _date_named(graph, node, WORDS["life_end" if is_living else "end"])
    if not ((first and last) or is_living) and _says_any(question, "lasting"):
        return _only_dates(graph, node) or (first, last)
    return first, last


def _date_named(graph: SchemaGraph, node: int, words: frozenset[str]) -> str:
    """The date with one of these words in its name, days and shorter names first; "" if there is none."""
    dates = [
        (graph.about(predicate).datatype == "year", len(graph.words[predicate]), predicate)
        for predicate in graph.literals[node]
        if graph.about(predicate).datatype in DATE_TYPES
        and words & {*graph.words[predicate], *graph.about(predicate).label.casefold().split()}
    ]
    return min(dates)[2] if dates else ""


def _only_dates(graph: SchemaGraph, node: int) -> tuple[str, str] | None:
    """The two dates that things of a class have, the earlier first; None if they have more, or fewer."""
    dates = [each for each in graph.literals[node] if graph.about(each).datatype in ("date", "datetime")]
    earliest = [min((*graph.about(each).values, *graph.about(each).samples), default="") for each in dates]
    if len(dates) != 2 or not all(earliest) or earliest[0] == earliest[1]:
        return None
    return (dates[0], dates[1]) if earliest[0] < earliest[1] else (dates[1], dates[0])


def _reading(
    question: Question,
    names: Sequence[Link],
    node: SchemaNode,
    of: Select,
    operation: ElapsedOperation,
    first: str,
    last: str,
    graph: SchemaGraph,
) -> Candidate:
    """The time between two dates of the first variable of `of`."""
    thing = of.variables[0].name
    until, since = (replace(of, answers=(Attribute(thing, date),)) for date in (last or first, first))
    body: Body = Compute(operation, until, since)
    lists = ("lasting", "living", "aging", "life_end", "serving", "end", "degree", "how_much")
    links = (graph.words[edge.predicate] for edge in of.edges)
    idle = frozenset[str]().union(*(WORDS[each] for each in lists), node.words, TIME_UNITS, *links)
    idle |= {*graph.words[first], *graph.words[last or first], *" ".join(phrase_list("parsing", "asking_age")).split()}
    covered = token_mask(0, 2) | covered_mask(names)
    for i, token in enumerate(question.tokens):
        covered |= _is_word_of(token, idle) << i
    target, prior = Target(Ref(node.index, first)), BASE_PRIOR + sum(name.score for name in names)
    return whole_reading(body, target, covered, prior, ELAPSED_RULE, tuple(names))


def _requested_unit(question: Question) -> str:
    """The unit of time that a question asks for a number of: "how many years did ..."; "" if none."""
    words = question.tokens
    at = int(bool(words) and words[0].norm in WORDS["asking_after"])
    lead = [token.norm for token in words[at : at + 2]]
    asks_number = len(lead) == 2 and lead[0] in WORDS["degree"] and lead[1] in WORDS["how_much"]
    unit = words[at + 2].lemma if asks_number and len(words) > at + 2 else ""
    return unit if unit in TIME_UNITS else ""


SHARE_RULE = "share"

NAME_MATCHES = ("exact", "partial")  # matches of words with a property whose name has a word for a share
MAX_READINGS = 6  # how many readings of what is counted are kept

DeriveCandidates = Callable[[Question, list[Link]], list[Candidate]]


def read_shares(question: Question, links: Sequence[Link], derive: DeriveCandidates) -> Iterator[Candidate]:
    """Yield readings of "what percentage of the ships were built in Norway": how many were, of how many there are. None
    if a property has such a name. `derive` reads a question with its links."""
    shares = (cue for cue in question.cues if cue.kind == SHARE_RULE)
    share = max(shares, key=lambda cue: cue.end - cue.start, default=None)
    if share is None:
        return
    content = {i for i in range(share.start, share.end) if i not in question.stopwords}
    properties = (link for link in links if link.kind == "property" and link.match in NAME_MATCHES)
    if any(link.covered >> i & 1 for link in properties for i in content):
        # "the percentage of votes" is the name of a property
        return
    others = (cue for cue in question.cues if cue.kind != SHARE_RULE and not share.start <= cue.start < share.end)
    counting = question._replace(cues=(*others, Cue(share.start, share.end, "count")))
    whole = _read_whole(counting, links, share, derive)
    if whole is None:
        return
    parts = [
        each
        for each in derive(counting, list(links))
        if is_thing_count(each.body)
        and each.derivation.targets[0].ref.node == whole.derivation.targets[0].ref.node
        and each.body != whole.body
    ]
    for part in parts[:MAX_READINGS]:
        # "the share of the open jobs" is one of all jobs
        narrow, wide = (each.filters + each.edges for each in (whole.body, part.body))  # type: ignore[union-attr]
        ends = (whole.body, part.body) if set(wide) < set(narrow) else (part.body, whole.body)
        body = Compute("%", *ends)  # type: ignore[arg-type]
        yield part._replace(derivation=part.derivation.apply_rule(SHARE_RULE), body=body)


def is_thing_count(body: Body) -> bool:
    """Whether a plan only asks how many things there are."""
    return is_one_number(body) and isinstance(aggregated_value(body.answers[0]), Itself)


def is_one_number(body: Body) -> TypeGuard[Select]:
    """Whether a plan only asks how many things there are, for the total or average of a number, or for a property of
    one thing."""
    if not isinstance(body, Select) or body.group or body.by or body.order or len(body.answers) != 1:
        return False
    answer = body.answers[0]
    if isinstance(answer, Aggregate):
        return answer.function in (("count",) if isinstance(answer.of, Itself) else ("sum", "avg"))
    return isinstance(answer, Attribute) and any(
        each.name == answer.variable and len(each.keys) == 1 for each in body.variables
    )


def _read_whole(question: Question, links: Sequence[Link], share: Cue, derive: DeriveCandidates) -> Candidate | None:
    """The count of what stands before the verb: "the incidents in 2023 | were"; None if a word is not understood."""
    classes = [link for link in links if link.kind == "class" and link.start >= share.end]
    first = min((link.end for link in classes), default=0)
    noun = next((i for i in range(share.end, first) if i not in question.stopwords), first)
    if not any(link.kind != "property" and link.covered >> noun & 1 for link in links):
        # "the percentage of votes for each party"
        return None
    verbs = WORDS["being"] | WORDS["helping"]
    end = next((i for i, token in enumerate(question.tokens) if i >= first and token.norm in verbs), first)
    whole = question._replace(
        tokens=question.tokens[:end],
        cues=tuple(cue for cue in question.cues if cue.end <= end),
        numbers=tuple(number for number in question.numbers if number.end <= end),
        stopwords=frozenset(i for i in question.stopwords if i < end),
    )
    found = derive(whole, [link for link in links if link.end <= end]) if first else []
    return next((each for each in found if is_thing_count(each.body) and not unused_tokens(each, whole)), None)


SECOND_QUESTION_RULE = "second question"  # the rule that puts two questions together

# how many words the first question has at least, and how many readings of either are tried
MIN_WORDS, MAX_JOINED_READINGS = 4, 5

# reads a text and uses every word of it, the likeliest reading first
WholeReader = Callable[[str], list[Candidate]]


def read_two_questions(question: Question, read_whole: WholeReader, schema: Schema) -> Iterator[Candidate]:
    """Yield the readings of a question with the columns of a second one, in which a pronoun stands for its things."""
    text, words, second = question.text, question.tokens, _second_question(question)
    if second is not None:
        at, clause = second
        for first in read_whole(text[: words[at].start].rstrip(" ,"))[:MAX_JOINED_READINGS]:
            thing = _asked_thing(first.body)
            if thing is not None:
                noun = thing.label if thing.keys else f"the {plural(class_noun(thing, schema))}"
                yield from _joined(first, read_whole(_with_noun(text, clause, noun))[:MAX_JOINED_READINGS], question)
    elif (
        len(words) > MIN_WORDS
        and all(words[i].norm in WORDS["question_words"] for i in (0, 2))
        and words[1].norm in WORDS["joining"]
        and words[0].norm != words[2].norm
    ):
        # "where and when was she born"
        seconds = read_whole(text[words[2].start :])[:MAX_JOINED_READINGS]
        for first in read_whole(text[: words[1].start] + text[words[3].start :])[:MAX_JOINED_READINGS]:
            yield from _joined(first, seconds, question)


def _second_question(question: Question) -> tuple[int, Sequence[Token]] | None:
    """The last clause that asks something of what is said before: where it is joined, and its words."""
    words = question.tokens
    for at in range(len(words) - 2, MIN_WORDS - 1, -1):
        if words[at].norm not in WORDS["joining"]:
            continue
        clause = words[at + 1 :]
        lead = 1 if clause[0].norm in WORDS["asking_after"] and len(clause) > 1 else 0
        is_question = clause[lead].norm in WORDS["question_words"]
        if is_question and any(token.norm in WORDS["second_pronoun"] for token in clause[lead + 1 :]):
            return at, clause
    return None


def _asked_thing(body: object) -> Variable | None:
    if not isinstance(body, Select) or body.group or body.by:
        return None
    owners = {answer.variable for answer in body.answers if not isinstance(answer, Aggregate)}
    if len(owners) != 1 or any(isinstance(answer, Aggregate) for answer in body.answers):
        return None
    return next(variable for variable in body.variables if variable.name in owners)


def _with_noun(text: str, clause: Sequence[Token], noun: str) -> str:
    at = next(i for i, token in enumerate(clause) if i and token.norm in WORDS["second_pronoun"])
    before, after = text[clause[0].start : clause[at].start], text[clause[at].end :].strip(" ?.")
    if clause[at].norm not in WORDS["possessive"]:
        return f"{before}{noun} {after}"
    # "who is their manager": the manager of the teams
    words = enumerate(clause[at + 1 :], at + 1)
    end = next((i for i, token in words if token.norm in function_words()), len(clause))
    owned = text[clause[at + 1].start : clause[end - 1].end] if end > at + 1 else ""
    rest = text[clause[end].start :].strip(" ?.") if end < len(clause) else ""
    return f"{before}the {owned} of {noun} {rest}".strip()


def _joined(first: Candidate, seconds: Sequence[Candidate], question: Question) -> Iterator[Candidate]:
    """A reading with the columns of each second reading about some of the same things."""
    for second in seconds if isinstance(first.body, Select) else ():
        assert isinstance(first.body, Select)
        body = _with_columns(first.body, second.body)
        if body is not None:
            derivation = first.derivation.apply_rule(
                SECOND_QUESTION_RULE, second.derivation.prior, covered=token_mask(0, len(question.tokens))
            )
            join_cost = first.join_cost + second.join_cost
            yield first._replace(derivation=derivation, body=body, join_cost=join_cost)


def _with_columns(first: Select, second: object) -> Select | None:
    if not isinstance(second, Select) or second.group or second.by or second.order:
        return None
    if any(each not in first.filters for each in second.filters):
        return None
    both = merge_selects(first, second)
    if both is None:
        return None
    base, added = both
    shown = {aggregated_value(answer).variable for answer in base.answers}
    columns = tuple(
        answer
        for answer in added.answers
        if answer not in base.answers
        and (isinstance(answer, Attribute) or (isinstance(answer, Itself) and answer.variable not in shown))
    )
    return replace(base, answers=(*base.answers, *columns), paired=True) if columns else None


RATE_RULE = "mean of counts"  # the rule by which a mean of counts is one count divided by another


def read_mean_counts(question: Question, read_whole: WholeReader) -> Iterator[Candidate]:
    """Yield "the average number of tickets per customer": tickets divided by customers, also those without."""
    means = [cue for cue in question.cues if cue.kind in MEANS - {"median"}]
    counts = [cue for cue in question.cues if cue.kind == "count"]
    mean = next((m for m in means if any(cue.start == m.end for cue in counts)), None)
    if mean is None or not any(cue.kind == "group" for cue in question.cues):
        return
    words, text = question.tokens, question.text
    for whole in read_whole(text[: words[mean.start].start] + text[words[mean.end].start :])[:MAX_JOINED_READINGS]:
        parts = measure_parts(whole.body) if isinstance(whole.body, Select) and whole.body.group else ()
        if len(parts) != 2:
            continue
        groups, part = parts
        counted = [a for a in part.answers if isinstance(a, Aggregate)]
        if [(a.function, a.of.kind) for a in counted] == [("count", "itself")]:
            things = replace(groups, answers=(Aggregate("count", Itself(part.group[0])),))
            counts_all = replace(part, answers=tuple(counted), group=())
            derivation = whole.derivation.apply_rule(RATE_RULE, covered=token_mask(0, len(words)))
            yield whole._replace(derivation=derivation, body=Compute("/", counts_all, things))


BESIDE_RULE = "beside"  # the rule by which numbers of different things stand side by side

MAX_MEASURES = 4  # how many numbers are read side by side


def read_measures(question: Question, read_whole: WholeReader) -> Iterator[Candidate]:
    """Yield the reading of "the total order amount and the number of tickets for each customer": the numbers that each
    part of the list asks for, of the same groups. All words of each are used."""
    parts = _questions_of_measures(question)
    found: list[Candidate] = []
    for text in parts:
        grouped = (
            each
            for each in read_whole(text)[:MAX_JOINED_READINGS]
            if isinstance(each.body, Select) and measure_parts(each.body)
        )
        if (best := next(grouped, None)) is None:
            return
        found.append(best)
    body = found[0].body if found else None
    for each in found[1:]:
        assert isinstance(each.body, Select)
        body = join_measures(body, each.body) if isinstance(body, Select) else None
    if isinstance(body, Select):
        derivation = found[0].derivation
        for each in found[1:]:
            derivation = derivation.apply_rule(BESIDE_RULE, targets=(*derivation.targets, *each.derivation.targets))
        whole = derivation._replace(covered=token_mask(0, len(question.tokens)))
        yield found[0]._replace(derivation=whole, body=body, join_cost=sum(each.join_cost for each in found))


def _questions_of_measures(question: Question) -> list[str]:
    """A question for each number of a list that is computed for groups; empty for other questions."""
    text, words = question.text, question.tokens
    groups = [cue for cue in question.cues if cue.kind == "group"]
    # the longer of those that begin at a word comes first: "the number of" also holds the cue "number of"
    measures = sorted((cue for cue in question.cues if cue.kind in AGGREGATES), key=lambda cue: (cue.start, -cue.end))
    if not groups or not measures:
        return []
    first = last_cue = measures[0]
    # what stands behind the list: the groups, or a verb
    ends = [cue.start for cue in groups if cue.start > first.end]
    ends += [i for i in range(first.end, len(words)) if words[i].norm in WORDS["helping"]]
    end = min(ends, default=len(words))
    starts = [first.start]
    for cue in measures:
        before = cue.start - 1
        while before > first.start and words[before].norm in WORDS["article"]:
            before -= 1
        is_joined = words[before].norm in WORDS["joining"] | WORDS["listing"]
        is_joined |= "," in text[words[before].end : words[before + 1].start]
        if last_cue.end < cue.start < end and is_joined:
            starts.append(cue.start)
            last_cue = cue
    lead, rest = text[: words[first.start].start], text[words[end].start :] if end < len(words) else ""
    if len(starts) == 1:
        # "how many orders and tickets does each customer have"
        joint = next((i for i in range(first.end + 1, end - 1) if words[i].norm in WORDS["joining"]), None)
        if joint is None:
            return []
        counted = text[words[first.start].start : words[first.end - 1].end]
        spans = (first.end, joint), (joint + 1, end)
        return [f"{lead}{counted} {text[words[a].start : words[b - 1].end]} {rest}" for a, b in spans]
    found = []
    for start, stop in pairwise((*starts, end)):
        last = stop - 1
        skipped = WORDS["article"] | WORDS["joining"] | WORDS["listing"] if stop != end else frozenset()
        while last > start and words[last].norm in skipped:
            last -= 1
        found.append(f"{lead}{text[words[start].start : words[last].end]} {rest}")
    return found if len(found) <= MAX_MEASURES else []
