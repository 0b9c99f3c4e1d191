import pytest

from nacre.language.tokens import detect_language, language_name


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Inseln hat der See?", "de"),
        ("Welche Stadt liegt am Fluss und was kostet die Fahrt?", "de"),
        ("Combien d'îles y a-t-il dans le lac ?", "fr"),
        ("Quelle est la plus grande ville ?", "fr"),
        ("¿Cuántas islas tiene el lago?", "es"),
        ("¿Qué ciudad es la más grande?", "es"),
        ("Quantas ilhas tem o lago?", "pt"),
        ("Qual é a cidade mais alta do país?", "pt"),
        ("Quante isole ha il lago?", "it"),
        ("Qual è la città più grande della regione?", "it"),
        ("Hoeveel eilanden heeft het meer?", "nl"),
        ("Welke stad is het grootst van de regio?", "nl"),
        ("झील में कितने द्वीप हैं?", "hi"),
        ("सबसे बड़ा शहर कौन सा है", "hi"),
        ("How many islands does the lake have?", "en"),
        ("How many die in an accident?", "en"),
        ("Which songs are on the album El la de los Reyes?", "en"),
        ("What is the population of Le Mans?", "en"),
        ("price of the Casa do Sol", "en"),
        ("average height in m?", "en"),
        ("Oslo?", "en"),
        ("", "en"),
    ],
)
def test_function_words_tell_the_language(question: str, language: str) -> None:
    assert detect_language(question) == language


def test_a_language_has_its_english_name() -> None:
    assert (language_name("nl"), language_name("xx")) == ("Dutch", "xx")
