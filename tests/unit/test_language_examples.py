"""Examples of functions on words, numbers and dates."""

from dataclasses import replace
from datetime import date

from nacre.language.data import phrase_map, word_list, word_map
from nacre.language.labels import readable_label, split_compound, strip_yes_no_suffix
from nacre.language.quantities import find_quantities, is_currency, is_unit_factor
from nacre.language.sanitize import disarm_citations, quote_lines, safe_name, storable_text, strip_control_characters
from nacre.language.small_talk import (
    asks_for_data,
    is_light,
    nearest_intent,
    orientation_language,
    reason_end,
    refers_back,
)
from nacre.language.spellings import spelling_key
from nacre.language.thesaurus import (
    adjective_concepts,
    antonyms,
    converse_roles,
    gradable_adjective,
    is_common_word,
    is_noun_of_kind,
    is_person,
    kind_synonyms,
    nouns_of_kind,
    synonyms,
    wide_words,
)
from nacre.language.tokens import (
    detect_language,
    fold,
    iri_end,
    joined_tokens,
    language_property,
    lemma,
    lexicon_tokens,
    multilingual_property,
    name_tokens,
    tokenize,
    word_forms,
)
from nacre.language.translation import (
    fill_template,
    gloss_label,
    gloss_words,
    is_english,
    is_english_word,
    is_in_language,
    join_translated,
    known_part,
    normalize_numbers,
    stem,
    translated_plural,
    word_for,
)
from nacre.language.values import (
    append_unit,
    drop_midnight,
    find_periods,
    format_date,
    format_date_bound,
    format_value,
    format_year,
    format_year_range,
    format_yearless_date,
    has_lowercase_name,
    is_ambiguous_date,
    is_amount_label,
    is_number_name,
    is_plain_number,
    read_day_digits,
    resolve_relative_times,
    year_bounds,
)
from nacre.language.word_forms import (
    BE,
    HAVE,
    VerbPhrase,
    active_verb,
    agent_noun,
    amount_name,
    base_form,
    extreme_adjective,
    gender,
    gerund,
    head_noun,
    interchangeable_words,
    is_count_noun,
    is_participle,
    is_plural,
    join_names,
    number_with_noun,
    place_phrase,
    plural,
    possessive_phrase,
    pronoun,
    singular,
    strip_preposition,
    third_person,
    with_indefinite_article,
)


def test_word_list() -> None:
    assert sorted(word_list("words", "fewer")) == ["fewer", "less"]


def test_word_map() -> None:
    assert word_map("wording", "plurals")["woman"] == "women"


def test_phrase_map() -> None:
    assert phrase_map("texts", "before")["place"][:2] == ("in", "at")


def test_split_compound() -> None:
    assert split_compound("sizegrossnet", frozenset()) == ("size", "gross", "net")
    assert split_compound("callouts", frozenset()) == ("callouts",)
    assert split_compound("hersteller", frozenset(("hersteller", "jahr"))) == ("hersteller",)


def test_readable_label() -> None:
    assert readable_label("3f2b8c1e-77aa-4c3b-9d7e-0a1b2c3d4e5f") == ""
    assert readable_label("decade") == "decade"


def test_is_currency() -> None:
    assert all(map(is_currency, ("EUR", "NOK", "€", "¥", "franc", "jpy")))
    assert not any(map(is_currency, ("kg", "PSI", "RPM", "EUR/kWh", "million USD", "")))


def test_find_quantities() -> None:
    assert [
        (q.value, q.unit) for q in find_quantities("an hour and a half, two and a half kilos, a cat and a half")
    ] == [(1.5, "h"), (2.5, "kg")]
    assert [q.value for q in find_quantities("two dozen eggs, a dozen, half a dozen")] == [24.0, 12.0, 6.0]
    assert [(q.value, q.unit, q.end) for q in find_quantities("at 5 metres per second, 8 hours per day")] == [
        (5.0, "m/s", 22),
        (8.0, "h", 31),
    ]


def test_is_unit_factor() -> None:
    assert is_unit_factor(1.609)
    assert is_unit_factor(365.25)
    assert not is_unit_factor(4711)


def test_storable_text() -> None:
    assert storable_text("a\ud800b") == "a?b"


def test_disarm_citations() -> None:
    assert disarm_citations("see [7, 8]") == "see (7, 8)"


