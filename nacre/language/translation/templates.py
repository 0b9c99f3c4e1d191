"""Sentences of answers in German and French, by `de/` and `fr/answers.yaml`: language + name + parts -> text."""

import re
from functools import cache

from nacre.language.base import load_language_texts


def fill_template(code: str, name: str, **parts: str | int) -> str:
    """A sentence of a language with its parts.

    >>> fill_template("de", "count_all", count=3, kind="Mühlen")
    'Es gibt 3 Mühlen.'
    """
    return str(load_language_texts(f"{code}/answers.yaml")[name]).format(**parts)


def translated_plural(noun: str, code: str) -> str:
    """The plural of a noun of one word if the language forms it by its ending, else "".

    >>> translated_plural("bateau", "fr"), translated_plural("Orgel", "de")
    ('bateaux', '')
    """
    endings = load_language_texts(f"{code}/answers.yaml").get("plurals", {})
    ending = next((each for each in endings if noun.endswith(each)), None)
    return noun.removesuffix(ending) + endings[ending] if ending is not None and noun.isalpha() else ""


@cache
def template_pattern(code: str, name: str) -> re.Pattern[str]:
    """A regular expression of a language's templates."""
    return re.compile(load_language_texts(f"{code}/answers.yaml")[name])


def join_translated(names: list[str], code: str) -> str:
    """Names as a list in a language.

    >>> join_translated(["a", "b", "c"], "fr")
    'a, b et c'
    """
    joined = f" {fill_template(code, 'and')} "
    return joined.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
