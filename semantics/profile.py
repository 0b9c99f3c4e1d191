"""Characterise a thing or a group by its facts: Profile -> sentences with their triples."""

from collections.abc import Callable

from records.evidence import Cell, Evidence
from records.plan import Profile
from semantics.to_sql import Statement
from stores.tables import Tables

Run = Callable[[Statement], tuple[list[tuple[Cell, ...]], bool] | None]


def profile_sentences(profile: Profile, tables: Tables, run: Run, round: int) -> list[Evidence]:
    """Sentences about the members of a profile."""
    return []
