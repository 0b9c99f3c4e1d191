"""What can be set: environment variables NACRE_* and .env -> Settings. Every default works offline."""

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

    model: str | None = Field(None, description="Chat model, openai:NAME or ollama:NAME. Without one, rules answer.")
    rewriter_model: str | None = Field(None, description="Another model for rewriting follow-ups.")
    writer_model: str | None = Field(None, description="Another model for writing queries.")
    fuser_model: str | None = Field(None, description="Another model for wording answers.")
    forbid_models: bool = Field(False, description="true refuses every chat model, whatever is set (for tests).")
    model_seconds: float = Field(60.0, gt=0, description="How long one model call may take.")
    model_retries: int = Field(2, ge=0, le=5, description="How often a malformed model answer is asked for again.")
    model_tokens: int = Field(400, gt=0, description="The most tokens one model call may write.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 repeats itself, more varies.")
    evidence_tokens: int = Field(350, gt=0, description="The most tokens of evidence a model is shown.")
    schema_tokens: int = Field(1500, gt=0, description="The most tokens of schema a model is shown.")

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

    max_rounds: int = Field(3, ge=1, le=10, description="The most rounds of retrieval a question gets.")
    top_k: int = Field(8, ge=1, le=50, description="How many passages a branch looks at.")
    strategy: Literal["parallel"] = Field("parallel", description="How the first round visits the branches.")
    branch_seconds: float = Field(10.0, gt=0, description="How long one branch may take in one round.")
    row_limit: int = Field(1000, ge=1, description="The most rows one query gives.")

    host: str = Field("127.0.0.1", description="Where `nacre serve` listens.")
    port: int = Field(8200, ge=0, le=65535, description="And on which port.")
