"""RDF files that are made to take much memory or time: nothing -> the text or bytes of a file."""

import gzip
import json
from collections.abc import Mapping
from itertools import pairwise

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
TRIX = '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph>'
NAMES = "abcdefghij"
# ten entities, each ten times the one before: 10 GB
NESTED_ENTITIES = '<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(NAMES)
)
LONG_ENTITY = f'<!ENTITY j "{"x" * 100_000}">'
REPEATS = 20_000
SMALL = b"@prefix : <http://e.org/> .\n:a :b :c .\n"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TURTLE = f"@prefix : <http://e.org/> .\n@prefix l: <{LABEL.removesuffix('label')}> .\n"
WHITE_SPACE = " \t"


def description(text: str) -> str:
    """One thing with one text, as RDF/XML."""
    return f'<rdf:Description rdf:about="http://e.org/1"><e:t>{text}</e:t></rdf:Description>'


def trix_triple(text: str) -> str:
    """One triple with a text, as TriX."""
    return f"<triple><uri>http://e.org/1</uri><uri>http://e.org/p</uri><plainLiteral>{text}</plainLiteral></triple>"


def entity_files() -> Mapping[str, str]:
    """Files whose XML entities expand to gigabytes, by name."""
    many = "&j;" * REPEATS
    return {
        "nested.rdf": f"<!DOCTYPE r [{NESTED_ENTITIES}]>{RDF}{description('&j;')}</rdf:RDF>",
        "nested_in_the_body.rdf": f"{RDF}<!DOCTYPE r [{NESTED_ENTITIES}]>{description('&j;')}</rdf:RDF>",
        "unused.rdf": f"<!DOCTYPE r [{NESTED_ENTITIES}]>{RDF}{description('x')}</rdf:RDF>",
        "repeated.rdf": f"<!DOCTYPE r [{LONG_ENTITY}]>{RDF}{description(many)}</rdf:RDF>",
        "nested.trix": f"<!DOCTYPE r [{NESTED_ENTITIES}]>{TRIX}{trix_triple('&j;')}</graph></TriX>",
        "escaped.trix": (
            f"<!DOCTYPE r [{NESTED_ENTITIES.replace('&', '&#38;')}]>{TRIX}{trix_triple('&j;')}</graph></TriX>"
        ),
        "repeated.trix": f"<!DOCTYPE r [{LONG_ENTITY}]>{TRIX}{trix_triple(many)}</graph></TriX>",
    }


