"""Run a plan and say what it asks: Plan + Engine -> rows, the queries that ran, and sentences of descriptions."""

from nacre.plans.run import Engine, QueryRunner, run_body, tables_engine
from nacre.records.evidence import Evidence, Query, Table
from nacre.records.plan import Overview, Plan, Profile
from nacre.stores.sqlite.tables import Tables
from nacre.wording.descriptions.profile import profile_sentences
from nacre.wording.overview.overview import overview_sentences
from nacre.wording.phrases.plan import verbalise_plan


def run_plan(
    plan: Plan, engine: Engine | Tables, *, round: int, words: str = "", is_alternative: bool = False
) -> tuple[Table | None, tuple[Query, ...], tuple[Evidence, ...]]:
    """The rows of a plan, its queries, and for a description its sentences.

    `words` are the plan's words, if they are known already. An alternative reading gets a smaller budget.
    """
    engine = tables_engine(engine) if isinstance(engine, Tables) else engine
    words = words or verbalise_plan(plan, engine.schema)
    body = plan.body
    if isinstance(body, Profile):
        if engine.tables is None:
            return None, (), engine.describe(body, round)
        described = QueryRunner(tables_engine(engine.tables), words, round, is_alternative)
        evidence = profile_sentences(body, engine.tables, described.run, round)
        return None, tuple(described.queries), tuple(evidence)
    if isinstance(body, Overview):
        return None, (), overview_sentences(body.wanted, engine, round)
    table, queries = run_body(body, engine, words=words, round=round, is_alternative=is_alternative)
    return table, queries, ()
