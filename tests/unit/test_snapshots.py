"""Stored checkpoints as the tree of states that chat pages draw."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from nacre.extensions.langgraph_api.thread_states import ROOT, Snapshot, read_snapshots
from nacre.stores.state.checkpoints import StoredCheckpoint


def thread(*names: str) -> list[BaseMessage]:
    """Messages named q... are questions, the others answers."""
    return [(HumanMessage if name[0] == "q" else AIMessage)(f"text of {name}", id=name) for name in names]


class Store:
    """Checkpoints in the order of writing, and what loads them."""

    def __init__(self) -> None:
        self.rows: list[StoredCheckpoint] = []
        self._loaded: dict[bytes, Any] = {}

    def put(
        self, id: str, parent: str | None, messages: Sequence[BaseMessage], at: str = "", stopped: str = ""
    ) -> None:
        """`stopped` is the run that was stopped before it answered the last message."""
        content = id.encode()
        state: dict[str, Any] = {"messages": messages, "turn": len(messages) // 2, "earlier": ["not shown"]}
        if stopped:
            state["unanswered"] = {"message": messages[-1].id, "run": stopped, "graph": "g"}
        self._loaded[content] = {"ts": at or f"at {id}", "channel_values": state}
        self.rows.insert(0, StoredCheckpoint(id, parent, "msgpack", content))

    def read(self) -> list[Snapshot]:
        return read_snapshots(self.rows, lambda typed: self._loaded[typed[1]])


def test_a_turn_has_a_state_before_and_one_after_its_answer() -> None:
    store = Store()
    store.put("c1", None, thread("q1", "a1"))
    store.put("c2", "c1", thread("q1", "a1", "q2", "a2"))
    states = store.read()
    assert [len(each.messages) for each in states] == [4, 3, 2, 1, 0]
    assert [each.parent for each in states] == [each.id for each in states[1:]] + [None]
    assert (states[0].id, states[2].id, states[4].id) == ("c2", "c1", ROOT)
    assert [each.base for each in states] == ["c2", "c1", "c1", ROOT, ROOT]
    assert states[1].question is not None
    assert states[1].question["id"] == "q2"
    assert [bool(each.next) for each in states] == [False, True, False, True, True]
    assert "earlier" not in states[0].values


def test_answers_to_one_question_share_its_state_and_an_edited_question_does_not() -> None:
    store = Store()
    store.put("c1", None, thread("q1", "a1"))
    store.put("c2", "c1", thread("q1", "a1", "q2", "a2"))
    store.put("c2b", "c1", thread("q1", "a1", "q2", "a2b"))
    store.put("c2c", "c1", thread("q1", "a1", "q2c", "a2c"))
    states = {each.id: each for each in store.read()}
    assert states["c2"].parent == states["c2b"].parent != states["c2c"].parent
    questions = {states[name].parent or "" for name in ("c2", "c2c")}
    assert {states[each].parent for each in questions} == {"c1"}
    order = list(states)
    assert order[0] == "c2c"
    # a state stands after all that follow from it
    assert all(order.index(each.id) < order.index(each.parent) for each in states.values() if each.parent)


def test_what_a_failed_turn_leaves_is_not_shown() -> None:
    store = Store()
    store.put("c1", None, thread("q1", "a1"))
    store.put("c2", "c1", thread("q1", "a1", "q2", "a2"))
    store.put("half", "c1", thread("q1", "a1", "q3"))
    store.put("copy", "c1", thread("q1", "a1", "q2", "a2"), at="at c2")
    store.put("c3", "copy", thread("q1", "a1", "q2", "a2", "q4", "a4"))
    states = store.read()
    assert [each.id for each in states if not each.next] == ["c3", "c2", "c1"]
    assert states[1].base == "c2"


def test_a_thread_whose_beginning_is_not_stored_begins_with_an_answer() -> None:
    store = Store()
    store.put("c5", "c4", thread("q1", "a1", "q2", "a2"))
    store.put("c6", "c5", thread("q1", "a1", "q2", "a2", "q3", "a3"))
    states = store.read()
    assert [each.id for each in states if not each.next] == ["c6", "c5"]
    assert states[-1].parent is None


def test_the_question_of_a_stopped_turn_is_the_latest_state() -> None:
    store = Store()
    store.put("c1", None, thread("q1", "a1"))
    store.put("x2", "c1", thread("q1", "a1", "q2"), stopped="r2")
    latest, answered, *_ = store.read()
    assert [each["id"] for each in latest.messages] == ["q1", "a1", "q2"]
    assert (latest.run, latest.next, latest.interrupts) == ("r2", ["rewriter"], [])
    assert (latest.parent, latest.base, answered.id) == ("c1", "c1", "c1")
    # a copy that a failed turn leaves is the same state
    store.put("copy", "c1", thread("q1", "a1", "q2"), at="at x2", stopped="r2")
    assert [each.id for each in store.read()] == [each.id for each in [latest, *store.read()[1:]]]


def test_a_stopped_question_that_is_asked_again_stays_one_state() -> None:
    store = Store()
    store.put("x1", None, thread("q1"), stopped="r1")
    store.put("x2", "x1", thread("q1"), stopped="r2")
    (stopped, root) = store.read()
    assert (stopped.run, stopped.base, root.id) == ("r2", ROOT, ROOT)
    # answered by the same conversation, and by a run from its state
    for number, parent in ((2, "x2"), (3, None)):
        store.put(f"c{number}", parent, thread("q1", f"a{number}"))
        states = store.read()
        assert [len(each.messages) for each in states] == [2] * (number - 1) + [1, 0]
        assert {each.parent for each in states[:-2]} == {stopped.id}


def test_a_conversation_goes_on_after_a_stopped_question() -> None:
    store = Store()
    store.put("x1", None, thread("q1"), stopped="r1")
    store.put("c2", "x1", thread("q1", "q2", "a2"))
    states = store.read()
    assert [len(each.messages) for each in states] == [3, 2, 1, 0]
    assert [each.parent for each in states] == [each.id for each in states[1:]] + [None]
    assert [each.base for each in states] == ["c2", "x1", ROOT, ROOT]


def test_a_checkpoint_in_the_middle_of_a_turn_after_a_stopped_one_is_not_shown() -> None:
    store = Store()
    store.put("x1", None, thread("q1"), stopped="r1")
    state = store._loaded[b"x1"]["channel_values"]
    store.put("half", "x1", thread("q1", "q2"))
    store._loaded[b"half"]["channel_values"]["unanswered"] = state["unanswered"]
    assert [len(each.messages) for each in store.read()] == [1, 0]
