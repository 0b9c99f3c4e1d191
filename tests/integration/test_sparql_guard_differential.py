"""Whatever text the SPARQL guard accepts: both parsers read the same query, and no other graph or host is asked."""

import subprocess
import sys

from hypothesis import given, settings

from benchmarks.fuzz.guard import check_guarded
from benchmarks.inputs.sparql_texts import query_texts


@settings(max_examples=400, deadline=None)
@given(query_texts())
def test_both_parsers_read_what_the_guard_lets_through_in_one_way(text: str) -> None:
    check_guarded(text)


def test_several_first_queries_at_once_are_all_parsed() -> None:
    script = """
import threading
from nacre.extensions.foreign_queries.model_sparql import inspect_query
wrong = []
def parse(n):
    try:
        inspect_query(f"SELECT (COUNT(?s) AS ?n{n}) {{ ?s ?p ?o FILTER(?o > {n} && regex(str(?s), 'x')) }} ORDER BY ?s")
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=parse, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert ran.stdout == "[]\n", ran.stderr
