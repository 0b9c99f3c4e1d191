"""A question -> one SPARQL query that alone gives the answer: that of its likeliest reading, after running."""

from agents.answering.trust import DECLINED, chance
from agents.off_loop import off_loop
from agents.query_writer import by_rules
from agents.turn_view import asked
from graph.database import database
from nacre.config.settings import Settings
from nacre.records.errors import ToolError
from nacre.records.evidence import Rows
from nacre.records.turn import Rewrite
from nacre.semantics.sparql_pattern import Vocabulary
from nacre.semantics.to_sparql import query_of
from nacre.semantics.understand import understand
from nacre.stores.catalog import Graph
from tools.apart import Apart
from tools.sparql_guard import guard_sparql


async def text2sparql(question: str, graph: Graph, settings: Settings, apart: Apart) -> str:
    """The query in terms of the data as it was given, to be asked of any endpoint that has it.

    Raises ToolError: `empty` where the question gives no query that is likely enough, `refused` where its answer is
    prose.
    """
    understanding = await off_loop(understand, Rewrite(question), graph.schema, graph.lexicon)
    found = (await by_rules(asked(question, understanding), database(graph, settings, apart))).value
    likely = [each for each in found.evidence if isinstance(each, Rows) and each.reading is not None]
    best = max(likely, key=lambda each: chance(understanding, each), default=None)
    if best is None or best.reading is None or chance(understanding, best) < DECLINED:
        raise ToolError("empty", "This question gives no query. Name what the graph knows in other words.")
    query = query_of(understanding.readings[best.reading].plan, Vocabulary(graph.schema))
    guard_sparql(query, graph.schema, limit=settings.row_limit)
    return query
