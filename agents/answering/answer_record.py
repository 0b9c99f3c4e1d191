"""The answer record of a finished turn: TurnView + bookkeeping + draft + released text -> Answer.
No answer is surer than the turn that its question refers to."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agents.answering.fallbacks import unclear_phrases
from agents.answering.grounding_gate import ReleasedAnswer
from agents.answering.select_answer import UNSURE, plan_of
from agents.turn_view import AnswerDraft, TurnView
from nacre.language.sanitize import escape_markup, strip_control_characters
from nacre.language.tokens import fold, tokenize
from nacre.records.answer import (
    Answer,
    AnswerDerivation,
    Citation,
    Cost,
    Option,
    Place,
    QueryRecord,
    TableRecord,
    VerifiedRecord,
)
from nacre.records.evidence import Evidence, EvidenceSentence, Query, Rows, Table
from nacre.records.json_form import to_json
from nacre.records.plan import Ask
from nacre.records.turn import EarlierTurn, Reading, Understanding
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.ranking.rank import load_weights

KEYS_SHOWN = 100
ROWS_SHOWN = 50
# things of rows that the record names (given)
MAX_THINGS = 1000


@dataclass(frozen=True)
class TurnBookkeeping:
    """What the record says of a turn besides question and answer. `turn` counts within the thread, `by` names the
    reasoner of each step, `usage` is that of models in this turn, `conversation_usage` in all turns of the thread.
    `started` and `first_token` are times by `time.monotonic()`."""

    id: str
    thread: str | None
    graph: str
    turn: int
    unavailable: Mapping[str, str]
    by: Mapping[str, str]
    usage: Mapping[str, float]
    conversation_usage: Mapping[str, float]
    caveats: Sequence[str]
    started: float
    first_token: float | None


def answer_record(
    view: TurnView,
    bookkeeping: TurnBookkeeping,
    draft: AnswerDraft,
    released: ReleasedAnswer,
    cited: Sequence[Evidence],
    derivation: AnswerDerivation,
) -> Answer:
    """All fields of the record, after the last word; `cited` is what [1], [2] ... stand for, in this order. Times count
    from the start of the turn."""
    queries = [query for part in view.found for query in part.queries]
    cost = model_cost(bookkeeping.usage)
    started, first_token = bookkeeping.started, bookkeeping.first_token
    plan = plan_of(view.understanding, view.evidence[draft.table]) if draft.table is not None else None
    return Answer(
        id=bookkeeping.id,
        graph=bookkeeping.graph,
        version=view.version,
        thread=bookkeeping.thread,
        turn=bookkeeping.turn,
        question=view.question,
        standalone=view.standalone,
        answer=released.text,
        values=[strip_control_characters(v) if isinstance(v, str) else v for v in dict.fromkeys(draft.values)],
        table=_table(draft),
        unit=draft.unit,
        status=draft.status,
        confidence=draft.confidence,
        reason=escape_markup(draft.reason) if draft.reason else None,
        options=[Option(n=n, words=escape_markup(each.words)) for n, each in enumerate(draft.options, 1)],
        caveats=[escape_markup(caveat) for caveat in (*bookkeeping.caveats, *draft.caveats)],
        strategy=view.strategy,
        rounds=view.round,
        enabled=list(view.enabled),
        visited=list(view.visited),
        unavailable=dict(bookkeeping.unavailable),
        by=dict(bookkeeping.by),
        queries=[query_record(query, i) for i, query in enumerate(queries)],
        citations=[_citation(n, each, queries) for n, each in enumerate(cited, 1)],
        unsupported=released.unsupported,
        seconds=round(time.monotonic() - started, 4),
        first_token_seconds=None if first_token is None else round(first_token - started, 4),
        llm_calls=cost["llm_calls"],
        input_tokens=cost["input_tokens"],
        cached_tokens=cost["cached_tokens"],
        output_tokens=cost["output_tokens"],
        price=cost["price"],
        language=view.rewrite.language,
        standalone_own=view.rewrite.own or view.standalone,
        conversation=model_cost(bookkeeping.conversation_usage),
        derivation=derivation,
        plan=None if plan is None else to_json(plan),
        verified=_verified(view, draft, cited),
        unclear=_unclear(view, draft),
        others=[escape_markup(each.words) for each in draft.others],
        display=view.rewrite.display,
        things=_things(view, draft),
    )


# words of a question that could be taught (given)
MAX_UNCLEAR = 4

# the score from which on a name has a word already (given)
TAKEN_SCORE = 0.8


def _unclear(view: TurnView, draft: AnswerDraft) -> list[str]:
    """The teachable words that the answering rows leave out and that name nothing; of a question read in English words,
    those it keeps."""
    rows = view.evidence[draft.table] if draft.table is not None else None
    place = rows.reading if isinstance(rows, Rows) else 0
    if draft.status in ("answered", "failed") or view.rewrite.aside or place is None:
        return []
    phrases = unclear_phrases(view.understanding, place)
    words = dict.fromkeys(word.strip(",;:") for phrase in phrases for word in phrase.split())
    if view.rewrite.gloss:
        # nouns of other languages look like names
        own = {token.text for token in tokenize(view.rewrite.own)}
    else:
        own = {each for each in words if each.islower() or view.standalone.lstrip().startswith(each)}
    mentions = (*view.understanding.mentions, *view.understanding.candidates)
    taken = {fold(w) for each in mentions if each.score >= TAKEN_SCORE for w in each.text.split()}
    free = [w for w in words if w in own and fold(w) not in taken and not any(map(str.isdigit, w))]
    asked = [(w, analyse_question(w)) for w in free]
    return [escape_markup(w) for w, q in asked if not q.cues and len(q.stopwords) < len(q.tokens)][:MAX_UNCLEAR]


def _verified(view: TurnView, draft: AnswerDraft, cited: Sequence[Evidence]) -> VerifiedRecord | None:
    """Who confirmed what the cited rows are the answer of, or a question of the same shape."""
    match = view.understanding.verified
    if match is None or not any(isinstance(each, Rows) and each.verified == match.id for each in cited):
        rows = view.evidence[draft.table] if draft.table is not None else None
        place = rows.reading if isinstance(rows, Rows) else None
        match = view.understanding.readings[place].verified if place is not None else None
    if match is None:
        return None
    how: Literal["same", "same shape"] = "same shape" if match.is_like else "same"
    return VerifiedRecord(by=match.by, at=match.at, id=match.id, question=match.question, how=how)


def _things(view: TurnView, draft: AnswerDraft) -> list[str]:
    """The thing of each row that answers, for what is known of it besides: its name, its place."""
    rows = view.evidence[draft.table] if draft.table is not None else None
    if not isinstance(rows, Rows) or any(not keys for keys in rows.table.keys):
        return []
    return [] if rows.table.contributing is not None else [keys[0] for keys in rows.table.keys[:MAX_THINGS]]


def _table(draft: AnswerDraft) -> TableRecord | None:
    if not draft.columns:
        return None
    rows = [[strip_control_characters(cell) if isinstance(cell, str) else cell for cell in row] for row in draft.rows]
    return TableRecord(columns=[strip_control_characters(name) for name in draft.columns], rows=rows)


def model_cost(usage: Mapping[str, float]) -> Cost:
    """The cost of model calls as the record shows it."""
    return Cost(
        llm_calls=int(usage.get("calls", 0)),
        input_tokens=int(usage.get("input", 0)),
        cached_tokens=int(usage.get("cached", 0)),
        output_tokens=int(usage.get("output", 0)),
        price=None if usage.get("unpriced") else round(usage.get("price", 0.0), 8),
    )


def query_record(query: Query, i: int) -> QueryRecord:
    """One query as the record shows it."""
    record = QueryRecord(
        i=i,
        tool=query.tool,
        round=query.round,
        text=query.text,
        params=list(query.params),
        words=query.words,
        rows=query.rows,
        truncated=query.truncated,
        error=None if query.error is None else {"kind": query.error.kind, "message": query.error.message},
        seconds=round(query.seconds, 5),
        by=query.by,
    )
    return {**record, "portable": query.portable} if query.portable else record


def _citation(n: int, evidence: Evidence, queries: Sequence[Query]) -> Citation:
    rows = evidence if isinstance(evidence, Rows) else None
    table = _with_measured_column(rows.table) if rows else None
    places = {(q.tool, q.round, q.text, q.params): i for i, q in reversed(list(enumerate(queries)))}
    own = [query for query in (rows.query, *rows.beside) if query] if rows else []
    indexes = [places.get((query.tool, query.round, query.text, query.params)) for query in own]
    return Citation(
        n=n,
        tool=evidence.branch,
        source=escape_markup(_source(evidence)),
        text=escape_markup(evidence.text),
        query=indexes[0] if indexes else None,
        keys=list(evidence.keys[:KEYS_SHOWN]),
        triples=[list(triple) for triple in evidence.triples],
        place=_place(evidence),
        columns=list(table.columns) if table else [],
        units=list(table.units) if table else [],
        rows=[list(row) for row in table.rows[:ROWS_SHOWN]] if table else [],
        contributing=table.contributing if table else None,
        queries=[i for i in indexes if i is not None],
        basis=evidence.basis,
    )


def _source(evidence: Evidence) -> str:
    if isinstance(evidence, Rows):
        return evidence.title or evidence.words or "rows"
    return evidence.document or evidence.title or evidence.branch


def _place(evidence: Evidence) -> Place | None:
    if evidence.document is None or not evidence.end:
        return None
    return {"document": evidence.document, "start": evidence.start, "end": evidence.end}


def _with_measured_column(table: Table) -> Table:
    """The table with the values that its rows are ordered by as a further column."""
    if len(table.measured) != len(table.rows) or not table.measured:
        return table
    return replace(
        table,
        columns=(*table.columns, table.measured_name),
        units=(*table.units, table.measured_unit),
        rows=tuple((*row, cell) for row, cell in zip(table.rows, table.measured, strict=True)),
    )


# keys and labels of the result where no setting says, cited evidence, and rows of each
REMEMBERED = 100
REMEMBERED_EVIDENCE = 3
REMEMBERED_ROWS = 20

# statuses of answers that answer nothing
FAILED = frozenset(("not_understood", "not_in_graph", "failed"))


def remembered_turns(
    view: TurnView, answer: str, draft: AnswerDraft, cited: Mapping[int, Evidence], most: int = REMEMBERED
) -> tuple[EarlierTurn, ...]:
    """The turn as later turns need it, with at most `most` keys and labels and the opened evidence by its index
    (`cited`); nothing if it asked nothing of the graph."""
    if view.rewrite.aside or view.understanding.orientation:
        return ()
    understanding = view.understanding
    used = view.evidence[draft.table] if draft.table is not None else None
    plan = plan_of(understanding, used) if used is not None else None
    result = cited.get(draft.table, used) if draft.table is not None else None
    if used is None and understanding.readings and not understanding.readings[0].near:
        plan = understanding.readings[0].plan
    if draft.topic is not None:
        plan = draft.topic.plan
    gives_none = draft.status in FAILED and not draft.things
    labels = () if gives_none else tuple(value for value in draft.values if isinstance(value, str))
    keys = result.keys if result is not None and not gives_none else tuple(key for key, _ in draft.things)
    is_limited = bool(getattr(plan and plan.body, "limit", 0))
    counted = result.table.contributing if isinstance(result, Rows) and not is_limited else 0
    turn = EarlierTurn(
        view.question,
        view.standalone,
        answer,
        plan=plan,
        keys=keys[:most],
        labels=(labels or tuple(label for _, label in draft.things))[:most],
        options=draft.options,
        others=draft.others,
        confirm=_reading_to_confirm(view, draft),
        evidence=tuple(_remembered_evidence(view.evidence[index]) for index in list(cited)[:REMEMBERED_EVIDENCE]),
        confidence=inheritable_confidence(draft, understood_by_model(view)),
        # the thing that a yes rests on is one of those that are asked about
        cut=max(len(keys), counted or 0) > len(keys[:most]) or isinstance(plan and plan.body, Ask),
        display=view.rewrite.display,
    )
    return (turn,)


def older_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A turn before the last one, as JSON: only the last turn's evidence supports a follow-up, and only its readings
    can be confirmed or chosen in place of the answer."""
    return {**turn, "evidence": [], "confirm": None, "others": []}