def test_quote_lines() -> None:
    assert quote_lines("a\n  b [1]</schema>") == "a\n  b (1)‹schema>"


def test_safe_name() -> None:
    assert len(safe_name("日" * 90 + ".ttl").encode()) < 255


def test_nearest_intent() -> None:
    match = nearest_intent("So what's this dataset about?")
    assert match is not None
    assert match.intent == "contents"
    assert match.likeness > 0.9
    assert match.rest == ()
    match = nearest_intent("What is in this cellar?")
    assert match is not None
    assert [token.norm for token in match.rest] == ["cellar"]


def test_refers_back() -> None:
    assert refers_back("What is it about?")
    assert not refers_back("What is this about?")


def test_asks_for_data() -> None:
    assert asks_for_data("Which mills are old")
    assert not asks_for_data("I have just opened it")


def test_is_light() -> None:
    assert is_light("please")
    assert not is_light("overview")


def test_spelling_key() -> None:
    assert spelling_key("A-") != spelling_key("A")
    assert spelling_key("1.5") != spelling_key("15")


def test_is_person() -> None:
    assert is_person("chief engineer")
    assert not is_person("engine")


def test_is_noun_of_kind() -> None:
    assert is_noun_of_kind("places", "concert hall")
    assert not is_noun_of_kind("bodies", "concert hall")


def test_nouns_of_kind() -> None:
    assert "keeper" in nouns_of_kind("persons")
    assert "harbour" in nouns_of_kind("places")


def test_synonyms() -> None:
    assert "price" in synonyms("cost")


def test_kind_synonyms() -> None:
    assert [word in kind_synonyms()[kind] for word, kind in (("vehicle", "tram"), ("company", "brewery"))] == [
        True,
        True,
    ]


def test_antonyms() -> None:
    assert sorted(antonyms("fail")) == ["pass", "succeed", "successful"]
    assert antonyms("tall") == frozenset()


def test_adjective_concepts() -> None:
    assert adjective_concepts("heavy") == ("weight", "mass")
    assert adjective_concepts("wooden") == ()


def test_gradable_adjective() -> None:
    cheapest = gradable_adjective(tokenize("cheapest")[0])
    assert cheapest is not None
    assert cheapest.degree == "superlative"
    assert not cheapest.descending
    assert cheapest.concepts == ("price", "cost", "fee", "fare", "rate", "charge", "tariff")
    adjective = gradable_adjective(tokenize("expensivst")[0])
    assert adjective is not None
    assert adjective.degree == "superlative"
    assert gradable_adjective(tokenize("populatd")[0]) is None


def test_is_common_word() -> None:
    assert [is_common_word(token) for token in tokenize("pitch Tucson Look xdriv i4")] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_lemma() -> None:
    assert lemma("cities") == "city"
    assert lemma("x5s") == "x5"


def test_fold() -> None:
    assert fold("Coupé") == "coupe"


def test_tokenize() -> None:
    assert [t.norm for t in tokenize("Tra\u0300 Sen")] == ["tra", "sen"]


def test_name_tokens() -> None:
    assert name_tokens("BMW X5 xDrive40d") == ("bmw", "x5", "xdrive40d")


def test_lexicon_tokens() -> None:
    assert lexicon_tokens("Upper Mill") == ("upper", "mill")
    assert len(lexicon_tokens("mill " * 150_000)) == 100


def test_joined_tokens() -> None:
    assert joined_tokens("Upper-Mill 2") == "upper mill 2"


def test_word_forms() -> None:
    assert word_forms("cities") == ("city", ())
    assert word_forms("m135i") == ("m135i", ("135i", "m135"))


def test_detect_language() -> None:
    assert detect_language("top speed in miles per hour") == "en"
    assert detect_language("no, in Spain") == "en"


def test_iri_end() -> None:
    assert iri_end("http://www.w3.org/2003/01/geo/wgs84_pos#lat") == "lat"
    assert iri_end("urn:isbn:12") == "12"


def test_language_property() -> None:
    assert (
        language_property("http://www.w3.org/2000/01/rdf-schema#label", "de")
        == "http://www.w3.org/2000/01/rdf-schema#label@de"
    )


