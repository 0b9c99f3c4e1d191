"""The parts of the server that need no server: buckets of requests, runs and their listeners, keys, rows as CSV."""

import asyncio
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from fastapi import Request

from agents.model_calls import ModelCall, record_call
from agents.model_priors import ModelReplies
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.serving.errors import ForbiddenOrigin, NotFound, StorageUnavailable, TooManyRequests
from nacre.serving.http.auth import Authenticator, RateLimiter
from nacre.serving.http.health import PROBE_SECONDS, model_problems
from nacre.serving.keys import LOCAL_CALLER, Caller, KeyStore
from nacre.serving.page.pages import STATIC_FOLDER, content_security_policy
from nacre.serving.runs import Runs
from nacre.serving.threads import ThreadQueues, validate_thread_name
from nacre.serving.transcript import FORMULA_START, csv_cell, rows_csv
from nacre.stores.state.locks import FileLocks, StateLock
from tests.support.model_servers import endless_server


def local_request(*headers: tuple[str, str]) -> Request:
    sent = [(name.encode(), value.encode()) for name, value in (("host", "127.0.0.1:8200"), *headers)]
    return Request({"type": "http", "headers": sent, "client": ("127.0.0.1", 1)})


LOCAL_REQUEST = local_request()


def test_a_bucket_fills_again_with_time() -> None:
    now = [0.0]
    rate = RateLimiter(60, lambda: now[0])
    for _ in range(6):
        rate.take("ann")
    with pytest.raises(TooManyRequests) as refused:
        rate.take("ann")
    assert refused.value.retry_after == pytest.approx(1.0)
    rate.take("bo")
    now[0] = 1.0
    rate.take("ann")
    with pytest.raises(TooManyRequests):
        rate.take("ann")


def test_addresses_of_one_network_of_ipv6_are_one_client(tmp_path: Path) -> None:
    authenticator = Authenticator(KeyStore(tmp_path), RateLimiter(10), frozenset())

    def limit(address: str) -> None:
        authenticator.limit_address(Request({"type": "http", "headers": [], "client": (address, 1)}))

    limit("2001:db8::1")
    with pytest.raises(TooManyRequests):
        limit("2001:db8::ffff")
    limit("2001:db8:0:1::1")
    limit("::ffff:192.0.2.1")
    limit("::ffff:192.0.2.2")
    with pytest.raises(TooManyRequests):
        limit("192.0.2.2")


def test_no_limit_is_no_limit() -> None:
    rate = RateLimiter(0)
    for _ in range(10_000):
        rate.take("ann")


async def told(run, after=0):
    return [(number, each.kind) async for batch in run.batches(after) for number, each in batch]


async def test_every_listener_hears_every_event_to_the_end() -> None:
    async def events():
        for word in ("a", "b"):
            await asyncio.sleep(0)
            yield "token", word
        yield "answer", {}

    runs = Runs(resume_seconds=60)
    run = runs.create("ann", "maps")
    runs.start(run, events())
    first, second = await asyncio.gather(told(run), told(run, 1))
    assert [kind for _, kind in first] == ["token", "token", "answer", "done"]
    assert second == first[1:]
    assert await told(run) == first
    with pytest.raises(NotFound):
        runs.get(Caller("bo"), run.id)


async def test_a_turn_nobody_listens_to_is_cancelled_and_cleans_up() -> None:
    cleaned = []

    async def endless():
        try:
            while True:
                yield "token", "x"
                await asyncio.sleep(0.001)
        finally:
            cleaned.append(True)

    runs = Runs(resume_seconds=0)
    run = runs.create("ann", "maps")
    runs.start(run, endless())
    listening = run.batches()
    await anext(listening)
    await listening.aclose()
    await run.wait()
    assert [each.kind for each in run.events[-2:]] == ["error", "done"]
    assert cleaned == [True]


async def test_an_error_of_any_kind_is_told_and_ended() -> None:
    async def broken(error):
        yield "token", "x"
        raise error

    for error, words in ((ConfigError("no such graph"), "no such graph"), (RuntimeError("secret"), "Internal error")):
        runs = Runs(resume_seconds=60)
        run = runs.create("ann", "maps")
        runs.start(run, broken(error))
        assert [kind for _, kind in await told(run)] == ["token", "error", "done"]
        assert words in json.loads(run.events[1].data)["message"]
        assert "secret" not in run.events[1].data


async def test_closing_tells_those_who_wait() -> None:
    async def stuck():
        await asyncio.Event().wait()
        yield "token", "x"

    runs = Runs(resume_seconds=60)
    run = runs.create("ann", "maps")
    runs.start(run, stuck())
    listening = asyncio.create_task(told(run))
    await asyncio.sleep(0)
    await runs.close(0.01)
    assert [kind for _, kind in await listening] == ["error", "done"]
    assert "stopping" in run.events[0].data


