"""/api/threads/{thread}/turns/{turn}/share and /api/shares: share an answer, list and withdraw one's links.

/share/TOKEN is the page of a shared answer, for people without a key: OpenedShare -> HTML without scripts, links to
other hosts or anything but text. Its texts are those of the web page and of `static/`, in the reader's language.
Who may share an answer, and what a link must not outlive: caller + turn -> link; token -> answer, or nothing.
"""

import json
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from itertools import repeat
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from nacre.access.open_graph import look_up_labels
from nacre.access.things import origin_words
from nacre.errors import ConfigError, ToolError
from nacre.extensions.sharing.shared_answers import (
    Kind,
    OpenedShare,
    SharedAnswer,
    SharedAnswerStore,
    SharedCitation,
    SharedQuery,
    ShareLink,
    chart_figure,
    freeze_answer,
)
from nacre.language.sanitize import strip_control_characters
from nacre.language.tokens import ENGLISH
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.language.values import format_date, format_value, is_amount_label
from nacre.records.answer import Answer, Value
from nacre.records.threads import run_in_thread
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.http.ask import ThreadPath, TurnPath
from nacre.serving.http.auth import Authenticator, CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, ThreadsDep, TurnServiceDep
from nacre.serving.keys import Caller, KeyStore, report_deed
from nacre.serving.page.pages import STATIC_FOLDER, PageFiles, content_security_policy
from nacre.serving.threads import Threads
from nacre.stores.catalog import Library
from nacre.stores.state.conversations import ConversationStoreError
from nacre.wording.translations import translated_literal, translated_number

DEFAULT_DAYS, MAX_DAYS = 30, 365

share_router = APIRouter(prefix="/api", tags=["sharing"], responses=ERROR_RESPONSES)


class ShareTerms(BaseModel):
    """After how many days the link ends, and the kind of chart; "" is the one that fits."""

    days: int = Field(DEFAULT_DAYS, ge=1, le=MAX_DAYS)
    chart: Kind = ""


class NewShare(BaseModel):
    """A new link. `path` follows the address of the server; it is shown once, since only its hash is stored."""

    path: str
    link: ShareLink


@share_router.post("/threads/{thread}/turns/{turn}/share", summary="Share an answer", status_code=201)
async def share_answer(
    request: Request,
    thread: ThreadPath,
    turn: TurnPath,
    body: ShareTerms,
    threads: ThreadsDep,
    service: TurnServiceDep,
    caller: CallerDep,
) -> NewShare:
    """Make an address where people without a key read a frozen copy of this answer, its sources and queries.

    Needs a key with the right `share` and a server with `NACRE_SHARING`. The copy ends with its days, its thread, its
    graph, and with the key or its right.
    """
    sharing: AnswerSharing = request.app.state.sharing
    token, link = await sharing.share(threads, service.library, caller, thread, turn, body)
    return NewShare(path=f"/share/{token}", link=link)


@share_router.get("/shares", summary="List shared answers")
async def list_shares(threads: ThreadsDep, caller: CallerDep) -> list[ShareLink]:
    """The caller's links that have not expired, the latest first."""
    return await run_in_thread(SharedAnswerStore(threads.conversations).listed, caller.owner)


@share_router.delete("/shares/{id}", summary="Withdraw a shared answer", status_code=204)
async def revoke_share(
    id: Annotated[str, Path(pattern="^[0-9a-f]{16}$")], threads: ThreadsDep, caller: CallerDep
) -> None:
    """Delete the copy: from now on its address shows nothing."""
    if not await run_in_thread(SharedAnswerStore(threads.conversations).revoke, id, caller.owner):
        raise NotFound("You share no such answer. List yours at /api/shares.")
    report_deed(caller, "withdrew a shared answer", id=id)


log = logging.getLogger(__name__)

# the page's part for sharing, with its texts
FILES = FilePath(__file__).with_name("static")

HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}

shared_answer_router = APIRouter(include_in_schema=False)


@shared_answer_router.get("/share/{token}")
async def shared_answer_page(request: Request, token: str, service: TurnServiceDep) -> HTMLResponse:
    """The answer, or one message for all tokens that give nothing."""
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.limit_address(request)
    sharing: AnswerSharing = request.app.state.sharing
    language = preferred_language(request.headers.get("accept-language", ""))
    try:
        found = None
        if service.threads is not None:
            found = await sharing.open(service.threads, service.library, token)
    except (ConversationStoreError, ConfigError) as error:
        # readers without a key must not learn the path of a file
        log.error("a shared answer can't be read: %s", error)
        return _page(message_page(language, MESSAGES[503]), 503)
    if found is None:
        return _page(message_page(language, MESSAGES[404]), 404)
    return _page(await run_in_thread(shared_page, found, language), 200)


