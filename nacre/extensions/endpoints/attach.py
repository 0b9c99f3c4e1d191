"""Attach a graph to a SPARQL endpoint: address -> a published version with only its schema, and a summary of it.

First what the command line and the page call, for `nacre attach`, `nacre layer` and the form; then the version."""

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from fastapi import FastAPI

from ingestion.index.lexicon import schema_names
from ingestion.layer.apply import LayerReport
from ingestion.layer.layer_file import LayerFiles, load_layer_files, read_layer_files, write_layer_files
from ingestion.layer.resolve import Problem
from ingestion.stages import (
    NO_PROGRESS,
    OnStage,
    build_folder,
    exclusive_writer,
    new_version_id,
    publish_version,
    report_write_errors,
)
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extensions.endpoints.apply_layer import apply_endpoint_layers, check_endpoint_layers
from nacre.extensions.endpoints.describe_endpoint import EndpointDescription, describe_endpoint
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.extensions.endpoints.probe import (
    Budget,
    BudgetedEndpoint,
    detect_text_search,
    frequent_words,
    probe_endpoint,
)
from nacre.language.tokens import word_forms
from nacre.records.json_form import from_json, json_text
from nacre.records.schema import Endpoint, Schema
from nacre.serving.cli.ingest import print_classes, show_progress
from nacre.serving.cli.options import print_change, recheck_verified_questions
from nacre.serving.cli.turn_display import print_line
from nacre.serving.page.pages import PageFiles
from nacre.stores import versions
from nacre.stores.addresses import EndpointLimits, configured_limits
from nacre.stores.catalog import Servers
from nacre.stores.sqlite.lexicon import lexicon_row, write_lexicon
from nacre.stores.versions import Manifest


def attach(
    url: str | None,
    graph: str,
    settings: Settings,
    named_graphs: Sequence[str],
    layer: Sequence[Path],
    *,
    packs: bool,
    budget: tuple[int, float],
) -> None:
    """Attach an endpoint, or the known one again, by at most so many queries in so many seconds."""
    layers, graphs = load_layer_files(layer, packs=packs), tuple(named_graphs)
    if url is None:
        present, previous = attached_layers(graph, settings.data), attached_endpoint(graph, settings.data)
        layers = replace(present.replaced(layers.files), packs=present.packs and packs)
        url, graphs = previous.url, graphs or previous.graphs
    limits = configured_limits(settings)(url)
    with show_progress() as on_stage:
        result = attach_endpoint(
            url,
            graph,
            data=settings.data,
            graphs=graphs,
            manners=limits,
            budget=Budget(*budget),
            layers=layers,
            on_stage=on_stage,
        )
    _print_summary(result)


def change_layers(graph: str, change: Callable[[LayerFiles], LayerFiles], settings: Settings) -> None:
    """Publish a version of an attached graph with changed layers."""
    attached = change_attached_layers(graph, change, data=settings.data, limits=configured_limits(settings))
    for problem in attached.problems:
        print_line(f"warning: {problem}")
    print_change(graph, attached.version, attached.endpoint.seconds)
    recheck_verified_questions(settings, graph)


@dataclass(frozen=True)
class AttachedGraph:
    """The result of attaching: the version, its schema, and the endpoint with what was found out about it. `sampled`:
    the endpoint could not list its classes in time."""

    name: str
    version: str
    schema: Schema
    endpoint: Endpoint
    problems: tuple[Problem, ...] = ()
    sampled: bool = False


def _print_summary(result: AttachedGraph) -> None:
    schema, endpoint = result.schema, result.endpoint
    print_line(f"'{result.name}' is now version {result.version}, attached to {endpoint.url}.")
    print_classes(schema)
    search = f"the text search of {endpoint.search}" if endpoint.search else "filters on whole and partial names"
    print_line(
        f"{schema.triples:,} triples, {len(schema.shown_predicates)} properties; names are searched by {search}."
    )
    derived = sum(bool(p.patterns) for p in schema.predicates) + sum(bool(c.pattern) for c in schema.classes)
    if derived:
        print_line(f"{derived} classes and properties are derived by layers; questions ask for what they stand for.")
    if result.sampled:
        print_line(
            "The endpoint could not list its classes in time, so these are the classes of a sample. Give it more time "
            "with --seconds, or name its graphs with --named-graph."
        )
    for problem in result.problems:
        print_line(f"warning: {problem}")
    print_line(f"{endpoint.queries} queries, {endpoint.seconds:.1f} s")


def add_form(app: FastAPI, *, alone: bool) -> None:
    """Add the form of the page, which asks for /api/attachments."""
    app.state.attaches = True
    app.mount("/attach/files", PageFiles(directory=str(Path(__file__).with_name("static"))))


log = logging.getLogger(__name__)

NOT_LOCAL = "the graph lies behind {}, and Nacre keeps no {} of it"

_LACKS = {"sql": "tables", "vector": "passages", "lexical": "passages"}

PROBE_SECONDS = 15.0


