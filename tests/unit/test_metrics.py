"""Metrics of answers against cases computed by hand."""

from evaluation.samples import chosen_options


def test_options_are_read_from_values_before_words() -> None:
    assert chosen_options(["Elm Hall", "6", "Oak"], [6.0], "6 in Oak") == ["6"]
    assert chosen_options(["Elm Hall", "Elm", "Oak"], [], "It is in Elm Hall, not in oak.") == ["Elm Hall", "Oak"]