def test_multilingual_property() -> None:
    assert (
        multilingual_property("http://www.w3.org/2000/01/rdf-schema#label@de")
        == "http://www.w3.org/2000/01/rdf-schema#label"
    )
    assert multilingual_property("http://example.org/ns#width") == ""


def test_gloss_words() -> None:
    assert [g.english for g in gloss_words("le prix le moins cher".split(), "fr")] == ["the", "price", "the cheapest"]
    assert [g.english for g in gloss_words("nur die obersten drei".split(), "de")] == ["only", "the", "top", "three"]


def test_is_in_language() -> None:
    assert is_in_language("Höhe", "de")
    assert not is_in_language("height", "de")
    assert not is_in_language("in", "de")


def test_stem() -> None:
    assert stem("Brücken", "de") == "bruck"
    assert stem("sculptures", "fr") == "sculptur"


def test_is_english() -> None:
    assert is_english("top speed")
    assert not is_english("Seilbahn")


def test_is_english_word() -> None:
    assert is_english_word("speed")
    assert not is_english_word("Höhe")
    assert is_english_word("x5")


def test_word_for() -> None:
    assert word_for("length", "de") == "Länge"
    assert word_for("top speed", "de") == ""


def test_fill_template() -> None:
    assert fill_template("de", "count_all", count=3, kind="Mühlen") == "Es gibt 3 Mühlen."


def test_plural_of_what_ends_in_ics() -> None:
    words = ("mechanic", "mechanics", "athletics", "jeans")
    assert [plural(each) for each in words] == ["mechanics", "mechanics", "athletics", "jeans"]
    assert [singular(each) for each in ("mechanics", "athletics")] == ["mechanic", "athletics"]


def test_translated_plural() -> None:
    assert translated_plural("bateau", "fr") == "bateaux"
    assert translated_plural("Brücke", "de") == "Brücken"
    assert translated_plural("hochbeete", "de") == "Hochbeete"
    assert translated_plural("Amt", "de") == "Ämter"
    assert translated_plural("Gewitter", "de") == ""


def test_known_plural() -> None:
    words = ("Bergwirt", "Gast", "Fluss", "Motor", "Museum", "Datum", "Gebirge", "Schloss")
    several = ["Bergwirte", "Gäste", "Flüsse", "Motoren", "Museen", "Daten", "Gebirge", "Schlösser"]
    assert [translated_plural(word, "de") for word in words] == several


def test_known_part() -> None:
    assert known_part("zählerplombe", "de") == "Plombe"


def test_join_translated() -> None:
    assert join_translated(["a", "b", "c"], "fr") == "a, b et c"


def test_format_value() -> None:
    assert format_value(2010, counted=False) == "2010"
    assert format_value(-43, counted=False) == "44 BC"
    assert format_value("2010-05-01") == "1 May 2010"


def test_drop_midnight() -> None:
    assert drop_midnight("1992-01-01T00:00:00") == "1992-01-01"
    assert drop_midnight("1992-01-01T10:30:00") == "1992-01-01T10:30:00"


def test_append_unit() -> None:
    assert append_unit("5", "km") == "5 km"
    assert append_unit("5", "%") == "5%"
    assert append_unit("5", "") == "5"


def test_format_date() -> None:
    assert format_date("1966-07-30") == "30 July 1966"
    assert format_date("1966-07-30T15:00:00Z") == "30 July 1966 at 15:00 UTC"
    assert format_date("30.7.1966") == "30.7.1966"


def test_has_lowercase_name() -> None:
    assert has_lowercase_name(["diesel", "plug-in-hybrid"])
    assert not has_lowercase_name(["bmw-m3", "bmw-x5"])


def test_is_amount_label() -> None:
    assert is_amount_label("price")
    assert not is_amount_label("release year")
    assert not is_amount_label("capacity", role="identifier")
    assert not is_amount_label("house number")
    assert is_amount_label("number of words")


