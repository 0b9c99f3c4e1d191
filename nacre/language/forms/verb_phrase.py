"""Verb phrases in English: a verb with what follows it -> "borders Spain", "did not die in Rome"."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Verb:
    """The forms of a verb after one thing and after several; `base` after a form of `do` denies it, "" of "be"."""

    one: str
    many: str
    base: str = ""
    do: tuple[str, str] = ("does", "do")


BE, WAS, HAVE = Verb("is", "are"), Verb("was", "were"), Verb("has", "have", "have")
HAVE_BEEN = Verb("has been", "have been")
# what a list is to its items, if it has more of them
INCLUDE = Verb("includes", "include", "include")


def past_tense(form: str, base: str) -> Verb:
    """A verb in the past tense."""
    return Verb(form, form, base, ("did", "did"))


@dataclass(frozen=True)
class VerbPhrase:
    """What is said of a subject.

    `rest` follows the verb; `rest_of_many` after several things if it differs; `lack` follows "no" in a denial.
    """

    verb: Verb
    rest: str = ""
    rest_of_many: str = ""
    denied: bool = False
    lack: str = ""

    def words(self, many: bool = False) -> str:
        """The phrase after one thing, or after several.

        >>> VerbPhrase(BE, "a trainer", "trainers").words(many=True)
        'are trainers'
        >>> phrase = VerbPhrase(HAVE, "a roof")
        >>> phrase.words(), phrase.denial.words(), replace(phrase, lack="roof").denial.words()
        ('has a roof', 'does not have a roof', 'has no roof')
        """
        form = self.verb.many if many else self.verb.one
        rest = (many and self.rest_of_many) or self.rest
        if self.denied and self.lack:
            rest = f"no {self.lack}"
        elif self.denied:
            form = f"{self.verb.do[many]} not {self.verb.base}" if self.verb.base else f"{form} not"
        return f"{form} {rest}".rstrip()

    @property
    def denial(self) -> "VerbPhrase":
        """The opposite."""
        return replace(self, denied=not self.denied)
