"""The branch `sparql`: a reading of the question -> the rows of its plan, by SPARQL, with keys and units."""

from collections.abc import Collection, Mapping

from semantics.on_sparql import Labels
from stores.tables import Tables

BRANCH = "sparql"
# seconds for each query of the likeliest reading, and of one that stands beside it
LIKELIEST, BESIDE = 5.0, 0.5
CHUNK = 500


def labels_of(tables: Tables) -> Labels:
    """How the things of an ingested graph are shown."""

    def labels(iris: Collection[str]) -> Mapping[str, str]:
        connection = tables.trusted()
        found: dict[str, str] = {}
        every = sorted(iris)
        for some in (every[i : i + CHUNK] for i in range(0, len(every), CHUNK)):
            query = f"SELECT iri, label FROM entity WHERE iri IN ({', '.join('?' * len(some))})"
            found.update(connection.execute(query, some))
        return found

    return labels
