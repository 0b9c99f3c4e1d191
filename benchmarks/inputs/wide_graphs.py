"""Generate graphs that are large in one dimension: files, classes, predicates, namesakes, or one long text."""

import random
from pathlib import Path

BASE = "http://example.org/wide/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FILES, KINDS, PREDICATES, NAMESAKES, LETTERS = 20_000, 5_000, 3_000, 100_000, 10_000_000
LINKS = 25
WORDS = "harbour crane rope the of tide with Northern slow and pilot chart under lamp".split()


def many_files(folder: Path, count: int = FILES) -> int:
    """One Turtle file per thing with about 30 triples and one blank node; returns the number of triples."""
    folder.mkdir()
    chance = random.Random(5)
    for n in range(count):
        near = " , ".join(f":t{chance.randrange(count)}" for _ in range(LINKS))
        (folder / f"{n:06}.ttl").write_text(
            f"@prefix : <{BASE}> .\n:t{n} a :Thing ; {LABEL} 'Thing {n}' ; :weight {chance.randrange(999)} ;\n"
            f"  :near {near} ;\n  :part [ :size {chance.randrange(99)} ; :of :t{n} ] .\n",
            encoding="utf-8",
        )
    return count * (LINKS + 6)


def many_kinds(path: Path) -> int:
    """A class for each of 5,000 things; returns the number of triples."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(KINDS):
            facts = ((TYPE, f"<{BASE}Kind{n}>"), (LABEL, f'"Lantern {n}"'), (f"<{BASE}size>", f'"{n}"'))
            link = (f"<{BASE}near>", f"<{BASE}t{7 * n % KINDS}>")
            file.writelines(f"<{BASE}t{n}> {predicate} {value} .\n" for predicate, value in (*facts, link))
    return 4 * KINDS


def many_predicates(path: Path) -> int:
    """300 things of one class with 3,000 predicates; returns the number of triples."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(300):
            file.write(f'<{BASE}t{n}> {TYPE} <{BASE}Thing> .\n<{BASE}t{n}> {LABEL} "Item {n}" .\n')
        for n in range(PREDICATES):
            for thing in {(n + 37 * j) % 300 for j in range(3)}:
                file.write(f'<{BASE}t{thing}> <{BASE}property{n}> "{n + thing}" .\n')
    return 600 + 3 * PREDICATES


def one_label(path: Path) -> int:
    """100,000 things with the same label; returns the number of triples."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(NAMESAKES):
            file.write(f'<{BASE}t{n}> {TYPE} <{BASE}Part> .\n<{BASE}t{n}> {LABEL} "Bolt" .\n')
            file.write(f'<{BASE}t{n}> <{BASE}weight> "{n % 1000}" .\n')
    return 3 * NAMESAKES


def long_text(path: Path) -> int:
    """One document with a text of ten million letters; returns the number of triples."""
    chance = random.Random(6)
    parts: list[str] = []
    size = 0
    while size < LETTERS:
        parts.append(" ".join(chance.choice(WORDS) + str(chance.randrange(999)) for _ in range(12)).capitalize() + ".")
        size += len(parts[-1]) + 1
    text = " ".join(parts)[:LETTERS]
    path.write_text(
        f'<{BASE}d> {TYPE} <{BASE}Report> .\n<{BASE}d> {LABEL} "Tide report" .\n<{BASE}d> <{BASE}body> "{text}" .\n',
        encoding="utf-8",
    )
    return 3
