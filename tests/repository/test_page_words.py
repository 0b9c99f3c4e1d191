"""The texts of the page: its code has keys, and each language a file with a text for every key."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "nacre/serving/page/static"
# extensions that have parts of the page
PARTS = sorted((STATIC.parents[2] / "extensions").glob("*/static"))
WORDS = {
    each.stem: {
        k: v for file in (each, *(part / each.name for part in PARTS)) for k, v in json.loads(file.read_text()).items()
    }
    for each in sorted((STATIC / "words").glob("*.json"))
}
CODE = {
    str(each.relative_to(STATIC.parents[2])): each.read_text()
    for each in (*sorted(STATIC.rglob("*.js")), *(file for part in PARTS for file in sorted(part.glob("*.js"))))
    if "vendor" not in each.parts
}
# the page of a shared answer is made by the server
SHARED_PAGE = (STATIC.parents[2] / "extensions/sharing/routes.py").read_text()
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
# two words in a row, or a word with a capital letter
PROSE = re.compile(r"[A-Za-z]{2,}[,.:;]? [A-Za-z]{2,}|^\W*[A-Z][a-z]+\b|\bM?[a-z]+ …")
# selectors, drawings and relations are no texts
BEFORE = re.compile(
    r"((querySelector(All)?|matches|closest|matchMedia|getAttribute|getContext|block|inline|para)\(|\b(class|d|rel): )$"
)
# names of keys, headers, errors, languages, and of states in the API
TECHNICAL = re.compile(
    r"Arrow(Up|Down|Left|Right)|Enter|Escape|Home|End|AbortError|Bearer |Content-Type|Last-Event-ID|Nacre| · Nacre|"
    r"English|Deutsch|Polygon|Ctrl\+Enter|nacre keys add NAME --may write|in use|changed kind|same shape|passages like"
)
SHEETS = "".join(each.read_text() for each in (STATIC / "css").glob("*.css"))
CLASSES = set(re.findall(r"\.([a-z][a-z-]*)", SHEETS))
COUNTED = re.compile(r'countPhrase\([^()]*(?:\([^()]*\))*[^()]*?, "(\w+)"\)')


def placeholders(text):
    return sorted(set(re.findall(r"\{\w+\}", "".join(text))))


def test_all_languages_have_the_same_keys_and_values():
    assert len(WORDS["en"]) > 200
    assert {"en", "de"} <= set(WORDS)
    for code, words in WORDS.items():
        assert list(words) == list(WORDS["en"]), code
        for key, text in words.items():
            assert placeholders(text) == placeholders(WORDS["en"][key]), (code, key)
            assert isinstance(text, str) or len(text) == len(WORDS["en"][key]) == 2, (code, key)
            assert all(each.strip() for each in ([text] if isinstance(text, str) else text)), (code, key)


def test_every_key_is_used_and_every_used_key_has_a_text():
    page = (STATIC / "index.html").read_text()
    named = {text for code in CODE.values() for text in LITERAL.findall(code)}
    named |= set(re.findall(r'data-t[\w-]*="(\w+)"', page))
    named |= set(re.findall(r"[\"'](\w+)[\"']", SHARED_PAGE))
    # codes of the API have texts by their kind: "status_answered"
    kinds = {kind for code in CODE.values() for kind in re.findall(r'labelOf\("(\w+)"', code)}
    assert {key for key in WORDS["en"] if key.partition("_")[0] not in kinds} <= named
    called = {key for code in CODE.values() for key in re.findall(r'\bt\("(\w+)"', code)}
    called |= {key for code in CODE.values() for key in COUNTED.findall(code)}
    assert len(called) > 100
    called |= set(re.findall(r"words\[[\"'](\w+)", SHARED_PAGE)) | set(
        re.findall(r'"(shared\w+|hint_\d+)"', SHARED_PAGE)
    )
    assert called <= set(WORDS["en"])
    table = re.findall(r"LANGUAGES = \{([^}]*)\}", CODE["serving/page/static/shared/words.js"])
    offered = {name for each in table for name in re.findall(r"(\w+): \"", each)}
    assert offered == set(WORDS)


def prose(code):
    """The literals of some code that read as text for people."""
    found = []
    for match in LITERAL.finditer(COMMENT.sub("", code)):
        text, before = match[1], match.string[: match.start()][-40:]
        is_technical = TECHNICAL.fullmatch(text) or set(text.split()) <= CLASSES or BEFORE.search(before)
        if PROSE.search(text) and not is_technical:
            found.append(text)
    return found


@pytest.mark.parametrize("name", CODE)
def test_code_of_the_page_has_no_literal_texts(name):
    assert prose(CODE[name]) == [], f"Put these into words/en.json and words/de.json, and call t(key), in {name}"


def test_literal_texts_are_found():
    assert prose('element("p", {}, "None found.")') == ["None found."]
    assert prose('button("Copy", act); total + " things in all"') == ["Copy", " things in all"]
    assert prose('element("p", { class: "row table-foot" }, t("noneFound")); ') == []


class Marked(HTMLParser):
    """Collects the texts and attributes of index.html that have a key."""

    def __init__(self):
        super().__init__()
        self.found, self.key, self.unmarked = [], None, []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.key = values.get("data-t")
        self.tag = tag
        for name in ("aria-label", "placeholder", "title"):
            if name in values and values.get("data-icon") != "theme":
                self.found.append((values.get(f"data-t-{name}"), values[name]))

    def handle_data(self, data):
        if data.strip() and self.tag not in ("title", "noscript", "code", "img"):
            self.found.append((self.key, data.strip()))


def test_the_document_has_the_english_texts_of_its_keys():
    reader = Marked()
    reader.feed((STATIC / "index.html").read_text())
    assert len(reader.found) > 10
    assert [(key, text) for key, text in reader.found if WORDS["en"].get(key) != text] == []


def test_what_a_part_of_the_page_calls_of_the_shared_ones_is_imported() -> None:
    shared = "\n".join(path.read_text(encoding="utf-8") for path in sorted((STATIC / "shared").glob("*.js")))
    names = set(re.findall(r"^export (?:async )?(?:function\*?|class) ([\w$]+)", shared, re.MULTILINE))
    for line in re.findall(r"^export (?:const|let) (.*)", shared, re.MULTILINE):
        names.update(re.findall(r"(?:^|, )([\w$]+) = ", line))
    missing = []
    for path in (*sorted(STATIC.glob("s*l*/*.js")), *sorted(STATIC.glob("turn/*.js"))):
        code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        known = {each for found in re.findall(r"import \{([^}]*)\}", code) for each in re.findall(r"[\w$]+", found)}
        known.update(re.findall(r"\b(?:function|const|let|class) ([\w$]+)", code))
        called = set(re.findall(r"(?<![\w.$\"'/#-])([\w$]+)\(", code))
        missing += [f"{path.name}: {name}" for name in sorted(called & names - known)]
    assert missing == []
