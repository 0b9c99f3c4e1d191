"""Pronouns for things and persons: kind and gender -> "it", "they", "she" with their forms."""

from typing import NamedTuple

from nacre.language.base import phrase_map, word_list


class Pronoun(NamedTuple):
    """A pronoun as subject and as possessive, and whether its verb is plural."""

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
    """The gender that a value states; "" if the property is no gender or the value is unknown.

    >>> gender("gender", "F"), gender("sex", "male"), gender("grade", "F"), gender("gender", "mixed")
    ('female', 'male', '', '')
    """
    forms = phrase_map("wording", "gendered").get(str(value).casefold())
    return forms[0] if forms and label.split()[-1] in word_list("wording", "genders") else ""


def pronoun(*, person: bool, male_or_female: str = "") -> Pronoun:
    """The pronoun for a thing, or for a person whose gender may be known.

    >>> pronoun(person=True, male_or_female="female").whose, pronoun(person=True).it, pronoun(person=False).it
    ('her', 'they', 'it')
    """
    if not person:
        return IT
    forms = phrase_map("wording", "gendered").get(male_or_female)
    return Pronoun(forms[1], forms[2]) if forms else THEY
