"""JSON lines -> verified questions, and back: the format of `nacre eval`, with `query` or `plan` beside the question.

A line with neither is asked by rules. It is confirmed if its answer is the line's `answers`.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from graph.context import Context
from nacre.errors import ConfigError, NacreError
from nacre.evaluation.questions import GoldQuestion
from nacre.evaluation.verdict import is_right
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.turn_service import TurnService
from nacre.serving.verified.service import VerifiedQuestionService


@dataclass(frozen=True)
class ImportedLine:
    """What became of a line: its entry, or `problem` says why there is none."""

    place: str
    question: str
    entry: VerifiedQuestion | None
    problem: str = ""


async def import_lines(
    lines: Iterable[tuple[str, dict[str, Any]]],
    service: TurnService,
    graph: str | None,
    caller: Caller = LOCAL_CALLER,
    *,
    trusts_plans: bool = False,
) -> AsyncIterator[ImportedLine]:
    """Confirm each line (its place in the file, its data) as the caller, in order.

    Plans are read only from files of this machine (`trusts_plans`).
    """
    verified = VerifiedQuestionService(service)
    name = service.resolve_graph(graph, caller)
    for place, data in lines:
        question = str(data.get("question") or "")
        if data.get("graph") not in (None, "", name):
            continue
        try:
            entry = await _confirm_line(data, question, service, verified, name, caller, trusts_plans=trusts_plans)
        except NacreError as error:
            yield ImportedLine(place, question, None, str(error))
        else:
            yield ImportedLine(place, question, entry)


def export_lines(entries: Iterable[VerifiedQuestion]) -> Iterator[dict[str, Any]]:
    """The lines of entries; `import_lines` reads them, and `nacre eval` asks their questions."""
    for entry in entries:
        line: dict[str, Any] = {"id": entry.id, "question": entry.question}
        if entry.standalone != entry.question:
            line["standalone"] = entry.standalone
        line |= {"query": entry.query} if entry.query is not None else {"plan": entry.plan}
        yield line | {"by": entry.by, "at": entry.at, "approved": entry.approved, "state": entry.state}


async def _confirm_line(
    data: dict[str, Any],
    question: str,
    service: TurnService,
    verified: VerifiedQuestionService,
    graph: str,
    caller: Caller,
    *,
    trusts_plans: bool,
) -> VerifiedQuestion:
    standalone = data.get("standalone")
    if (data.get("turn") or 1) != 1 and not standalone:
        raise ConfigError("It depends on an earlier turn. Add 'standalone', the question as it stands alone.")
    standalone = str(standalone or question)
    gold = data if isinstance(data.get("answers"), list) else None
    query = _line_query(data.get("query"))
    if query is not None:
        entry, _ = await verified.confirm_query(
            caller, graph, standalone, query, is_right=lambda given: gold is None or _gives(gold, list(given.values))
        )
        return entry
    plan = data.get("plan")
    if isinstance(plan, dict):
        if not trusts_plans:
            raise ConfigError("Plans are imported on the server: nacre examples import FILE. Send a 'query' instead.")
        return await verified.confirm_plan(caller, graph, question, standalone, plan)
    if gold is None:
        raise ConfigError("It has no 'query', 'plan' or 'answers', so there is nothing to confirm.")
    record = await service.answer(standalone, graph, None, Context(mind="rules"), caller=caller)
    if not _gives(gold, record["values"]):
        raise ConfigError("The rules give other values than its 'answers'. Add the right 'query'.")
    return await verified.confirm_answer(caller, record)


def _line_query(query: object) -> VerifiedQuery | None:
    """The query of a line; a text alone is SPARQL if it has a group in braces, else SQL.

    >>> _line_query("SELECT 1")
    {'tool': 'sql', 'text': 'SELECT 1'}
    """
    if query is None or query == "":
        return None
    if isinstance(query, str):
        return VerifiedQuery(tool="sparql" if "{" in query else "sql", text=query)
    if isinstance(query, dict) and query.get("tool") in ("sql", "sparql") and isinstance(query.get("text"), str):
        return VerifiedQuery(tool=query["tool"], text=query["text"])
    raise ConfigError('Its \'query\' is not readable. Write {"tool": "sql" or "sparql", "text": "..."}.')


def _gives(gold: dict[str, Any], values: list[Any]) -> bool:
    record: Any = {"status": "answered", "values": values, "answer": ""}
    return is_right(GoldQuestion(**{**gold, "id": 0}), record)  # type: ignore[typeddict-item]
