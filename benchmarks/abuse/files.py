"""Hostile RDF files and documents: each is ingested by the real command, and some are then asked about."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx

from benchmarks.abuse.case import FILE_SECONDS, AttackResult, polled_health
from benchmarks.abuse.measured import Ended, run_measured
from benchmarks.inputs import hostile_contexts as contexts
from benchmarks.inputs import hostile_files as files
from benchmarks.inputs import hostile_loaders as loaders
from benchmarks.server import NACRE, environment, started_server
from tests.support import sparql_server

# files of millions of statements or thousands of contexts are read on, for so long
READ_SECONDS = 60.0
SECRET = "quicksilver-7731"
REFUSED, READ, EITHER = (2,), (0,), (0, 2)
MAX_ANSWER_CHARACTERS = 200_000
TERMINAL = "\x1b[2J\x1b]0;owned\x07Mill \x9b31m\u202e3"
# the contexts that name the next twice end after so many
LAST_CONTEXT = 40


@dataclass(frozen=True)
class FileCase:
    """What is ingested: `make` writes files into a folder, given an address of contexts, and returns the arguments of
    `nacre ingest`. `ends` are the exit codes that are right. `question` is asked about what was read."""

    what: str
    make: Callable[[Path, str], list[str]]
    ends: tuple[int, ...] = REFUSED
    limit: float = FILE_SECONDS
    question: str = ""


def _file(
    what: str,
    name: str,
    content: str | bytes | Callable[[], str | bytes],
    ends: tuple[int, ...] = REFUSED,
    limit: float = FILE_SECONDS,
    question: str = "",
) -> FileCase:
    """A case of one file, whose content is made when it is needed."""

    def make(folder: Path, _: str) -> list[str]:
        made = content() if callable(content) else content
        (folder / name).write_bytes(made if isinstance(made, bytes) else made.encode())
        return [str(folder / name)]

    return FileCase(what, make, ends, limit, question)


_long_file = partial(_file, ends=READ, limit=READ_SECONDS)


def _document(what: str, name: str, text: str) -> FileCase:
    def make(folder: Path, _: str) -> list[str]:
        (folder / name).write_text(text)
        return ["--texts", str(folder / name)]

    return FileCase(what, make, EITHER)


def _loader(what: str, name: str, ends: tuple[int, ...] = REFUSED) -> FileCase:
    """A case of a loader, of `hostile_loaders` if no module is named."""
    full = name if ":" in name else f"{loaders.__name__}:{name}"
    return FileCase(f"a loader: {what}", lambda *_: ["--loader", full], ends, READ_SECONDS)


def _naming(what: str, name: str, text: str, ends: tuple[int, ...] = REFUSED) -> FileCase:
    """A file that names another one: a secret outside of its folder, for which PLACE stands, a link to it or a pipe."""

    def make(folder: Path, _: str) -> list[str]:
        secret = folder.parent / "secret.yaml"
        secret.write_text(f"{SECRET}: x")
        (folder / "link.yaml").symlink_to(secret)
        os.mkfifo(folder / "pipe.yaml")
        (folder / name).write_text(text.replace("PLACE", str(secret)))
        (folder / "a.ttl").write_text(files.labelled("Mill"))
        option = {".yaml": "--layer", ".html": "--texts"}.get(Path(name).suffix)
        return [str(folder / "a.ttl"), option, str(folder / name)] if option else [str(folder / name)]

    return FileCase(what, make, ends)


def _linked_texts(folder: Path, _: str) -> list[str]:
    (folder / "secret.md").write_text(f"The password is {SECRET}.")
    (folder / "outside").mkdir()
    (folder / "outside" / "more.md").write_text(f"Another password is {SECRET}.")
    (folder / "texts").mkdir()
    (folder / "texts" / "own.md").write_text("The mill stands at the river.")
    (folder / "texts" / "out.md").symlink_to(folder / "secret.md")
    (folder / "texts" / "folder").symlink_to(folder / "outside")
    return ["--texts", str(folder / "texts")]


def _fetched_contexts(folder: Path, address: str) -> list[str]:
    (folder / "a.jsonld").write_text(json.dumps({"@context": f"{address}/0", "@id": "http://e/1", "t": "x"}))
    return [str(folder / "a.jsonld"), "--fetch-contexts"]


BOMB_BYTES = 300_000_000
LONG_NAME = "n" * 200_000
KEYS = json.dumps({LONG_NAME: {f"k{number}": 1 for number in range(20_000)}})
MEGABYTE_OF_SPACE = files.white_space(500_000)
CASES = (
    *(_file(f"XML entities: {name}", name, content) for name, content in files.entity_files().items()),
    *(_file(f"JSON-LD nested deeply: {name}", "a.jsonld", text) for name, text in contexts.deep_files().items()),
    _long_file(
        "JSON-LD: 30,000 contexts",
        "a.jsonld",
        lambda: json.dumps(contexts.own_contexts(30_000)),
    ),
    _long_file(
        "JSON-LD: a known context named 30,000 times",
        "a.jsonld",
        lambda: json.dumps(contexts.named_contexts(30_000)),
    ),
    _file(
        "JSON-LD: contexts that copy 5,000 terms 10,000 times",
        "a.jsonld",
        lambda: json.dumps(contexts.copied_terms(5000, 10_000)),
    ),
    FileCase("JSON-LD: contexts that name the next twice", _fetched_contexts),
    _file("300 MB in .ttl.gz", "a.ttl.gz", lambda: files.gzip_bomb(files.SMALL, b"\n", BOMB_BYTES)),
    _file(
        "300 MB in .ttl.gz that says it is empty",
        "a.ttl.gz",
        lambda: files.gzip_bomb(files.SMALL, b"\n", BOMB_BYTES, stated=False),
    ),
    _long_file(
        "one triple in .ttl.gz, 5 million times",
        "a.ttl.gz",
        lambda: files.gzip_bomb(files.SMALL, b":a :b :c .\n", 55_000_000),
    ),
    _file("300 MB in .rdf.gz", "a.rdf.gz", lambda: files.gzip_bomb(files.RDF.encode(), b" ", BOMB_BYTES)),
    _file("XML entities in .rdf.gz", "a.rdf.gz", lambda: gzip.compress(files.entity_files()["nested.rdf"].encode())),
    _file("a literal of 17 MB", "a.ttl", lambda: files.long_text(17)),
    _file("50,000 nested lists", "a.ttl", lambda: files.nested_lists(50_000), ends=EITHER),
    _file("50,000 lists linked in each other", "a.ttl", lambda: files.linked_lists(50_000), ends=EITHER),
    _file("RDF/XML, 50,000 levels", "a.rdf", lambda: files.deep_rdf_xml(50_000), ends=EITHER),
    *(
        _long_file(what, "a.ttl", content)
        for what, content in {
            "a class expression of 3^20 parts": lambda: files.shared_expressions(20),
            "a chain of 8,000 concepts": lambda: files.chain(8000, "skos:broader"),
            "a chain of 5,000 classes with things": lambda: files.chain(5000, "rdfs:subClassOf", things=True),
            "3,000 definitions that 3,000 classes fit": lambda: files.definitions(3000),
            "a definition that follows links over 12 levels": lambda: files.nested_restrictions(40, 12),
            "1,500 expressions of one list": lambda: files.shared_list(1500),
            "3,000 code tables": lambda: files.code_tables(3000),
            "4,000 nodes linked both ways": lambda: files.linked_star(4000),
        }.items()
    ),
    _file(
        "JSON-LD: the context of a property defines 2,000 terms 9,000 times",
        "a.jsonld",
        lambda: json.dumps(contexts.scoped_terms(2000, 3000)),
    ),
    _document("20,000 keys below one of 200,000 letters", "a.json", KEYS),
    _document("20,000 rows of a column of 200,000 letters", "a.md", f"|{LONG_NAME}|y|\n|-|-|\n" + "|x|y|\n" * 20_000),
    _file(
        "a unit beyond any float",
        "a.ttl",
        '@prefix : <http://e/> . :a a :C ; :len "5 km⁹⁹⁹ - 6 mm⁹⁹⁹", "1 km", "2 km" .',
        ends=READ,
        question="What is the len of a?",
    ),
    _file(
        "a literal of 100,000 times space and tab",
        "a.ttl",
        lambda: files.labelled("Mill").replace('"Mill 2"', json.dumps(files.white_space(100_000))),
        ends=READ,
        question="What is the height of Mill 1?",
    ),
    *(_document(f"1 MB of white space in {name}", name, MEGABYTE_OF_SPACE) for name in ("a.md", "a.txt", "a.html")),
    FileCase("links out of a folder of texts", _linked_texts, READ),
    *(
        _naming(f"a layer that extends {what}", "a.yaml", f"extends: [{name}]")
        for what, name in (
            ("a file by its path", "PLACE"),
            ("a file above its folder", "../secret.yaml"),
            ("a link", "link.yaml"),
            ("a pipe", "pipe.yaml"),
            ("what is not there", "nothing.yaml"),
        )
    ),
    *(
        _naming(
            f"an external XML entity: {name}", name, f"<!DOCTYPE r [<!ENTITY j SYSTEM 'file://PLACE'>]>{text}", EITHER
        )
        for name, text in (
            ("a.rdf", f"{files.RDF}{files.description('&j;')}</rdf:RDF>"),
            ("a.trix", f"{files.TRIX}{files.trix_triple('&j;')}</graph></TriX>"),
            ("a.html", "<p>The secret is &j;.</p>"),
        )
    ),
    _naming("JSON-LD: a context that is a file", "a.jsonld", '{"@context": "file://PLACE", "@id": "http://e/1"}'),
    *(
        _loader(what, name, ends)
        for what, name, ends in (
            ("documents without end", "Endless", REFUSED),
            ("one document of 200 MB", "Huge", REFUSED),
            ("a failure of 5 MB for terminals", "Loud", REFUSED),
            ("19,000 parts of one source", "ManyPages", READ),
            ("names of documents that are paths", "OddNames", READ),
            ("no document", "Silent", REFUSED),
            ("a class that loads nothing", "NoLoader", REFUSED),
            ("a function of the system", "os:system", REFUSED),
        )
    ),
    _file(
        "a label of 1 MB",
        "a.ttl",
        lambda: files.labelled("x" * 1_000_000),
        ends=READ,
        question="Which mill has the greatest height?",
    ),
    _file(
        "a label of 150,000 words",
        "a.ttl",
        lambda: files.labelled(files.words(150_000)),
        ends=READ,
        question="Which mill has the greatest height?",
    ),
    _file("a label for terminals", "a.ttl", lambda: files.labelled(TERMINAL), ends=READ, question="list all mills"),
    _long_file(
        "30,000 classes",
        "a.ttl",
        lambda: files.many_classes(30_000),
        question="What is the height of thing 29999?",
    ),
)


def attack_with_files(folder: Path, only: str = "") -> Iterator[AttackResult]:
    """Ingest each file, then ask about those that were read."""
    data = folder / "data"
    data.mkdir()
    read: list[tuple[str, FileCase]] = []
    with _contexts() as address:
        for number, case in enumerate(CASES):
            if only in case.what:
                source = folder / f"files-{number}"
                source.mkdir()
                ended = _ingest(case, f"g{number}", source, data, address)
                yield _ingest_result(case, ended, data)
                if case.question and ended.code == 0:
                    read.append((f"g{number}", case))
    for graph, case in read:
        yield from _ask_on_the_terminal(graph, case, data)
    if read:
        yield from _ask_server(read, data)


@contextmanager
def _contexts() -> Iterator[str]:
    """The address of contexts that each name the next one twice."""

    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        content = json.dumps(contexts.doubling_context(handler.path, LAST_CONTEXT)).encode()
        sparql_server.reply(handler, content, "application/ld+json")

    with sparql_server.serving(respond) as address:
        yield address.rpartition("/")[0]


def _ingest(case: FileCase, graph: str, source: Path, data: Path, address: str) -> Ended:
    arguments = [*NACRE, "ingest", *case.make(source, address), "--graph", graph, "--no-vectors"]
    return run_measured(arguments, environment(data), source)


def _ingest_result(case: FileCase, ended: Ended, data: Path) -> AttackResult:
    problem = ""
    if ended.code not in case.ends:
        problem = f"exit code {ended.code}: {ended.output.strip()[-150:]!r}"
    elif "Traceback" in ended.output:
        problem = "a traceback was printed"
    elif "\x1b" in ended.output:
        problem = "characters that terminals obey were printed"
    elif SECRET in ended.output or any(
        SECRET.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file()
    ):
        problem = "a text out of the folder was read"
    end = {0: "read", 2: "refused"}.get(ended.code, "")
    return AttackResult(f"{case.what}: {end}", ended.seconds, case.limit, ended.megabytes, problem, ended.processor)


def _ask_on_the_terminal(graph: str, case: FileCase, data: Path) -> Iterator[AttackResult]:
    """The first question of a new process, which prints only what is printable."""
    arguments = [*NACRE, "ask", case.question, "--graph", graph, "--show-sources"]
    ended = run_measured(arguments, environment(data), data.parent)
    problem = "" if ended.code == 0 else f"exit code {ended.code}: {ended.output.strip()[-150:]!r}"
    if not all(each.isprintable() for each in ended.output.replace("\n", "")):
        problem = "characters that terminals obey were printed"
    what = f"{case.what}: `nacre ask` with sources"
    yield AttackResult(what, ended.seconds, FILE_SECONDS, ended.megabytes, problem, ended.processor)


def _ask_server(read: list[tuple[str, FileCase]], data: Path) -> Iterator[AttackResult]:
    with started_server(data) as server, polled_health(server.address) as health:
        with httpx.Client(base_url=server.address, timeout=60) as http:
            for graph, case in read:
                reply = http.post(
                    "/api/ask",
                    json={"question": case.question, "graph": graph},
                    headers={"Accept": "application/json"},
                )
                problem = "" if reply.status_code == 200 else f"status {reply.status_code}: {reply.text[:100]}"
                if not problem and len(reply.json()["answer"]) > MAX_ANSWER_CHARACTERS:
                    problem = f"an answer of {len(reply.json()['answer']):,} characters"
                yield AttackResult(
                    f"{case.what}: the first answer of a server", reply.elapsed.total_seconds(), problem=problem
                )
        yield health.result("questions about hostile graphs")
