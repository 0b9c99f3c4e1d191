from nacre.records.answer import Answer, Cost
from nacre.serving.cli.turn_display import cost_line


def record(price: float | None) -> Answer:
    spent = {"llm_calls": 2, "input_tokens": 1234, "cached_tokens": 1000, "output_tokens": 56, "price": price}
    whole = Cost(llm_calls=1, input_tokens=9, cached_tokens=0, output_tokens=1, price=0.5)
    return {**spent, "first_token_seconds": 0.25, "conversation": whole}  # type: ignore[typeddict-item]


def test_calls_tokens_price_and_first_word_are_shown() -> None:
    told = cost_line(record(0.00125), with_conversation=False)
    assert told == "model: 2 calls, 1,234 tokens read (1,000 cached), 56 written, $0.00125; first word after 0.2 s"


def test_a_price_nobody_knows_is_not_made_up() -> None:
    assert "price unknown" in cost_line(record(None), with_conversation=False)


def test_a_conversation_is_added_up() -> None:
    told = cost_line(record(None), with_conversation=True)
    assert told.endswith("this conversation: 1 call, 9 tokens read (0 cached), 1 written, $0.50000")