class SlowLocks(FileLocks):
    """Locks that wait until the test lets them be acquired."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self.asked, self.may, self.acquired = threading.Event(), threading.Event(), threading.Event()

    def try_acquire(self, slot: str) -> StateLock | None:
        self.asked.set()
        assert self.may.wait(20)
        lock = super().try_acquire(slot)
        self.acquired.set()
        return lock


async def test_a_turn_that_is_cancelled_while_it_gets_its_thread_leaves_no_lock(tmp_path) -> None:
    locks = SlowLocks(tmp_path)
    queues = ThreadQueues(locks)

    async def hold() -> None:
        async with queues.lock("ann", "t"):
            raise AssertionError("it was cancelled before")

    cancelled = asyncio.create_task(hold())
    await asyncio.to_thread(locks.asked.wait, 20)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    # the lock is acquired when nobody waits for it any longer
    locks.may.set()
    assert await asyncio.to_thread(locks.acquired.wait, 20)
    async with asyncio.timeout(20), queues.lock("ann", "t"):
        assert locks.is_held(locks.slot("ann:t"))
    assert not locks.is_held(locks.slot("ann:t"))


async def test_no_thread_waits_for_threads_of_others(tmp_path) -> None:
    queues = ThreadQueues(FileLocks(tmp_path))
    async with asyncio.timeout(60), AsyncExitStack() as stack:
        for n in range(300):
            await stack.enter_async_context(queues.lock("ann", f"t{n}"))
        await stack.enter_async_context(queues.lock("bo", "t1"))
    # and no file is left
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_of_many_that_take_a_lock_at_once_one_has_it(tmp_path) -> None:
    one, two, inside = FileLocks(tmp_path), FileLocks(tmp_path), list[int]()

    def take(locks: FileLocks) -> int:
        taken = 0
        for _ in range(300):
            if (lock := locks.try_acquire("name")) is not None:
                inside.append(1)
                assert len(inside) == 1
                inside.pop()
                lock.release()
                taken += 1
        return taken

    with ThreadPoolExecutor(4) as pool:
        assert any(list(pool.map(take, [one, two, one, two])))


def test_a_damaged_file_of_keys_opens_nothing(tmp_path) -> None:
    keys = KeyStore(tmp_path)
    token = keys.add("ann", ["maps"])
    caller = keys.find_caller(token)
    assert caller is not None
    assert (caller.owner, caller.may_read("maps"), caller.may_read("cars")) == ("ann", True, False)
    assert keys.find_caller(token + "x") is None
    for content in ("{", '[{"name": "ann"}]', "[1]", "{}", "[" * 100_000):
        keys.file.write_text(content)
        with pytest.raises(ConfigError, match="damaged"):
            KeyStore(tmp_path).find_caller(token)
    keys.file.unlink()
    keys.file.mkdir()
    with pytest.raises(ConfigError, match=r"keys.json can't be read \(Is a directory\)"):
        KeyStore(tmp_path).find_caller(token)


@pytest.mark.parametrize("content", [None, "[]", "{}"])
def test_keys_that_are_gone_open_nothing_before_a_restart(tmp_path, content) -> None:
    KeyStore(tmp_path).add("ann", None)
    keys = KeyStore(tmp_path)
    authenticator = Authenticator(keys, RateLimiter(0), frozenset())
    if content is None:
        keys.file.unlink()
    else:
        keys.file.write_text(content)
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            authenticator.authenticate(LOCAL_REQUEST, None)
    KeyStore(tmp_path).file.unlink(missing_ok=True)
    assert (
        Authenticator(KeyStore(tmp_path), RateLimiter(0), frozenset()).authenticate(LOCAL_REQUEST, None) == LOCAL_CALLER
    )
    token = KeyStore(tmp_path).add("ann", None)
    assert authenticator.authenticate(LOCAL_REQUEST, token).owner == "ann"


def test_only_the_owner_reads_keys_and_replies(tmp_path) -> None:
    keys = KeyStore(tmp_path)
    keys.add("ann", None)
    keys.file.chmod(0o644)
    replies = tmp_path / "replies.sqlite"
    replies.touch(0o644)
    ModelReplies(replies).clear()
    assert keys.all()
    assert [file.stat().st_mode & 0o777 for file in (keys.file, replies)] == [0o600, 0o600]


def test_a_get_of_another_page_is_refused_without_an_origin(tmp_path) -> None:
    authenticator = Authenticator(KeyStore(tmp_path), RateLimiter(0), frozenset())
    for site in ("cross-site", "same-site", "another"):
        with pytest.raises(ForbiddenOrigin):
            authenticator.authenticate(local_request(("sec-fetch-site", site)), None)
    for site in ("same-origin", "none"):
        assert authenticator.authenticate(local_request(("sec-fetch-site", site)), None) == LOCAL_CALLER


@pytest.mark.parametrize("name", ["a/b", "a\0b", "a\nb"])
def test_a_thread_has_a_name_that_a_path_can_contain(name) -> None:
    with pytest.raises(ConfigError, match="no slash"):
        validate_thread_name(name)


@pytest.mark.parametrize("name", ["local", "", "a:b", "Ann", "x" * 65])
def test_names_that_no_key_may_have(tmp_path, name) -> None:
    with pytest.raises(ConfigError):
        KeyStore(tmp_path).add(name, None)


def test_rows_as_csv_run_no_formula() -> None:
    rows = [["=HYPERLINK(1)", -3, None, True], ['a "b", c\nd', 1.5, "-x", False]]
    cited = {"columns": ["name", "height", "@x", "y"], "units": ["", "m", "", ""], "rows": rows}
    assert rows_csv(cited) == (  # type: ignore[arg-type]
        "name,height [m],'@x,y\r\n" + "'=HYPERLINK(1),-3,,true\r\n" + '"a ""b"", c\nd",1.5,\'-x,false\r\n'
    )


@pytest.mark.parametrize("start", "=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    assert csv_cell(f"{start}cmd") == f"'{start}cmd"
    assert csv_cell(f"a{start}cmd") == f"a{start}cmd"
    if start.isprintable():
        assert csv_cell(f"a;{start}cmd;b") == f"a;'{start}cmd;b"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        # a reader that parts cells at ";" sees no quotes, so that a line break begins a row
        ("x\n=cmd|'/C calc'!A0", "x\n'=cmd|'/C calc'!A0"),
        ("x\u2028+cmd", "x\u2028'+cmd"),
        # a byte-order mark and blanks are not seen
        ("\ufeff=1+1 tons", "'\ufeff=1+1 tons"),
        ("a; =1+1", "a;' =1+1"),
        ("a\n \n @x", "a\n \n' @x"),
        # the quotation marks of a cell that a reader takes apart
        ('"=1+1"', '\'"=1+1"'),
        ('a;"" @x', 'a;\'"" @x'),
        ('say "a-b"', 'say "a-b"'),
        # numbers and words stay
        ("-3", "-3"),
        (" -3.5", " -3.5"),
        ("plain - text = x", "plain - text = x"),
    ],
)
def test_a_formula_is_found_after_line_breaks_marks_and_blanks(text: str, cell: str) -> None:
    assert csv_cell(text) == cell


def test_the_page_finds_the_same_formulas() -> None:
    table = (STATIC_FOLDER / "turn/table.js").read_text()
    assert f"FORMULA_START = /{FORMULA_START.pattern}/g" in table


def test_the_page_makes_no_html_of_data_and_names_no_other_host() -> None:
    page = (STATIC_FOLDER / "index.html").read_text()
    assert "unsafe" not in content_security_policy(page)
    assert not re.search(r"<style|<script>|\son\w+=|\sstyle=", page)
    for file in (each for each in STATIC_FOLDER.rglob("*") if each.is_file() and "vendor" not in each.parts):
        text = file.read_text().replace("http://www.w3.org/", "")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "://"):
            assert forbidden not in text, file.name


async def test_what_a_model_was_asked_is_told_to_the_owner_of_the_run_alone() -> None:
    async def turn():
        record_call(ModelCall((("human", "Which?"),), "That.", 0.1))
        yield "answer", {}

    runs = Runs(resume_seconds=60)
    run = runs.create("ann", "maps")
    runs.start(run, turn())
    await run.wait()
    assert [call.answer for call in runs.calls(Caller("ann"), run.id)] == ["That."]
    for caller, id in ((Caller("bo"), run.id), (Caller("ann"), "none"), (Caller("ann", ("cars",)), run.id)):
        with pytest.raises(NotFound):
            runs.calls(caller, id)


@pytest.mark.parametrize("in_headers", [True, False])
def test_readiness_waits_two_seconds_for_a_models_server_and_reads_no_body(in_headers: bool) -> None:
    with endless_server(in_headers=in_headers) as server:
        places = {"NACRE_OPENAI_BASE_URL": server.url.replace("//", "//ann:secret@")}
        settings = Settings(model="openai:small", forbid_models=False, _env_file=None, **places)  # type: ignore[arg-type]
        start = time.monotonic()
        problems = model_problems(settings)
        assert time.monotonic() - start < PROBE_SECONDS + 1
    assert problems == (["the model's server does not answer, so the rules answer: TimeoutError"] if in_headers else [])
