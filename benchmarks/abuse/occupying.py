"""One key sends many queries that never end: another key is answered within the limit for requests."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

from benchmarks.abuse.case import GRAPH, AttackResult, polled_health
from benchmarks.abuse.requests import LABEL, QUERY_PATH, Target
from benchmarks.inputs.hostile_sparql import slow_sparql
from benchmarks.inputs.hostile_sql import ENDLESS_SQL

AT_ONCE = 16
# the clients of slow queries leave then; a query ends after NACRE_BRANCH_SECONDS (10)
PATIENCE_SECONDS, FREE_SECONDS = 5.0, 15.0
QUESTIONS = (
    "Which car has the lowest price?",
    "How many car models are there?",
    "What is the average price of the cars?",
)
SLOW = {"SPARQL queries": ("sparql", slow_sparql(LABEL)), "endless recursive CTEs": ("sql", ENDLESS_SQL)}


def attack_with_slow_queries(target: Target, only: str = "") -> Iterator[AttackResult]:
    """Questions and queries of one key while the other one has sent slow queries."""
    # the processes for queries are started
    for language, text in (("sql", "SELECT 1"), ("sparql", "ASK { ?s ?p ?o }")):
        target.bo.post(QUERY_PATH, json={"language": language, "text": text})
    with polled_health(target.address) as health:
        for name, (language, text) in SLOW.items():
            if only in name:
                yield from _occupy(f"{AT_ONCE} {name}", language, text, target)
    yield health.result("slow queries")


def _occupy(what: str, language: str, text: str, target: Target) -> Iterator[AttackResult]:
    slow, quick = {"language": language, "text": text}, {"language": "sql", "text": "SELECT 1 FROM entity"}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sent = [pool.submit(_post_until_patience_ends, target.ann, slow) for _ in range(AT_ONCE)]
        time.sleep(1)
        replies = [target.bo.post("/api/ask", json={"question": each, "graph": GRAPH}) for each in QUESTIONS]
        yield _slowest(f"{what} of one key: questions of another", replies)
        yield _slowest(f"{what} of one key: a query of another", [target.bo.post(QUERY_PATH, json=quick)])
        unfinished = sum(each.result() for each in sent)
    start = time.perf_counter()
    reply = target.ann.post(QUERY_PATH, json=quick)
    problem = "" if unfinished >= AT_ONCE - 2 else f"only {unfinished} of them were slow"
    problem = problem if reply.status_code == 200 else f"status {reply.status_code}"
    seconds = time.perf_counter() - start
    yield AttackResult(
        f"{what}: a query of the same key, after its clients have left", seconds, FREE_SECONDS, 0, problem
    )


def _post_until_patience_ends(client: httpx.Client, body: dict[str, str]) -> bool:
    """Whether the client left without a reply."""
    try:
        client.post(QUERY_PATH, json=body, timeout=PATIENCE_SECONDS)
    except httpx.ReadTimeout:
        return True
    return False


def _slowest(what: str, replies: list[httpx.Response]) -> AttackResult:
    wrong = [reply.status_code for reply in replies if reply.status_code != 200]
    problem = f"statuses {wrong}" if wrong else ""
    return AttackResult(what, max(reply.elapsed.total_seconds() for reply in replies), problem=problem)
