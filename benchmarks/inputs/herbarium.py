"""Generate a graph with one large class: a number of things -> N-Triples, about nine triples a thing.

Of a hundred things, 73 are sheets, with text, numbers, dates, categories and links; two are letters, which are records
as sheets are; the rest are taxa, sites and collectors. The same at every run.
"""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple

BASE = "http://example.org/herbarium/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
XSD = "http://www.w3.org/2001/XMLSchema#"
STORES = ("north cabinet", "south cabinet", "cold room", "on loan")
COLOURS = "Amber Blue Creeping Dwarf Eastern False Giant Hairy Ivory Northern Pale Red Silver Tall Water Yellow".split()
PLANTS = "aster,bedstraw,cress,dock,eelgrass,fern,gorse,heath,iris,knotweed,lily,mint,nettle,orchid,poppy,rush".split(
    ","
)
GROUNDS = "bog,chalk slope,dune,ditch,fen,hedge,lava field,meadow,moor,quarry,river bank,scree,verge,wall".split(",")
TREATMENTS = "frozen,pressed,poisoned,remounted,photographed,sampled".split(",")


class _Sizes(NamedTuple):
    sheets: int
    letters: int
    taxa: int
    sites: int
    collectors: int


def write_graph(things: int, path: Path) -> int:
    """Write the graph and return its number of triples."""
    sizes = _Sizes(*(max(1, things * share // 100) for share in (73, 2, 13, 8, 4)))
    chance = random.Random(23)
    count = 2
    with path.open("w", encoding="utf-8") as file:
        for kind in ("Sheet", "Letter"):
            file.write(f"{_name(kind)} {SUBCLASS} {_name('Record')} .\n")
        for subject, facts in chain(_surroundings(sizes, chance), _sheets(sizes, chance)):
            count += len(facts)
            file.writelines(f"{_name(subject)} {predicate} {value} .\n" for predicate, value in facts)
    return count


Thing = tuple[str, list[tuple[str, str]]]


def _surroundings(sizes: _Sizes, chance: random.Random) -> Iterator[Thing]:
    for n in range(sizes.collectors):
        name = f"{chance.choice(COLOURS)} {chance.choice(GROUNDS).title()} {n}"
        yield f"collector/{n}", [(TYPE, _name("Collector")), (LABEL, f'"{name}"')]
    for n in range(sizes.sites):
        facts = [(TYPE, _name("Site")), (LABEL, f'"{chance.choice(COLOURS)} {chance.choice(GROUNDS)} {n}"')]
        yield f"site/{n}", [*facts, (_name("altitude"), _number(chance.randrange(2900)))]
    for n in range(sizes.taxa):
        label = f'"{chance.choice(COLOURS)} {chance.choice(PLANTS)} {n}"'
        yield f"taxon/{n}", [(TYPE, _name("Taxon")), (LABEL, label), (_name("rank"), f'"rank {n % 7}"')]
    for n in range(sizes.letters):
        written = (_name("collectedOn"), _date(chance))
        yield f"letter/{n}", [(TYPE, _name("Letter")), (LABEL, f'"Letter {n} to the curator"'), written]


def _sheets(sizes: _Sizes, chance: random.Random) -> Iterator[Thing]:
    for n in range(sizes.sheets):
        facts = [
            (TYPE, _name("Sheet")),
            (LABEL, f'"{chance.choice(COLOURS)} {chance.choice(PLANTS)} {chance.choice(COLOURS).lower()} {n}"'),
            (_name("barcode"), f'"HB-{chance.randrange(10**7):07d}-{n}"'),
            (_name("collectedOn"), _date(chance)),
            (_name("store"), f'"{chance.choice(STORES)}"'),
            (_name("ground"), f'"{chance.choice(GROUNDS)} {chance.randrange(200)}"'),
            (_name("taxon"), _name(f"taxon/{chance.randrange(sizes.taxa)}")),
            (_name("site"), _name(f"site/{int(sizes.sites * chance.random() ** 3)}")),
        ]
        if n % 10:
            facts.append((_name("weight"), f'"{chance.randrange(4, 3000) / 10}"^^<{XSD}decimal>'))
            facts.append((_name("collector"), _name(f"collector/{chance.randrange(sizes.collectors)}")))
        if n % 3 == 0:
            facts.append((_name("remark"), f'"{chance.choice(GROUNDS)}, {chance.randrange(10**5)} paces"'))
        facts += [(_name("treatment"), f'"{each}"') for each in chance.sample(TREATMENTS, chance.randrange(3))]
        yield f"sheet/{n}", facts


def _date(chance: random.Random) -> str:
    return f'"{date(1820, 1, 1) + timedelta(days=chance.randrange(73_000))}"^^<{XSD}date>'


def _number(value: int) -> str:
    return f'"{value}"^^<{XSD}integer>'


def _name(text: str) -> str:
    return f"<{BASE}{text}>"
