"""Rows that are no answer: they repeat or ignore what is asked, or show that the graph does not state it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from agents.answering.selection.rows import (
    candidate_rows,
    indexed_sentences,
    is_empty,
    is_nil,
    plan_of,
    row_probability,
    sole_reading,
)
from nacre.language.base import language, word_list
from nacre.language.dates import find_periods
from nacre.language.thesaurus import antonyms, function_words
from nacre.language.tokens import lemma, name_tokens, tokenize
from nacre.plans.inspect_select import asked_select, predicates_of
from nacre.plans.missing_values import is_unknown_truth
from nacre.records.evidence import Evidence, Rows, Table
from nacre.records.plan import Ask, Attribute, Itself, Plan, Select
from nacre.records.turn import Mention, Understanding
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.ranking.calibrate import shown_columns
from nacre.understanding.ranking.unheeded_words import is_unrestricted
from nacre.understanding.ranking.weights import load_weights

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
    if any(each.score >= EXACT_SCORE and left_out & set(name_tokens(each.text)) for each in named):
        return True
    return bool(named) and not is_likely


def _uses_only_names(understanding: Understanding, table: Table, left_out: Collection[str]) -> bool:
    """Whether a reading that leaves words out uses no other word than names: "who built Otter" is not answered by whom
    the boat belongs to. Dates use "when"."""
    if _asks_when(understanding) and _gives_dates(table):
        return False
    names = [m.text for m in (*understanding.mentions, *(each.mention for each in understanding.named)) if _is_name(m)]
    used = {word for name in names for word in name_tokens(name)} | function_words() | language().words["filler"]
    return all(token.norm in used or token.norm in left_out for token in tokenize(understanding.standalone))


def _asks_when(understanding: Understanding) -> bool:
    return any(cue.kind == "open" and cue.value == "when" for cue in analyse_question(understanding.standalone).cues)


def _gives_dates(table: Table) -> bool:
    """Whether all that a table shows are dates."""
    cells = [row[i] for row in table.rows for i in shown_columns(table)]
    return bool(cells) and all(isinstance(cell, str) and find_periods(cell) for cell in cells)


def _is_name(mention: Mention) -> bool:
    return mention.kind in ("entity", "value")


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
    """Whether a plan lists all things of a class, or those that have a link to anything, or asks whether there are
    any."""
    select = asked_select(plan.body)
    return (
        select is not None
        and is_unrestricted(replace(select, edges=()))
        and all(isinstance(each, Itself) for each in select.answers)
    )


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
    first, second, *_ = [*(token.norm for token in tokenize(understanding.standalone)), "", ""]
    # a class may be a thing as well: "is the lute a string instrument"
    asks_class = any(m.kind == "class" for m in understanding.mentions) or len(understanding.mentions) > 1
    # "is her name Ann" does not ask whether it is known, nor "is the lamp available" whether it is a thing
    is_what = first in language().words["being"] and second not in language().words["there"]
    is_what = is_what and (bool(body.select.filters) or not (body.select.edges or asks_class))
    if not (reading.unused or is_what):
        return False
    return sum(bool(v.keys) for v in body.select.variables) == 1


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
