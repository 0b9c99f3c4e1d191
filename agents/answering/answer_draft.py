"""An answer before it is written: AnswerDraft."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.answer import Status, Value
from nacre.records.turn import Reading

# a sentence with the indexes of the evidence that it rests on
CitedSentence = tuple[str, tuple[int, ...]]
# what an answer lacks: nothing, that its rows are sure, words that they leave out, or everything
Lack = Literal["", "certainty", "words", "everything"]


@dataclass(frozen=True)
class AnswerDraft:
    """The whole answer: its sentences in order, its status, and the values as data.

    `table` is the index of the evidence whose rows the values are, if any. `disputed` are those of the sentences that
    say what other evidence gives instead. `options` are readings as good as the one that is answered; they are offered
    at the end, by `offer` in another language than English. Without options `confirm` is the reading to be confirmed;
    `doubt` is a further doubt. `columns` and `rows` are an answer of several columns as a table. `translated` are the
    first sentences in the language of the question. `things` are the IRIs and labels of the things that the answer is
    about, if no table has them; `topic` is the reading that asks for everything about them.
    """

    sentences: tuple[CitedSentence, ...]
    status: Status
    confidence: float | None = None
    values: tuple[Value, ...] = ()
    unit: str | None = None
    reason: str | None = None
    caveats: tuple[str, ...] = ()
    table: int | None = None
    disputed: tuple[CitedSentence, ...] = ()
    options: tuple[Reading, ...] = ()
    offer: str = ""
    confirm: str = ""
    doubt: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()
    translated: tuple[str, ...] = ()
    things: tuple[tuple[str, str], ...] = ()
    topic: Reading | None = None