def _reading_to_confirm(view: TurnView, draft: AnswerDraft) -> Reading | None:
    """The reading of an answer that is unsure and offers no other; a yes chooses it."""
    if draft.options or draft.status not in ("clarify", "not_understood"):
        return None
    used = view.evidence[draft.table] if draft.table is not None else None
    place = used.reading if isinstance(used, Rows) else 0
    return view.understanding.readings[place] if place is not None and view.understanding.readings else None


def _remembered_evidence(evidence: Evidence) -> Evidence:
    """Evidence as a later turn may cite it. It is no candidate for that turn's answer."""
    evidence = replace(
        evidence, round=0, keys=evidence.keys[:REMEMBERED_ROWS], triples=evidence.triples[:REMEMBERED_ROWS]
    )
    if isinstance(evidence, EvidenceSentence):
        return evidence
    table = evidence.table
    table = replace(table, rows=table.rows[:REMEMBERED_ROWS], keys=table.keys[:REMEMBERED_ROWS])
    return replace(evidence, reading=None, table=table)


DOUBT = "This rests on an answer before it that I was not sure of."
FIRST_DOUBT = "I am not sure that this is what you mean."


def understood_by_model(view: TurnView) -> Understanding:
    """The understanding of a turn; if a model made the follow-up stand alone, with its reference instead of the rules':
    the turn before if the question changed, else none. A first question that a model read refers to nothing."""
    first = not view.conversation and any(part.outcome for part in view.found)
    if not (first or any(part.standalone for part in view.found)):
        return view.understanding
    depends = view.standalone.casefold() != view.question.casefold()
    before = view.conversation[-1].confidence if depends and view.conversation else None
    return replace(view.understanding, most=1.0 if before is None else before)