def gzip_bomb(start: bytes, unit: bytes, size: int, *, stated: bool = True) -> bytes:
    """Compressed data that inflates to `size` bytes. If not `stated`, its trailer says that it is empty."""
    content = gzip.compress(start + unit * (size // len(unit)))
    return content if stated else content[:-4] + b"\0\0\0\0"


def long_text(megabytes: float) -> bytes:
    """Turtle with one text of this size."""
    return SMALL + b':a :d "' + b"x " * int(megabytes * 500_000) + b'" .\n'


def nested_lists(depth: int) -> str:
    """Turtle with a list in a list, and so on."""
    return TURTLE + ":a :b " + "(" * depth + ":c" + ")" * depth + " .\n"


def linked_lists(depth: int) -> str:
    """The same without the brackets, which a parser may limit: each list is the first member of another."""
    first, rest, nil = (f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}>" for name in ("first", "rest", "nil"))
    links = "".join(f"_:n{n} {first} _:n{n + 1} ; {rest} {nil} .\n" for n in range(depth))
    return f"{TURTLE}:a a :Thing ; :b _:n0 .\n{links}_:n{depth} {first} :c ; {rest} {nil} .\n"


def deep_rdf_xml(depth: int) -> str:
    """Descriptions in properties of descriptions, and so on."""
    inside = "<e:p><rdf:Description>" * depth + "</rdf:Description></e:p>" * depth
    return f'{RDF}<rdf:Description rdf:about="http://e.org/1">{inside}</rdf:Description></rdf:RDF>'


def white_space(repeats: int) -> str:
    """White space that ends in a letter, which patterns that look back need quadratic time for."""
    return WHITE_SPACE * repeats + "x"


def labelled(label: str) -> str:
    """Turtle with three things, one of which has this label."""
    things = "".join(f':t{n} a :Mill ; l:label "Mill {n}" ; :height {n + 3} .\n' for n in (1, 2))
    return f"{TURTLE}{things}:t3 a :Mill ; l:label {json.dumps(label)} ; :height 9 .\n"


def words(number: int) -> str:
    """A text of so many different words."""
    return " ".join(f"word{n}" for n in range(number))


def many_classes(number: int) -> str:
    """Turtle with so many classes of one thing each."""
    return TURTLE + "".join(f':t{n} a :Kind{n} ; l:label "thing {n}" ; :height {n} .\n' for n in range(number))


_PREFIXES = """@prefix : <http://e/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def chain(number: int, link: str, *, things: bool = False) -> str:
    """A chain of terms, each linked to the next one; and a thing of each of them."""
    members = (f":a{n} a :c{n} .\n" for n in range(number) if things)
    return _PREFIXES + "".join((*(f":c{n} {link} :c{n + 1} .\n" for n in range(number)), *members))


def shared_expressions(levels: int) -> str:
    """A class expression that has its part three times, at each of many levels."""
    parts = (f"_:n{n} owl:intersectionOf (_:n{n + 1} _:n{n + 1} _:n{n + 1}) .\n" for n in range(levels))
    last = f"_:n{levels} owl:onProperty :p ; owl:someValuesFrom :X .\n:X a owl:Class .\n"
    return f"{_PREFIXES}{''.join(parts)}{last}:A a owl:Class ; rdfs:subClassOf _:n0 .\n"


def definitions(number: int, top: str = "top") -> str:
    """Definitions that many classes fit."""
    some = "[ owl:onProperty :p ; owl:someValuesFrom :d ]"
    return _PREFIXES + "".join(
        f":c{n} a owl:Class ; rdfs:subClassOf :{top.format(n)}, {some} .\n"
        f":k{n} a owl:Class ; owl:equivalentClass [ owl:intersectionOf (:{top.format(n)} {some}) ] .\n"
        for n in range(number)
    )


def code_tables(number: int) -> str:
    """Tables of two codes each, all alike, and columns with these codes."""
    return _PREFIXES + "".join(
        f':a{n} a :T{n} ; :code{n} "aa" ; :desc{n} "first one" .\n'
        f':b{n} a :T{n} ; :code{n} "bb" ; :desc{n} "second one" .\n'
        f':o{n} a :U ; :use{n} "aa" . :q{n} a :U ; :use{n} "bb" .\n'
        for n in range(number)
    )


def linked_star(number: int) -> str:
    """A blank node that is linked with many others in both directions."""
    return "".join(
        f'_:b0 <http://e/p{n % 30}> _:c{n} .\n_:c{n} <http://e/v> "{n}" .\n_:c{n} <http://e/w> _:b0 .\n'
        for n in range(number)
    )


def shared_list(number: int) -> str:
    """A list with many members, which is the union of as many class expressions."""
    unions = (f"_:m{n} owl:unionOf _:l0 . :c{n} rdfs:subClassOf _:m{n} .\n" for n in range(number))
    nodes = (
        f"_:l{n} <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> :x{n} ;"
        f" <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l{n + 1} .\n"
        for n in range(number)
    )
    return _PREFIXES + "".join((*unions, *nodes))


def nested_restrictions(things: int, levels: int) -> str:
    """Classes with links to each other, and a definition that follows these links over many levels."""
    some = "[ owl:onProperty :p ; owl:someValuesFrom "
    links = "".join(f", {some}:i{n} ]" for n in range(things))
    classes = (f":i{n} a owl:Class ; rdfs:subClassOf :T{links} .\n" for n in range(things))
    nested = f"{some * levels}:Nope{' ]' * levels}"
    return f"{_PREFIXES}{''.join(classes)}:D a owl:Class ; owl:equivalentClass [ owl:intersectionOf (:T {nested}) ] .\n"
