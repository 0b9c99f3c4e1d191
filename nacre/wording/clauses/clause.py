"""A clause about things: the forms it takes after a noun and with a name."""

from dataclasses import dataclass

from nacre.wording.labels.label import PredicateLabel


@dataclass(frozen=True)
class Clause:
    """What holds of a thing.

    `one` and `many` follow the noun of one thing and of several; `true` and `false` are sentences with {} for the name
    of the thing. Instead, `front` goes before the noun ("BMW X5" of "BMW X5 variants"), and so does an `adjective`
    ("female"); a `noun` replaces the noun of the thing ("singer").
    """

    one: str
    many: str
    true: str
    false: str
    front: str = ""
    adjective: str = ""
    noun: str = ""


def verb_clause(label: PredicateLabel, other: str) -> Clause:
    """What a thing does or did: "that borders Spain", "that sang at the fair"."""
    several, does_not = (label.one, "did not") if label.kind == "past" else (label.many, "does not")
    true, false = f"{{}} {label.one} {other}", f"{{}} {does_not} {label.many} {other}"
    return Clause(f"that {label.one} {other}", f"that {several} {other}", true, false)


def state_clause(label: PredicateLabel, other: str) -> Clause:
    """The state of a thing: "that is located in Spain"."""
    (one, many), rest = label.be, f"{label.one} {other}".rstrip()
    return Clause(f"that {one} {rest}", f"that {many} {rest}", f"{{}} {one} {rest}", f"{{}} {one} not {rest}")
