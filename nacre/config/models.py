"""Chat models: Settings -> the configured models, or None, so that only the rules answer.

The price of a model comes from the user's table or `prices.yaml`; it is None if unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import yaml
from pydantic import SecretStr

from nacre.config.bounded_replies import bound_clients
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extension import provided

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Role = Literal["rewriter", "sql", "fuser", "selector"]

OPENAI = "https://api.openai.com"

OLLAMA = "http://127.0.0.1:11434"


@dataclass(frozen=True)
class ModelProvider:
    """Chat models in this process, of an extension. Functions take settings and a name as in NACRE_MODEL.

    `open` is as `chat_model`, `label` the name that tells the size of a model; both raise ValueError. `stop` unloads
    all models. `advice` tells users without a model how to get one; `next_step` is a command for those whose model does
    not answer.
    """

    open: Callable[[Settings, str], BaseChatModel]
    label: Callable[[Settings, str], str]
    stop: Callable[[], None]
    advice: Callable[[Settings], str]
    next_step: str


@cache
def model_providers() -> dict[str, ModelProvider]:
    """Those of extensions, by the first part of the names of their models."""
    return provided("models", (*_SERVERS, ""), lambda each: isinstance(each, ModelProvider))


def own_provider(name: str | None) -> ModelProvider | None:
    """The provider in this process of a model; None for a model of a server."""
    provider = (name or "").partition(":")[0]
    return model_providers().get(provider) if provider and provider not in _SERVERS else None


def model_advice(settings: Settings) -> str:
    """One line for users without a model; "" if one is set or forbidden."""
    if settings.model or settings.forbid_models:
        return ""
    advice = next((each.advice(settings) for each in model_providers().values()), "")
    return _BENEFITS + (advice or ": set NACRE_MODEL=openai:NAME or ollama:NAME")


_BENEFITS = (
    "The rules answer. A chat model also reads questions that they can't, writes descriptions, reads other languages"
)

_SERVERS = ("openai", "ollama")


def chat_model(settings: Settings, role: Role | None = None) -> BaseChatModel | None:
    """The chat model of `role` (the general one if the role has none), or None if no model is configured.

    It does not connect or load anything; a server that does not answer is noticed at the first call. The metadata has
    `model`, its configured name, and `price` in US dollars for a million tokens (read, cached, written), or None.
    Raises ConfigError for a name without a known provider or file, and if the provider's package is missing.
    """
    try:
        return _open_model(settings, role)
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error


def _open_model(settings: Settings, role: Role | None) -> BaseChatModel | None:
    name: str | None = (getattr(settings, f"model_{role}") if role else None) or settings.model
    if not name:
        return None
    if settings.forbid_models:
        raise ValueError(f"NACRE_MODEL is {name!r}, and NACRE_FORBID_MODELS forbids every model. Unset one of them.")
    if (own := own_provider(name)) is not None:
        return own.open(settings, name)
    provider, _, model = name.partition(":")
    if not model or not provider:
        raise ValueError(
            f"NACRE_MODEL is {name!r}: it must be local, openai:NAME or ollama:NAME, as in openai:gpt-4o-mini."
        )
    options = {"openai": _openai, "ollama": _ollama}.get(provider, _other)(settings, model)
    metadata = {"model": name, "price": model_price(settings, name)}
    # imported here, since it loads all providers and the rules do not need it
    from langchain.chat_models import init_chat_model

    try:
        chat: BaseChatModel = init_chat_model(
            model, model_provider=provider, temperature=settings.temperature, metadata=metadata, **options
        )
    except ValueError as error:
        why = str(error).strip().splitlines()[0]
        raise ValueError(f"NACRE_MODEL is {name!r}: use local, openai:NAME or ollama:NAME. {why}") from error
    bound_clients(chat)
    return chat


def model_address(settings: Settings) -> str:
    """The address of the general model, without user, password or key; "" for no model or one in this process."""
    provider = (settings.model or "").partition(":")[0]
    given = {"openai": settings.openai_base_url or OPENAI, "ollama": settings.ollama_host or OLLAMA}.get(provider)
    if given is None:
        return ""
    parts = urlsplit(given if "//" in given else f"//{given}")
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")).removeprefix("//")


def is_own_server(settings: Settings) -> bool:
    """Whether the general model runs on the user's own server, which costs time but no money."""
    name = settings.model or ""
    return (
        own_provider(name) is not None
        or name.startswith("ollama:")
        or (name.startswith("openai:") and settings.openai_base_url is not None)
    )


def _openai(settings: Settings, model: str) -> dict[str, Any]:
    key = settings.openai_api_key
    if key is None and settings.openai_base_url:
        # the client requires a key, but most own servers have none
        key = SecretStr("none")
    if key is None:
        raise ValueError(
            f"NACRE_MODEL is 'openai:{model}', and OPENAI_API_KEY is not set. "
            "Set it, or OPENAI_BASE_URL for a server of your own."
        )
    options: dict[str, Any] = {"base_url": settings.openai_base_url, "api_key": key, "stream_usage": True}
    if settings.model_proxy:
        options["openai_proxy"] = settings.model_proxy.get_secret_value()
    return {**options, **_other(settings, model)}


def _ollama(settings: Settings, model: str) -> dict[str, Any]:
    client: dict[str, Any] = {"timeout": settings.model_seconds}
    if settings.model_proxy:
        client["proxy"] = settings.model_proxy.get_secret_value()
    return {"base_url": settings.ollama_host, "num_predict": settings.model_tokens, "client_kwargs": client}


def _other(settings: Settings, model: str) -> dict[str, Any]:
    # agents/model_calls.py retries busy servers for all providers
    return {"max_tokens": settings.model_tokens, "timeout": settings.model_seconds, "max_retries": 0}


def model_price(settings: Settings, name: str) -> tuple[float, float, float] | None:
    """The price in the user's table, else in the bundled one; own servers have no list price."""
    found = price_of(name, prices(settings.prices)) if settings.prices else None
    elsewhere = name.startswith("openai:") and not (settings.openai_base_url or OPENAI).startswith(OPENAI)
    return found or (None if elsewhere else price_of(name, prices()))


TABLE = Path(__file__).with_name("prices.yaml")


class Price(NamedTuple):
    """US dollars for a million tokens: read, read from the server's cache, written."""

    input: float
    cached: float
    output: float


def prices(file: Path = TABLE) -> dict[str, Price]:
    """The prices of a file by name, in order; raises ValueError with the file and the name of the invalid entry."""
    try:
        table = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"The prices in {file} can't be read: {' '.join(str(error).split())}") from None
    if not isinstance(table, dict):
        raise ValueError(f"{file} must name models with their prices, as in: openai:gpt-4o: [2.50, 1.25, 10.00]")
    found = {}
    for name, price in table.items():
        is_triple = isinstance(price, list) and len(price) == 3
        if not is_triple or not all(type(each) in (int, float) and each >= 0 for each in price):
            raise ValueError(f"{file}: {name} must have three prices (read, cached, written), not {price!r}.")
        found[str(name)] = Price(*map(float, price))
    return found


def price_of(model: str, table: Mapping[str, Price]) -> Price | None:
    """The price of the first matching name."""
    return next((price for name, price in table.items() if fnmatchcase(model, name)), None)
