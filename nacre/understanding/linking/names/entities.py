"""Link spans of a question to the names of things: tokens -> candidates (value linking, by whole names and parts)."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import simplemma
from rapidfuzz import fuzz, process

from nacre.language.thesaurus import function_words, gradable_adjective, synonyms
from nacre.language.tokens import Token
from nacre.records.schema import Schema
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.linking.names.name_candidate import NameCandidate

# an entity named by a part of its name only, when that part names many others, is a family of things
_FAMILY_LIMIT = 400
_GLUE = frozenset("the of and de la".split())
# a word of more than one name in so many is common, where there are some names
_COMMON, _FEW = 5, 20
# what a word of a name tells at least
_LEAST = 0.02
# names that hold what is said: those that are compared, and those among whose words a misspelt one is sought
_MOST_NAMES, _MOST_SPELT = 2000, 200
# texts of the last few turns whose names are remembered: a turn asks for the same words several times
CACHED_TEXTS = 32


class EntityNames:
    """The names of all things by their words, their lemmas and the parts of their codes: looked up, never read whole.

    `common_words` are words that so many names have that they name nothing, `stopwords` these and the function words.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.kinds = {c.relation: ((c.iri,), ()) for c in lexicon.schema.classes} | {
            group.relation: (group.classes, group.without) for group in lexicon.schema.groups
        }
        # what a fifth of all names say names nothing ("Ltd" in a list of companies)
        self.common_words = (
            lexicon.frequent(lexicon.thing_name_count / _COMMON) if lexicon.thing_name_count >= _FEW else frozenset()
        )
        self.stopwords = function_words() | self.common_words
        self._found = lru_cache(CACHED_TEXTS)(lambda tokens: tuple(self._candidates(tokens)))

    def candidates(self, tokens: Sequence[Token]) -> tuple[NameCandidate, ...]:
        """The things that stretches of a text may name, in order."""
        return self._found(tuple(tokens))

    def _candidates(self, tokens: Sequence[Token]) -> Iterator[NameCandidate]:
        done = 0
        for start, token in enumerate(tokens):
            if token.norm in function_words() and not self._a_name(tokens, start):
                continue
            run = self._run(tokens, start)
            if run is None:
                continue
            end, names, quality, matched = run
            if end <= done:
                continue
            yield from self._named(tokens, start, end, names, quality, matched)
            done = end

    def _a_name(self, tokens: Sequence[Token], at: int) -> bool:
        """Does a word without meaning stand where only a name can: "written in go"?"""
        word = tokens[at]
        if at + 1 < len(tokens) and any(c.isdigit() for c in tokens[at + 1].norm):
            # "SO-2042" begins with a small word
            both = self.lexicon.find_containing(((word.norm,), (tokens[at + 1].norm,)), _MOST_NAMES)
            if any(name.tokens[:2] == (word.norm, tokens[at + 1].norm) for name in both):
                return True
        ends = at == len(tokens) - 1 and at > 0 and tokens[at - 1].norm in ("in", "by", "of", "for", "with", "from")
        return (ends or (at > 0 and word.text[0].isupper())) and self.is_whole_name(word.norm)

    def has_word(self, word: str) -> bool:
        """Whether the name of a thing holds a word."""
        known = self.lexicon.word(word)
        return known is not None and known.things > 0

    def is_whole_name(self, word: str) -> bool:
        """Whether a word is the whole name of a thing."""
        known = self.lexicon.word(word)
        return known is not None and known.alone

    def distinctiveness(self, word: str) -> float:
        """How much a word of a name tells, from 0 to 1: one that nearly every name has says nothing."""
        known = self.lexicon.word(word)
        if known is None or word in self.common_words:
            return _LEAST
        said = self.lexicon.thing_name_count + 2
        return max(_LEAST, math.log(said / (known.things + 1)) / math.log(said))

    def similar_words(self, word: str) -> list[str]:
        """The words of names of things that are spelt almost as a word."""
        return [near for near in self.lexicon.near(word) if self.has_word(near)]

    def _tokens_like(self, token: Token) -> dict[str, float]:
        """Tokens of entity names that a token of the question may stand for, with how well."""
        norm = token.norm
        said = gradable_adjective(token)
        if (said is not None and said.degree != "positive") or (norm != token.lemma and norm.endswith(("ed", "ing"))):
            # a verb form names nothing by its stem
            return {norm: 1.0} if self.has_word(norm) else {}
        inflected = self.lexicon.of_lemma(token.lemma)
        if self.has_word(norm):
            return {norm: 1.0} | {t: 0.97 for t in inflected if t != norm}
        if inflected or self.has_word(token.lemma):
            return dict.fromkeys(inflected or [token.lemma], 0.97)
        codes = self.lexicon.of_part(norm) or self.lexicon.of_part(token.lemma)
        if codes:
            return dict.fromkeys(codes, 0.9)
        if norm.endswith("s") and len(norm) > 4 and self.has_word(norm[:-1]):
            # a plural that the dictionary lacks
            return {norm[:-1]: 0.95}
        if norm.endswith("ly"):
            for form in (norm[:-2], norm[:-1]):
                if self.has_word(form):
                    return {form: 0.95}
        # another word for it counts only for things whose whole name it is
        same = [
            t
            for word in synonyms(token.lemma)
            if word != token.lemma
            for t in self.lexicon.of_lemma(word)
            if self.is_whole_name(t)
        ]
        if same:
            return dict.fromkeys(same, 0.85)
        if len(norm) >= 4 and norm.isalpha() and not is_dictionary_word(token):
            spelt = [t for t in self.similar_words(norm) if len(t) >= 4 and not any(c.isdigit() for c in t)]
            near = process.extract(norm, spelt, scorer=fuzz.ratio, limit=4, score_cutoff=79)
            best = near[0][1] if near else 0
            return {t: s / 110 for t, s, _ in near if s >= best - 4}
        return {}

    def _run(
        self, tokens: Sequence[Token], start: int
    ) -> tuple[int, list[LexiconEntry], float, dict[int, dict[str, float]]] | None:
        """The longest span from `start` whose words all belong to one name, in any order."""
        said: list[dict[str, float]] = []
        matched: dict[int, dict[str, float]] = {}
        position, end = start, start
        while position < len(tokens):
            if said and tokens[position].norm in self.common_words:
                # what so many names hold does not tell which one is meant
                position += 1
                continue
            step, like = 1, self._tokens_like(tokens[position])
            if said and like not in said and not self._names([*said, like]):
                like = self._misspelt(tokens[position], said)
            if not like and position + 1 < len(tokens):
                joined = tokens[position].norm + tokens[position + 1].norm
                like = (
                    self._tokens_like(tokens[position]._replace(norm=joined, lemma=joined))
                    if any(c.isdigit() for c in joined)
                    else {}
                )
                step = 2
                if said and not self._names([*said, like]):
                    like = {}
            if like:
                if like not in said:
                    said.append(like)
                matched[position] = like
                position += step
                end = position
            elif (
                said
                and (tokens[position].norm in _GLUE or tokens[position].norm in self.common_words)
                and position - end < 2
            ):
                position += 1
            else:
                break
        if not said:
            return None
        last = max(matched)
        said_before = {token.norm for token in tokens[start:last]}
        if last == end - 1 and tokens[last].norm in function_words() & said_before:
            # "plug in hybrid in the range": the second "in" is no part of the name
            del matched[last]
            end = last
        qualities = [max(like.values()) for like in matched.values()]
        return end, self._holding(said), sum(qualities) / len(qualities), matched

    def _names(self, said: Sequence[dict[str, float]]) -> bool:
        """Whether what is said so far is in one name."""
        return all(said) and self.lexicon.has_containing(said)

    def _holding(self, said: Sequence[dict[str, float]]) -> list[LexiconEntry]:
        """The names that hold what is said; of too many those that are short enough to be there all."""
        names = self.lexicon.find_containing(said, _MOST_NAMES + 1)
        if len(names) <= _MOST_NAMES:
            return names
        return [name for name in names if len(name.tokens) < len(names[-1].tokens)]

    def _misspelt(self, token: Token, said: Sequence[dict[str, float]]) -> dict[str, float]:
        """A word spelt almost as one of the names that are still possible."""
        if len(token.norm) < 5 or not token.norm.isalpha() or token.norm in self.stopwords:
            return {}
        names = self.lexicon.find_containing(said, _MOST_SPELT + 1)
        near = sorted({t for name in names for t in name.tokens}) if len(names) <= _MOST_SPELT else []
        return {
            t: s / 110 for t, s, _ in process.extract(token.norm, near, scorer=fuzz.ratio, limit=1, score_cutoff=82)
        }

    def _named(
        self,
        tokens: Sequence[Token],
        start: int,
        end: int,
        names: Sequence[LexiconEntry],
        quality: float,
        matched: dict[int, dict[str, float]],
    ) -> Iterator[NameCandidate]:
        said = set().union(*(set(like) for like in matched.values()))
        if not names or sum(max(map(self.distinctiveness, like)) for like in matched.values()) < 0.12:
            return
        telling = {t: self.distinctiveness(t) for name in names for t in name.tokens}
        coverage: dict[str, dict[str, float]] = defaultdict(dict)
        labels: dict[str, LexiconEntry] = {}
        for name in names:
            whole = sum(telling[t] for t in name.tokens)
            share = sum(telling[t] for t in name.tokens if t in said) / whole if whole else 0.0
            if share > coverage[name.relation].get(name.target, 0.0):
                coverage[name.relation][name.target] = share
            labels.setdefault(name.target, name)
        covered = frozenset(matched) | frozenset(range(start, end))
        top_weight = max(labels[t].weight for found in coverage.values() for t in found) + 1
        top_weight = max(1.0, top_weight)
        for relation, found in coverage.items():
            best = max(found.values())
            near = sorted((t for t, share in found.items() if share >= best - 0.02), key=lambda t: (-found[t], t))
            # a part of many names names them all, unless one of them is little more than what was said
            if best < 0.97 and len(near) < len(found) and sorted(found.values())[-len(near) - 1] > best - 0.25:
                near = list(found)
            keys = tuple(sorted(near))
            weight = max(labels[k].weight for k in keys)
            classes, without = self.kinds[relation]
            label = labels[keys[0]].label if len(keys) == 1 else " ".join(t.text for t in tokens[start:end])
            prominence = 0.04 * math.log(1 + max(0.0, weight)) / math.log(1 + top_weight) if top_weight > 1 else 0.0
            if weight < 0:
                prominence = -0.15
            leading = len(keys) > 1 and all(labels[key].tokens[0] in said for key in keys)
            everyday = len(matched) == 1 and is_dictionary_word(tokens[start]) and tokens[start].norm.isalpha()
            if best < 0.34 and everyday and not leading:
                # an everyday word inside a long name does not name it
                continue
            exact = best >= 0.97
            score = quality * (0.95 if exact else 0.35 + 0.55 * best) + prominence
            common = {"start": start, "end": end, "relations": frozenset((relation,)), "covered": covered}
            if len(keys) <= _FAMILY_LIMIT:
                yield NameCandidate(
                    "entity",
                    score=score,
                    label=label,
                    exact=exact,
                    classes=classes,
                    without=without,
                    keys=keys,
                    ends=self.lexicon.leading_to([labels[key] for key in keys]),
                    **common,  # type: ignore[arg-type]
                )
            if len(keys) < len(found) <= _FAMILY_LIMIT:
                label = " ".join(t.text for t in tokens[start:end])
                yield NameCandidate(
                    "entity",
                    score=quality * 0.5,
                    label=label,
                    classes=classes,
                    without=without,
                    keys=tuple(sorted(found)),
                    ends=self.lexicon.leading_to([labels[key] for key in found]),
                    **common,  # type: ignore[arg-type]
                )


def is_dictionary_word(token: Token) -> bool:
    """Whether a word stands in an English dictionary."""
    return bool(simplemma.is_known(token.norm, lang="en"))
