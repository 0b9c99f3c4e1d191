"""What a caller may do with verified questions: turn service + caller -> entries, with access checks and limits.

A caller confirms for itself. What everyone uses is approved by a caller with the right `approve`, who sees what is
waiting. Without keys, this machine has all rights.

JSON lines -> verified questions, and back: the format of `nacre eval`, with `query` or `plan` beside the question. A
line with neither is asked by rules. It is confirmed if its answer is the line's `answers`.

Verified questions teach other names for classes and properties, and keep the calibration of graphs up to date beside
the turns of a server. Only graphs whose calibration somebody asked for are calibrated.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from graph.context import Context
from nacre.errors import ConfigError, NacreError, ToolError
from nacre.extensions.evaluation.score import has_gold_values
from nacre.extensions.verified.checks import (
    CheckReport,
    GivenAnswer,
    calibrate_graph,
    check_all,
    confirm,
    is_due,
    judged,
    new_entry,
    question_of_answer,
    run_verified,
)
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from nacre.records.turn import MAX_PAGE, GraphCalibration, VerifiedQuery, VerifiedQuestion, VerifiedState
from nacre.serving.errors import Conflict, Forbidden, NotFound, StorageUnavailable, WrongGraph
from nacre.serving.keys import LOCAL_CALLER, Caller, report_deed
from nacre.serving.turn_service import TurnService
from nacre.stores.catalog import Graph

if TYPE_CHECKING:
    from nacre.extensions.verified.look_up import NameProposal

T = TypeVar("T")

APPROVE = "approve"

# entries of a key and graph (given); without keys, and for those who approve, the store's own limit holds
MAX_OF_KEY = 10_000

# seconds of a check that a request asks for (given)
CHECK_SECONDS = 10.0


def may_approve(caller: Caller = LOCAL_CALLER) -> bool:
    """Whether a caller may approve for everyone.

    >>> may_approve(), may_approve(Caller("ann"))
    (True, False)
    """
    return APPROVE in caller.may


@dataclass(frozen=True)
class VerifiedPage:
    """Verified questions of a graph that a caller may see, the latest first. `more`: there are further ones.

    `owner` is the caller, as `by` names it in the entries of its own. `calibration`: what approved ones say of the
    probabilities of the graph. `names`: those of the persons that `by` names, who logged in.
    """

    graph: str
    questions: tuple[VerifiedQuestion, ...]
    more: bool
    may_approve: bool
    owner: str
    calibration: GraphCalibration | None = None
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportedLine:
    """What became of a line: its entry, or `problem` says why there is none."""

    place: str
    question: str
    entry: VerifiedQuestion | None
    problem: str = ""


class VerifiedQuestionService:
    """Access to the verified questions of a turn service. Methods raise NacreError with a message for users.

    `approves`: what a caller confirms who may approve is approved at once.
    """

    def __init__(self, service: TurnService, *, approves: bool = True) -> None:
        self._service = service
        self._approves = approves
        self._store = service.library.verified
        self._settings = service.composition.settings
        self._sandbox = service.composition.resources.sandbox

    async def listed(
        self,
        caller: Caller,
        graph: str | None,
        *,
        search: str = "",
        states: Sequence[VerifiedState] = (),
        waiting: bool = False,
        limit: int = MAX_PAGE,
        skip: int = 0,
    ) -> VerifiedPage:
        """Approved entries and the caller's own; all, for a caller who may approve."""
        name = await run_in_thread(self._service.resolve_graph, graph, caller)
        found = await self._stored(
            lambda: self._store.listed(
                name, self._seen_by(caller), search=search, states=states, waiting=waiting, limit=limit + 1, skip=skip
            )
        )
        calibration = await self._stored(lambda: self._store.calibration(name))
        more = len(found) > limit
        return VerifiedPage(name, tuple(found[:limit]), more, may_approve(caller), caller.owner, calibration)

    async def confirm_turn(self, caller: Caller, thread: str, turn: int, graph: str | None = None) -> VerifiedQuestion:
        """Confirm the answer of a turn of the caller's own thread, which is about `graph` if that is given."""
        threads = self._service.threads
        if threads is None:
            raise StorageUnavailable("This server stores no conversations.")
        conversation = await threads.get(caller, thread)
        if graph is not None and conversation.graph != graph:
            raise WrongGraph(f"This thread is about another graph than {graph!r}.")
        return await self.confirm_answer(caller, (await threads.turn(caller, conversation.thread, turn)).record)

    async def confirm_answer(self, caller: Caller, record: Answer) -> VerifiedQuestion:
        """Confirm an answer by its record, which comes from this program and not from a client."""
        async with self._open(caller, record["graph"]) as graph:
            entry = question_of_answer(graph, record, caller.owner)
            return (await self._confirm(caller, graph, entry))[0]

    async def confirm_query(
        self,
        caller: Caller,
        graph: str | None,
        question: str,
        query: VerifiedQuery,
        *,
        standalone: str | None = None,
        is_right: Callable[[GivenAnswer], bool] = lambda given: True,
    ) -> tuple[VerifiedQuestion, GivenAnswer]:
        """Run a query that the caller wrote and store it as the answer to a question, if what it gives `is_right`.

        Like all that is confirmed, it is approved at once if the caller may approve.
        """
        async with self._open(caller, graph) as opened:
            entry = new_entry(opened, question, standalone or question, caller.owner, query=query)
            return await self._confirm(caller, opened, entry, is_right)

    async def approve(
        self,
        caller: Caller,
        graph: str | None,
        id: str,
        by: str | None = None,
        *,
        approved: bool = True,
        at: str | None = None,
    ) -> VerifiedQuestion:
        """Approve an entry for everyone, or take it back. `by` is its owner, if several people confirmed it; `at` when
        it was confirmed. Raises Conflict for one that was confirmed anew since."""
        caller.require(APPROVE, "approve")
        name, entry = await self._entry(caller, graph, id, by)
        if at not in (None, entry.at):
            raise Conflict("This question was confirmed anew meanwhile, perhaps with another query. Look at it again.")
        changed = await self._stored(lambda: self._store.approve(name, id, entry.by, approved=approved))
        report_deed(caller, "approved" if approved else "withdrew an approval", graph=name, id=id, by=entry.by)
        return _present(changed, id)

    async def remove(self, caller: Caller, graph: str | None, id: str, by: str | None = None) -> None:
        """Delete an entry of the caller; any entry, for a caller who may approve."""
        name, entry = await self._entry(caller, graph, id, by or (None if may_approve(caller) else caller.owner))
        if entry.by != caller.owner and not may_approve(caller):
            raise Forbidden("You may only remove what you confirmed yourself.")
        await self._stored(lambda: self._store.remove(name, id, entry.by))
        report_deed(caller, "deleted a verified question", graph=name, id=id, by=entry.by)

    async def remove_own(self, caller: Caller, graph: str | None) -> int:
        """Delete all that the caller confirmed about a graph; returns the number."""
        name = await run_in_thread(self._service.resolve_graph, graph, caller)
        gone = await self._stored(lambda: self._store.remove_all(name, caller.owner))
        report_deed(caller, "deleted own verified questions", graph=name, number=gone)
        return gone

    async def run(
        self, caller: Caller, graph: str | None, id: str, by: str | None = None
    ) -> tuple[VerifiedQuestion, GivenAnswer]:
        """What an entry that the caller may see gives now. One of the caller's own that holds again is used again."""
        name, entry = await self._entry(caller, graph, id, by)
        async with self._open(caller, name) as opened:
            try:
                given = await run_verified(opened, entry, self._settings, self._sandbox)
            except ToolError as error:
                raise ConfigError(f"It failed: {error}") from error
            if entry.by == caller.owner or may_approve(caller):
                after = judged(entry, given, opened.version)
                entry = _present(await self._stored(lambda: self._store.record_check(name, after)), id)
            report_deed(caller, "ran a verified question", given.query, graph=name, version=opened.version, id=id)
            return entry, given

    async def check(self, caller: Caller, graph: str | None, seconds: float = CHECK_SECONDS) -> CheckReport:
        """Run the caller's entries again, or all for a caller who may approve; those that hold are used again."""
        async with self._open(caller, graph) as opened:
            owner = self._seen_by(caller)
            checking = check_all(
                opened, self._store, self._settings, self._sandbox, owner=owner, seconds=seconds, restore=True
            )
            with storage_errors():
                report = await checking
            report_deed(caller, "checked verified questions", graph=opened.name, number=report.checked)
            return report

    async def import_lines(
        self,
        caller: Caller,
        graph: str | None,
        lines: Iterable[tuple[str, dict[str, Any]]],
        *,
        trusts_plans: bool = False,
    ) -> AsyncIterator[ImportedLine]:
        """Confirm each line (its place in the file, its data), in order. Plans are read only from files of this machine
        (`trusts_plans`)."""
        name = self._service.resolve_graph(graph, caller)
        for place, data in lines:
            question = str(data.get("question") or "")
            if data.get("graph") not in (None, "", name):
                continue
            try:
                entry = await self._confirm_line(caller, name, data, trusts_plans=trusts_plans)
            except NacreError as error:
                yield ImportedLine(place, question, None, str(error))
            else:
                yield ImportedLine(place, question, entry)

    async def _confirm_line(
        self, caller: Caller, graph: str, data: dict[str, Any], *, trusts_plans: bool
    ) -> VerifiedQuestion:
        question, standalone = str(data.get("question") or ""), data.get("standalone")
        if (data.get("turn") or 1) != 1 and not standalone:
            raise ConfigError("It depends on an earlier turn. Add 'standalone', the question as it stands alone.")
        standalone = str(standalone or question)
        gold: Any = {**data, "id": 0} if isinstance(data.get("answers"), list) else None
        query = _line_query(data.get("query"))
        if query is not None:
            entry, _ = await self.confirm_query(
                caller,
                graph,
                standalone,
                query,
                is_right=lambda given: gold is None or has_gold_values(gold, given.values),
            )
            return entry
        plan = data.get("plan")
        if isinstance(plan, dict):
            if not trusts_plans:
                raise ConfigError(
                    "Plans are imported on the server: nacre examples import FILE. Send a 'query' instead."
                )
            async with self._open(caller, graph) as opened:
                planned = new_entry(opened, question, standalone, caller.owner, plan=plan)
                return (await self._confirm(caller, opened, planned))[0]
        if gold is None:
            raise ConfigError("It has no 'query', 'plan' or 'answers', so there is nothing to confirm.")
        record = await self._service.answer(standalone, graph, None, Context(mind="rules"), caller=caller)
        if not has_gold_values(gold, record["values"]):
            raise ConfigError("The rules give other values than its 'answers'. Add the right 'query'.")
        return await self.confirm_answer(caller, record)

    async def _confirm(
        self,
        caller: Caller,
        graph: Graph,
        entry: VerifiedQuestion,
        is_right: Callable[[GivenAnswer], bool] = lambda given: True,
    ) -> tuple[VerifiedQuestion, GivenAnswer]:
        if not may_approve(caller):
            count = await self._stored(lambda: self._store.count(graph.name, caller.owner))
            if count >= MAX_OF_KEY:
                raise ConfigError(f"This key has {count} verified questions of this graph. Remove some first.")
        entry = replace(entry, approved=self._approves and may_approve(caller))
        with storage_errors():
            confirmed = await confirm(graph, entry, self._settings, self._sandbox, self._store, is_right)
        deed = "approved" if entry.approved else "confirmed"
        report_deed(caller, deed, confirmed[1].query, graph=graph.name, version=graph.version, id=entry.id)
        return confirmed

    async def _entry(self, caller: Caller, graph: str | None, id: str, by: str | None) -> tuple[str, VerifiedQuestion]:
        """An entry that the caller may see; raises NotFound, the same for entries of others."""
        name = await run_in_thread(self._service.resolve_graph, graph, caller)
        rows = await self._stored(lambda: self._store.entries(name, id))
        seen = [each for each in rows if each.approved or each.by == caller.owner or may_approve(caller)]
        if by is not None:
            seen = [each for each in seen if each.by == by]
        if len(seen) > 1:
            own = [each for each in seen if each.by == caller.owner]
            if not own:
                people = ", ".join(sorted(each.by for each in seen))
                raise ConfigError(f"Several people confirmed this question: {people}. Say whose is meant.")
            seen = own
        return name, _present(seen[0] if seen else None, id)

    @asynccontextmanager
    async def _open(self, caller: Caller, graph: str | None) -> AsyncIterator[Graph]:
        """An open graph that the caller may read, in a slot for queries of callers."""
        async with self._service.query_slot(caller):
            with await self._service.open_graph(graph, caller) as opened:
                yield opened

    def _seen_by(self, caller: Caller) -> str | None:
        return None if may_approve(caller) else caller.owner

    async def _stored(self, call: Callable[[], T]) -> T:
        with storage_errors():
            return await run_in_thread(call)


