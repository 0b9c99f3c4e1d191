"""Settings: environment variables NACRE_* and .env -> Settings. Every default works offline."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """All settings of Nacre. Times are seconds; `None` means "not used"."""

    model_config = SettingsConfigDict(
        env_prefix="NACRE_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
    )

    data: Path = Field(Path("data"), description="Folder of all graphs and threads.")

    model: str | None = Field(
        None, description="Chat model: local, openai:NAME or ollama:NAME. Without one, rules answer."
    )
    model_rewriter: str | None = Field(None, description="Another model for rewriting follow-ups.")
    model_sql: str | None = Field(None, description="Another model for writing queries.")
    model_fuser: str | None = Field(None, description="Another model for wording descriptions.")
    model_selector: str | None = Field(None, description="Another model for choosing where to look again.")
    forbid_models: bool = Field(False, description="true refuses every chat model, whatever is set (for tests).")
    model_seconds: float = Field(60.0, gt=0, description="How long one model call may take.")
    turn_seconds: float = Field(150.0, gt=0, description="After this long into a turn no model is asked any more.")
    model_retries: int = Field(2, ge=0, le=5, description="How often a malformed model answer is asked for again.")
    busy_retries: int = Field(
        2, ge=0, le=10, description="How often a busy (429) or broken (5xx) server is tried again."
    )
    model_proxy: SecretStr | None = Field(None, description="A proxy to reach the model by; HTTPS_PROXY works as well.")
    model_cache: Path | None = Field(
        None, description="Keep model answers in this SQLite file. Without it, none is kept."
    )
    prices: Path | None = Field(None, description="Prices of your own, in the form of nacre/config/prices.yaml.")
    model_tokens: int = Field(800, gt=0, description="The most tokens one model call may write.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 repeats itself, more varies.")
    evidence_tokens: int | None = Field(
        None, gt=0, description="The most tokens of evidence a model is shown; 2500, of a small one 350."
    )
    schema_tokens: int | None = Field(
        None, gt=0, description="The most tokens of schema a model is shown; 6000, of a small one 1500."
    )
    lead: Literal["auto", "model", "rules"] = Field(
        "auto", description="Who answers: auto, the likelier to be right; model or rules, for comparison."
    )
    model_size: Literal["small", "large"] | None = Field(
        None, description="small (up to 4 billion parameters) or large, where the model's name does not tell."
    )
    model_output: Literal["auto", "json_schema", "tools", "text"] = Field(
        "auto", description="How records are asked for: auto tries json_schema, tools, text in this order."
    )

    models: Path | None = Field(
        None, description="Folder of the model files for NACRE_MODEL=local; _models in the data folder by default."
    )
    local_context: int = Field(8192, ge=1024, description="The most tokens a local model reads and writes in one call.")
    local_threads: int | None = Field(None, ge=1, description="On how many processors it runs; all by default.")

    openai_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OPENAI_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"),
        description="Any OpenAI-compatible server.",
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="Its key; a local server needs none.",
    )
    ollama_host: str | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OLLAMA_HOST", "OLLAMA_HOST"),
        description="Where Ollama listens.",
    )

    embedder: str = Field("auto", description="auto (the bundled one), none, or the name of a fastembed model.")
    qdrant_url: str | None = Field(None, description="A Qdrant server; without one, passages stay in the data folder.")
    qdrant_key: SecretStr | None = Field(None, description="Its key.")

    endpoint_keys: dict[str, SecretStr] = Field(
        {}, description='Logins of SPARQL endpoints, by host: {"host:port": "USER:PASSWORD" or "Bearer TOKEN"}.'
    )
    endpoint_queries: int = Field(4, ge=1, le=64, description="How many queries an endpoint is asked at once.")
    endpoint_rate: float = Field(20.0, gt=0, description="How many queries a second are begun at an endpoint.")
    endpoint_readings: int = Field(
        2, ge=1, le=5, description="How many readings of a question are asked of an endpoint."
    )
    endpoint_candidates: int = Field(
        40, ge=1, le=100, description="Of how many readings of a question about an endpoint they are the likeliest."
    )
    endpoint_things: int = Field(
        600, ge=1, le=6000, description="How many things a question's words may find at an endpoint."
    )

    max_rounds: int = Field(3, ge=1, le=10, description="The most rounds of retrieval a question gets.")
    dialogue: Literal["multi", "single"] = Field(
        "multi", description="multi: a question may lean on those before it; single: each stands alone."
    )
    remembered: int = Field(100, ge=1, le=1000, description="How many things of an answer a follow-up may speak of.")
    top_k: int = Field(8, ge=1, le=50, description="How many passages a branch looks at.")
    strategy: Literal["parallel", "stepwise", "waterfall"] = Field(
        "parallel",
        description="parallel asks all branches at first; stepwise lets a model choose each step; waterfall goes from"
        " queries to triples to texts and stops where it is sure.",
    )
    branch_seconds: float = Field(10.0, gt=0, description="How long one branch may take in one round.")
    row_limit: int = Field(1000, ge=1, description="The most rows one query gives.")

    datasets: str = Field("", description="Datasets of /api/text2sparql and their graphs: IRI=NAME, with commas.")

    host: str = Field("127.0.0.1", description="Where `nacre serve` listens.")
    port: int = Field(8200, ge=0, le=65535, description="And on which port.")
    workers: int = Field(1, ge=1, le=64, description="How many processes answer.")
    max_body: int = Field(1_000_000, ge=1000, description="The most bytes a request may send.")
    max_rate: int = Field(6000, ge=0, description="The most requests a minute by one key, in each process; 0: any.")
    max_turns: int = Field(128, ge=1, description="The most questions at once in each process, waiting ones included.")
    resume_seconds: float = Field(5.0, ge=0, description="How long a turn goes on when its client has left.")
    stop_seconds: float = Field(10.0, ge=0, description="How long turns may go on when the server is to stop.")
    keep_days: float = Field(0.0, ge=0, description="Threads untouched for so many days are deleted; 0 keeps all.")
    cors_origins: str = Field("", description="Web origins that may use the API, with commas; none by default.")
    unfinished_seconds: float = Field(
        30.0, gt=0, description="How long a client may take to send a request, its body included."
    )
    trusted_proxies: str = Field(
        "", description="Addresses of proxies, with commas, whose word counts on who asks (X-Forwarded-For)."
    )
    log: Literal["text", "json"] = Field("text", description="How the server logs: text or json.")

    otel_endpoint: str | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OTEL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Where traces go, over OTLP/HTTP; needs the extra otel. Off without one.",
    )
    langsmith_tracing: bool = Field(
        False,
        validation_alias=AliasChoices("NACRE_LANGSMITH_TRACING", "LANGSMITH_TRACING"),
        description="true sends every run to LangSmith, questions and data included.",
    )
    langsmith_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_LANGSMITH_API_KEY", "LANGSMITH_API_KEY"),
        description="Its key.",
    )
