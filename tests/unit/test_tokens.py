"""Tokens of texts, and which of them are kept."""

from nacre.language import tokens
from nacre.language.tokens import MAX_KEPT_TEXT, tokenize


def test_tokens_of_long_texts_are_not_kept() -> None:
    kept = tokens._recent_tokens.cache_info().currsize
    long = "kite " * MAX_KEPT_TEXT
    assert len(tokenize(long)) == len(tokenize(long)) == MAX_KEPT_TEXT
    assert tokens._recent_tokens.cache_info().currsize == kept


def test_what_a_caller_does_with_tokens_changes_no_others() -> None:
    tokenize("two red kites").clear()
    assert [each.norm for each in tokenize("two red kites")] == ["two", "red", "kites"]
