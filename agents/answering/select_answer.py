"""Which evidence answers: the rows that are likeliest to be right, else sentences, else nothing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from nacre.checking.evidence_index import blank_periods
from nacre.language.data import WORDS, word_list
from nacre.language.quantities import convert_unit, find_amounts
from nacre.language.thesaurus import antonyms, function_words
from nacre.language.thesaurus import word_coverage as share
from nacre.language.tokens import fold, lemma, name_tokens, tokenize
from nacre.language.values import find_periods
from nacre.language.word_forms import is_participle
from nacre.plans.selects import asked_select, is_unknown_truth, leaves_out_earlier, predicates_of
from nacre.records.evidence import BranchResult, Cell, Doubt, Evidence, EvidenceSentence, Rows, Table
from nacre.records.plan import Ask, Attribute, Itself, Plan, Select
from nacre.records.turn import Reading, Understanding
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.ranking.probabilities import (
    choose_reading,
    outcome_features,
    probability,
    probability_after_running,
    shown_columns,
    table_outcome,
)
from nacre.understanding.ranking.proof import doubts_of_rows
from nacre.understanding.ranking.rank import load_weights, weighted_sum
from nacre.understanding.ranking.unused_cues import is_unrestricted

# rows that are less likely are right once in ten (measured out of fold): they are not given as an answer
DECLINED = 0.1

# the likeness to the question that a property must have to answer it if words are left out (given)
LEAST_LIKENESS = 0.12


def select_answer_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The rows to answer with, and their index: the likeliest, among equals those of the earlier reading. None if no
    rows have a value or are likely enough, an empty result is sure, or the graph does not state what is asked."""
    rows = [(index, each) for index, each in candidate_rows(evidence) if not is_trivial(understanding, each)]
    rows = _without_displaced(understanding, rows)
    likeliest = max(rows, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
    if likeliest is not None and (is_unknown_truth(likeliest[1].table) or gives_opposite(understanding, likeliest[1])):
        return None
    if likeliest is not None and is_refused(understanding, likeliest[1]):
        # less likely rows are no better, but other readings may give the same rows and leave no word out
        smallest = min(load_weights().refused, row_probability(understanding, likeliest[1]))
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
    return None if empty >= load_weights().threshold and empty > row_probability(understanding, best[1]) else best


def _without_displaced(understanding: Understanding, rows: Sequence[tuple[int, Rows]]) -> list[tuple[int, Rows]]:
    """The rows without those that leave words out and are not near to the question, as far as likeness was compared:
    rows of a property of the named thing that is not like the question, and, if a near property of the thing was looked
    up, other rows of readings that reach over links."""
    near = next(
        (each for _, each in rows if each.reading is not None and understanding.readings[each.reading].near), None
    )
    displaces_links = near is not None and not any(
        each.kind in ("predicate", "class") and each.score >= EXACT_SCORE for each in understanding.mentions
    )

    def is_displaced(each: Rows) -> bool:
        reading = sole_reading(understanding, each)
        if reading is None or not reading.unused:
            return False
        if reading.own:
            return reading.likeness is not None and reading.likeness < LEAST_LIKENESS
        return near is not None and displaces_links and not is_same_result(each.table, near.table)

    return [found for found in rows if not is_displaced(found[1])]


def _leaves_out_name(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows leave out a name, or a property of the first reading; rows of a model's query never do."""
    reading = sole_reading(understanding, rows)
    if reading is None:
        return False
    first = understanding.readings[0]
    has_empty_column = any(all(row[i] is None for row in rows.table.rows) for i in shown_columns(rows.table))
    if (reading.lost and not first.lost) or has_empty_column:
        return True
    if _lacks_named_property(understanding, reading.plan, first.plan):
        return True
    names = {word for m in understanding.mentions if m.kind in ("entity", "value") for word in m.text.split()}
    return not (names | _values(first.plan)).isdisjoint(reading.unused)


def _values(plan: Plan) -> set[str]:
    """The words of the texts that properties must equal in a plan, as the question has them."""
    select = asked_select(plan.body)
    filters = select.filters if select is not None else ()
    return {word for each in filters if isinstance(each.right, str) and each.op == "=" for word in each.right.split()}


def _lacks_named_property(understanding: Understanding, plan: Plan, first: Plan) -> bool:
    """Whether a plan lacks a property or link that the question names exactly and the first plan uses."""
    own_select, first_select = asked_select(plan.body), asked_select(first.body)
    if own_select is None or first_select is None:
        return False
    own, used = predicates_of(own_select), predicates_of(first_select)
    spans: dict[tuple[int, int], set[str]] = {}
    for each in (*understanding.mentions, *understanding.candidates):
        spans.setdefault((each.start, each.end), set()).add(each.target)
    return any(
        meant & used and not meant & own
        for mention in understanding.mentions
        if mention.kind == "predicate" and mention.score >= EXACT_SCORE and (meant := spans[mention.start, mention.end])
    )


def is_enough(understanding: Understanding, evidence: Sequence[Evidence], selected: tuple[int, Rows] | None) -> bool:
    """Whether no further round is needed. `selected` are the rows to answer with."""
    if selected is None and (understanding.expected == "prose" or not understanding.readings):
        return is_covered_by(understanding.standalone, [each for _, each in indexed_sentences(evidence)])
    return selected is not None


# the score from which on a word is a name of the graph and not merely similar to one (given)
EXACT_SCORE = 0.9


def is_refused(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows ignore what the question is about: all things of a class, or that there are some, although words are
    left out ("which boat sank" is not answered by all boats); rows that leave out a named thing, or use only
    names, except dates if the question asks when; unlikely rows that leave words out although things are named, and
    an unlikely no."""
    reading = sole_reading(understanding, rows)
    if reading is None:
        return False
    is_likely = row_probability(understanding, rows) >= load_weights().refused
    if isinstance(reading.plan.body, Ask) and is_nil(rows.table) and not is_likely:
        return True
    left_out = {token.norm for text in reading.unused for token in tokenize(text)} - word_list("ranking", "existing")
    if not left_out:
        return False
    if _gives_whole_class(reading.plan) or (not is_likely and is_unrestricted(reading.plan.body)):
        return True
    named = [each.mention for each in understanding.named]
    if named and not isinstance(reading.plan.body, Ask) and _uses_only_names(understanding, rows.table, left_out):
        return True
    leaves_out_name = any(each.score >= EXACT_SCORE and left_out & set(name_tokens(each.text)) for each in named)
    return leaves_out_name or (bool(named) and not is_likely)


def _uses_only_names(understanding: Understanding, table: Table, left_out: Collection[str]) -> bool:
    """Whether a reading that leaves words out uses only names: whom a boat belongs to for "who built Otter"."""
    cues = analyse_question(understanding.standalone).cues
    if any(cue.kind == "open" and cue.value == "when" for cue in cues):
        cells = [row[i] for row in table.rows for i in shown_columns(table)]
        if cells and all(isinstance(cell, str) and find_periods(cell) for cell in cells):
            return False
    mentions = (*understanding.mentions, *(each.mention for each in understanding.named))
    names = [each.text for each in mentions if each.kind in ("entity", "value")]
    used = {word for name in names for word in name_tokens(name)} | function_words() | WORDS["filler"]
    return all(token.norm in used or token.norm in left_out for token in tokenize(understanding.standalone))


def gives_opposite(understanding: Understanding, rows: Rows) -> bool:
    """Whether the reading of rows leaves out a word that means the opposite of what it gives."""
    reading = sole_reading(understanding, rows)
    if reading is None:
        return False
    return says_opposite([token.norm for text in reading.unused for token in tokenize(text)], reading.words)


def says_opposite(words: Iterable[str], reading: str) -> bool:
    """Whether one of the words means the opposite of a word of a reading.

    >>> says_opposite(["shut"], "when The Crown opens"), says_opposite(["shop"], "when The Crown opens")
    (True, False)
    """
    given = {token.lemma for token in tokenize(reading)}
    return any(antonyms(lemma(word)) & given for word in words)


def _gives_whole_class(plan: Plan) -> bool:
    """Whether a plan lists a whole class, or those with a link to anything, or asks whether there are any."""
    select = asked_select(plan.body)
    if select is None or not all(isinstance(each, Itself) for each in select.answers):
        return False
    return is_unrestricted(replace(select, edges=()))


def is_trivial(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are no answer: they only repeat what the question names, or only confirm that one thing exists, has
    a class, a link or a value although more was asked. "Is she blocked" is not answered by "yes, she is a customer"."""
    if is_echo(understanding, rows):
        return True
    reading = sole_reading(understanding, rows)
    if reading is None:
        return False
    body = reading.plan.body
    if not isinstance(body, Ask) or any(f.op != "known" for f in body.select.filters):
        return False
    first, second, *rest = [*(token.norm for token in tokenize(understanding.standalone)), "", ""]
    # a class may be a thing as well: "is the lute a string instrument"
    asks_class = any(m.kind == "class" for m in understanding.mentions) or len(understanding.mentions) > 1
    # "is her name Ann" does not ask whether it is known, nor "is the lamp available" whether it is a thing
    is_what = first in WORDS["being"] and second not in WORDS["there"]
    happened = any(map(is_participle, rest[-3:]))  # "was the boat sold"
    is_what = is_what and (not happened if body.select.filters else not (body.select.edges or asks_class))
    return bool(reading.unused or is_what) and sum(bool(v.keys) for v in body.select.variables) == 1


def is_echo(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows only repeat the things that the question names: "Bessie" says nothing of Bessie's colour."""
    plan = plan_of(understanding, rows)
    if plan is None or rows.confirmed or not isinstance(plan.body, Select):
        return False
    if plan.body.order is not None and plan.body.limit is None:
        # the order is what is asked for
        return False
    named = {variable.name: variable.keys for variable in plan.body.variables if variable.keys}
    if _gives_known_names(understanding, plan.body, rows.table):
        return True
    answers = [answer.variable for answer in plan.body.answers if isinstance(answer, Itself)]
    if len(answers) < len(plan.body.answers) or not set(answers) <= named.keys():
        return False
    is_whole = rows.reading is not None and not understanding.readings[rows.reading].unused
    if is_whole and not _asks_who_else(understanding):
        # "which airport is AKO" is answered by its name
        question_words = {token.norm for token in tokenize(understanding.standalone)}
        labels = {v.label for v in plan.body.variables if v.name in answers}
        if not any(question_words & set(name_tokens(label)) for label in labels):
            return False
    return len(rows.table.rows) == len({key for name in answers for key in named[name]})


def _asks_who_else(understanding: Understanding) -> bool:
    """Whether a question asks who does something with things: not "who are they", nor "who of them is tall"."""
    words = [token.norm for token in tokenize(understanding.standalone)]
    who = next((i for i, word in enumerate(words[:-1]) if word in WORDS["asking_who"]), None)
    return who is not None and words[who + 1] not in WORDS["being"] | WORDS["among"]


def _gives_known_names(understanding: Understanding, body: Select, table: Table) -> bool:
    """Whether rows give only the name of one thing, which the question has already: "the name of Bob" is Bob."""
    question_words = {token.norm for token in tokenize(understanding.standalone)}
    known = {v.name: set(name_tokens(v.label)) for v in body.variables if len(v.keys) == 1}
    words = [known.get(a.variable, set()) if isinstance(a, Attribute) else set() for a in body.answers]
    if not words or not all(each and each <= question_words for each in words) or len(set(map(frozenset, words))) > 1:
        return False
    shown = shown_columns(table)
    columns = [{*table.columns[i].replace("_", " ").split()} & WORDS["naming"] for i in shown]
    cells = [str(row[i]) for row in table.rows for i in shown if row[i] is not None]
    return all(columns) and all(words[0].issuperset(name_tokens(cell)) for cell in cells)


def unstated_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> Rows | None:
    """The rows that show that the graph does not state what is asked of a named thing: neither yes nor no, or nothing
    by the likeliest reading, which uses every word. None if another reading with rows is nearly as likely."""
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
    """Whether sentences state a property of a named thing whose value is a code that the graph names nowhere."""
    select = asked_select(plan.body)
    if select is None:
        return False
    keys = {key for variable in select.variables for key in variable.keys}
    wanted = predicates_of(select)
    return any(
        subject in keys and predicate in wanted
        for _, sentence in indexed_sentences(evidence)
        for subject, predicate, _ in sentence.triples
    )


def _asks_the_same(plan: Plan, other: Plan) -> bool:
    """Whether two plans follow the same properties of the same named things, in whatever direction."""
    one, two = asked_select(plan.body), asked_select(other.body)
    if one is None or two is None or predicates_of(one) != predicates_of(two):
        return False
    return {v.keys for v in one.variables if v.keys} == {v.keys for v in two.variables if v.keys}


def calibrate_rows(understanding: Understanding, ran: Sequence[BranchResult]) -> tuple[BranchResult, ...]:
    """The results of the first readings, in order, each with the probability that its rows are right.

    Separate weights choose the best reading. No other gets a higher probability, and none a higher one than the turn
    that the question refers to. If time ran out before all readings were found, none is sure: the probabilities were
    learned with all of them present. Nor are rows of a reading that fails a check of the proof.
    """
    readings = understanding.readings[: len(ran)]
    outcomes = [table_outcome(next((each.table for each in found.rows), None)) for found in ran]
    shares = [reading.score for reading in readings]
    best, chance = choose_reading(understanding, outcomes)
    weights, known = load_weights(), readings[best].said
    outcome = outcome_features(best, shares, outcomes)
    said = 0.0 if known is None else probability(known + weighted_sum(outcome, weights.said))
    is_doubted = any(_doubts(readings[best], rows.table) for found in ran[best : best + 1] for rows in found.rows)
    is_said = said >= weights.said_from and not is_doubted
    chance = max(said, chance) if is_said else chance
    if outcomes[best].values == () and leaves_out_earlier(readings[best].plan.body):
        # that there is nothing else is no sign of a wrong reading
        chance = max(chance, readings[best].probability or 0.0)
    highest = min(chance, understanding.most)
    if understanding.cut:
        highest = min(highest, weights.threshold - UNSURE)
    chances = [
        probability_after_running(each, outcome_features(i, shares, outcomes)) for i, each in enumerate(readings)
    ]
    # other rows than those of the preferred reading are not sure either if it fails
    most = min(highest, weights.threshold - UNSURE) if is_doubted else highest
    limits = [highest if found.values == outcomes[best].values else most for found in outcomes]
    limits = [limit if i == best else min(limit, chances[i]) for i, limit in enumerate(limits)]
    least = [weights.said_from if i == best and is_said else weights.sure for i in range(len(readings))]
    return tuple(
        replace(found, evidence=tuple(_judged(each, *bounds, reading) for each in found.evidence))
        for found, bounds, reading in zip(ran, zip(limits, least, strict=True), readings, strict=True)
    )


def _judged(evidence: Evidence, chance: float, least: float, reading: Reading) -> Evidence:
    """Rows with their probability and doubts; with a doubt, or below `least`, they are not sure."""
    if not isinstance(evidence, Rows):
        return evidence
    doubts = _doubts(reading, evidence.table)
    chance = min(chance, load_weights().threshold - UNSURE) if doubts or chance < least else chance
    return replace(evidence, probability=round(chance, 4), doubts=doubts)


def _doubts(reading: Reading, table: Table) -> tuple[Doubt, ...]:
    return (*reading.doubts, *doubts_of_rows(reading.plan.body, table))


MAX_DISPUTES = 2


def find_disputes(chosen: Rows, question: str, evidence: Sequence[Evidence]) -> list[tuple[int, EvidenceSentence]]:
    """At most two texts, with their indexes, that state something else of the same thing and property. Sentences made
    from the graph's own triples can't contradict its rows: they are about other properties."""
    names = {" ".join(name_tokens(cell)) for row in chosen.table.rows for cell in row if isinstance(cell, str)}
    return [
        (index, other)
        for index, other in enumerate(evidence)
        if isinstance(other, EvidenceSentence)
        and other.document is not None
        and is_covered_by(question, [other])
        and _is_about(names, other)
        and _contradicts(chosen.table, other.text)
    ][:MAX_DISPUTES]


def _is_about(names: set[str], text: EvidenceSentence) -> bool:
    """Whether a sentence of a text names one of these things, or refers by a pronoun to a title that does."""
    words, title = (" ".join(name_tokens(part)) for part in (text.text, text.title))
    pronoun = not word_list("answering", "title_pronouns").isdisjoint(words.split())
    return any(f" {name} " in f" {words} " or (pronoun and f" {name} " in f" {title} ") for name in names if name)


def is_same_result(rows: Table, others: Table) -> bool:
    """Whether the table with fewer columns is part of the other: each column has the values of one there.

    >>> a, b = Table(("n",), ((1,), (2,))), Table(("name", "n"), (("x", 1), ("y", 2)))
    >>> is_same_result(a, b), is_same_result(a, Table(("n",), ((1,), (2,), (3,))))
    (True, False)
    """
    return have_same_values(column_values(rows), column_values(others))


def have_same_values(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    """Whether each column of those with fewer columns is one of the other's."""
    few, many = sorted((one, other), key=len)
    return all(column in many for column in few)


def has_same_columns(one: Table, other: Table) -> bool:
    """Whether two tables have as many columns, with the same values."""
    return sorted(map(sorted, column_values(one))) == sorted(map(sorted, column_values(other)))


def column_values(table: Table) -> list[frozenset[str]]:
    """The values of each column, as they are compared."""
    cells = zip(*table.rows, strict=True)
    return [frozenset(_value(cell) for cell in column if cell is not None) for column in cells]


def _value(cell: Cell) -> str:
    return f"{float(cell):.6g}" if isinstance(cell, int | float) else " ".join(fold(str(cell)).split())


def _contradicts(rows: Table, text: str) -> bool:
    """Whether a text has numbers, or dates, of the kind that the rows have, but none of theirs."""
    units = rows.units or ("",) * len(rows.columns)
    own = [(float(c), u) for row in rows.rows for c, u in zip(row, units, strict=False) if isinstance(c, int | float)]
    days = {cell for row in rows.rows for cell in row if isinstance(cell, str) and find_periods(cell)}
    dated = find_periods(text)
    if days:
        return bool(dated) and not any(p.first <= day < p.after for p in dated for day in days)
    pairs = [(a, value, unit) for a in find_amounts(blank_periods(text, dated)) for value, unit in own]
    alike = [(a, converted) for a, value, unit in pairs if (converted := _convert(value, unit, a.unit)) is not None]
    return bool(alike) and not any(abs(exact - a.value) <= a.slack for a, exact in alike)


def _convert(value: float, unit: str, wanted: str) -> float | None:
    """The value in the unit of a text; None if the two are of different kinds."""
    if bool(unit) != bool(wanted):
        return None
    return convert_unit(value, unit, wanted) if unit else value


# subtracted from the threshold of sure rows for a confidence just below it
UNSURE = 0.01


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
    """The probability that rows answer the question: as calibrated after they were found, else of their reading."""
    if rows.probability is not None:
        return rows.probability
    return 0.0 if rows.reading is None else understanding.readings[rows.reading].probability or 0.0


def is_sure(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are likely enough to be given as the answer."""
    return row_probability(understanding, rows) >= load_weights().threshold


def candidate_rows(evidence: Sequence[Evidence]) -> list[tuple[int, Rows]]:
    """The rows of this turn that may answer, with their indexes."""
    return [
        (i, each)
        for i, each in enumerate(evidence)
        if isinstance(each, Rows) and each.round and not (each.joined and each.joined.basis)
    ]


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


def sole_reading(understanding: Understanding, rows: Rows) -> Reading | None:
    """The reading that rows rest on alone; None for a model's query, and for rows also found in another way."""
    return None if rows.reading is None or rows.confirmed else understanding.readings[rows.reading]


def empty_table(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The likeliest empty rows, and their index."""
    empty = [(i, each) for i, each in candidate_rows(evidence) if is_empty(each.table)]
    return max(empty, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)


# the share of the question's words that sentences must contain to answer it (given)
ENOUGH_WORDS = 0.6


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
