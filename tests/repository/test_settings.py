import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from graph.builder import load_settings
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.errors import ConfigError

EXAMPLE = Path(__file__).parents[2] / ".env.example"
OUTSIDE = {
    "openai_base_url": "OPENAI_BASE_URL",
    "openai_api_key": "OPENAI_API_KEY",
    "ollama_host": "OLLAMA_HOST",
    "otel_endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
    "langsmith_tracing": "LANGSMITH_TRACING",
    "langsmith_api_key": "LANGSMITH_API_KEY",
}


def test_the_example_file_names_every_setting_with_its_default() -> None:
    lines = dict(re.findall(r"^#([A-Z_]+)=(.*)$", EXAMPLE.read_text(), re.MULTILINE))
    defaults = {}
    for name, field in Settings.model_fields.items():
        shown = "" if field.default is None else str(field.default)
        shown = shown.lower() if isinstance(field.default, bool) else shown
        defaults[OUTSIDE.get(name, f"NACRE_{name.upper()}")] = shown
    assert lines == defaults


def test_the_example_file_describes_settings_as_the_code_does() -> None:
    comments = {name: text for text, name in re.findall(r"^# (.+)\n#([A-Z_]+)=", EXAMPLE.read_text(), re.MULTILINE)}
    described = {
        OUTSIDE.get(name, f"NACRE_{name.upper()}"): field.description for name, field in Settings.model_fields.items()
    }
    assert comments == described


def test_no_setting_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    assert settings.data == Path("data")
    assert chat_model(settings) is None


def test_an_empty_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MODEL", "")
    monkeypatch.setenv("NACRE_MAX_ROUNDS", "")
    assert Settings(_env_file=None).max_rounds == 3
    assert Settings(_env_file=None).model is None


def test_a_wrong_value_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MAX_ROUNDS", "many")
    with pytest.raises(ConfigError, match="NACRE_MAX_ROUNDS can't be 'many'") as error:
        load_settings()
    assert "\n" not in str(error.value)


def test_keys_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("NACRE_QDRANT_KEY", "q-secret")
    settings = Settings(_env_file=None)
    assert "-secret" not in f"{settings!r}{settings.model_dump_json()}"
    assert settings.openai_api_key == SecretStr("sk-secret")


@pytest.mark.parametrize("name", ["gpt-4o", "openai:", "nobody:gpt-4o", ":"])
def test_a_model_without_a_known_provider_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="openai:NAME or ollama:NAME"):
        chat_model(Settings(model=name, forbid_models=False, _env_file=None))


def test_openai_needs_a_key_or_a_server_of_ones_own() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        chat_model(Settings(model="openai:gpt-4o", forbid_models=False, _env_file=None))
    own = Settings(
        model="openai:small", NACRE_OPENAI_BASE_URL="http://127.0.0.1:9/v1", forbid_models=False, _env_file=None
    )
    model = chat_model(own)
    assert model is not None
    assert model.model_dump()["openai_api_base"] == "http://127.0.0.1:9/v1"


def test_ollama_takes_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    model = chat_model(Settings(model="ollama:llama3.3", forbid_models=False, _env_file=None))
    assert model is not None
    assert model.model_dump()["base_url"] == "http://127.0.0.1:9"


def test_a_model_may_be_reached_by_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MODEL_PROXY", "http://user:secret@127.0.0.1:9")
    settings = Settings(model="ollama:small", forbid_models=False, _env_file=None)
    assert ":secret" not in repr(settings)
    model = chat_model(settings)
    assert model is not None
    assert model.model_dump()["client_kwargs"]["proxy"] == "http://user:secret@127.0.0.1:9"


def test_a_step_may_have_a_model_of_its_own() -> None:
    settings = Settings(model="ollama:large", model_rewriter="ollama:small", forbid_models=False, _env_file=None)
    names = [model.model_dump()["model"] for role in ("rewriter", "fuser") if (model := chat_model(settings, role))]
    assert names == ["small", "large"]


def test_the_tests_can_reach_no_model() -> None:
    with pytest.raises(ConfigError, match="NACRE_FORBID_MODELS"):
        chat_model(Settings(model="openai:gpt-4o", openai_api_key=SecretStr("k"), _env_file=None))
