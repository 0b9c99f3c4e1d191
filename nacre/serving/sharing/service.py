"""Who may share an answer, and what a link must not outlive: caller + turn -> link; token -> answer, or nothing."""

from dataclasses import dataclass

from agents.run_in_thread import run_in_thread
from nacre.serving.conversations.threads import Threads
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.keys import Caller, KeyStore
from nacre.serving.sharing.freeze import freeze_answer
from nacre.stores.catalog import Library
from nacre.stores.conversations.shared_answers import OpenedShare, SharedAnswerStore, ShareLink

RIGHT = "share"


@dataclass(frozen=True)
class AnswerSharing:
    """Shared answers of a server. `is_on` is NACRE_SHARING: if it is off, no link can be made or read, and links can
    still be listed and withdrawn. Methods raise StorageError, or ConfigError if the keys can't be read."""

    keys: KeyStore
    is_on: bool

    def may_share(self, caller: Caller) -> bool:
        """Whether this caller may share answers here."""
        return self.is_on and RIGHT in caller.may

    async def share(self, threads: Threads, caller: Caller, thread: str, turn: int, days: int) -> tuple[str, ShareLink]:
        """Share the answer of a turn for so many days: its token, which is not stored, and its link. Raises Forbidden,
        NotFound, QuotaExceeded, or ConfigError if the caller shares too much."""
        if not self.is_on:
            raise Forbidden("Sharing is off on this server. Its operator can set NACRE_SHARING=true.")
        owner = await run_in_thread(self.keys.find_owner, caller.owner)
        if owner is None or not self.may_share(caller):
            raise Forbidden("This key may not share answers. Run: nacre keys add NAME --may share")
        store = SharedAnswerStore(threads.conversations)
        async with threads.quota.checked(caller), threads.queues.lock(caller.owner, thread):
            for each in await threads.turns(caller, thread):
                if each.record["turn"] == turn:
                    copy = await run_in_thread(freeze_answer, each.record)
                    return await run_in_thread(store.add, caller.owner, thread, turn, copy, owner[1], days)
        raise NotFound(f"This thread has no turn {turn}.")

    async def open(self, threads: Threads, library: Library, token: str) -> OpenedShare | None:
        """What a token gives; None if it gives nothing (any more), whatever the reason."""
        if not self.is_on:
            return None
        found = await run_in_thread(SharedAnswerStore(threads.conversations).open, token)
        return found if found is not None and await run_in_thread(self._still_holds, library, found) else None

    def _still_holds(self, library: Library, found: OpenedShare) -> bool:
        """Whether the same key may still share and read the graph, and the graph is still there."""
        owner = self.keys.find_owner(found.link.owner)
        if owner is None:
            return False
        caller, key = owner
        may = RIGHT in caller.may and caller.may_read(found.link.graph)
        return may and key == found.key and found.link.graph in library.names()
