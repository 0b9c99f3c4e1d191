"""The verified questions of a data folder, in this process: turn service -> VerifiedSource."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from nacre.client.reply import Reply
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion

if TYPE_CHECKING:
    from nacre.serving.turn_service import TurnService
    from nacre.serving.verified.service import VerifiedQuestionService


class LocalVerified:
    """Its caller has all rights, as on the command line."""

    def __init__(self, open_service: "Callable[[], Awaitable[TurnService]]") -> None:
        self._open_service = open_service

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """Those that the caller may see, the latest first."""
        from nacre.serving.keys import LOCAL_CALLER

        service = await self._service()
        found: list[VerifiedQuestion] = []
        while True:
            page = await service.listed(LOCAL_CALLER, graph, search=search, waiting=waiting, skip=len(found))
            found += page.questions
            if not page.more:
                return found

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        """Confirm an answer."""
        from nacre.serving.keys import LOCAL_CALLER

        return await (await self._service()).confirm_answer(LOCAL_CALLER, reply.record)

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        """Confirm a query for a question."""
        from nacre.serving.keys import LOCAL_CALLER

        return (await (await self._service()).confirm_query(LOCAL_CALLER, graph, question, query))[0]

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        from nacre.serving.verified.lines import import_lines

        numbered = ((str(number), line) for number, line in enumerate(lines, start=1))
        imported = import_lines(numbered, await self._open_service(), graph, trusts_plans=True)
        return [each.problem async for each in imported]

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve an entry."""
        from nacre.serving.keys import LOCAL_CALLER

        return await (await self._service()).approve(LOCAL_CALLER, graph, id, by)

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove an entry."""
        from nacre.serving.keys import LOCAL_CALLER

        await (await self._service()).remove(LOCAL_CALLER, graph, id, by)

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run them again; those that are not used."""
        from nacre.serving.keys import LOCAL_CALLER

        return list((await (await self._service()).check(LOCAL_CALLER, graph)).aside)

    async def _service(self) -> "VerifiedQuestionService":
        from nacre.serving.verified.service import VerifiedQuestionService

        return VerifiedQuestionService(await self._open_service())
