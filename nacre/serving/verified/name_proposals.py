"""Other names for classes and properties that verified questions teach: listed, and added to the layer of a graph."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nacre.serving.terminal.layer_versions import publish_layer_change
from nacre.serving.terminal.open_library import open_library

if TYPE_CHECKING:
    from ingestion.layer.resolve import Kind
    from ingestion.layer.stored import LayerFiles
    from nacre.config.settings import Settings
    from nacre.stores.graph import Graph
    from nacre.understanding.verified.proposals import NameProposal

# entries that are read, the latest ones (given)
MAX_READ = 500


def graph_proposals(graph: "Graph", owner: str | None = None) -> "tuple[NameProposal, ...]":
    """What the verified questions that are in use teach: those that an owner sees, or all (None). Raises
    sqlite3.Error."""
    from nacre.understanding.linking.linker import linker_of
    from nacre.understanding.verified.proposals import name_proposals

    if graph.verified is None:
        return ()
    entries = graph.verified.listed(graph.name, owner, states=("in use",), limit=MAX_READ)
    return name_proposals(entries, linker_of(graph.lexicon))


def stored_proposals(settings: "Settings", graph: str | None) -> "tuple[str, tuple[NameProposal, ...]]":
    """The name of the graph, and what the latest of its verified questions that are in use teach."""
    with open_library(settings) as library:
        name = library.resolve(graph)
        with library.open(name) as opened:
            return name, graph_proposals(opened)


def add_proposed_names(settings: "Settings", graph: str, proposals: "Sequence[NameProposal]") -> None:
    """Publish a version of the graph in which these names are beside those that people gave before."""
    from ingestion.layer.edit_names import names_from_people, with_names

    with open_library(settings) as library, library.open(graph) as opened:
        classes = {each.iri for each in opened.schema.classes}
    when = datetime.now(UTC).isoformat(timespec="seconds")

    def change(present: "LayerFiles") -> "LayerFiles":
        for each in proposals:
            kind: Kind = "class" if each.iri in classes else "property"
            also = (*names_from_people(present).get((kind, each.iri), ()), each.phrase)
            file = with_names(present, kind, each.iri, also, who="verified questions", when=when)
            present = present.replaced((file,))
        return present

    publish_layer_change(settings, graph, change)
