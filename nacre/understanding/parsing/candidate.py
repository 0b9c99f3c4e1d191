"""One reading of a question with its plan: Candidate."""

from typing import NamedTuple

from nacre.records.plan import Body
from nacre.understanding.question.types import Derivation


class Candidate(NamedTuple):
    """One reading with its plan.

    `join_cost` is the cost of its paths and `steps` their length, `ambiguous` the number of other paths about as cheap,
    `path_choice` which of them was taken. `name_loss` is by how much better links score for the same words,
    `split_names` how many links are parts of a longer name in the question.
    """

    derivation: Derivation
    body: Body
    join_cost: float
    steps: int
    ambiguous: int
    path_choice: int
    name_loss: float = 0.0
    split_names: int = 0
