"""Settings: environment variables NACRE_* and .env -> Settings. Every default works offline."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, NonNegativeFloat, NonNegativeInt, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from nacre.extension import needed


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

    data: Path = Field(Path("data"), description="Folder of all graphs and conversations.")
    database_url: SecretStr | None = Field(
        None, description="Database of conversations, keys and runs, for several servers: postgresql://USER@HOST/NAME."
    )

    graphs: str | None = Field(
        None, description="Store of the graphs of several servers: s3://BUCKET/FOLDER or file:///FOLDER."
    )
    graphs_hosts: str = Field(
        "",
        description="Hosts, or host:port, that graphs of the store may be attached to or have tables on; default none.",
    )

    model: str | None = Field(
        None, description="Chat model: local, openai:NAME or ollama:NAME. Without one, the rules answer."
    )
    model_rewriter: str | None = Field(None, description="A separate model for rewriting follow-ups.")
    model_sql: str | None = Field(None, description="A separate model for writing queries.")
    model_fuser: str | None = Field(None, description="A separate model for wording descriptions.")
    model_selector: str | None = Field(
        None, description="A separate model for selecting the branches of further rounds."
    )
    forbid_models: bool = Field(False, description="true refuses every chat model, whatever else is set (for tests).")
    model_seconds: float = Field(60.0, gt=0, description="Time limit of one model call, in seconds.")
    turn_seconds: float = Field(150.0, gt=0, description="After so many seconds of a turn, no model call starts.")
    model_retries: int = Field(2, ge=0, le=5, description="Retries after malformed output of a model.")
    busy_retries: int = Field(2, ge=0, le=10, description="Retries after the status 408, 429 or 5xx of a model server.")
    model_proxy: SecretStr | None = Field(None, description="A proxy for the model only; HTTPS_PROXY works as well.")
    model_cache: Path | None = Field(
        None, description="SQLite file that caches model replies. Without it, replies are not cached."
    )
    prices: Path | None = Field(
        None, description="File with your own prices, in the format of nacre/config/prices.yaml."
    )
    model_tokens: int = Field(800, gt=0, description="Maximum number of tokens that one model call writes.")
    temperature: float = Field(
        0.0, ge=0, le=2, description="Sampling temperature: 0 is repeatable, higher values vary more."
    )
    evidence_tokens: int | None = Field(
        None, gt=0, description="Maximum number of evidence tokens in a prompt; default 2500, for a small model 350."
    )
    schema_tokens: int | None = Field(
        None, gt=0, description="Maximum number of schema tokens in a prompt; default 2200, for a small model 1500."
    )
    lead: Literal["auto", "model", "rules"] = Field(
        "auto",
        description="Who answers: auto is the candidate that is more likely right; model and rules are for comparison.",
    )
    model_size: Literal["small", "large", "unknown"] | None = Field(
        None,
        description="Size of a model whose name does not tell: small, large or unknown; small until nacre calibrate.",
    )
    model_output: Literal["auto", "json_schema", "tools", "text"] = Field(
        "auto", description="How structured output is requested: auto tries json_schema, tools, text in this order."
    )

    models: Path | None = Field(None, description="Folder of the model files; default _models in the data folder.")
    local_context: int = Field(
        8192, ge=1024, description="Maximum number of tokens that a local model reads and writes in one call."
    )
    local_threads: int | None = Field(None, ge=1, description="Number of processors for the local model; default all.")

    openai_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OPENAI_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"),
        description="Address of any OpenAI-compatible server.",
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="Its API key; a local server needs none.",
    )
    ollama_host: str | None = Field(
        None, validation_alias=AliasChoices("NACRE_OLLAMA_HOST", "OLLAMA_HOST"), description="Address of Ollama."
    )

    embedder: str = Field(
        "auto", description="Embedder: auto (the bundled one), none, or the name of a fastembed model."
    )
    qdrant_url: str | None = Field(
        None, description="Address of a Qdrant server; without one, vectors are stored in the data folder."
    )
    qdrant_key: SecretStr | None = Field(None, description="Its API key.")

    endpoint_keys: dict[str, SecretStr] = Field(
        {}, description='Logins by host: {"host:port": "USER:PASSWORD" or "Bearer TOKEN"}.'
    )
    endpoint_queries: int = Field(
        4, ge=1, le=64, description="Maximum number of concurrent queries to an endpoint, in each process."
    )
    endpoint_rate: float = Field(
        20.0, gt=0, description="Maximum number of queries started per second at an endpoint, in each process."
    )
    endpoint_readings: int = Field(
        2, ge=1, le=5, description="Number of readings of a question that run at an endpoint."
    )
    endpoint_candidates: int = Field(40, ge=1, le=100, description="Number of readings that these are selected from.")
    endpoint_things: int = Field(
        600, ge=1, le=6000, description="Maximum number of things that the words of a question match at an endpoint."
    )

    database_keys: dict[str, SecretStr] = Field(
        {},
        description="Passwords of attached databases by host, or by a login of it:"
        ' {"USER@host:port": "PASSWORD" or "file:PATH"}.',
    )
    database_connections: int = Field(
        4, ge=1, le=64, description="Maximum number of connections to an attached database, in each process."
    )

    max_rounds: int = Field(3, ge=1, le=10, description="Maximum number of retrieval rounds.")
    dialogue: Literal["multi", "single"] = Field(
        "multi", description="multi: a question may refer to earlier ones; single: each question is standalone."
    )
    remembered: int = Field(
        100, ge=1, le=1000, description="Number of things of an answer that a follow-up may refer to."
    )
    top_k: int = Field(8, ge=1, le=50, description="Number of passages that a branch retrieves.")
    strategy: Literal["parallel", "stepwise", "waterfall"] = Field(
        "parallel",
        description="parallel asks all branches in the first round; stepwise lets a model select each step; waterfall"
        " goes from queries to triples to texts and stops at a sufficient answer.",
    )
    branch_seconds: float = Field(10.0, gt=0, description="Time limit of one branch in one round, in seconds.")
    row_limit: int = Field(1000, ge=1, description="Maximum number of rows of a query.")

    datasets: str = Field(
        "", description="Datasets of /api/text2sparql and their graphs: IRI=NAME, separated by commas."
    )

    host: str = Field("127.0.0.1", description="Address that the server listens on.")
    port: int = Field(8200, ge=0, le=65535, description="Port that the server listens on.")
    workers: int = Field(1, ge=1, le=64, description="Number of server processes.")
    max_body: int = Field(1_000_000, ge=1000, description="Maximum size of a request, in bytes.")
    max_upload: int = Field(500, ge=0, description="Maximum size of the files of one upload, in MB; 0 allows none.")
    attach_hosts: str = Field(
        "",
        description="Hosts, or host:port, of the endpoints and databases that may be attached over HTTP; default none.",
    )
    max_rate: int = Field(
        6000,
        ge=0,
        description="Maximum number of requests a minute by one key, in each process (in all of them with "
        "NACRE_DATABASE_URL); 0 means no limit.",
    )
    max_turns: int = Field(
        128, ge=1, description="Maximum number of concurrent questions in each process, including waiting ones."
    )
    max_stored: int = Field(
        1000, ge=0, description="Maximum size of the stored threads of one key, in MB; 0 means no limit."
    )
    day_tokens: dict[str, NonNegativeInt] = Field(
        {},
        description="Tokens of chat models that a key or person may use in a day (UTC), * for all others:"
        ' {"*": 200000, "site": 50000}; default no limit.',
    )
    day_cost: dict[str, NonNegativeFloat] = Field(
        {}, description='The same in US dollars, by the prices of the models: {"*": 1.5}.'
    )
    resume_seconds: float = Field(
        5.0, ge=0, description="Seconds that a turn continues after its client has disconnected."
    )
    stop_seconds: float = Field(10.0, ge=0, description="Seconds that turns may continue when the server stops.")
    keep_days: float = Field(
        0.0, ge=0, description="Conversations without activity for so many days are deleted; 0 keeps all."
    )
    audit: bool = Field(False, description="true notes who asked, approved, uploaded, shared or deleted what.")
    audit_days: float = Field(0.0, ge=0, description="Days that the audit is kept; 0 keeps it as long as it has room.")
    audit_size: int = Field(100, ge=1, description="Maximum size of the audit, in MB; the oldest entries are deleted.")
    sharing: bool = Field(
        False, description="true lets keys with the right share publish answers at addresses that need no key."
    )
    login_issuer: str | None = Field(
        None, description="Address of the OpenID Connect issuer whose accounts may log in."
    )
    login_client: str | None = Field(None, description="Id of this server as a client of the issuer.")
    login_secret: SecretStr | None = Field(None, description="Its secret; a public client has none.")
    login_scopes: str = Field("openid profile email", description="Scopes that a login asks for.")
    login_claims: str = Field(
        "groups", description="Claims with the groups of an account, separated by commas; realm_access.roles is nested."
    )
    login_groups: str | None = Field(
        None, description="YAML file, or YAML in braces, with the graphs and rights of each group; * is every account."
    )
    login_audience: str | None = Field(
        None, description="Audience of the issuer's access tokens for MCP and the API; without one, none is accepted."
    )
    login_hours: float = Field(12.0, gt=0, le=8760, description="Hours after which a login ends.")
    login_headers: bool = Field(
        False, description="true takes accounts from X-Forwarded-User and X-Forwarded-Groups of NACRE_TRUSTED_PROXIES."
    )
    embed: str = Field(
        "",
        description="Sites that may show the page in a frame, by the key that they use: KEY=ORIGIN ORIGIN, separated by"
        " commas; default none.",
    )
    cors_origins: str = Field("", description="Web origins that may use the API, separated by commas; default none.")
    unfinished_seconds: float = Field(
        30.0, gt=0, description="Seconds that a client may take to send a request, including its body."
    )
    trusted_proxies: str = Field(
        "", description="Addresses of proxies whose X-Forwarded-* headers are trusted, separated by commas."
    )
    root_path: str = Field("", description="Path under which a proxy serves everything, such as /kg.")
    log: Literal["text", "json"] = Field("text", description="Format of the server log: text or json.")
    # read by nacre.extension, before there are settings
    extensions: str = Field("", description="Installed extensions of others that are used, separated by commas.")

    otel_endpoint: str | None = Field(
        None,
        validation_alias=AliasChoices("NACRE_OTEL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Address that receives traces over OTLP/HTTP; needs the extra otel.",
    )
    langsmith_tracing: bool = Field(
        False,
        validation_alias=AliasChoices("NACRE_LANGSMITH_TRACING", "LANGSMITH_TRACING"),
        description="true sends every run to LangSmith, including questions and data.",
    )
    langsmith_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("NACRE_LANGSMITH_API_KEY", "LANGSMITH_API_KEY"), description="Its API key."
    )

    @property
    def has_login(self) -> bool:
        """Whether people log in, with accounts of an issuer or of a proxy."""
        return self.login_issuer is not None or self.login_headers

    @model_validator(mode="after")
    def _check_shared(self) -> "Settings":
        if self.has_login:
            needed("login", "NACRE_LOGIN_ISSUER" if self.login_issuer else "NACRE_LOGIN_HEADERS")
        if self.day_tokens or self.day_cost:
            needed("spending", "NACRE_DAY_TOKENS" if self.day_tokens else "NACRE_DAY_COST")
        if self.graphs is not None or self.database_url is not None:
            needed("fleet", "NACRE_GRAPHS" if self.graphs is not None else "NACRE_DATABASE_URL")
        return self
