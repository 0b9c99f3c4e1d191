"""LangGraph's clients from npm against `nacre serve`: its SDK, and the chat page that `create-agent-chat-app` makes."""

import http.server
import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect, sync_playwright

from tests.e2e.conftest import GRAPHS, command, free_port, serving
from tests.e2e.test_langgraph_api import PLAIN, TWO_WAYS, UNCLEAR
from tests.e2e.test_leaving import Silent, waited
from tests.e2e.test_page import CHROMIUM, QUIET

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples/clients/langgraph_client.mjs"
CHAT_APP = ["create-agent-chat-app@0.1.6", "--yes", "--framework", "vite", "--package-manager", "npm"]
QUESTION = "How many pages does Granite have?"


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("npm")
    nacre = command(folder / "data", folder)
    (folder / "studios.ttl").write_text(TWO_WAYS)
    for name, file in (("reading-room", GRAPHS / "reading_room.ttl"), ("studios", folder / "studios.ttl")):
        assert nacre("ingest", file, "--graph", name, "--no-vectors").returncode == 0
    return folder


@pytest.fixture(scope="module")
def built():
    """The chat page as static files, built with npm once."""
    folder = ROOT / ".npm-cache/agent-chat-ui"
    if not (folder / "dist/index.html").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = [*CHAT_APP, "--install-deps", "false", "--project-name", "agent-chat-ui"]
        subprocess.run(["npx", "--yes", *made], cwd=folder.parent, check=True, timeout=300)
        web = folder / "apps/web"
        subprocess.run(["npm", "install", "--legacy-peer-deps", "--silent"], cwd=web, check=True, timeout=600)
        subprocess.run(["npx", "vite", "build", "--logLevel", "error"], cwd=web, check=True, timeout=600)
        shutil.move(web / "dist", folder / "dist")
        shutil.rmtree(folder / "apps")
    return folder / "dist"


@contextmanager
def page_over(graphs, built, **settings):
    """The chat page in a browser, over a server that allows its origin; the address of the server."""
    files = partial(http.server.SimpleHTTPRequestHandler, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), files) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{web.server_port}"
        allowed = {"NACRE_CORS_ORIGINS": origin, **PLAIN, **settings}
        with serving(graphs / "data", graphs, **allowed) as (address, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)

            def opened(graph, thread=""):
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                at = f"?apiUrl={address}/langgraph&assistantId={graph}&chatHistoryOpen=true"
                page.goto(f"{origin}/{at}&threadId={thread}" if thread else f"{origin}/{at}")
                return page

            yield address, opened
            browser.close()
        web.shutdown()


def say(page, text):
    page.get_by_placeholder("Type your message...").fill(text)
    page.get_by_role("button", name="Send").click()


def ended(page):
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=60_000)


def thread_of(page):
    return page.url.partition("threadId=")[2].partition("&")[0]


def answers_of(address, thread):
    return [turn["record"]["values"] for turn in httpx.get(f"{address}/api/threads/{thread}").json()["turns"]]


def test_the_script_with_the_sdk_from_npm(graphs):
    shutil.copy(SCRIPT, graphs)
    install = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "@langchain/langgraph-sdk@1",
        "@langchain/core@1",
    ]
    subprocess.run(install, cwd=graphs, check=True, timeout=300)
    key = command(graphs / "data", graphs)("keys", "add", "ann").stdout.strip()
    try:
        with serving(graphs / "data", graphs, **PLAIN) as (address, _):

            def run(graph, question, key=key):
                return subprocess.run(
                    ["node", SCRIPT.name, f"{address}/langgraph", graph, question],
                    capture_output=True,
                    text=True,
                    cwd=graphs,
                    env={**os.environ, "NACRE_KEY": key},
                    timeout=120,
                )

            asked = run("reading-room", QUESTION)
            assert (asked.returncode, asked.stderr) == (0, "")
            assert "540" in asked.stdout.splitlines()[0]
            assert "[ 540 ] answered" in asked.stdout
            unclear = run("studios", UNCLEAR)
            assert (unclear.returncode, unclear.stderr) == (0, "")
            assert "[ 'Visby' ] answered" in unclear.stdout
            assert "no assistant" in run("cellar", QUESTION).stderr
            assert "401" in run("reading-room", QUESTION, "nacre_wrong").stderr
    finally:
        (graphs / "data/keys.json").unlink()


def test_the_page_chats_regenerates_and_edits_also_after_a_restart(graphs, built):
    with page_over(graphs, built) as (address, opened):
        page = opened("reading-room")
        for question, told in ((QUESTION, "540"), ("And The Salt Road?", "312")):
            say(page, question)
            expect(page.get_by_text(told).last).to_be_visible(timeout=60_000)
            ended(page)
        thread = thread_of(page)
        assert answers_of(address, thread) == [[540], [312]]
    with page_over(graphs, built) as (address, opened):
        page = opened("reading-room", thread)
        answer = page.get_by_text("312").last
        expect(answer).to_be_visible(timeout=60_000)
        answer.hover()
        page.get_by_role("button", name="Refresh").last.click()
        # two answers to one question: the page offers to switch between them
        expect(page.get_by_text("2 / 2")).to_be_visible(timeout=60_000)
        ended(page)
        assert answers_of(address, thread) == [[540], [312]]
        page.get_by_text("And The Salt Road?").last.hover()
        page.get_by_role("button", name="Edit").last.click()
        page.locator("textarea").first.fill("How many authors are there?")
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_text("3 authors").last).to_be_visible(timeout=60_000)
        ended(page)
        assert answers_of(address, thread) == [[540], [3]]


def test_the_page_shows_a_clarification_and_goes_on(graphs, built):
    with page_over(graphs, built) as (address, opened):
        page = opened("studios")
        say(page, UNCLEAR)
        ended(page)
        expect(page.get_by_text("Human Interrupt")).to_be_visible(timeout=60_000)
        say(page, "1")
        expect(page.get_by_text("Visby").last).to_be_visible(timeout=60_000)
        ended(page)
        expect(page.get_by_text("Human Interrupt")).to_be_hidden()
        assert answers_of(address, thread_of(page))[-1] == ["Visby"]


def test_a_cancelled_answer_ends_and_another_conversation_loses_nothing(graphs, built):
    silent = Silent()
    settings = {"NACRE_MODEL": "openai:silent", "NACRE_OPENAI_BASE_URL": silent.url, "NACRE_BUSY_RETRIES": "0"}
    with page_over(graphs, built, **settings) as (address, opened):
        page = opened("reading-room")
        came, gone = silent.came, silent.gone
        say(page, "Which of the books would a railway worker enjoy, and why?")
        assert waited(lambda: silent.came > came)
        page.get_by_role("button", name="Cancel").click()
        assert waited(lambda: silent.gone > gone)
        ended(page)
        assert answers_of(address, thread_of(page)) == []
    silent.close()
    with page_over(graphs, built) as (address, opened):
        page = opened("reading-room")
        say(page, QUESTION)
        ended(page)
        first = thread_of(page)
        page.get_by_role("button", name="New thread").click()
        expect(page.get_by_text("540")).to_be_hidden(timeout=60_000)
        say(page, "How many authors are there?")
        page.wait_for_function("new URLSearchParams(location.search).get('threadId')")
        other = thread_of(page)
        # back to the first conversation while the answer streams
        page.get_by_role("button", name=QUESTION).first.click()
        assert waited(lambda: answers_of(address, other) == [[3]])
        assert answers_of(address, first) == [[540]]
        page.reload()
        expect(page.get_by_text("540").last).to_be_visible(timeout=60_000)
