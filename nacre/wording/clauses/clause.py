"""A clause about things: what it says, after a noun and as a sentence."""

from dataclasses import dataclass

from nacre.language.forms.nouns import is_plural
from nacre.language.forms.verb_phrase import BE, HAVE, VerbPhrase


@dataclass(frozen=True)
class Clause:
    """What holds of a thing.

    `one` and `many` follow the noun of one thing and of several. A sentence has the `subject`, what is `said` of it,
    and what follows that (`end`); one of these has {} in place of the thing. `is_of_many`: the subject is a plural.
    Instead, `front` goes before the noun ("BMW X5" of "BMW X5 variants"), and so does an `adjective` ("female"); a
    `noun` replaces the noun of the thing ("singer").
    """

    one: str
    many: str
    said: VerbPhrase
    subject: str = "{}"
    end: str = ""
    is_of_many: bool = False
    front: str = ""
    adjective: str = ""
    noun: str = ""

    def sentence(self, name: str, *, denied: bool = False) -> str:
        """The clause as a sentence about the thing with a name, or its denial."""
        said = self.said.denial if denied else self.said
        words = " ".join(filter(None, (self.subject, said.words(self.is_of_many), self.end)))
        return words.replace("{}", name)


def relative_clause(said: VerbPhrase) -> Clause:
    """What the thing itself does or is: "that borders Spain"."""
    return Clause(f"that {said.words()}", f"that {said.words(many=True)}", said)


def object_clause(subject: str, said: VerbPhrase) -> Clause:
    """What another subject does to the thing: "that Spain borders"."""
    words = f"that {subject} {said.words()}"
    return Clause(words, words, said, subject, "{}")


def property_clause(name: str, said: VerbPhrase, *, of: str = "") -> Clause:
    """What a property of the thing is: "whose height is 3 m". `of` is the property with its owner, "height of {}"."""
    words = f"whose {name} {said.words(is_plural(name))}"
    return Clause(words, words, said, f"the {of or f'{name} of {{}}'}", is_of_many=is_plural(name))


def owning_clause(owned: str, lack: str = "", *, has: bool = True) -> Clause:
    """What the thing has, or has not: "with a garden", "without a garden"; the `lack` of it follows "no"."""
    words = f"{'with' if has else 'without'} {owned}"
    return Clause(words, words, VerbPhrase(HAVE, owned, denied=not has, lack=lack))


def placed_clause(words: str) -> Clause:
    """Words that follow the noun, or "is": "on the stage"."""
    return Clause(words, words, VerbPhrase(BE, words))
