"""Link spans of a question to the names of things: tokens -> candidates (value linking, by whole names and parts)."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import simplemma
from rapidfuzz import fuzz, process

from records.schema import Schema
from semantics.candidates import Candidate
from semantics.english import function_words, measure, synonyms
from semantics.words import Token, lemma
from stores.lexicon import Lexicon, Name

# an entity named by a part of its name only, when that part names many others, is a family of things
_FAMILY_LIMIT = 400
_GLUE = frozenset("the of and de la".split())


class EntityNames:
    """The names of all things by their words, their lemmas and the parts of their codes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.entity_tokens: dict[str, set[int]] = defaultdict(set)
        count = 0
        for index, name in enumerate(lexicon.names):
            if name.kind == "entity":
                count += 1
                for token in name.tokens:
                    self.entity_tokens[token].add(index)
        top = math.log(count + 2)
        # a token that nearly every name has says nothing
        self.idf = {t: max(0.02, math.log((count + 2) / (len(n) + 1)) / top) for t, n in self.entity_tokens.items()}
        self.by_lemma: dict[str, set[str]] = defaultdict(set)
        self.affixes: dict[str, set[str]] = defaultdict(set)
        for token in self.entity_tokens:
            self.by_lemma[lemma(token)].add(token)
            for affix in _affixes(token):
                self.affixes[affix].add(token)
        # what a fifth of all names say names nothing ("Ltd" in a list of companies)
        self.common = {t for t, n in self.entity_tokens.items() if count >= 20 and len(n) > count / 5}
        self.light = function_words() | self.common
        self.idf.update(dict.fromkeys(self.common, 0.02))
        self.single = {n.tokens[0] for n in lexicon.names if n.kind == "entity" and len(n.tokens) == 1}
        self.fuzzy = [t for t in self.entity_tokens if len(t) >= 4 and not any(c.isdigit() for c in t)]

    def candidates(self, tokens: Sequence[Token]) -> Iterator[Candidate]:
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
            both = self.entity_tokens.get(word.norm, set()) & self.entity_tokens.get(tokens[at + 1].norm, set())
            if any(self.lexicon.names[i].tokens[:2] == (word.norm, tokens[at + 1].norm) for i in both):
                return True
        ends = at == len(tokens) - 1 and at > 0 and tokens[at - 1].norm in ("in", "by", "of", "for", "with", "from")
        return word.norm in self.single and (ends or (at > 0 and word.text[0].isupper()))

    def _tokens_like(self, token: Token) -> dict[str, float]:
        """Tokens of entity names that a token of the question may stand for, with how well."""
        said = measure(token)
        if said is not None and said.degree != "positive":
            return {token.norm: 1.0} if token.norm in self.entity_tokens else {}
        if token.norm != token.lemma and token.norm.endswith(("ed", "ing")):
            # a verb form names nothing by its stem
            return {token.norm: 1.0} if token.norm in self.entity_tokens else {}
        if token.norm in self.entity_tokens:
            return {token.norm: 1.0} | {t: 0.97 for t in self.by_lemma.get(token.lemma, ()) if t != token.norm}
        if token.lemma in self.entity_tokens or token.lemma in self.by_lemma:
            return dict.fromkeys(self.by_lemma.get(token.lemma, {token.lemma}), 0.97)
        if token.norm in self.affixes or token.lemma in self.affixes:
            return dict.fromkeys(self.affixes.get(token.norm) or self.affixes[token.lemma], 0.9)
        if token.norm.endswith("s") and token.norm[:-1] in self.entity_tokens and len(token.norm) > 4:
            # a plural that the dictionary lacks
            return {token.norm[:-1]: 0.95}
        if token.norm.endswith("ly"):
            for form in (token.norm[:-2], token.norm[:-1]):
                if form in self.entity_tokens:
                    return {form: 0.95}
        # another word for it counts only for things whose whole name it is
        same = [
            t
            for word in synonyms(token.lemma)
            if word != token.lemma
            for t in self.by_lemma.get(word, ())
            if t in self.single
        ]
        if same:
            return dict.fromkeys(same, 0.85)
        if len(token.norm) >= 4 and token.norm.isalpha() and not known(token):
            near = process.extract(token.norm, self.fuzzy, scorer=fuzz.ratio, limit=4, score_cutoff=79)
            best = near[0][1] if near else 0
            return {t: s / 110 for t, s, _ in near if s >= best - 4}
        return {}

    def _run(
        self, tokens: Sequence[Token], start: int
    ) -> tuple[int, set[int], float, dict[int, dict[str, float]]] | None:
        """The longest span from `start` whose words all belong to one name, in any order."""
        names: set[int] | None = None
        matched: dict[int, dict[str, float]] = {}
        position, end = start, start
        while position < len(tokens):
            if names is not None and tokens[position].norm in self.common:
                # what so many names hold does not tell which one is meant
                position += 1
                continue
            step, like = 1, self._tokens_like(tokens[position])
            found = self._having(like)
            if names is not None:
                found &= names
                if not found:
                    like = self._misspelt(tokens[position], names)
                    found = self._having(like) & names
            if not found and position + 1 < len(tokens):
                joined = tokens[position].norm + tokens[position + 1].norm
                like = (
                    self._tokens_like(tokens[position]._replace(norm=joined, lemma=joined))
                    if any(c.isdigit() for c in joined)
                    else {}
                )
                found = self._having(like) & names if names is not None else self._having(like)
                step = 2
            if found:
                names, matched[position] = found, like
                position += step
                end = position
            elif (
                names is not None
                and (tokens[position].norm in _GLUE or tokens[position].norm in self.common)
                and position - end < 2
            ):
                position += 1
            else:
                break
        if not names:
            return None
        last = max(matched)
        said_before = {token.norm for token in tokens[start:last]}
        if last == end - 1 and tokens[last].norm in function_words() & said_before:
            # "plug in hybrid in the range": the second "in" is no part of the name
            del matched[last]
            end = last
        qualities = [max(like.values()) for like in matched.values()]
        return end, names, sum(qualities) / len(qualities), matched

    def _misspelt(self, token: Token, names: set[int]) -> dict[str, float]:
        """A word spelt almost as one of the names that are still possible."""
        if len(token.norm) < 5 or not token.norm.isalpha() or token.norm in self.light:
            return {}
        near = sorted({t for i in names for t in self.lexicon.names[i].tokens}) if len(names) <= 200 else []
        return {
            t: s / 110 for t, s, _ in process.extract(token.norm, near, scorer=fuzz.ratio, limit=1, score_cutoff=82)
        }

    def _having(self, like: dict[str, float]) -> set[int]:
        found: set[int] = set()
        for token in like:
            found |= self.entity_tokens[token]
        return found

    def _named(
        self,
        tokens: Sequence[Token],
        start: int,
        end: int,
        names: set[int],
        quality: float,
        matched: dict[int, dict[str, float]],
    ) -> Iterator[Candidate]:
        said = set().union(*(set(like) for like in matched.values()))
        if sum(max(self.idf[t] for t in like) for like in matched.values()) < 0.12:
            return
        coverage: dict[str, dict[str, float]] = defaultdict(dict)
        labels: dict[str, Name] = {}
        for index in names:
            name = self.lexicon.names[index]
            whole = sum(self.idf[t] for t in name.tokens)
            share = sum(self.idf[t] for t in name.tokens if t in said) / whole if whole else 0.0
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
            group = next(g for g in self.schema.groups if g.relation == relation)
            label = labels[keys[0]].label if len(keys) == 1 else " ".join(t.text for t in tokens[start:end])
            prominence = 0.04 * math.log(1 + max(0.0, weight)) / math.log(1 + top_weight) if top_weight > 1 else 0.0
            if weight < 0:
                prominence = -0.15
            if best < 0.34 and len(matched) == 1 and known(tokens[start]) and tokens[start].norm.isalpha():
                # an everyday word inside a long name does not name it
                continue
            exact = best >= 0.97
            score = quality * (0.95 if exact else 0.35 + 0.55 * best) + prominence
            common = {"start": start, "end": end, "relations": frozenset((relation,)), "covered": covered}
            if len(keys) <= _FAMILY_LIMIT:
                yield Candidate(
                    "entity",
                    score=score,
                    label=label,
                    exact=exact,
                    classes=group.classes,
                    without=group.without,
                    keys=keys,
                    **common,  # type: ignore[arg-type]
                )
            if len(keys) < len(found) <= _FAMILY_LIMIT:
                label = " ".join(t.text for t in tokens[start:end])
                yield Candidate(
                    "entity",
                    score=quality * 0.5,
                    label=label,
                    classes=group.classes,
                    without=group.without,
                    keys=tuple(sorted(found)),
                    **common,  # type: ignore[arg-type]
                )


def _affixes(token: str) -> list[str]:
    """Parts of a code that people say instead of the whole: "xdrive40d" -> "40d", "m135i" -> "m135".

    >>> _affixes("xdrive40d"), _affixes("m135i"), _affixes("word")
    (['40d', 'xdrive40'], ['135i', 'm135'], [])
    """
    digits = [i for i, c in enumerate(token) if c.isdigit()]
    if not digits:
        return []
    found = {token[digits[0] :], token[: digits[-1] + 1]} - {token}
    return sorted(f for f in found if len(f) >= 2)


def known(token: Token) -> bool:
    """Whether a word stands in an English dictionary."""
    return bool(simplemma.is_known(token.norm, lang="en"))
