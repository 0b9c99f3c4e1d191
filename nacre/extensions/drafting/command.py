"""`nacre layer draft`: settings + version -> a file, with the progress and the cost."""

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path

from agents.model_calls import ModelFailed
from agents.model_priors import model_limits
from ingestion.layer.edit import suggest_annotations
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
