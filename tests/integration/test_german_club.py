"""German turns over a graph whose labels are German alone, with a table: names, groups, dates, and no English words."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ingestion.pipeline import ingest
from nacre.extensions.client.facade import Nacre
from tests.support.ask_graph import ask_graph

CLUB = """
@prefix : <http://choir.example/def#> .
@prefix c: <http://choir.example/id/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Saenger a owl:Class ; rdfs:label "Sänger"@de .
:Stueck a owl:Class ; rdfs:label "Stück"@de .
:eintritt rdfs:label "Eintrittsdatum"@de .
:austritt rdfs:label "Austrittsdatum"@de .
:beitrag rdfs:label "Jahresbeitrag"@de .
:stimmlage rdfs:label "Stimmlage"@de .
:solist rdfs:label "Solist"@de .
:am rdfs:label "Uraufführung"@de .
:spielzeit rdfs:label "Spielzeit"@de .
c:JoergBoehm a :Saenger ; rdfs:label "Jörg Böhm"@de ; :eintritt "2003-03-01"^^xsd:date ; :beitrag 60 ;
    :stimmlage "Bass"@de .
c:UteGroess a :Saenger ; rdfs:label "Ute Größ"@de ; :eintritt "1998-05-20"^^xsd:date ; :beitrag 60 ;
    :stimmlage "Alt"@de ; :austritt "2024-03-31"^^xsd:date .
c:LenaHoehn a :Saenger ; rdfs:label "Lena Höhn"@de ; :eintritt "2021-10-04"^^xsd:date ; :beitrag 1240.5 ;
    :stimmlage "Sopran"@de .
c:TomBraeu a :Saenger ; rdfs:label "Tom Bräu"@de ; :eintritt "2011-01-15"^^xsd:date ; :beitrag 30 ;
    :stimmlage "Bass"@de ; :austritt "2022-08-31"^^xsd:date .
:Saal a owl:Class ; rdfs:label "Saal"@de .
:breite rdfs:label "Breitengrad"@de .
:laenge rdfs:label "Längengrad"@de .
:plaetze rdfs:label "Fläche (m²)"@de .
c:Muehle a :Saal ; rdfs:label "Mühlensaal"@de ; :breite 51.96236 ; :laenge 7.62571 ; :plaetze 410 .
c:Bruecke a :Saal ; rdfs:label "Brückensaal"@de ; :breite 49.45203 ; :laenge 11.07675 ; :plaetze 350 .
c:Maerchen a :Stueck ; rdfs:label "Märchen"@de ; :am "1901-05-03"^^xsd:date ; :spielzeit 14 ; :solist c:LenaHoehn .
c:Fruehling a :Stueck ; rdfs:label "Frühling"@de ; :am "1888-11-02"^^xsd:date ; :spielzeit 9 ; :solist c:JoergBoehm .
c:Gruesse a :Stueck ; rdfs:label "Grüße"@de ; :am "1931-02-10"^^xsd:date ; :spielzeit 21 ; :solist c:JoergBoehm .
"""

CONCERTS = """Konzertnummer;Datum;Stück;Ort;Besucher
K-01;03.03.2023;Märchen;Münster;210
K-02;17.03.2023;Frühling;Münster;140
K-03;08.05.2023;Märchen;Nürnberg;95
K-04;21.03.2024;Grüße;Nürnberg;180
K-05;02.05.2024;Frühling;Münster;75
K-06;19.05.2024;Grüße;Gräfenau;120
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nacre]:
    folder = tmp_path_factory.mktemp("chor")
    (folder / "chor.ttl").write_text(CLUB, encoding="utf-8")
    (folder / "Konzerte.csv").write_text(CONCERTS, encoding="utf-8")
    ingest([str(folder / "chor.ttl"), str(folder / "Konzerte.csv")], "chor", data=folder / "data", no_vectors=True)
    with Nacre(folder / "data") as found:
        yield found


