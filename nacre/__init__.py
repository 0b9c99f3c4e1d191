"""Nacre answers questions about RDF graphs, with citations. Start with `from nacre import Nacre`.

Packages, each of which imports only from those below it:

    serving        command line, HTTP API, web page, OpenAI API, MCP, LangServe
    evaluation     question files and scores
    access         open databases as users browse and query them; labels, derivations, citations
    understanding  a question -> a plan
    wording        rows -> English
    checking       claims of a text against evidence
    plans          a plan -> SQL, SPARQL, triple patterns; execution and provenance
    extraction     triples from texts
    language       tokens, word forms, quantities, dates; the data of English
    stores         SQLite, Qdrant, tantivy, lexicon, versions, conversations
    records        frozen records that the packages exchange
    config         settings and the models that they name
    errors         the families of errors

`extensions` has what the core does without: the Python client, databases, tables on a server, several
servers, further protocols.
The top-level packages `graph`, `ingestion`, `agents` and `tools` belong to the same tree.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nacre.errors import NacreError
    from nacre.extensions.client.facade import AsyncStream, Chat, Graph, Nacre, Reply, Stream

__all__ = ["AsyncStream", "Chat", "Graph", "Nacre", "NacreError", "Reply", "Stream"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'nacre' has no attribute {name!r}")
    from importlib import import_module

    # on first use, so that `import nacre` stays fast
    module = "nacre.errors" if name == "NacreError" else "nacre.extensions.client.facade"
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