def test_find_periods() -> None:
    assert [
        (p.first, p.after) for p in find_periods("the 1990s or the sixties, on 12 July and in May", any_year=True)
    ] == [("1990-01-01", "2000-01-01"), ("1960-01-01", "1970-01-01"), ("--07-12", ""), ("--05", "")]
    assert [(p.first, p.after) for p in find_periods("the second quarter of 2023 or Q4 2024")] == [
        ("2023-04-01", "2023-07-01"),
        ("2024-10-01", "2025-01-01"),
    ]
    assert [p.first for p in find_periods("12.5.2020, 2020/05/12, 5/13/2020 and 3/4/2020")] == [
        "2020-05-12",
        "2020-05-12",
        "2020-05-13",
        "2020-04-03",
    ]
    assert [(p.first, p.value) for p in find_periods("between 500 and 449 BC")] == [
        ("-9101-01-01", -499.0),
        ("-9152-01-01", -448.0),
    ]


def test_year_bounds() -> None:
    assert year_bounds(2015) == ("2015-01-01", "2016-01-01")


def test_format_year() -> None:
    assert format_year(2015) == "2015"
    assert format_year(-43) == "44 BC"


def test_format_date_bound() -> None:
    assert format_date_bound("<", "-9501-01-01") == "before 100 BC"


def test_is_ambiguous_date() -> None:
    assert is_ambiguous_date("before 3/4/2020")
    assert not is_ambiguous_date("13/4/2020, 3/3/2020 or 3.4.2020")


def test_plural() -> None:
    assert plural("active from date") == "active from dates"
    assert plural("state/county") == "states/counties"
    assert plural("author or editor") == "authors or editors"
    assert plural("good or bad mark") == "good or bad marks"


def test_singular() -> None:
    assert singular("grapes") == "grape"
    assert singular("project outcomes") == "project outcome"
    assert singular("series") == "series"
    assert singular("class") == "class"
    assert singular("people") == "person"


def test_is_plural() -> None:
    assert is_plural("grapes")
    assert not is_plural("status")
    assert not is_plural("series")
    assert is_plural("sales in millions")


def test_is_participle() -> None:
    assert is_participle("founded")
    assert is_participle("built")
    assert not is_participle("speed")
    assert not is_participle("red")


def test_possessive_phrase() -> None:
    assert possessive_phrase("course held", "Ann", person=True) == "course held by Ann"


def test_place_phrase() -> None:
    assert place_phrase("owner", "France") == "France"


def test_with_indefinite_article() -> None:
    assert [
        with_indefinite_article(noun) for noun in ("hour", "EU grant", "university", "X5", "island", "other boat")
    ] == ["an hour", "an EU grant", "a university", "an X5", "an island", "another boat"]
    assert with_indefinite_article("a balcony") == "a balcony"


def test_number_with_noun() -> None:
    assert number_with_noun(1, "city") == "1 city"
    assert number_with_noun(1200, "city") == "1,200 cities"


def test_join_names() -> None:
    assert join_names(["salt and pepper", "oil"]) == "salt and pepper, and oil"
    assert join_names(["Oslo, Norway", "Rome, Italy"]) == "Oslo, Norway, and Rome, Italy"
    assert join_names(["United States"]) == "the United States"


def test_head_noun() -> None:
    assert head_noun("product for hire") == "product"
    assert head_noun("member of staff") == "member"
    assert head_noun("car") == "car"


def test_amount_name() -> None:
    assert amount_name("amount paid") == "amount paid"
    assert amount_name("amount due") == "amount due"
    assert amount_name("amount eur") == "amount eur"
    assert amount_name("quantity words") == "number of words"
    assert amount_name("budget million") == "budget in millions"
    assert amount_name("price in dollar") == "price in dollars"
    assert amount_name("number") == "number"
    assert amount_name("room number") == "room number"
    assert plural("amount outstanding") == "amounts outstanding"
    assert amount_name("bedroom count") == "number of bedrooms"
    assert amount_name("count") == "count"
    assert amount_name("head count") == "head count"
    assert amount_name("booked count") == "booked count"


def test_extreme_adjective() -> None:
    assert extreme_adjective("price", high=True) == "highest"


def test_strip_preposition() -> None:
    assert strip_preposition("founded in") == "founded"
    assert strip_preposition("hired") == "hired"


def test_active_verb() -> None:
    verbs = [active_verb("written by"), active_verb("designed by")]
    assert [verb and verb.base for verb in verbs] == ["write", "design"]


def test_gerund() -> None:
    assert gerund("become") == "becoming"
    assert gerund("join") == "joining"
    assert gerund("see") == "seeing"