def record_of(opened: Nacre, asked: str) -> Mapping[str, Any]:
    return opened.graph("chor").ask(asked, mind="rules").record


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        # things are named by their labels, although most names are those of the table
        ("Welche Stücke gibt es?", ["Frühling", "Grüße", "Märchen"]),
        # who came or left first or last, and since when
        ("Wer ist zuletzt eingetreten?", ["Lena Höhn"]),
        ("Wer ist am längsten dabei?", ["Ute Größ"]),
        ("Wer ist als Erster eingetreten?", ["Ute Größ"]),
        ("Welcher Sänger ist zuletzt ausgetreten?", ["Ute Größ"]),
        ("Wer ist ausgetreten?", ["Tom Bräu", "Ute Größ"]),
        ("Wer ist 2022 ausgetreten?", ["Tom Bräu"]),
        ("Wie lange ist Jörg Böhm schon dabei?", ["2003-03-01"]),
        ("Seit wann ist Lena Höhn im Chor?", ["2021-10-04"]),
        ("Wie hoch ist der Jahresbeitrag von Lena Höhn?", [1240.5]),
        # sums of amounts, numbers of things
        ("Besucher nach Ort", ["Gräfenau", 120, "Münster", 425, "Nürnberg", 275]),
        ("Konzerte nach Orten", ["Gräfenau", 1, "Münster", 3, "Nürnberg", 2]),
        ("Zeig mir die Besucher nach Jahren", [2023, 445, 2024, 375]),
        ("Besucher nach Monaten", ["2023-03", 350, "2023-05", 95, "2024-03", 180, "2024-05", 195]),
        ("Sänger nach Stimmlage als Diagramm", ["Alt", 1, "Bass", 2, "Sopran", 1]),
    ],
)
def test_everyday_questions(opened: Nacre, asked: str, values: list[Any]) -> None:
    record = record_of(opened, asked)
    rows = record["table"]["rows"] if record["table"] else [record["values"]]
    pairs = sorted(map(tuple, rows)) if record["table"] else [tuple(sorted(rows[0], key=str))]
    assert [cell for row in pairs for cell in row] == values


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Besucher nach Monaten", "| März 2023"),
        ("Besucher nach Jahren", "| Datum (Jahr) |"),
        ("Welche Konzerte gab es im März 2023?", "(Datum: März 2023)"),
        ("Welche Konzerte gab es im Juni 2023?", "Ich habe nichts gefunden für „Konzerte (Datum: Juni 2023)“."),
        ("Wie viele Konzerte gab es 2024?", "3 Konzerte passen dazu (Datum: 2024)"),
        ("Welches Stück hat die meisten Konzerte?", "(Konzerte: 2)"),
        ("Ist Lena Höhn die Solistin von Frühling?", "Nein, das trifft"),
        ("Gibt es Stücke mit einer Spielzeit über 20?", "Ja, das trifft zu: Stücke (Spielzeit > 20)"),
        ("Was weißt du über Märchen?", "Angaben zu Märchen: Uraufführung: 3. Mai 1901; Spielzeit: 14."),
        ("Wie hoch ist der Jahresbeitrag von Lena Höhn?", "1.240,5"),
        ("Wo liegt der Mühlensaal?", "Mühlensaal liegt bei 51,96236; 7,62571"),
        ("Was ist über Märchen bekannt?", "Angaben zu Märchen: Uraufführung: 3. Mai 1901; Spielzeit: 14."),
        ("Vergleiche Märchen und Grüße", "| Uraufführung"),
        ("Vergleiche Märchen und Grüße", "| Besucher (Konzerte)"),
        ("Vergleiche Märchen und Grüße", "| 95 bis 210"),
        ("Hallo", "Fragen Sie mich etwas dazu: Konzerte, Sänger, Stücke und "),
        ("Was gibt es hier?", "„Wie viele Konzerte gibt es?“"),
    ],
)
def test_words_of_answers(opened: Nacre, asked: str, said: str) -> None:
    assert said in record_of(opened, asked)["answer"].replace(" [1]", "")


