"""The engines of the branch `sparql`: a store or an endpoint -> what runs plans as SPARQL."""

from collections.abc import Collection, Mapping

from nacre.plans.run import Engine
from nacre.plans.sparql_engine import LabelLookup, sparql_engine
from nacre.plans.sparql_vocabulary import Vocabulary
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Profile
from nacre.records.schema import Endpoint, Schema
from nacre.stores.sparql_source import OxigraphStore, SparqlSource
from nacre.stores.sqlite.tables import Tables
from nacre.wording.facts import sparql_profile_sentences

BRANCH = "sparql"

# seconds for each query at an endpoint, of the likeliest reading and of the others
ENDPOINT_SECONDS, OTHER_READING_SECONDS = 8.0, 2.0

CHUNK = 500


def ingested_engine(source: OxigraphStore, tables: Tables) -> Engine:
    """The engine that runs plans as SPARQL over the triples of an ingested graph."""
    return sparql_engine(
        source, Vocabulary(tables.schema, source.readings, closed=True), ingested_labels(tables), tables=tables
    )


def endpoint_vocabulary(endpoint: Endpoint, schema: Schema) -> Vocabulary:
    """The vocabulary of an endpoint."""
    return Vocabulary(schema, dialect=endpoint.dialect, factors=endpoint.factors)


def endpoint_engine(source: SparqlSource, endpoint: Endpoint, schema: Schema, labels: LabelLookup) -> Engine:
    """The engine that runs plans at the endpoint of an attached graph."""
    words = endpoint_vocabulary(endpoint, schema)

    def describe(profile: Profile, round: int) -> tuple[EvidenceSentence, ...]:
        return sparql_profile_sentences(profile, source, words, labels, round=round, seconds=ENDPOINT_SECONDS)

    return sparql_engine(
        source, words, labels, describe=describe, seconds=ENDPOINT_SECONDS, alternative_seconds=OTHER_READING_SECONDS
    )


def ingested_labels(tables: Tables) -> LabelLookup:
    """The labels of the things of an ingested graph."""

    def labels(iris: Collection[str]) -> Mapping[str, str]:
        connection = tables.trusted()
        found: dict[str, str] = {}
        every = sorted(iris)
        for some in (every[i : i + CHUNK] for i in range(0, len(every), CHUNK)):
            query = f"SELECT iri, label FROM entity WHERE iri IN ({', '.join('?' * len(some))})"
            found.update(connection.execute(query, some))
        return found

    return labels
