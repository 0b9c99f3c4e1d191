"""Settings -> the chat models they name, or None: the rules then answer alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import SecretStr

from config.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Role = Literal["rewriter", "writer", "fuser"]


def chat_model(settings: Settings, role: Role | None = None) -> BaseChatModel | None:
    """The chat model of `role` (the general one where the role has none), or None where no model is set.

    Nothing is connected: a server that does not answer shows at the first call. Raises ValueError for a name without
    a known provider.
    """
    name: str | None = (getattr(settings, f"{role}_model") if role else None) or settings.model
    if not name:
        return None
    if settings.forbid_models:
        raise ValueError(f"NACRE_MODEL is {name!r}, and NACRE_FORBID_MODELS forbids every model. Unset one of them.")
    provider, _, model = name.partition(":")
    if not model or provider not in ("openai", "ollama"):
        raise ValueError(f"NACRE_MODEL is {name!r}: it must be openai:NAME or ollama:NAME, as in openai:gpt-4o-mini.")
    return _openai(settings, model) if provider == "openai" else _ollama(settings, model)


def _openai(settings: Settings, model: str) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    key = settings.openai_api_key
    if key is None and settings.openai_base_url:
        # the client insists on a key, servers in one's own house mostly have none
        key = SecretStr("none")
    if key is None:
        raise ValueError(
            f"NACRE_MODEL is 'openai:{model}', and OPENAI_API_KEY is not set. "
            "Set it, or OPENAI_BASE_URL for a server of your own."
        )
    return ChatOpenAI(
        model=model,
        base_url=settings.openai_base_url,
        api_key=key,
        temperature=settings.temperature,
        max_tokens=settings.model_tokens,
        timeout=settings.model_seconds,
        max_retries=1,
        stream_usage=True,
    )


def _ollama(settings: Settings, model: str) -> BaseChatModel:
    from langchain_ollama import ChatOllama

    return ChatOllama(
        model=model,
        base_url=settings.ollama_host,
        temperature=settings.temperature,
        num_predict=settings.model_tokens,
        client_kwargs={"timeout": settings.model_seconds},
    )
