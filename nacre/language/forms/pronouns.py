"""What a thing is called the second time: its kind and its gender -> "it", "they", "she"."""

from typing import NamedTuple

from nacre.language.forms.nouns import wording_entry


class Pronoun(NamedTuple):
    """The subject and the possessive, and whether verbs after it are in the plural."""

    it: str
    whose: str
    many: bool = False

    @property
    def be(self) -> str:
        return "are" if self.many else "is"

    @property
    def have(self) -> str:
        return "have" if self.many else "has"


IT, THEY = Pronoun("it", "its"), Pronoun("they", "their", many=True)


def gender(label: str, value: object) -> str:
    """What somebody is by a property that says so, "" by any other.

    >>> gender("gender", "F"), gender("sex", "male"), gender("grade", "F"), gender("gender", "mixed")
    ('female', 'male', '', '')
    """
    said = wording_entry("gendered").get(str(value).casefold())
    return said[0] if said and label.split()[-1] in wording_entry("genders") else ""


def pronoun(*, person: bool, male_or_female: str = "") -> Pronoun:
    """What stands for a thing, or a person, whose gender may be known.

    >>> pronoun(person=True, male_or_female="female").whose, pronoun(person=True).it, pronoun(person=False).it
    ('her', 'they', 'it')
    """
    if not person:
        return IT
    said = wording_entry("gendered").get(male_or_female)
    return Pronoun(said[1], said[2]) if said else THEY