def _present(entry: VerifiedQuestion | None, id: str) -> VerifiedQuestion:
    if entry is None:
        raise NotFound(f"There is no verified question {id[:40]!r}. List them first.")
    return entry


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise StorageUnavailable, with the reason for clients, if the verified questions can't be read or written."""
    try:
        yield
    except sqlite3.Error as error:
        why = f"The verified questions can't be read or written now ({error}). Try again."
        raise StorageUnavailable(why) from error


def export_lines(entries: Iterable[VerifiedQuestion]) -> Iterator[dict[str, Any]]:
    """The lines of entries; `import_lines` reads them, and `nacre eval` asks their questions."""
    for entry in entries:
        line: dict[str, Any] = {"id": entry.id, "question": entry.question}
        if entry.standalone != entry.question:
            line["standalone"] = entry.standalone
        line |= {"query": entry.query} if entry.query is not None else {"plan": entry.plan}
        yield line | {"by": entry.by, "at": entry.at, "approved": entry.approved, "state": entry.state}


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


# entries that are read, the latest ones (given)
MAX_READ = 500


def graph_proposals(graph: "Graph", owner: str | None = None) -> "tuple[NameProposal, ...]":
    """What the verified questions that are in use teach: those that an owner sees, or all (None). Raises
    sqlite3.Error."""
    from nacre.extensions.verified.look_up import name_proposals
    from nacre.understanding.linking.link_mentions import linker_of

    if graph.verified is None:
        return ()
    entries = graph.verified.listed(graph.name, owner, states=("in use",), limit=MAX_READ)
    return name_proposals(entries, linker_of(graph.lexicon))


# seconds between two looks at the graphs (given)
INTERVAL = 60.0

log = logging.getLogger(__name__)


async def calibrate_again_and_again(service: TurnService) -> None:
    """Look at all graphs in intervals, until it is cancelled."""
    while True:
        await asyncio.sleep(INTERVAL)
        for name in await run_in_thread(service.library.names):
            await calibrate_if_due(service, name)


async def calibrate_if_due(service: TurnService, name: str) -> bool:
    """Calibrate a graph with its verified questions if a number of them are new; whether it was. Errors are logged:
    the graph answers as before."""
    library, composition = service.library, service.composition
    try:
        if not await run_in_thread(library.verified.count, name):
            return False
        with await run_in_thread(library.open, name) as graph:
            if not await run_in_thread(is_due, graph, library.verified):
                return False
            sandbox = composition.resources.sandbox
            found = await calibrate_graph(graph, library.verified, composition.settings, sandbox)
            log.info("graph %s: %s", name, found.words)
            return True
    except (NacreError, sqlite3.Error, OSError) as error:
        log.warning("graph %s can't be calibrated now: %s", name, error)
        return False