def test_third_person() -> None:
    assert third_person("own") == "owns"
    assert third_person("teach") == "teaches"
    assert third_person("carry") == "carries"
    assert third_person("play") == "plays"


def test_base_form() -> None:
    assert [base_form(verb) for verb in ("has", "carries", "lies", "teaches", "makes")] == [
        "have",
        "carry",
        "lie",
        "teach",
        "make",
    ]


def test_verb_phrase_words() -> None:
    assert VerbPhrase(BE, "a trainer", "trainers").words(many=True) == "are trainers"
    phrase = VerbPhrase(HAVE, "a roof")
    assert phrase.words() == "has a roof"
    assert phrase.denial.words() == "does not have a roof"
    assert replace(phrase, lack="roof").denial.words() == "has no roof"


def test_gender() -> None:
    assert gender("gender", "F") == "female"
    assert gender("sex", "male") == "male"
    assert gender("grade", "F") == ""
    assert gender("gender", "mixed") == ""


def test_strip_yes_no_suffix() -> None:
    assert [strip_yes_no_suffix(name) for name in ("returned late yes or no", "open y/n", "yes or no")] == [
        "returned late",
        "open",
        "yes or no",
    ]


def test_strip_control_characters() -> None:
    assert strip_control_characters("a\u202eb\x07\tc") == "ab c"


def test_orientation_language() -> None:
    assert orientation_language("Worum geht es hier?") == "de"
    assert orientation_language("ok") == "en"


def test_reason_end() -> None:
    text = "We are moving a piano, so which doors are wide enough?"
    assert text[reason_end(text) :] == "which doors are wide enough?"


def test_wide_words() -> None:
    assert wide_words()["people"] == "persons"
    assert wide_words()["spot"] == "places"
    assert wide_words()["everything"] == "anything"


def test_gloss_label() -> None:
    assert gloss_label("Anzahl der Pfeifen", "de") == "number of Pfeifen"
    assert gloss_label("prix au kilo", "fr") == "price per kilo"


def test_normalize_numbers() -> None:
    assert normalize_numbers("1.234,5 am 3. Mai 1990", "de") == "1234.5 am 3 May 1990"
    assert normalize_numbers("12 500 le 03/05/1990", "fr") == "12500 le 1990-05-03"


def test_is_number_name() -> None:
    assert is_number_name("12", ())
    assert is_number_name("row5", ("http://e.org/row5",))
    assert not is_number_name("X5", ())


def test_format_yearless_date() -> None:
    assert format_yearless_date("-07-") == "in July"
    assert format_yearless_date("-07-12") == "on 12 July"
    assert format_yearless_date("-7") == ""


def test_format_year_range() -> None:
    assert format_year_range(1990, 1999.0) == "in the 1990s"
    assert format_year_range(2011, 2012) == "between 2011 and 2012"
    assert format_year_range("a", "b") == ""


def test_is_count_noun() -> None:
    assert is_count_noun("passengers")
    assert is_count_noun("people injured")
    assert not is_count_noun("sales")
    assert not is_count_noun("price")


def test_agent_noun() -> None:
    assert agent_noun("organized by") == "organizer"
    assert agent_noun("directed by") == "director"
    assert agent_noun("kept by") == "keeper"
    assert agent_noun("part of") == ""


def test_pronoun() -> None:
    assert pronoun(person=True, male_or_female="female").whose == "her"
    assert pronoun(person=True).it == "they"
    assert pronoun(person=False).it == "it"


def test_converse_roles() -> None:
    assert converse_roles()["teach",][1] == 0
    assert converse_roles()["learn", "from"][1] == 1


def test_read_day_digits() -> None:
    assert read_day_digits("20180122") == "2018-01-22"
    assert read_day_digits("20181322") is None
    assert read_day_digits("00000101") is None


def test_is_plain_number() -> None:
    assert is_plain_number("4935 mm", "mm")
    assert not is_plain_number("approx. 5", "")
    assert not is_plain_number("1,370 lb (635 kg)", "lb")


def test_resolve_relative_times() -> None:
    assert (
        resolve_relative_times("total rain last year, since this month", date(2026, 1, 5))
        == "total rain in 2025, since January 2026"
    )


def test_interchangeable_words() -> None:
    assert interchangeable_words(("state", "province", "county")) == ("state", "province", "county")
    assert interchangeable_words(("city", "code")) == ()
