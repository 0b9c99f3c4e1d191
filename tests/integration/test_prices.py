from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from nacre.config.models import Price, chat_model, price_of, prices
from nacre.config.settings import Settings


def of(model: str, **more: Any) -> tuple[float, ...] | None:
    chat = chat_model(Settings(model=model, openai_api_key=SecretStr("k"), forbid_models=False, _env_file=None, **more))
    assert chat is not None
    assert chat.metadata is not None
    assert chat.metadata["model"] == model
    return chat.metadata["price"]  # type: ignore[no-any-return]


def test_the_table_that_comes_along_can_be_read() -> None:
    table = prices()
    assert price_of("openai:gpt-4o-mini-2024", table) == table["openai:gpt-4o-mini*"]
    assert price_of("openai:gpt-4o", table) == table["openai:gpt-4o*"]
    assert price_of("openai:unheard-of", table) is None
    assert price_of("ollama:anything", table) == Price(0, 0, 0)


def test_prices_of_ones_own_come_first(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("openai:gpt-4o*: [9, 8, 7]\nopenai:house: [1, 1, 1]\n")
    assert of("openai:gpt-4o", prices=own) == (9, 8, 7)
    assert of("openai:gpt-4.1", prices=own) == prices()["openai:gpt-4.1*"]
    assert of("openai:house", prices=own, NACRE_OPENAI_BASE_URL="http://127.0.0.1:9/v1") == (1, 1, 1)


def test_a_server_of_ones_own_asks_no_list_price() -> None:
    assert of("openai:gpt-4o", NACRE_OPENAI_BASE_URL="http://127.0.0.1:9/v1") is None
    assert of("openai:gpt-4o", NACRE_OPENAI_BASE_URL="https://api.openai.com/v1") is not None


@pytest.mark.parametrize(
    "text",
    [
        "- 1",
        "openai:x: 3",
        "openai:x: [1, 2]",
        "openai:x: [1, 2, true]",
        "openai:x: [1, 2, -3]",
        "a: [b, c",
        "a: [1, 2, x]",
    ],
)
def test_a_table_that_can_not_be_used_is_named(tmp_path: Path, text: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(ValueError, match=r"own\.yaml"):
        prices(own)
    with pytest.raises(ValueError, match=r"nowhere\.yaml"):
        prices(tmp_path / "nowhere.yaml")
