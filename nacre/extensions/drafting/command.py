"""`nacre layer draft`: settings + version -> a file, with the progress and the cost.

`nacre layer schema`: the JSON Schema of layer files, with which editors complete them."""

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.model_calls import ModelFailed
from agents.model_priors import model_limits
from ingestion.layer.apply import suggest_annotations
from ingestion.layer.entries import DATE_ORDERS
from ingestion.report import version_facts
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.drafting.draft_layer import (
    LayerDraft,
    LayerDrafter,
    add_to_text,
    describe_graph,
    draft_layer,
    plan_calls,
)
from nacre.serving.cli.turn_display import print_line
from nacre.stores import versions
from nacre.stores.sqlite.tables import Tables

# a draft is longer than a query
DRAFT_TOKENS, DRAFT_SECONDS = 16_000, 600.0

MAX_QUESTIONS = 100

MAX_LISTED = 20


def write_draft(settings: Settings, folder: Path, out: Path, questions: Path | None, tokens: int) -> None:
    """Draft and write. A file that exists is added to."""
    asked = _questions(questions) if questions is not None else []
    drafter = _drafter(settings)
    if drafter is None:
        _write_template(folder, out)
        return
    facts = version_facts(folder)
    text = describe_graph(facts)
    calls, rest = plan_calls(text, tokens)
    characters = sum(map(len, calls))
    print_line(
        f"About {2 * len(calls)} calls, at most {characters // 2:,} tokens read"
        + (f"; {rest:,} classes are left out (--tokens shows more)." if rest else ".")
    )
    before = out.read_text(encoding="utf-8") if out.exists() else ""

    def keep(draft: LayerDraft, progress: str) -> None:
        sys.stderr.write(f"{progress}\n")
        out.write_text(add_to_text(before, draft.sections), encoding="utf-8")

    try:
        draft = asyncio.run(draft_layer(facts, text, drafter, tokens=tokens, questions=asked, on_draft=keep))
    except ModelFailed as failed:
        raise ConfigError(f"The model failed: {failed.why}. What was drafted before is in {out}.") from None
    _print_result(draft, out)


def _print_result(draft: LayerDraft, out: Path) -> None:
    for failed in draft.failed[:MAX_LISTED]:
        print_line(f"left out: {failed.text[:100]}: {failed.reason}")
    usage = draft.usage
    cost = f", {usage.price:.3f} US dollars" if usage.price else ""
    count = sum(len(entries) for name, entries in draft.sections.items() if name != "prefixes")
    print_line(
        f"{out}: {count} entries, {len(draft.failed)} left out; {usage.calls} calls, {usage.input:,} tokens read,"
        f" {usage.output:,} written{cost}. Next: nacre layer check {out}, then nacre layer apply {out}"
    )


def _drafter(settings: Settings) -> LayerDrafter | None:
    longer = settings.model_copy(
        update={
            "model_tokens": max(settings.model_tokens, DRAFT_TOKENS),
            "model_seconds": max(settings.model_seconds, DRAFT_SECONDS),
        }
    )
    model = chat_model(longer, "sql")
    return None if model is None else LayerDrafter(model, model_limits(longer))


def _write_template(folder: Path, out: Path) -> None:
    """What the rules know, commented out, for a person to fill in."""
    if out.exists():
        raise ConfigError(f"{out} exists, and only a model can add to it. Set NACRE_MODEL, or give another --out.")
    with closing(Tables(folder / versions.TABLES)) as tables:
        out.write_text(suggest_annotations(tables.schema), encoding="utf-8")
    print_line(f"No model is configured (NACRE_MODEL), so {out} is a template: all names, commented out.")


def _questions(path: Path) -> list[str]:
    """The questions of a file: lines, or JSON Lines with a field `question`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read ({error}).") from None
    found = []
    for line in filter(str.strip, lines):
        try:
            data = json.loads(line)
        except ValueError:
            data = line.strip()
        found.append(str(data.get("question", "")) if isinstance(data, dict) else str(data))
    return [question for question in found if question][:MAX_QUESTIONS]


_TEXT: dict[str, Any] = {"type": ["string", "number"]}

_TEXTS: dict[str, Any] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}

_FLAG = {"type": "boolean"}


def layer_json_schema() -> dict[str, Any]:
    """The schema of one file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Nacre semantic layer",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "prefixes": {"type": "object", "additionalProperties": _TEXT},
            "namespaces": _described(_TEXTS, "Packs only: the namespaces that the layer is about."),
            "extends": _described(_TEXTS, "Files beside this one, which are read first."),
            "languages": _described(_TEXTS, "Which language of labels comes first."),
            "classes": _entries(_CLASS),
            "properties": _entries(_PROPERTY),
            "things": {
                "type": "object",
                "additionalProperties": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _object(_NAMES)]},
            },
            "codes": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _TEXT}},
            "rewordings": _described(
                {"type": "object", "additionalProperties": _TEXT}, "Words, and what they stand for."
            ),
            "tables": _described(_entries(_TABLE), "Tables of an attached database."),
            "rules": _described({"type": "array", "items": {"type": "string"}}, "CONSTRUCT queries, in order."),
            "predicates": _described(_entries(_PROPERTY), "Old name of 'properties'."),
        },
    }


def _described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return schema | {"description": text}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": fields}


def _entries(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"anyOf": [_object(fields), {"type": "null"}]}}


_NAMES: dict[str, Any] = {
    "name": _described(_TEXT, "What people see."),
    "also": _described(_TEXTS, "What people ask with: nouns, verb phrases, adjectives."),
}

_COMMON = _NAMES | {
    "comment": _TEXT,
    "hidden": _described(_FLAG, "Left out of suggestions, pictures and the schema of models; still queryable."),
    "rename": _described(_TEXT, "Old name of 'name'."),
}

_CLASS = _COMMON | {
    "where": _described(_TEXT, "A SPARQL group pattern over ?this: a derived class."),
    "exclude": _described(_FLAG, "Not shown at all."),
}

_TABLE: dict[str, Any] = {
    "names": _described(_TEXTS, "The columns that name a row."),
    "key": _described(_TEXTS, "The columns that tell rows apart."),
    "links": {
        "type": "object",
        "additionalProperties": _described(_TEXT, "The table that the columns refer to, or none."),
    },
    "hidden": _described(_FLAG, "Left out of the graph."),
}

_PROPERTY = _COMMON | {
    "inverse": _described(_TEXTS, "What the property is called from the other end."),
    "unit": _TEXT,
    "of": _described(_TEXTS, "The classes that have a derived property."),
    "path": _described(_TEXT, "A SPARQL property path: a derived property."),
    "where": _described(_TEXT, "A SPARQL group pattern over ?this and ?value: a derived property."),
    "dates": {"enum": [*DATE_ORDERS], "description": "The order of the dates in a column of a spreadsheet."},
    "kind": {"enum": ["name"], "description": "The values name their things."},
    "drop": _described(_FLAG, "Not shown at all."),
}
