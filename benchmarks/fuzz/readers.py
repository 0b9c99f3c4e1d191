"""Damaged answers of SPARQL endpoints and damaged RDF files, read in a process of its own: each ends soon, and in one
of the errors that are for people.

Run as a program, it reads until the time is over: python -m benchmarks.fuzz.readers SECONDS SEED FOLDER -> JSON.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import httpx
from hypothesis import strategies as st

from benchmarks.fuzz.run import FuzzResult, run_for
from benchmarks.inputs.changed_bytes import changed_bytes
from benchmarks.server import ROOT, environment
from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from nacre.config.bounded_replies import MAX_REPLY_BYTES, ReplyTooLarge, StreamedReply, bound_body
from nacre.errors import IngestionError, ToolError
from nacre.extensions.endpoints import endpoint as answers

# seconds of processor time for one input, several times what the slowest takes
ANSWER_SECONDS, FILE_SECONDS = 2.0, 4.0
# how long the process may take beyond its time: the last input and shrinking a failure
GRACE_SECONDS = 90.0
LARGEST_FILE = 4000
FIXTURES = ROOT / "tests/fixtures"
ADDRESS = "http://127.0.0.1/sparql"
TERM = b'{"type": "literal", "value": "x", "xml:lang": "en"}'
ANSWERS = (
    b'{"head": {"vars": ["s", "o"]}, "results": {"bindings": [{"s": {"type": "uri", "value": "http://e.org/1"}, "o": '
    + TERM
    + b"}]}}",
    b'{"head": {}, "boolean": true}',
    b'{"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": [{"__ASK_RETVAL": {"value": "1"}}]}}',
    b"<?xml version='1.0'?><sparql xmlns='http://www.w3.org/2005/sparql-results#'><head><variable name='s'/></head>"
    b"<results><result><binding name='s'><literal>x</literal></binding></result></results></sparql>",
    b's,o\r\nhttp://e.org/1,"x, y"\r\n',
    b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e.org/'>"
    b"<rdf:Description rdf:about='http://e.org/1'><e:p>x</e:p></rdf:Description></rdf:RDF>",
    b'@prefix e: <http://e.org/> .\ne:a e:p ( 1 2.5 "x"@en ) ; e:q [ e:r """long\n""" ] .\n',
    b'<http://e.org/a> <http://e.org/p> "x\\u00e9"@en .\n_:b <http://e.org/p> _:c .\n',
    b"<html><head><title>Bad gateway</title><style>h1 {}</style></head><body><h1>Try later</h1></body></html>",
)
MEDIA = (
    "application/sparql-results+json", "application/sparql-results+xml", "text/csv", "application/rdf+xml",
    "text/turtle; charset=utf-8", "application/n-triples", "text/plain", "text/html", "", "\u00b2", ";;",
)  # fmt: skip
ENCODINGS = ("", "identity", "gzip", "deflate", "gzip, gzip", "br")
HEADER = st.one_of(st.text(max_size=12), st.integers(-5, 10**30).map(str))


def fuzz_readers(seconds: float, seed: int, folder: Path) -> FuzzResult:
    """Read until the time is over. A process that dies or hangs is a failure; its input is left in the folder."""
    command = [sys.executable, "-m", "benchmarks.fuzz.readers", f"{seconds}", str(seed), str(folder)]
    failed = partial(FuzzResult, "readers", 0, seed=seed)
    try:
        done = subprocess.run(
            command,
            env=environment(folder / "data"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds + GRACE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return failed(failure=f"an input took too long: {_last_input(folder)!r}")
    if done.returncode:
        end = f"the process ended with {done.returncode}:\n{done.stderr[-2000:]}"
        return failed(failure=f"{end}\ninput: {_last_input(folder)!r}")
    return FuzzResult(*json.loads(done.stdout.splitlines()[-1]))


def _last_input(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.glob("input*")))


def damaged(sources: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """One of the sources with random damage, or any bytes."""
    changed = st.builds(changed_bytes, st.sampled_from(sources), st.randoms(use_true_random=False))
    return st.one_of(changed, changed, changed, st.sampled_from(sources), st.binary(max_size=200))


def check_answer(value: tuple[bytes, str, str, int, str], folder: Path) -> None:
    """Fails if an answer ends in anything but an answer or a ToolError, or late."""
    content, media, encoding, status, header = value
    (folder / "input").write_bytes(repr(value).encode(errors="backslashreplace"))
    start = time.thread_time()
    readers: tuple[Callable[[], object], ...] = (
        lambda: answers.read_rows(ADDRESS, content),
        lambda: answers.read_truth(ADDRESS, content),
        lambda: answers.read_triples(ADDRESS, content, media, 100),
        lambda: _inflate(content, encoding),
    )
    errors = [answers.refusal(ADDRESS, status, content)]
    for read in readers:
        try:
            read()
        except ToolError as error:
            errors.append(error)
    assert all(str(error).isprintable() for error in errors), errors
    assert (answers.header_number({"a": header}, "a") or 0) >= 0
    assert time.thread_time() - start < ANSWER_SECONDS


def check_file(value: tuple[bytes, str], folder: Path) -> None:
    """Fails if reading a file ends in anything but facts or an IngestionError, or late."""
    content, suffix = value
    for old in folder.glob("input*"):
        old.unlink()
    file = folder / f"input{suffix}"
    file.write_bytes(content)
    start, told = time.thread_time(), "input"
    try:
        facts = read_sources(find_sources([str(file)], ReadOptions()))
        assert facts.triples > 0
    except IngestionError as error:
        told = str(error)
    assert "input" in told, told
    assert time.thread_time() - start < FILE_SECONDS


def _inflate(content: bytes, encoding: str) -> bytes:
    parts = (content[start : start + 50] for start in range(0, len(content), 50))
    reply = httpx.Response(200, headers={"content-encoding": encoding}, content=parts)
    try:
        bound_body(reply, MAX_REPLY_BYTES, StreamedReply(is_line=False).count)
        return b"".join(reply.iter_raw())
    except ReplyTooLarge as error:
        raise ToolError("too_large", str(error)) from None


@cache
def _files() -> dict[str, tuple[bytes, ...]]:
    """The content of small RDF files by what their names end in."""
    found: dict[str, list[bytes]] = {}
    for folder in ("wild", "rdf", "graphs"):
        for path in sorted((FIXTURES / folder).iterdir()):
            if path.is_file() and path.stat().st_size < LARGEST_FILE:
                found.setdefault("".join(path.suffixes), []).append(path.read_bytes())
    return {suffix: tuple(each) for suffix, each in found.items()}


def _answer_strategy() -> st.SearchStrategy[tuple[bytes, str, str, int, str]]:
    return st.tuples(
        damaged(ANSWERS), st.sampled_from(MEDIA), st.sampled_from(ENCODINGS), st.integers(100, 999), HEADER
    )


def _file_strategy() -> st.SearchStrategy[tuple[bytes, str]]:
    by_suffix = [st.tuples(damaged(contents), st.just(suffix)) for suffix, contents in _files().items()]
    # content that belongs to another name
    mixed = st.tuples(damaged(sum(_files().values(), ())), st.sampled_from(sorted(_files())))
    return st.one_of(*by_suffix, mixed)


def main(seconds: str, seed: str, folder: str) -> None:
    place, half, number = Path(folder), float(seconds) / 2, int(seed)
    result = run_for("endpoint answers", _answer_strategy(), partial(check_answer, folder=place), half, number)
    if not result.failure:
        read = run_for("RDF files", _file_strategy(), partial(check_file, folder=place), half, number)
        result = FuzzResult(f"{result.what}, {read.what}", result.examples + read.examples, read.failure, read.seed)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
