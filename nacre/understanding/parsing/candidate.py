"""One reading of a question with its plan: Candidate."""

from typing import NamedTuple

from nacre.records.plan import Body
from nacre.understanding.question.types import Derivation


class Candidate(NamedTuple):
    """One reading with its plan; `joins` is what its ways cost, `ambiguous` how many ways there were besides.

    `passed` is by how much better names were passed over for the same words, `split` how many names are parts of a
    longer one that was said in full.
    """

    derivation: Derivation
    body: Body
    join_cost: float
    steps: int
    ambiguous: int
    path_choice: int
    name_loss: float = 0.0
    split_names: int = 0
