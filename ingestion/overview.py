"""Prepare what questions about a graph as a whole need: tables and lexicon -> the file of a GraphOverview."""

import logging
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

from ingestion.checked_questions import find_example_questions
from nacre.records.evidence import GraphOverview
from nacre.records.json_form import json_text
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.graph import Graph
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.wording.overview.highlights import find_highlights

log = logging.getLogger(__name__)


def write_overview(folder: Path, schema: Schema, attached: Tables | None = None) -> None:
    """Write the remarkable facts, spans and example questions of the graph whose tables and names are in the folder, or
    whose tables are `attached`."""
    try:
        overview = _overview(folder, schema, attached)
    except Exception:
        # an answer does without it, and the graph should be published
        log.exception("the overview of the graph could not be prepared")
        return
    (folder / versions.OVERVIEW).write_text(json_text(overview) + "\n", encoding="utf-8")


def _overview(folder: Path, schema: Schema, attached: Tables | None) -> GraphOverview:
    with (
        nullcontext(attached) if attached else closing(Tables(folder / versions.TABLES)) as tables,
        closing(Lexicon(folder / versions.LEXICON, schema)) as lexicon,
    ):
        graph = Graph("", "", schema, tables, lexicon)
        return replace(
            find_highlights(tables, is_bounded=attached is not None), examples=tuple(find_example_questions(graph))
        )
