"""/api/graphs/{graph}/layer: names of classes and properties; others by callers that may write, in `people.yaml`, with
who and when. The graph answers as before until the new version is complete."""

import logging
import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from ingestion.layer.apply import (
    MAX_NAME,
    MAX_NAMES,
    Named,
    NamedKind,
    names_from_people,
    with_names,
)
from ingestion.layer.layer_file import LayerFile, LayerFiles, read_layer_files
from nacre.errors import ConfigError
from nacre.records.schema import Schema
from nacre.serving.errors import NotFound
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUp, GraphLookUpDep
from nacre.serving.keys import report_deed
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.killable_pool import child_command
from nacre.wording.translations import own_labels

log = logging.getLogger(__name__)

# characters of a question that a word is tried with (given)
MAX_QUESTION = 1000

# the largest graphs take some minutes; a change waits a while for the one before it (given)
APPLY_SECONDS, WAIT_SECONDS = 1800, 20

# a layer needs this right
WRITE = "write"

router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)


@dataclass(frozen=True)
class TermNames:
    """One class or property, or a thing or value that callers named: what it is called, and what else it is called.
    `given`: the other names that callers gave. `count`: members or triples. A `value` is one of the property `iri`."""

    iri: str
    kind: NamedKind
    name: str
    also: tuple[str, ...]
    count: int
    hidden: bool = False
    derived: bool = False
    given: tuple[str, ...] = ()
    value: str = ""


@dataclass(frozen=True)
class GraphNames:
    """All classes and properties, the most frequent first, and what callers named. `files` are the applied layers;
    `may_write`: whether this caller may change names; `problem` says why the last change failed; `busy`: one is being
    applied."""

    graph: str
    version: str
    terms: tuple[TermNames, ...]
    files: tuple[str, ...]
    may_write: bool
    busy: bool = False
    problem: str = ""


class NamesChange(BaseModel):
    """Other names of a class, property, thing or value; they replace those that callers gave before."""

    iri: str = Field(max_length=2000)
    value: str = Field("", max_length=2000)
    also: list[Annotated[str, Field(max_length=MAX_NAME)]] = Field(max_length=MAX_NAMES)


class _Changes:
    """Which graphs are being changed by this process, and why the last change of a graph failed."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._problems: dict[str, str | None] = {}  # None while a change is applied

    def start(self, data: Path, graph: str, file: LayerFile) -> None:
        """Apply a layer in a process of its own; raises ConfigError while another one is applied."""
        with self._lock:
            if self.state(graph)[0]:
                raise ConfigError("The last change of names is still being applied. Try again in a moment.")
            self._problems[graph] = None
        threading.Thread(target=self._apply, args=(data, graph, file), daemon=True).start()

    def wait(self, graph: str) -> None:
        """Wait for a change that is being applied."""
        with self._lock:
            self._lock.wait_for(lambda: not self.state(graph)[0], WAIT_SECONDS)

    def state(self, graph: str) -> tuple[bool, str]:
        """Whether a change is being applied, and why the last one failed."""
        problem = self._problems.get(graph, "")
        return problem is None, problem or ""

    def _apply(self, data: Path, graph: str, file: LayerFile) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="nacre-layer-") as folder:
                path = Path(folder) / file.name
                path.write_text(file.text, encoding="utf-8")
                command = child_command(APPLY_SECONDS, "nacre", "layer", "apply", str(path), "--graph", graph)
                run = subprocess.run(
                    command, env=os.environ | {"NACRE_DATA": str(data)}, capture_output=True, text=True, check=False
                )
            problem = (run.stderr.strip().splitlines() or ["it failed"])[-1] if run.returncode else ""
        except OSError as error:
            problem = f"it could not be run: {type(error).__name__}"
        if problem:
            log.error("names of %s were not applied: %s", graph, problem)
        with self._lock:
            self._problems[graph] = "The names were not applied; the log of the server says why." if problem else ""
            self._lock.notify_all()


_changes = _Changes()


@router.get("/{graph}/layer", summary="List what classes and properties are called")
def graph_names(look_up: GraphLookUpDep, language: Literal["en", "de", "fr"] = "en") -> GraphNames:
    """Names and other names of all classes and properties, those in `language` first, and the applied layers."""
    busy, problem = _changes.state(look_up.graph)
    with look_up.open() as opened:
        version = opened.version
        layers = read_layer_files(versions.version_folder(look_up.library.data / look_up.graph, version))
        given = names_from_people(layers)
        found = _terms(opened.schema, language)
        terms = [replace(each, given=given.get(Named(each.kind, each.iri), ())) for each in found]
        for of, also in given.items():
            if of.kind in ("thing", "value", "rewording"):
                name = of.value or getattr(opened.lexicon.thing(of.iri), "label", of.iri)
                terms.append(TermNames(of.iri, of.kind, name, also, 0, given=also, value=of.value))
    files = tuple(each.name for each in layers.files)
    return GraphNames(look_up.graph, version, tuple(terms), files, WRITE in look_up.caller.may, busy, problem)


def require_names_right(look_up: GraphLookUp) -> None:
    """Wait for an earlier change of the graph; raise Forbidden for a key that may not change names."""
    look_up.caller.require(WRITE, "change names")
    _changes.wait(look_up.graph)


@router.post("/{graph}/layer", summary="Give a class or property other names", status_code=202)
def change_names(look_up: GraphLookUpDep, change: NamesChange) -> GraphNames:
    """Save other names of one class, property, thing or value and apply them. Needs a key with the right `write`."""
    require_names_right(look_up)
    with look_up.open() as opened:
        layers, sign = signed_layers(look_up, opened)
        given = names_from_people(layers)
        of = Named("value" if change.value else "thing", change.iri, change.value)
        if of not in given and (of := Named("rewording", change.iri)) not in given:
            if change.iri not in opened.schema.class_of and change.iri not in opened.schema.predicate_of:
                raise NotFound(f"No class or property {change.iri[:200]!r} in graph {look_up.graph!r}.")
            of = Named("class" if change.iri in opened.schema.class_of else "property", change.iri)
    return start_change(look_up, with_names(layers, of, change.also, **sign))


def signed_layers(look_up: GraphLookUp, opened: Graph) -> tuple[LayerFiles, dict[str, str]]:
    """The layers of an open graph, and who changes them when."""
    folder = versions.version_folder(look_up.library.data / look_up.graph, opened.version)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    return read_layer_files(folder), {"who": look_up.caller.owner, "when": when}


def start_change(look_up: GraphLookUp, file: LayerFile) -> GraphNames:
    """Apply a changed layer in the background; the names meanwhile."""
    _changes.start(look_up.library.data, look_up.graph, file)
    report_deed(look_up.caller, "changed names", graph=look_up.graph)
    return graph_names(look_up)


def _terms(schema: Schema, language: str) -> tuple[TermNames, ...]:
    classes = [
        TermNames(c.iri, "class", *own_labels(c.label, c.alt_labels, language), c.count, c.hidden, bool(c.pattern))
        for c in schema.classes
    ]
    properties = [
        TermNames(
            p.iri, "property", *own_labels(p.label, p.alt_labels, language), p.triples, p.hidden, bool(p.patterns)
        )
        for p in schema.predicates
        if p.role not in ("type", "schema")
    ]
    return (*classes, *sorted(properties, key=lambda term: (-term.count, term.name)))
