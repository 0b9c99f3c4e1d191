"""Generate a graph of ships: a scale -> N-Triples, about 3,700 triples at scale 1, the same at every run."""

import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

BASE = "http://example.org/fleet/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FUELS = ("diesel", "gas", "electricity", "diesel and electricity")
KINDS = ("ferry", "trawler", "tug", "tanker", "cutter", "barge")
WORDS = "Northern Swift Grand Silent Iron Amber Western Silver Old Royal Blue Steady".split()
PARTS = "radar,mooring winch,life raft,sonar,bow thruster,deck crane,autopilot,anchor chain,ballast pump".split(",")


class _Sizes(NamedTuple):
    designs: int
    engines: int
    ships: int
    fittings: int
    ports: int


def write_graph(scale: float, path: Path, changed: float = 0.0) -> int:
    """Write the graph and return its number of triples; `changed` is the share of things with another fact."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for subject, facts in _things(scale, random.Random(11), random.Random(12), changed):
            count += len(facts)
            file.writelines(f"<{BASE}{subject}> {predicate} {value} .\n" for predicate, value in facts)
    return count


def _things(
    scale: float, chance: random.Random, other: random.Random, changed: float
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    counts = _Sizes(*(max(1, round(each * scale)) for each in (30, 110, 110, 200, 12)))
    engines = (_engine(n, chance) for n in range(counts.engines))
    ships = (_ship(n, counts, chance) for n in range(counts.ships))
    for thing, classes, facts in chain(_fixed(counts, chance), engines, ships):
        if other.random() < changed:
            facts.append((_name("note"), f'"inspected {other.randrange(10**6)} times"'))
        yield thing, [(TYPE, _name(each)) for each in classes] + facts


Thing = tuple[str, tuple[str, ...], list[tuple[str, str]]]


def _fixed(counts: _Sizes, chance: random.Random) -> Iterator[Thing]:
    for n, fuel in enumerate(FUELS):
        yield f"fuel/{n}", ("Fuel",), [(LABEL, f'"{fuel}"')]
    for n in range(counts.ports):
        yield f"port/{n}", ("Port", "Place"), [(LABEL, f'"{chance.choice(WORDS)} Harbour {n}"')]
    for n in range(counts.fittings):
        label = f"{chance.choice(WORDS)} {chance.choice(PARTS)} {n}"
        yield f"fitting/{n}", ("Fitting",), [(LABEL, f'"{label}"'), (_name("maker"), f'"Maker {chance.randrange(40)}"')]
    for n in range(counts.designs):
        kind = chance.choice(KINDS)
        yield (
            f"design/{n}",
            ("Design", "Asset", "Document"),
            [
                (LABEL, f'"{chance.choice(WORDS)} {kind} design {n}"'),
                (_name("kind"), f'"{kind}"'),
                (_name("price"), f'"{chance.randrange(25_000, 120_000)}"'),
            ],
        )


def _engine(n: int, chance: random.Random) -> Thing:
    fuel = chance.randrange(len(FUELS))
    facts = [
        (_name("fuel"), _name(f"fuel/{fuel}")),
        (_name("drive"), f'"{chance.choice(("one screw", "two screws", "water jet"))}"'),
        (_name("power"), f'"{chance.randrange(80, 4600)} kW"'),
        (_name("topSpeed"), f'"{chance.randrange(60, 400) / 10} km/h"'),
    ]
    if fuel != 2:
        low = chance.randrange(100, 250)
        facts.append((_name("fuelUse"), f'"{low} - {low + chance.randrange(1, 30)} l/h"'))
        facts.append((_name("cylinders"), f'"{chance.choice((4, 6, 8, 12))}"'))
        facts.append((_name("displacement"), f'"{chance.randrange(1400, 44_000)} cm³"'))
    if fuel >= 2:
        low = chance.randrange(40, 600)
        facts.append((_name("electricRange"), f'"{low} - {low + 40} km"'))
        facts.append((_name("batterySize"), f'"{chance.randrange(200, 1100)} kWh"'))
        facts.append((_name("chargingTime"), f'"{chance.randrange(2, 9):02d}:{chance.randrange(0, 60, 15):02d} h"'))
    return f"engine/{n}", ("Engine",), facts


def _ship(n: int, counts: _Sizes, chance: random.Random) -> Thing:
    facts = [
        (LABEL, f'"{chance.choice(WORDS)} {chance.choice(WORDS)} {n}"'),
        (_name("callSign"), f'"CS-{n:06d}"'),
        (_name("price"), f'"{chance.randrange(250_000, 1_400_000)}"'),
    ]
    for name, least in (("length", 14_000), ("beam", 4_200), ("draught", 1_700), ("height", 9_000)):
        facts.append((_name(name), f'"{least + chance.randrange(3000)} mm"'))
    facts.append((_name("design"), _name(f"design/{chance.randrange(counts.designs)}")))
    facts.append((_name("engine"), _name(f"engine/{chance.randrange(counts.engines)}")))
    facts.append((_name("homePort"), _name(f"port/{chance.randrange(counts.ports)}")))
    for each in chance.sample(range(counts.fittings), min(counts.fittings, chance.randrange(10))):
        facts.append((_name("fitting"), _name(f"fitting/{each}")))
    return f"ship/{n}", ("Ship", "Asset", "Vehicle"), facts


def _name(text: str) -> str:
    return f"<{BASE}{text}>"
