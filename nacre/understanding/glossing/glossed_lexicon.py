"""A lexicon for questions in another language: Lexicon -> Lexicon whose classes and properties have English names too.

The glosses are those that `gloss_question` gives the words of a question, so that both meet in English.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nacre.language.tokens import tokenize
from nacre.language.translation.glosses import fill_glosses, gloss_label
from nacre.records.schema import Schema
from nacre.stores.compute_once import compute_once
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.glossing.question_language import label_languages


@compute_once(8)
def glossed_lexicon(lexicon: Lexicon, code: str) -> Lexicon:
    """The lexicon with glossed names besides its own. It shares the files of the lexicon."""
    glossed = copy.copy(lexicon)
    if lexicon.of_schema is not lexicon:
        glossed.__dict__["_of_schema"] = glossed_lexicon(lexicon.of_schema, code)
        glossed.schema = glossed.of_schema.schema
        glossed.schema_entries = glossed.of_schema.schema_entries
        return glossed
    is_main, _ = label_languages(lexicon).get(code, (False, frozenset()))
    glossed.schema = _glossed_schema(lexicon.schema, code) if is_main else lexicon.schema
    glossed.schema_entries = tuple(sorted({*lexicon.schema_entries, *_glossed_entries(lexicon, code)}))
    return glossed


def _glossed_schema(schema: Schema, code: str) -> Schema:
    return replace(
        schema,
        classes=tuple(replace(c, label=gloss_label(c.label, code)) for c in schema.classes),
        groups=tuple(replace(g, label=gloss_label(g.label, code)) for g in schema.groups),
        predicates=tuple(replace(p, label=gloss_label(p.label, code)) for p in schema.predicates),
    )


def _glossed_entries(lexicon: Lexicon, code: str) -> Iterator[LexiconEntry]:
    """The glosses of the names of classes and properties, with umlauts if their labels have some."""
    labels = {c.iri: (c.label, *c.alt_labels) for c in lexicon.schema.classes}
    labels |= {p.iri: (p.label, *p.alt_labels) for p in lexicon.schema.predicates}
    for entry in lexicon.schema_entries:
        if entry.kind == "value":
            continue
        written = next((w for w in _split(labels.get(entry.target, ())) if _norms(w) == entry.tokens), entry.tokens)
        tokens = tuple(word.casefold() for word in fill_glosses(written, code))
        if tokens and tokens != entry.tokens:
            yield entry._replace(tokens=_norms(tokens))


def _split(labels: Iterable[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(token.text for token in tokenize(label)) for label in labels)


def _norms(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(token.norm for token in tokenize(" ".join(words)))