def limit_confidence(draft: AnswerDraft, understanding: Understanding, *, is_first: bool = False) -> AnswerDraft:
    """The answer, less sure and with a doubt if its earlier turn was not sure, or its name, date or pronoun guessed."""
    if understanding.most >= load_weights().threshold:
        return draft
    asks = draft.status == "clarify" and draft.confirm and draft.confidence == round(understanding.most, 3)
    if asks and not is_first:
        # the doubt is about the earlier turn, not about this reading
        return replace(draft, doubt=DOUBT)
    if draft.status != "answered":
        return draft
    sure = understanding.most if draft.confidence is None else min(draft.confidence, understanding.most)
    return replace(
        draft, status="clarify", confidence=round(sure, 3), confirm="", doubt=FIRST_DOUBT if is_first else DOUBT
    )


def inheritable_confidence(draft: AnswerDraft, understanding: Understanding) -> float | None:
    """The probability that a turn was right, for turns that refer to it; None if it is unknown.
    An answer that was asked back, left words out or was not understood is never sure."""
    is_guess = bool(draft.things) and draft.topic is None and not draft.values
    left_out = draft.status in ("partial", "not_in_graph") and (bool(understanding.unknown) or is_guess)
    if not left_out and draft.status not in ("clarify", "not_understood", "failed"):
        leaning = understanding.most < 1.0
        return draft.confidence if draft.confidence is not None or not leaning else understanding.most
    sure = draft.confidence
    if sure is None:
        sure = (understanding.readings[0].probability or 0.0) if understanding.readings else 0.0
    return min(sure, understanding.most, load_weights().threshold - UNSURE)