def attach_endpoint(
    url: str,
    name: str,
    *,
    data: Path,
    graphs: Sequence[str] = (),
    manners: EndpointLimits = EndpointLimits(),  # noqa: B008 (immutable)
    budget: Budget = Budget(),  # noqa: B008 (immutable)
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
    on_stage: OnStage = NO_PROGRESS,
) -> AttachedGraph:
    """Make the endpoint at `url` (of these named graphs) the content of graph `name`.

    Only names of classes and properties, counts and sample values are copied. What `layers` derive is asked for by
    their patterns; an entry that the endpoint can't do is left out with a warning. Raises IngestionError if the
    endpoint does not answer or has no classes; an earlier version then stays.
    """
    home = data / versions.check_name(name)
    with closing(EndpointSource(url, graphs, manners)) as source:
        _check_answers(source)
        budgeted = BudgetedEndpoint(source, budget)
        on_stage("schema", 0, 0)
        probed = probe_endpoint(budgeted)
        layer = apply_endpoint_layers(budgeted, probed, layers)
        described = describe_endpoint(layer.probed, layer.naming, layer.patterns)
        described = described._replace(schema=layer.shown(described.schema))
        if not described.schema.classes:
            raise IngestionError(f"{url} shows no things of a class. Name its graphs with --named-graph IRI.")
        stored = tuple(iri for iri in described.names if iri not in layer.patterns)
        search = detect_text_search(budgeted, stored)
        frequent = frequent_words(budgeted, described.schema, stored)
    found = Endpoint(
        url,
        tuple(graphs),
        search,
        described.names,
        described.spaces,
        described.unnamed,
        frequent,
        "virtuoso" if "virtuoso" in source.server.lower() else "",
        described.factors,
        budgeted.asked,
        round(budgeted.seconds, 2),
    )
    for problem in layer.problems:
        log.warning("%s", problem)
    log.info("attached %s: %d queries (%d failed), %.1f s", url, budgeted.asked, budgeted.failed, budgeted.seconds)
    inputs = blake2b(f"{url}\n{graphs}\n{layers}".encode(), digest_size=16).hexdigest()
    unavailable = {branch: NOT_LOCAL.format(url, what) for branch, what in _LACKS.items()}
    manifest = Manifest(new_version_id(datetime.now(UTC), inputs), inputs=inputs, unavailable=unavailable, endpoint=url)
    with exclusive_writer(home):
        with report_write_errors(home):
            versions.remove_damaged_pointer(home)
        with build_folder(home, versions.version_folder(home, manifest.version), Servers()) as folder:
            with report_write_errors(home):
                write_endpoint(folder, found, described)
                write_layer_files(folder, layers)
            publish_version(home, folder, manifest, unavailable["vector"])
    return AttachedGraph(name, manifest.version, described.schema, found, tuple(layer.problems), probed.sampled)


def change_attached_layers(
    name: str,
    change: Callable[[LayerFiles], LayerFiles],
    *,
    data: Path,
    limits: Callable[[str], EndpointLimits],
) -> AttachedGraph:
    """Publish a version of an attached graph with changed layers; its schema is read again."""
    known, layers = attached_endpoint(name, data), change(attached_layers(name, data))
    return attach_endpoint(known.url, name, data=data, graphs=known.graphs, manners=limits(known.url), layers=layers)


def check_attached_layers(
    name: str,
    files: LayerFiles,
    *,
    data: Path,
    limits: Callable[[str], EndpointLimits],
    budget: Budget = Budget(),  # noqa: B008 (immutable)
) -> LayerReport:
    """What each entry of the layers gives at the endpoint of an attached graph; nothing is written."""
    known = attached_endpoint(name, data)
    with closing(EndpointSource(known.url, known.graphs, limits(known.url))) as source:
        _check_answers(source)
        return check_endpoint_layers(BudgetedEndpoint(source, budget), files)


def attached_layers(name: str, data: Path) -> LayerFiles:
    """The layers of an attached graph."""
    home = data / versions.check_name(name)
    version = versions.current_version(home)
    return read_layer_files(versions.version_folder(home, version)) if version is not None else LayerFiles()


def attached_endpoint(name: str, data: Path) -> Endpoint:
    """The endpoint that a graph is attached to; raises ConfigError if it is not attached."""
    home = data / versions.check_name(name)
    version = versions.current_version(home)
    if version is None or not versions.read_manifest(home, version).endpoint:
        raise ConfigError(f"Graph {name!r} is attached to no endpoint. Run: nacre attach URL --graph {name}")
    file = versions.version_folder(home, version) / versions.ENDPOINT
    return from_json(Endpoint, json.loads(file.read_text(encoding="utf-8")))


def write_endpoint(folder: Path, endpoint: Endpoint, described: EndpointDescription) -> None:
    """Write the files of an attached version: endpoint, schema, and the names of classes and properties."""
    (folder / versions.ENDPOINT).write_text(json_text(endpoint) + "\n", encoding="utf-8")
    (folder / versions.SCHEMA).write_text(json_text(described.schema) + "\n", encoding="utf-8")
    names = sorted(
        {lexicon_row(name) for name in schema_names(described.schema) if name.tokens}, key=lambda each: each[1:]
    )
    write_lexicon(folder / versions.LEXICON, names, described.facts, described.links, word_forms)


def _check_answers(source: EndpointSource) -> None:
    try:
        source.select("SELECT ?s WHERE { ?s ?p ?o } LIMIT 1", limit=1, seconds=PROBE_SECONDS)
    except ToolError as error:
        raise IngestionError(f"{error} Nothing was attached.") from error
