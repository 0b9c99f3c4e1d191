"""What is prepared for questions about a graph as a whole: GraphOverview."""

from dataclasses import dataclass

from nacre.records.evidence import EvidenceSentence


@dataclass(frozen=True)
class GraphOverview:
    """Remarkable facts of a graph, the spans of its dates and numbers, and questions that it answers."""

    highlights: tuple[EvidenceSentence, ...] = ()
    spans: tuple[EvidenceSentence, ...] = ()
    examples: tuple[str, ...] = ()
