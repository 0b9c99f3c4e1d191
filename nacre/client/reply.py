"""The answer that a program receives: an answer record -> its parts by name."""

from dataclasses import dataclass

from nacre.records.answer import Answer, Citation, Option, Status, TableRecord, Value


@dataclass(frozen=True)
class Reply:
    """One answer. `record` is the whole record as `nacre ask --json` prints it; the properties are parts of it."""

    record: Answer

    @property
    def text(self) -> str:
        """The answer in words; each [n] is a citation."""
        return self.record["answer"]

    @property
    def values(self) -> list[Value]:
        """The answer as data: names, numbers, dates or booleans."""
        return self.record["values"]

    @property
    def table(self) -> TableRecord | None:
        """`columns` and `rows`, if the answer has several columns."""
        return self.record["table"]

    @property
    def citations(self) -> list[Citation]:
        """The evidence behind each [n]: rows, triples, or a place in a document."""
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
        """The probability that the values are right, None if none was estimated."""
        return self.record["confidence"]

    @property
    def options(self) -> list[Option]:
        """Other readings of the question. In a conversation, its number as the next question chooses one."""
        return self.record["options"]

    @property
    def cited(self) -> str:
        """The answer, followed by its sources, one per line."""
        sources = [f"[{each['n']}] {each['source']}: {' '.join(each['text'].split())}" for each in self.citations]
        return "\n".join([self.text, *sources])

    def __str__(self) -> str:
        return self.text
