"""Prefill the schema prompt of a local model before the first question: settings + graph -> a background thread."""

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.config.settings import Settings

# no user waits for it, so it may take longer than a model call of a turn
PREFILL_SECONDS = 600.0


def start_schema_prefill(settings: "Settings", graph: str | None = None) -> None:
    """Start the prefill of the schema of `graph`, by default the newest graph, and return at once.

    A small model takes up to a minute. Only a model on the user's own server is prefilled.
    """
    from nacre.config.models import is_own_server

    if settings.model and is_own_server(settings):
        threading.Thread(target=lambda: asyncio.run(_read(settings, graph)), daemon=True).start()


async def _read(settings: "Settings", graph: str | None) -> None:
    from agents.models.model_settings import model_limits, query_model_size
    from agents.models.prompt_prefill import prefill_prompts
    from graph.app import compose
    from nacre.config.models import chat_model
    from nacre.stores.sqlite.schema_sql import schema_sql

    patient = settings.model_copy(update={"model_seconds": max(PREFILL_SECONDS, settings.model_seconds)})
    model = chat_model(patient, "sql")
    library = compose(settings).library
    try:
        name = graph or max(library.names(), key=library.current, default=None)
        if model is not None and name is not None:
            with library.open(name) as opened:
                if opened.stored is None:
                    return
                describe = partial(schema_sql, opened.tables)
                await prefill_prompts(model, opened.schema, describe, model_limits(patient), query_model_size(patient))
    finally:
        library.close()
