"""A turn after others, as the rules of dialogue look at it: FollowUpTurn."""

from typing import NamedTuple

from nacre.language.base import language
from nacre.language.tokens import Token
from nacre.records.turn import EarlierTurn
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.name_candidate import NameCandidate


class FollowUpTurn(NamedTuple):
    """A question with what it names itself and the turns before it, of which there is at least one.

    `question` is without courtesy and in correct spelling, `typed` as the user typed it. `things` are the things that
    the question names.
    """

    question: str
    typed: str
    words: tuple[Token, ...]
    things: tuple[NameCandidate, ...]
    earlier: tuple[EarlierTurn, ...]
    linker: Linker

    @property
    def last(self) -> EarlierTurn:
        return self.earlier[-1]

    @property
    def lead(self) -> str:
        """The opening that only connects the question to the turn before: "what about ", "and "."""
        patterns = language().dialogue
        opening = patterns["about"].match(self.question) or patterns["opener"].match(self.question)
        return opening[0] if opening else ""

    @property
    def phrase(self) -> str:
        """The question without its lead."""
        return self.question[len(self.lead) :]