def _page(text: str, status: int) -> HTMLResponse:
    return HTMLResponse(text, status, {**HEADERS, "Content-Security-Policy": page_policy()})


def add_sharing(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, to a server of its own or a part of one."""
    app.state.sharing = AnswerSharing(app.state.keys, app.state.settings.sharing)
    app.include_router(share_router)
    app.include_router(shared_answer_router)
    app.mount("/share/files", PageFiles(directory=str(FILES)))


RIGHT = "share"


@dataclass(frozen=True)
class AnswerSharing:
    """Shared answers of a server. `is_on` is NACRE_SHARING: if it is off, no link can be made or read, and links can
    still be listed and withdrawn. Methods raise StorageError, or ConfigError if the keys can't be read."""

    keys: KeyStore
    is_on: bool

    def may_share(self, caller: Caller) -> bool:
        """Whether this caller may share answers here."""
        return self.is_on and RIGHT in caller.may

    async def share(
        self, threads: Threads, library: Library, caller: Caller, thread: str, turn: int, terms: ShareTerms
    ) -> tuple[str, ShareLink]:
        """Share the answer of a turn: its token, which is not stored, and its link. Raises Forbidden, NotFound,
        QuotaExceeded, or ConfigError if the caller shares too much."""
        if not self.is_on:
            raise Forbidden("Sharing is off on this server. Its operator can set NACRE_SHARING=true.")
        caller.require(RIGHT, "share answers")
        if (owner := await run_in_thread(self.keys.find_owner, caller.owner)) is None:
            raise Forbidden("This key is revoked.")
        store = SharedAnswerStore(threads.conversations)
        async with threads.quota.checked(caller), threads.queues.lock(caller.owner, thread):
            record = (await threads.turn(caller, thread, turn)).record
            origin, names = await run_in_thread(_graph_words, library, record)
            copy = await run_in_thread(freeze_answer, record, origin, terms.chart, names)
            made = await run_in_thread(store.add, caller.owner, thread, turn, copy, owner[1], terms.days)
        about = {"graph": copy.graph, "version": copy.version, "thread": thread, "turn": turn, "id": made[1].id}
        report_deed(caller, "shared", **about)
        return made

    async def open(self, threads: Threads, library: Library, token: str) -> OpenedShare | None:
        """What a token gives; None if it gives nothing (any more), whatever the reason."""
        if not self.is_on:
            return None
        found = await run_in_thread(SharedAnswerStore(threads.conversations).open, token)
        return found if found is not None and await run_in_thread(self._still_holds, library, found) else None

    def _still_holds(self, library: Library, found: OpenedShare) -> bool:
        """Whether the same key may still share and read the graph, and the graph is still there."""
        owner = self.keys.find_owner(found.link.owner)
        if owner is None:
            return False
        caller, key = owner
        may = RIGHT in caller.may and caller.may_read(found.link.graph)
        return may and key == found.key and found.link.graph in library.names()


def _graph_words(library: Library, record: Answer) -> tuple[str, list[str]]:
    """What the graph of an answer states of itself, and the names of its things; nothing if it can't be read."""
    language, things = record["language"], record["things"]
    try:
        with library.open(record["graph"], record["version"]) as graph:
            labels = look_up_labels(graph, things)
            origin = origin_words(graph, language if language in GLOSSED_LANGUAGES else ENGLISH)
            return origin, [labels.get(iri, "") for iri in things]
    except (ConfigError, ToolError, OSError) as error:
        log.warning("a shared answer lacks what its graph says: %s", error)
        return "", []


# title and text of the pages without an answer, by status
MESSAGES = {404: ("sharedNothing", "sharedNothingWhy"), 503: ("sharedUnavailable", "hint_503")}

DAY = re.compile(r"\d{4}-\d\d-\d\d")

# numbers that read as years if a column has no others
YEARS = range(1000, 2200)

TABLE_LINE = re.compile(r"\s*\|.*\|\s*")

CITED = re.compile(r"\[(\d{1,4})\]")


def preferred_language(accepted: str) -> str:
    """The first language of an Accept-Language header that the page has, else English.

    >>> preferred_language("fr, de-AT;q=0.8, en;q=0.5"), preferred_language("../../x")
    ('de', 'en')
    """
    wanted = [each.split(";")[0].strip()[:2].lower() for each in accepted[:200].split(",")]
    return next((each for each in wanted if each in _texts()), "en")


@cache
def page_policy() -> str:
    """The content security policy: the inline style and nothing else. The sandbox forbids scripts and forms as well."""
    policy = content_security_policy(f"<style>{_style()}</style>")
    return policy.replace("connect-src 'self'", "connect-src 'none'") + "; sandbox"


@cache
def _style() -> str:
    return (FILES / "share.css").read_text(encoding="utf-8")


def message_page(language: str, keys: tuple[str, str]) -> str:
    """A page that says why there is no answer."""
    title, why = (_texts()[language][key] for key in keys)
    return _document(language, title, f"<h1>{_safe(title)}</h1><p>{_safe(why)}</p>")


def shared_page(share: OpenedShare, language: str) -> str:
    """The page of a shared answer."""
    answer, words = share.answer, _texts()[language]
    understood = ""
    if answer.standalone.casefold().strip() != answer.question.casefold().strip():
        understood = f'<p class="quiet">{_safe(words["understoodAs"] + answer.standalone)}</p>'
    parts = [
        f"<h1>{_safe(answer.question)}</h1>{understood}",
        f'<div class="answer" lang="{_safe(answer.language)}">{_paragraphs(answer)}</div>',
        f'<p class="quiet">{_safe(_status(answer, words))}</p>',
        *(f'<p class="quiet">{_safe(note)}</p>' for note in dict.fromkeys(answer.notes)),
        chart_figure(answer.columns, answer.rows, partial(_cell, language=language), answer.chart, words["others"]),
        _table(answer, words, words["rows"], language),
    ]
    if answer.citations:
        sources = "".join(_citation(each, answer, words, language) for each in answer.citations)
        parts.append(f"<h2>{_safe(words['sharedSources'])}</h2><ol>{sources}</ol>")
    parts.append(_derivation(answer, words, language))
    created, expires = (_day(seconds, language) for seconds in (share.link.created, share.link.expires))
    about = _fill(words["sharedAbout"], graph=answer.graph, date=created, until=expires)
    origin = f"<p>{_safe(answer.origin)}</p>" if answer.origin else ""
    parts.append(f"<footer>{origin}<p>{_safe(about)}</p></footer>")
    return _document(language, answer.question, "".join(parts))


def _paragraphs(answer: SharedAnswer) -> str:
    """The text of an answer; its table is shown in full below, and [n] leads to a source."""
    lines = answer.answer.split("\n")
    if answer.rows:
        lines = [line for line in lines if not TABLE_LINE.fullmatch(line)]
    numbers = {each.n for each in answer.citations}

    def link(found: re.Match[str]) -> str:
        n = int(found[1])
        return f'<a href="#source-{n}">[{n}]</a>' if n in numbers else found[0]

    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "".join(f"<p>{CITED.sub(link, _safe(block))}</p>" for block in blocks)


def _status(answer: SharedAnswer, words: dict[str, Any]) -> str:
    status = words.get(f"status_{answer.status}", answer.status)
    if answer.confidence is None:
        return str(status)
    percent = words["moreThan99"] if answer.confidence > 0.99 else f"{round(answer.confidence * 100)} %"
    return str(status) + _fill(words["sure"], percent=percent)


def _citation(citation: SharedCitation, answer: SharedAnswer, words: dict[str, Any], language: str) -> str:
    """A source: its rows unless the answer shows them, else its text. Queries are in English words."""
    title, is_shown = _fill(words["rowsOfSource"], n=str(citation.n)), citation.rows == answer.rows
    rows = "" if is_shown else _table(citation, words, title, language)
    basis = _fill(words["restsOn"], what=_translated(citation.basis, language)) if citation.basis else ""
    source = citation.source if language == ENGLISH or not citation.rows else ""
    source = _branch(source, words) if f"branch{source.title()}" in words else source
    said = " – ".join(each for each in ("" if citation.rows else citation.text, source, basis) if each)
    return f'<li id="source-{citation.n}">[{citation.n}] {_safe(said)}{rows}</li>'


def _derivation(answer: SharedAnswer, words: dict[str, Any], language: str) -> str:
    parts = []
    if answer.triples:
        triples = "\n".join(" ".join(triple) for triple in answer.triples)
        parts.append(f"<h2>{_safe(words['asTriples'])}</h2><pre>{_safe(triples)}</pre>")
    if answer.readings:
        readings = "".join(f"<li>{_safe(each)}</li>" for each in answer.readings)
        parts.append(f"<h2>{_safe(words['sharedReadings'])}</h2><ul>{readings}</ul>")
    parts += [_query(each, words, language) for each in answer.queries]
    return f"<details><summary>{_safe(words['howFound'])}</summary>{''.join(parts)}</details>" if parts else ""


def _query(query: SharedQuery, words: dict[str, Any], language: str) -> str:
    params = ", ".join("" if each is None else str(each) for each in query.params)
    number = words["row"][0 if query.rows == 1 else 1]
    branch = _branch(query.tool, words)
    head = f"{branch}: {query.words}" if query.words else branch
    text = f"{query.text}\n-- {params}" if params else query.text
    # what a search is for is in its words; in other languages its text is an English gloss
    statement = "" if query.words and query.tool in ("lexical", "vector") else f"<pre>{_safe(text)}</pre>"
    return f"<p>{_safe(head)} ({_safe(_fill(number, n=_cell(query.rows, language)))})</p>{statement}"


def _branch(tool: str, words: dict[str, Any]) -> str:
    """The branch of a query in words: "Tables"."""
    name = str(words.get(f"branch{tool.title()}", tool.upper()))
    return name[:1].upper() + name[1:]


def _table(shown: SharedAnswer | SharedCitation, words: dict[str, Any], title: str, language: str) -> str:
    """The rows of an answer or of a source."""
    columns, rows = shown.columns, shown.rows
    if not rows:
        return ""
    part = f"{title}: {_fill(words['rowsOf'], n=_cell(len(rows), language), all=_cell(shown.all_rows, language))}"
    caption = _safe(part if len(rows) < shown.all_rows else title)
    head = "".join(
        f'<th scope="col">{_safe(each or words["columnName" if len(columns) > 1 else "columnAnswer"])}</th>'
        for each in columns
    )
    cells_of = [[row[i] for row in rows if i < len(row)] for i in range(len(columns))]
    counted = [_is_counted(column, cells) for column, cells in zip(columns, cells_of, strict=True)]
    lines = ((_safe(_cell(*each)) for each in zip(row, repeat(language), counted, strict=False)) for row in rows)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    # the keyboard scrolls a wide table
    region = f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">'
    return (
        f"{region}<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _is_counted(column: str, cells: Sequence[Value | None]) -> bool:
    """Whether the numbers of a column have separators of thousands: those of years and codes do not."""
    are_years = all(cell is None or (isinstance(cell, int) and cell in YEARS) for cell in cells)
    return is_amount_label(column) and not are_years


def _cell(cell: Value | None, language: str, is_counted: bool = True) -> str:
    """A cell as the reader writes it: numbers, days, and yes or no."""
    if cell is None or (isinstance(cell, str) and not DAY.fullmatch(cell)):
        return cell or ""
    if language == ENGLISH:
        return format_value(cell, counted=is_counted)
    if isinstance(cell, bool | str):
        return translated_literal(str(cell).lower(), language, is_boolean=isinstance(cell, bool))
    return translated_number(cell, language, counted=is_counted)


def _document(language: str, title: str, inside: str) -> str:
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="robots" content="noindex, nofollow"><meta name="referrer" content="no-referrer">'
        f'<title>{_safe(title)} · Nacre</title><link rel="icon" href="data:,"><style>{_style()}</style></head>'
        f"<body><main>{inside}</main></body></html>"
    )


def _safe(text: str) -> str:
    """Text of a graph or client as HTML that has no markup of its own, no control characters and no bidi marks."""
    return escape(strip_control_characters(text))


def _fill(text: str, **values: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], ""), text)


def _day(seconds: float, language: str) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    return format_date(day) if language == ENGLISH else translated_literal(day, language)


def _translated(line: str, language: str) -> str:
    """A line of the server in a language, as the page translates it."""
    for pattern, words in _lines(language):
        line = re.sub(pattern, re.sub(r"\$(\d)", r"\\g<\1>", words), line)
    return line


@cache
def _lines(language: str) -> list[tuple[str, str]]:
    file = STATIC_FOLDER / "words" / "lines" / f"{language}.json"
    lines: list[tuple[str, str]] = json.loads(file.read_text(encoding="utf-8")) if language != ENGLISH else []
    return lines


@cache
def _texts() -> dict[str, dict[str, Any]]:
    """The texts of each language by their keys."""
    texts: dict[str, dict[str, Any]] = {}
    for each in (*sorted((STATIC_FOLDER / "words").glob("*.json")), *FILES.glob("*.json")):
        texts.setdefault(each.stem, {}).update(json.loads(each.read_text(encoding="utf-8")))
    return texts