def test_a_person_is_no_program_and_what_an_answer_rests_on_is_in_german(opened: Nacre) -> None:
    chat = opened.graph("chor").chat()
    turns = {
        "Seit wann ist Lena Höhn im Chor?": "4. Oktober 2021",
        "Wie alt ist sie?": "Das gibt dieser Graph nicht an",
        "Wer sind Sie?": "Ich bin Nacre",
        "Bist du sicher?": "Meine letzte Antwort beruht auf ihren Quellen",
        "Was habe ich zuerst gefragt?": "„Seit wann ist Lena Höhn im Chor?“",
    }
    for asked, said in turns.items():
        assert said in chat.ask(asked, mind="rules").record["answer"], asked


ENGLISH = re.compile(
    r"(?i)\b(?:the|of|whose|and|which|with|for|each|total|average|number|is an?|are|not|its|by|known|what|from|count)\b"
)
# what people read of a record: not queries, names of steps and branches, nor the question in English words
READ = ("answer", "reason", "options", "caveats", "others", "table", "citations", "derivation", "queries")
UNREAD = {"text", "keys", "triples", "tool", "kind", "check", "point", "basis", "verdict", "language"}


def texts_of(part: object, name: str = "") -> Iterator[str]:
    if isinstance(part, Mapping):
        own = (
            part.items() if "citations" in name else ((k, v) for k, v in part.items() if k not in UNREAD - {"triples"})
        )
        for key, value in own:
            yield from texts_of(value, key) if key not in UNREAD or key == "text" or name == "derivation" else ()
    elif isinstance(part, list):
        for each in part:
            yield from texts_of(each, name)
    elif isinstance(part, str) and "://" not in part:
        yield part


@pytest.mark.parametrize(
    "asked",
    [
        "Wie viele Konzerte gab es?",
        "Welche Konzerte gab es im März?",
        "Welche Konzerte gab es im Juni 2023?",
        "Besucher nach Ort und Jahr",
        "Besucher nach Stück als Diagramm",
        "Durchschnittliche Besucher pro Ort",
        "Welches Stück hat die meisten Konzerte?",
        "Welches Konzert hatte die wenigsten Besucher?",
        "Was ist das längste Stück?",
        "Wer singt Bass?",
        "Was weißt du über Jörg Böhm?",
        "Vergleiche Jörg Böhm und Ute Größ",
        "Ist Ute Größ ausgetreten?",
        "Gibt es Konzerte in Gräfenau?",
        "Welche Sänger haben kein Austrittsdatum?",
        "Wie alt ist Jörg Böhm?",
        "Welche Stücke sind blau?",
        "Wer dirigiert das Orchester?",
        "Zeige alle Konzerte mit Datum und Ort",
        "Wo war Konzert K-03?",
        "Wann war die Uraufführung von Grüße?",
        "Wie viel Prozent der Konzerte waren in Münster?",
        "Was gibt es hier?",
        "Was kannst du?",
        "Hallo",
        "Wie ist das Wetter?",
    ],
)
def test_no_english_is_shown(opened: Nacre, asked: str) -> None:
    record = record_of(opened, asked)
    shown = [text for part in READ for text in texts_of(record[part], part)]
    assert not [text for text in shown if ENGLISH.search(text)]


async def test_a_class_keeps_its_own_word_in_a_german_graph(tmp_path: Path) -> None:
    rescue = """
    @prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Station rdfs:label "Station"@de . :baujahr rdfs:label "Baujahr"@de . :leitung rdfs:label "Leitung"@de .
    :s1 a :Station ; rdfs:label "Kiel"@de ; :baujahr 1970 ; :leitung "Swantje" .
    :s2 a :Station ; rdfs:label "Cottbus"@de ; :baujahr 1981 ; :leitung "Jörg" .
    """
    answer = await ask_graph(rescue, tmp_path)("Wie viele Stationen gibt es?")
    assert "2 Stationen" in answer["answer"]
