"""A request to run a turn -> its question, and where in the thread it begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph.stream import TurnStart
from nacre.errors import ConfigError
from nacre.serving.conversations.threads import Threads
from nacre.serving.keys import Caller
from nacre.serving.langgraph.messages import MessageJson, answer_ids, input_message, input_text, is_human
from nacre.serving.langgraph.requests import (
    MAX_ID,
    STREAM_MODES,
    GraphRunRequest,
    InputMessage,
    RunCommand,
    RunInput,
)
from nacre.serving.langgraph.snapshots import ROOT, Snapshot
from nacre.serving.langgraph.thread_states import latest_snapshot, requested_checkpoint, snapshot_at

# keys of a reply to a clarification, as chat pages send it
REPLY_KEYS = ("n", "args", "words", "answer", "text", "response")


@dataclass(frozen=True)
class AskedTurn:
    """What is asked. `earlier` are the messages before it in a request without a thread; `base` is the state that the
    turn starts from if the request names a checkpoint. Without a `message_id` the question gets a new one."""

    question: str
    message_id: str = ""
    earlier: tuple[InputMessage, ...] = ()
    base: Snapshot | None = None

    def earlier_questions(self) -> list[str]:
        """The questions before this one in a request without a thread."""
        return [input_text(each) for each in self.earlier if is_human(each)]

    def start(self, message_id: str) -> TurnStart:
        """Where the turn begins, with this id for its message."""
        if self.base is None:
            return TurnStart(None, message_id)
        return TurnStart(self.base.base, message_id, answer_ids(self.base.messages))

    def messages_before(self) -> list[MessageJson] | None:
        """The messages before the question; None for those of the latest state."""
        if self.base is None:
            return [input_message(each) for each in self.earlier] or None
        return [each for each in self.base.messages if each is not self.base.messages[-1] or not self.base.question]


def refuse_unsupported(body: GraphRunRequest) -> None:
    """Raise ConfigError for what only a platform for any graph can do."""
    unsupported = {
        "interrupt_before": body.interrupt_before,
        "interrupt_after": body.interrupt_after,
        "webhook": body.webhook,
        "after_seconds": body.after_seconds,
        "command.update": body.command and body.command.update,
        "command.goto": body.command and body.command.goto,
    }
    if used := [name for name, value in unsupported.items() if value]:
        raise ConfigError(f"This server has no {used[0]}. Leave it out.")
    check_modes(body.stream_mode)


def check_modes(modes: Sequence[str]) -> None:
    """Raise ConfigError for a stream mode that this server does not have."""
    if unknown := [mode for mode in modes if mode not in STREAM_MODES]:
        raise ConfigError(
            f"This server has no stream mode {unknown[0][:MAX_ID]!r}. Choose some of: {', '.join(STREAM_MODES)}."
        )


async def read_asked_turn(body: GraphRunRequest, threads: Threads, caller: Caller, thread: str | None) -> AskedTurn:
    """The turn that a request asks for. Raises ConfigError, and NotFound for an unknown checkpoint."""
    checkpoint = requested_checkpoint(body.checkpoint, body.checkpoint_id)
    base = None
    if checkpoint and thread:
        base = (
            Snapshot(ROOT, None, ROOT) if checkpoint == ROOT else await snapshot_at(threads, caller, thread, checkpoint)
        )
    if body.command is not None and body.command.resume is not None:
        return await _reply(body.command, threads, caller, thread, base)
    if body.input is None or body.input == RunInput():
        if base is None and thread:
            base = await latest_snapshot(threads, caller, thread)
        return _unanswered(base)
    question, message_id, earlier = _question(body.input)
    if base is not None and any(each["id"] == message_id for each in base.messages):
        # a message of the same id would replace the one that is there
        message_id = ""
    return AskedTurn(question, message_id, () if thread else earlier, base)


def _question(input: RunInput) -> tuple[str, str, tuple[InputMessage, ...]]:
    """The question, the id of its message, and the messages before it."""
    if input.question is not None:
        return input.question, "", ()
    messages = [input.messages] if isinstance(input.messages, InputMessage) else input.messages or []
    if not messages or not is_human(messages[-1]):
        raise ConfigError("There is no question. Send {'question': ...} or messages of which the last is human.")
    return input_text(messages[-1]), messages[-1].id or "", tuple(messages[:-1])


def _unanswered(base: Snapshot | None) -> AskedTurn:
    """The question of a checkpoint at which it is not answered, to be answered again."""
    if base is None or base.question is None:
        raise ConfigError(
            "There is nothing to run. Send an input, or a checkpoint at which the question is not answered yet."
        )
    return AskedTurn(str(base.question["content"]), str(base.question["id"]), (), base)


async def _reply(
    command: RunCommand, threads: Threads, caller: Caller, thread: str | None, base: Snapshot | None
) -> AskedTurn:
    """The reply to what the thread asks back, as its next question: the number or the words of an option."""
    state = base if base is not None else thread and await latest_snapshot(threads, caller, thread)
    if not state or not state.interrupts:
        raise ConfigError("This thread asks nothing back. Send your question as input.")
    return AskedTurn(_reply_text(command.resume, [each["id"] for each in state.interrupts]), "", (), base)


def _reply_text(reply: Any, interrupts: Sequence[str]) -> str:
    """A reply as text: a number, words, or an object that has one of them, by the id of the interrupt or in a list."""
    while True:
        if isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]
        elif isinstance(reply, dict):
            keys = [key for key in (*interrupts, *REPLY_KEYS) if key in reply]
            if not keys:
                break
            reply = reply[keys[0]]
        elif isinstance(reply, str) or (isinstance(reply, int) and not isinstance(reply, bool)):
            return str(reply)
        else:
            break
    raise ConfigError("The reply can't be read. Send the number or the words of an option as resume.")
