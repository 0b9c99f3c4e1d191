"""Which evidence answers: the rows that are likeliest to be right, else sentences, else nothing."""

import math
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language, word_list
from nacre.language.rank_sentences import word_coverage as share
from nacre.language.thesaurus import function_words
from nacre.language.tokens import name_tokens, tokenize
from nacre.plans.inspect_select import predicates_of
from nacre.plans.missing_values import is_unknown_truth
from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table
from nacre.records.plan import Ask, Attribute, Itself, Plan, Select
from nacre.records.turn import Understanding
from nacre.understanding.ranking.calibrate import MIN_BELIEF, probability, shown_columns
from nacre.understanding.ranking.unheeded_words import is_unrestricted
from nacre.understanding.ranking.weights import load_weights

# rows that are less likely are right once in ten (measured out of fold): they are not given as an answer
DECLINED = 0.1
# from which probability on rows are given that leave out words of a question about a named thing (given)
LIKELY = 0.4
# subtracted from the threshold of sure rows for a confidence just below it
UNSURE = 0.01
# the share of the question's words that sentences must contain to answer it (given)
ENOUGH_WORDS = 0.6
# the score from which on a word is a name of the graph and not merely similar to one (given)
EXACT_SCORE = 0.9


def is_empty(table: Table) -> bool:
    """No row, or no value in any row (as of a maximum over nothing).

    >>> is_empty(Table(("max",), ((None,),))), is_empty(Table(("count",), ((0,),)))
    (True, False)
    """
    return all(cell is None for row in table.rows for cell in row)


def is_nil(table: Table) -> bool:
    """A single zero or "no": an answer that a wrong reading gives as easily."""
    return len(table.rows) == 1 and len(table.rows[0]) == 1 and table.rows[0][0] in (0, False)


def row_probability(understanding: Understanding, rows: Rows) -> float:
    """The probability that rows answer the question: as calibrated after they were found, else that of their
    reading."""
    if rows.probability is not None:
        return rows.probability
    if rows.reading is None:
        return 0.0
    return understanding.readings[rows.reading].probability or 0.0


