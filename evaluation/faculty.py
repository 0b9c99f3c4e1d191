"""Generate a fictional faculty: seed -> an ontology with gaps, prose with the missing facts, questions with options.

    python -m evaluation.faculty FOLDER [SEED]

writes faculty.ttl, texts/*.md, questions.jsonl and stated.jsonl (the facts that each sentence states). All gold answers
follow from the tables that are filled first (as in AcadChall of PolyRAG, appendix B).
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

STAFF, COURSES, QUESTIONS, OPTIONS = 60, 120, 80, 8
NAMESPACE = "http://faculty.example/"

# share of the facts of a property in the ontology, which lacks all other properties
ONTOLOGY_SHARES = {"works in": 1.0, "rank": 1.0, "credits": 1.0, "offered by": 1.0, "teaches": 0.6, "office": 0.6}

# number of questions of each kind, 80 in all: about the ontology, its gaps, the prose, and both
QUESTION_COUNTS = {
    "works in": 5, "credits": 5, "members": 4, "offered": 4, "ranked": 6, "taught": 6, "office of": 4,
    "alma": 6, "field": 6, "award": 4, "firm": 3, "requires": 5, "hall": 4,
    "graduates": 4, "working on": 4, "winners": 3, "graduates of": 3, "working of": 2, "building on": 2,
}  # fmt: skip

ObjectsBySubject = dict[str, dict[str, list[str]]]


@dataclass
class Faculty:
    """A faculty with all its facts. `facts[property][subject]` are the objects, `held` the facts in the ontology,
    `texts` the documents by file name, and `stated` the facts of their sentences."""

    departments: list[str]
    staff: list[str]
    courses: list[str]
    facts: ObjectsBySubject
    held: set[tuple[str, str, str]] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    stated: list[dict[str, Any]] = field(default_factory=list)


@cache
def _words() -> Mapping[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return {key: value.split() if key in ("given", "family") else value for key, value in data.items()}


def make_faculty(seed: int) -> Faculty:
    """The faculty of a seed: its facts, those of the ontology, and its texts."""
    chance = random.Random(seed)
    word = _words()
    departments = [f"Department of {name}" for name in word["departments"]]
    names = [f"{given} {family}" for given in word["given"] for family in word["family"]]
    staff = chance.sample(names, STAFF)
    titles = [f"{topic} of {name}" for name in word["departments"] for topic in word["topics"]]
    courses = titles[:COURSES]
    facts: ObjectsBySubject = {}

    def fact(name: str, subject: str, *objects: str) -> None:
        facts.setdefault(name, {})[subject] = list(objects)

    for i, person in enumerate(staff):
        fact("works in", person, departments[i % len(departments)])
        fact("rank", person, chance.choice(word["ranks"]))
        fact("office", person, f"{chance.choice('ABCDEF')}{chance.randint(100, 499)}")
        fact("alma", person, chance.choice(word["universities"]))
        fact("field", person, *chance.sample(word["fields"], chance.choice((1, 1, 2))))
        if chance.random() < 0.5:
            fact("award", person, chance.choice(word["awards"]))
        if chance.random() < 0.5:
            fact("firm", person, chance.choice(word["firms"]))
    for i, course in enumerate(courses):
        department = departments[i // len(word["topics"])]
        fact("offered by", course, department)
        fact("credits", course, str(chance.choice((3, 5, 6, 8, 10))))
        members = [person for person in staff if facts["works in"][person] == [department]]
        facts.setdefault("teaches", {}).setdefault(chance.choice(members), []).append(course)
        fact("form", course, chance.choice(word["forms"]))
        if i % len(word["topics"]):
            fact("requires", course, courses[i - chance.randint(1, i % len(word["topics"]))])
    for department, hall in zip(departments, chance.sample(word["halls"], len(departments)), strict=True):
        fact("hall", department, hall)
    faculty = Faculty(departments, staff, courses, facts)
    for name, share in ONTOLOGY_SHARES.items():
        for subject, objects in facts[name].items():
            faculty.held |= {(name, subject, value) for value in objects if chance.random() < share}
    _add_texts(faculty, chance)
    return faculty


def _add_texts(faculty: Faculty, chance: random.Random) -> None:
    for person in faculty.staff:
        _add_document(faculty, chance, "staff", person, ("alma", "field", "award", "firm", "teaches", "office"))
    for course in faculty.courses:
        _add_document(faculty, chance, "courses", course, ("requires", "form"))
    for department in faculty.departments:
        _add_document(faculty, chance, "departments", department, ("hall",))


def _add_document(
    faculty: Faculty, chance: random.Random, folder: str, subject: str, properties: Sequence[str]
) -> None:
    """Add a page about one thing: a sentence for each missing fact, in random order and wording, and some noise."""
    word = _words()
    name = f"{folder}/{subject.lower().replace(' ', '-')}.md"
    pronoun = chance.choice(("She", "He"))
    lines: list[str] = []
    for each in chance.sample(properties, len(properties)):
        objects = [o for o in faculty.facts.get(each, {}).get(subject, []) if (each, subject, o) not in faculty.held]
        if not objects:
            continue
        objects_text = f"{', '.join(objects[:-1])} and {objects[-1]}" if len(objects) > 1 else objects[0]
        wordings = word["said"][each]
        wording = chance.choice([w for w in wordings if lines or not w.startswith(("{p}", "It"))])
        lines.append(wording.format(s=subject, o=objects_text, p=pronoun))
        faculty.stated.append({"document": name, "text": lines[-1], "subject": subject, "objects": objects})
    lines.insert(chance.randint(0, len(lines)), chance.choice(word["noise"]))
    faculty.texts[name] = f"# {subject}\n\n" + "\n\n".join(lines) + "\n"


def faculty_turtle(faculty: Faculty) -> str:
    """The ontology as Turtle."""
    kinds = {"Department": faculty.departments, "StaffMember": faculty.staff, "Course": faculty.courses}
    things = [thing for of_kind in kinds.values() for thing in of_kind]
    iri = {thing: f"<{NAMESPACE}{n}>" for n, thing in enumerate(things)}
    lines = ["@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .", f"@prefix : <{NAMESPACE}schema#> ."]
    for kind, of_kind in kinds.items():
        lines += [f'{iri[thing]} a :{kind} ; rdfs:label "{thing}" .' for thing in of_kind]
    for name, subject, value in sorted(faculty.held):
        head, *rest = name.split()
        term = iri.get(value) or (value if name == "credits" else json.dumps(value, ensure_ascii=False))
        lines.append(f"{iri[subject]} :{head + ''.join(part.capitalize() for part in rest)} {term} .")
    return "\n".join(lines) + "\n"


def faculty_questions(faculty: Faculty, seed: int) -> list[dict[str, Any]]:
    """80 questions, each with eight options, of which one or several are right."""
    chance = random.Random(f"questions {seed}")
    questions: list[dict[str, Any]] = []
    for kind, count in QUESTION_COUNTS.items():
        candidates = list(_candidates(faculty, kind))
        chance.shuffle(candidates)
        for subject, other, right, pool in candidates[:count]:
            wording = chance.choice(_words()["asked"][kind]).format(s=subject, o=other)
            answers = chance.sample(sorted(right), min(len(right), 4))
            wrong = sorted(set(pool) - right)
            options = answers + chance.sample(wrong, min(len(wrong), OPTIONS - len(answers)))
            chance.shuffle(options)
            question = {"id": f"{kind}-{len(questions)}", "kind": kind, "question": wording}
            questions.append({**question, "options": options, "answers": sorted(answers)})
    return questions


def _candidates(faculty: Faculty, kind: str) -> Iterator[tuple[str, str, set[str], Sequence[str]]]:
    """The questions of one kind: (subject, second subject or "", right answers, all options)."""
    facts, word = faculty.facts, _words()

    def subjects_with(name: str, value: str) -> set[str]:
        return {subject for subject, objects in facts[name].items() if value in objects}

    direct: dict[str, tuple[str, Sequence[str]]] = {
        "works in": ("works in", faculty.departments), "credits": ("credits", [str(n) for n in range(2, 14)]),
        "office of": ("office", [o for each in facts["office"].values() for o in each]),
        "alma": ("alma", word["universities"]), "field": ("field", word["fields"]), "award": ("award", word["awards"]),
        "firm": ("firm", word["firms"]), "requires": ("requires", faculty.courses), "hall": ("hall", word["halls"]),
    }  # fmt: skip
    inverse = {
        "members": ("works in", faculty.departments, faculty.staff),
        "offered": ("offered by", faculty.departments, faculty.courses),
        "taught": ("teaches", faculty.courses, faculty.staff),
        "graduates": ("alma", word["universities"], faculty.staff),
        "working on": ("field", word["fields"], faculty.staff), "winners": ("award", word["awards"], faculty.staff),
        "building on": ("requires", faculty.courses, faculty.courses),
    }  # fmt: skip
    joined = {
        "ranked": ("rank", word["ranks"]),
        "graduates of": ("alma", word["universities"]),
        "working of": ("field", word["fields"]),
    }
    if kind in direct:
        name, pool = direct[kind]
        for subject, objects in facts[name].items():
            yield subject, "", set(objects), pool
    elif kind in inverse:
        name, known, pool = inverse[kind]
        for value in known:
            if right := subjects_with(name, value):
                yield value, "", right, pool
    else:
        name, values = joined[kind]
        for department in faculty.departments:
            for value in values:
                if right := subjects_with(name, value) & subjects_with("works in", department):
                    subjects = (department, value) if kind == "ranked" else (value, department)
                    yield *subjects, right, faculty.staff


def write_faculty(folder: Path, seed: int) -> Faculty:
    """Write the ontology, the texts, the questions and the stated facts into a folder."""
    faculty = make_faculty(seed)
    for name, text in faculty.texts.items():
        file = folder / "texts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "faculty.ttl").write_text(faculty_turtle(faculty), encoding="utf-8")
    for file_name, rows in (("questions.jsonl", faculty_questions(faculty, seed)), ("stated.jsonl", faculty.stated)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / file_name).write_text("".join(lines), encoding="utf-8")
    return faculty


if __name__ == "__main__":
    write_faculty(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7)
