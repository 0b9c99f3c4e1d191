"""Apply other layers to a graph that is ingested: version + layers -> a new version, without the source files.

Tables and names are built again from the triples of the version. Passages, documents and the full-text index are
copied: what a layer derives is in the passages after the next ingest.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from ingestion.graph_state import IngestResult
from ingestion.layer.stored import LayerFiles, read_layer_files
from ingestion.pipeline import build_version, embed_graph
from ingestion.publish import exclusive_writer, new_version_id
from ingestion.read.sources import Sources
from ingestion.server.publish_tables import TablesTarget
from ingestion.stages import (
    OVERVIEW,
    TABLES_ONLY,
    TRIPLES,
    Inputs,
    OnStage,
    Parsed,
    PassagesBuilt,
    Stage,
    StageContext,
    server_stage,
)
from ingestion.stored_facts import version_facts
from nacre.errors import ConfigError
from nacre.stores import versions
from nacre.stores.search.vectors import Embedder
from nacre.stores.servers import Servers

# what does not depend on a layer
_KEPT = (versions.PASSAGES, versions.LEXICAL, versions.DOCUMENTS)


def change_layers(
    name: str,
    change: Callable[[LayerFiles], LayerFiles],
    *,
    data: Path,
    server: Servers,
    on_stage: OnStage,
    embedder: Embedder | None = None,
) -> IngestResult:
    """Publish a version of a graph with changed layers; the present one answers until then.

    Raises IngestionError for a layer that can't be applied, and ConfigError for a graph that is attached; the version
    stays as it was.
    """
    home = data / versions.check_name(name)
    with exclusive_writer(home):
        pointer = versions.read_pointer(home)
        if pointer is None:
            raise ConfigError(f"No graph named {name!r} in {data}/. Run: nacre ingest FILE.ttl --graph {name}")
        manifest = versions.read_manifest(home, pointer.version)
        if manifest.attached:
            raise ConfigError(f"Graph {name!r} is attached to {manifest.attached}: its triples are not here.")
        folder = versions.version_folder(home, pointer.version)
        layers = change(read_layer_files(folder))
        inputs = blake2b(f"{manifest.inputs}{layers}".encode(), digest_size=16).hexdigest()
        wanted = replace(manifest, version=new_version_id(datetime.now(UTC), inputs), inputs=inputs)
        kept = [folder / file for file in _KEPT if (folder / file).exists()]

        def read_version(given: Inputs, context: StageContext) -> object:
            return Parsed(given, version_facts(folder, server.databases))

        def keep_passages(built: object, context: StageContext) -> PassagesBuilt:
            return PassagesBuilt(manifest.passages, manifest.texts)

        _, *tables = TABLES_ONLY
        stages = [Stage("read", read_version), *tables, OVERVIEW, Stage("passages", keep_passages)]
        stages += [TRIPLES] if (folder / versions.TRIPLES).is_dir() else []
        if manifest.tables:
            stages.append(server_stage(TablesTarget(manifest.tables, name, server.databases)))
        given = Inputs(Sources(()), (), layers)
        loaded = build_version(home, wanted, given, stages, pointer.without, server, on_stage, kept, pointer.layers)
    if embedder is None or pointer.vectors is None:
        return loaded
    return embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage)