def is_sure(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are likely enough to be given as the answer."""
    return row_probability(understanding, rows) >= load_weights().threshold


def candidate_rows(evidence: Sequence[Evidence]) -> list[tuple[int, Rows]]:
    """The rows of this turn that may answer, with their indexes."""
    return [
        (i, each) for i, each in enumerate(evidence) if isinstance(each, Rows) and each.round and not is_basis(each)
    ]


def is_basis(evidence: Evidence) -> bool:
    """Whether evidence only says which thing the question describes."""
    return evidence.joined is not None and evidence.joined.basis


def indexed_sentences(evidence: Sequence[Evidence]) -> list[tuple[int, EvidenceSentence]]:
    """All sentences, with their indexes."""
    return [(i, each) for i, each in enumerate(evidence) if isinstance(each, EvidenceSentence)]


def unplanned_rows(evidence: Sequence[Evidence]) -> list[tuple[int, Rows]]:
    """The rows of this turn that no reading gave, with their indexes: those of a model's queries, and comparisons."""
    return [(i, each) for i, each in candidate_rows(evidence) if each.reading is None and each.joined is None]


def plan_of(understanding: Understanding, evidence: Evidence) -> Plan | None:
    """The plan that gave the rows; None for a query that a model wrote, and for a sentence."""
    if isinstance(evidence, EvidenceSentence) or evidence.reading is None:
        return None if isinstance(evidence, EvidenceSentence) else evidence.plan
    return understanding.readings[evidence.reading].plan


def is_echo(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows only repeat the things that the question names: "Bessie" says nothing of Bessie's colour."""
    plan = plan_of(understanding, rows)
    if plan is None or rows.confirmed or not isinstance(plan.body, Select):
        return False
    named = {variable.name: variable.keys for variable in plan.body.variables if variable.keys}
    if _gives_known_names(understanding, plan.body, rows.table):
        return True
    answers = [answer.variable for answer in plan.body.answers if isinstance(answer, Itself)]
    if len(answers) < len(plan.body.answers) or not set(answers) <= named.keys():
        return False
    if (
        rows.reading is not None
        and not understanding.readings[rows.reading].unused
        and not _asks_who_else(understanding)
    ):
        # "which airport is AKO" is answered by its name
        question_words = {token.norm for token in tokenize(understanding.standalone)}
        labels = {v.label for v in plan.body.variables if v.name in answers}
        if not any(question_words & set(name_tokens(label)) for label in labels):
            return False
    return len(rows.table.rows) == len({key for name in answers for key in named[name]})


def _asks_who_else(understanding: Understanding) -> bool:
    """Whether a question asks who does something with things: not "who are they", nor "who of them is tall"."""
    words, known = [token.norm for token in tokenize(understanding.standalone)], language().words
    who = next((i for i, word in enumerate(words[:-1]) if word in known["asking_who"]), None)
    return who is not None and words[who + 1] not in known["being"] | known["among"]


def _gives_known_names(understanding: Understanding, body: Select, table: Table) -> bool:
    """Whether rows give only the name of one thing, which the question has already: "the name of Bob" is Bob."""
    question_words = {token.norm for token in tokenize(understanding.standalone)}
    known = {v.name: set(name_tokens(v.label)) for v in body.variables if len(v.keys) == 1}
    words = [known.get(a.variable, set()) if isinstance(a, Attribute) else set() for a in body.answers]
    if not words or not all(each and each <= question_words for each in words) or len(set(map(frozenset, words))) > 1:
        return False
    shown = shown_columns(table)
    columns = [{*table.columns[i].replace("_", " ").split()} & language().words["naming"] for i in shown]
    cells = [str(row[i]) for row in table.rows for i in shown if row[i] is not None]
    return all(columns) and all(words[0].issuperset(name_tokens(cell)) for cell in cells)


def select_answer_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The rows to answer with, and their index: the likeliest, among equals those of the earlier reading.

    None if no rows have a value, none are likely enough, an empty result is sure, or the graph does not state
    what is asked.
    """
    rows = [(index, each) for index, each in candidate_rows(evidence) if not is_trivial(understanding, each)]
    likeliest = max(rows, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
    if likeliest is not None and is_unknown_truth(likeliest[1].table):
        return None
    if likeliest is not None and is_refused(understanding, likeliest[1]):
        # less likely rows are no better, but other readings may give the same rows and leave no word out
        smallest = min(LIKELY, row_probability(understanding, likeliest[1]))
        rows = [each for each in rows if row_probability(understanding, each[1]) >= smallest]
    rows = [each for each in rows if not is_refused(understanding, each[1])]
    if unstated_rows(understanding, evidence) is not None:
        return None
    filled = [(index, each) for index, each in rows if not is_empty(each.table)]
    if any(each.reading == 0 and is_empty(each.table) for _, each in rows):
        # a question about somebody is not answered by a reading that leaves out who, or what
        filled = [(index, each) for index, each in filled if not _leaves_out_name(understanding, each)]
    best = max(filled, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
    if best is None or row_probability(understanding, best[1]) < DECLINED:
        return None
    empty = max(
        (row_probability(understanding, each) for index, each in rows if (index, each) not in filled), default=0.0
    )
    if empty >= load_weights().threshold and empty > row_probability(understanding, best[1]):
        return None
    return best


def is_refused(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows ignore what the question is about: all things of a class, or that there are some, although words are
    left out ("which boat sank" is not answered by all boats); rows that leave out a named thing; unlikely rows that
    leave words out although things are named, and an unlikely no."""
    if rows.reading is None or rows.confirmed:
        return False
    reading = understanding.readings[rows.reading]
    is_likely = _is_likely(understanding, rows)
    if isinstance(reading.plan.body, Ask) and is_nil(rows.table) and not is_likely:
        return True
    left_out = {token.norm for text in reading.unused for token in tokenize(text)} - word_list("ranking", "existing")
    if not left_out:
        return False
    if _gives_whole_class(reading.plan) or (not is_likely and is_unrestricted(reading.plan.body)):
        return True
    named = [each.mention for each in understanding.named]
    if any(each.score >= EXACT_SCORE and left_out & set(name_tokens(each.text)) for each in named):
        return True
    return bool(named) and not is_likely


def _is_likely(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are likely enough to be given although they leave out words. How sure all readings over the graph
    are does not count."""
    chance = min(1 - MIN_BELIEF, max(MIN_BELIEF, row_probability(understanding, rows)))
    shared = 0.0 if rows.reading is None else understanding.readings[rows.reading].graph_odds
    return probability(math.log(chance / (1 - chance)) - shared) >= LIKELY


def _gives_whole_class(plan: Plan) -> bool:
    """Whether a plan lists all things of a class, or those that have a link to anything, or asks whether there are
    any."""
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    return (
        isinstance(body, Select)
        and is_unrestricted(replace(body, edges=()))
        and all(isinstance(each, Itself) for each in body.answers)
    )


def is_trivial(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are no answer: they only repeat what the question names, or only confirm that one thing exists, has
    a class, a link or a value although more was asked. "Is she blocked" is not answered by "yes, she is a customer"."""
    if is_echo(understanding, rows):
        return True
    if rows.reading is None or rows.confirmed:
        return False
    reading = understanding.readings[rows.reading]
    body = reading.plan.body
    if not isinstance(body, Ask) or any(f.op != "known" for f in body.select.filters):
        return False
    first, second, *_ = [*(token.norm for token in tokenize(understanding.standalone)), "", ""]
    # a class may be a thing as well: "is the lute a string instrument"
    asks_class = any(m.kind == "class" for m in understanding.mentions) or len(understanding.mentions) > 1
    # "is her name Ann" does not ask whether it is known, nor "is the lamp available" whether it is a thing
    is_what = first in language().words["being"] and second not in language().words["there"]
    is_what = is_what and (bool(body.select.filters) or not (body.select.edges or asks_class))
    if not (reading.unused or is_what):
        return False
    return sum(bool(v.keys) for v in body.select.variables) == 1


def unstated_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> Rows | None:
    """The rows that show that the graph does not state what is asked of a named thing: neither yes nor no, or nothing
    by the likeliest reading, which looks up a property of the thing itself and accounts for every word.

    Other readings with rows are then nearby facts and no answers, unless one is nearly as likely.
    """
    rows = [each for _, each in candidate_rows(evidence)]
    likeliest = max(rows, key=lambda each: row_probability(understanding, each), default=None)
    if likeliest is not None and likeliest.reading is not None and is_unknown_truth(likeliest.table):
        return likeliest
    first = understanding.readings[0] if understanding.readings else None
    if first is None or not first.own or first.unused or first.lost or understanding.unknown:
        return None
    own = next((each for each in rows if each.reading == 0 and is_empty(each.table)), None)
    if own is None or _is_stated(first.plan, evidence):
        return None
    smallest = load_weights().unstated * first.score
    filled = [each for each in rows if not is_empty(each.table) and not is_trivial(understanding, each)]
    is_rivalled = any(
        each.reading is None
        or understanding.readings[each.reading].score >= smallest
        or _asks_the_same(first.plan, understanding.readings[each.reading].plan)
        for each in filled
    )
    return None if is_rivalled or any(each.words == own.words for each in filled) else own


def _is_stated(plan: Plan, evidence: Sequence[Evidence]) -> bool:
    """Whether sentences state a property of a named thing whose value is none of the things that a plan asks for: a
    code that the graph names nowhere."""
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    if not isinstance(body, Select):
        return False
    keys = {key for variable in body.variables for key in variable.keys}
    wanted = predicates_of(body)
    return any(
        subject in keys and predicate in wanted
        for _, sentence in indexed_sentences(evidence)
        for subject, predicate, _ in sentence.triples
    )


def _asks_the_same(plan: Plan, other: Plan) -> bool:
    """Whether two plans follow the same properties of the same named things, in whatever direction."""
    one, two = (each.body.select if isinstance(each.body, Ask) else each.body for each in (plan, other))
    if not isinstance(one, Select) or not isinstance(two, Select) or predicates_of(one) != predicates_of(two):
        return False
    return {v.keys for v in one.variables if v.keys} == {v.keys for v in two.variables if v.keys}


def _leaves_out_name(understanding: Understanding, rows: Rows) -> bool:
    """Whether the reading of rows leaves out a name of the question, or a property that the first reading uses. Rows of
    a model's query never do."""
    if rows.reading is None or rows.confirmed:
        return False
    first, reading = understanding.readings[0], understanding.readings[rows.reading]
    if (reading.lost and not first.lost) or _has_empty_column(rows.table):
        return True
    if _lacks_named_property(understanding, reading.plan, first.plan):
        return True
    names = {word for m in understanding.mentions if m.kind in ("entity", "value") for word in m.text.split()}
    return not (names | _values(first.plan)).isdisjoint(reading.unused)


def _values(plan: Plan) -> set[str]:
    """The words of the texts that properties must equal in a plan, as the question has them."""
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    filters = body.filters if isinstance(body, Select) else ()
    return {word for each in filters if isinstance(each.right, str) and each.op == "=" for word in each.right.split()}


def _has_empty_column(table: Table) -> bool:
    """Whether a column that is shown has no value in any row."""
    return any(all(row[i] is None for row in table.rows) for i in shown_columns(table))


def _lacks_named_property(understanding: Understanding, plan: Plan, first: Plan) -> bool:
    """Whether a plan lacks a property or link that the question names exactly and the first plan uses."""
    if not isinstance(plan.body, Select | Ask) or not isinstance(first.body, Select | Ask):
        return False
    own, used = (predicates_of(body.select if isinstance(body, Ask) else body) for body in (plan.body, first.body))
    spans: dict[tuple[int, int], set[str]] = {}
    for each in (*understanding.mentions, *understanding.candidates):
        spans.setdefault((each.start, each.end), set()).add(each.target)
    return any(
        meant & used and not meant & own
        for mention in understanding.mentions
        if mention.kind == "predicate" and mention.score >= EXACT_SCORE and (meant := spans[mention.start, mention.end])
    )


def empty_table(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The likeliest empty rows, and their index."""
    empty = [(i, each) for i, each in candidate_rows(evidence) if is_empty(each.table)]
    return max(empty, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)


def content_words(text: str) -> frozenset[str]:
    """The lemmas of the words that have meaning.

    >>> sorted(content_words("Which of the rivers are long?"))
    ['long', 'river']
    """
    empty = function_words()
    return frozenset(token.lemma for token in tokenize(text) if not {token.norm, token.lemma} & empty)


def is_covered_by(question: str, sentences: Sequence[EvidenceSentence]) -> bool:
    """Whether the sentences about one of the things contain most words of the question."""
    by_title = {each.title: [e for e in sentences if e.title == each.title] for each in sentences}
    return any(_contains_most_words(question, group) for group in by_title.values())


def _contains_most_words(question: str, sentences: Sequence[EvidenceSentence]) -> bool:
    """Whether the sentences contain most words of the question, and most of those that their titles lack."""
    named = frozenset[str]().union(*(content_words(each.title) for each in sentences))
    further = " ".join(sorted(content_words(question) - named))
    if share(question, sentences) < ENOUGH_WORDS:
        return False
    return not further or share(further, sentences) >= ENOUGH_WORDS


def is_enough(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether no further round is needed."""
    if select_answer_rows(understanding, evidence) is not None:
        return True
    if understanding.expected == "prose" or not understanding.readings:
        return is_covered_by(understanding.standalone, [each for _, each in indexed_sentences(evidence)])
    return False
