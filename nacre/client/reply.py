"""What a program gets for a question: an answer record -> its parts by name."""

from dataclasses import dataclass

from nacre.records.answer import Answer, Citation, Option, Status, TableRecord, Value


@dataclass(frozen=True)
class Reply:
    """One answer. `record` is all of it, as `nacre ask --json` prints it; the rest are its parts by name."""

    record: Answer

    @property
    def text(self) -> str:
        """The answer in words; each [n] is a citation."""
        return self.record["answer"]

    @property
    def values(self) -> list[Value]:
        """The answer as data: names, numbers, dates, yes or no."""
        return self.record["values"]

    @property
    def table(self) -> TableRecord | None:
        """`columns` and `rows`, where the answer has several columns."""
        return self.record["table"]

    @property
    def citations(self) -> list[Citation]:
        """What each [n] rests on: rows, triples, or a place in a text."""
        return self.record["citations"]

    @property
    def unit(self) -> str | None:
        """The unit of the numbers in `values`."""
        return self.record["unit"]

    @property
    def status(self) -> Status:
        """answered, partial, clarify, not_in_graph, not_understood or failed."""
        return self.record["status"]

    @property
    def confidence(self) -> float | None:
        """The probability that the values are right, None where nothing was weighed."""
        return self.record["confidence"]

    @property
    def options(self) -> list[Option]:
        """Other readings of the question; in a conversation, the number of one chooses it."""
        return self.record["options"]

    @property
    def cited(self) -> str:
        """The answer with its sources below it, one a line."""
        sources = [f"[{each['n']}] {each['source']}: {' '.join(each['text'].split())}" for each in self.citations]
        return "\n".join([self.text, *sources])

    def __str__(self) -> str:
        return self.text
