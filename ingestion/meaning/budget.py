"""The work and the triples that a rule may take: a multiple of what was read -> RuleStopped beyond it."""

# steps of a rule for each read triple and besides: three million take 3 to 10 s (measured)
STEPS_PER_TRIPLE, FREE_STEPS = 100, 3_000_000
# triples and memberships that all rules derive, for each read triple and besides: real graphs have up to ten (given)
DERIVED_PER_TRIPLE, FREE_DERIVED = 30, 1_000_000


class RuleStopped(Exception):
    """A rule would take too much; the message says what of."""


class RuleBudget:
    """What a rule may still take."""

    def __init__(self, triples: int) -> None:
        self._triples = triples
        self.most_derived = FREE_DERIVED + DERIVED_PER_TRIPLE * triples
        self._left = self._most_steps = FREE_STEPS + STEPS_PER_TRIPLE * triples

    def renew(self) -> None:
        """Give the next rule all steps."""
        self._left = self._most_steps

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises RuleStopped if there are none left."""
        self._left -= steps
        if self._left < 0:
            raise RuleStopped(f"more than {self._most_steps:,} steps")

    def check_derived(self, count: int) -> None:
        """Raise RuleStopped if so many derived triples are too many."""
        if count > self.most_derived:
            raise RuleStopped(f"more than {self.most_derived:,} derived triples")
