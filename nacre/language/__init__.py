"""Languages and their data: words, forms, quantities, dates, and the accessors of the language data.

`data.py` is the one way to the word lists and patterns under `en/` (`word_list`, `phrase_list`, `word_map`, `pattern`):

    from nacre.language.data import pattern, word_list

    word_list("words", "fewer")         frozenset of words; the entry is `fewer: less fewer` in en/words.yaml
    pattern("patterns", "prose")        compiled; the entry is a list of regular expressions, joined by "|"

A stage that needs words or patterns of its own has a file of its own there: `en/dialogue.yaml`, `en/wording.yaml`, ...
`resources/` holds data that is of no one language: codes, countries, names of languages.

Reading order:
    data          the language data under `en/`
    tokens        text -> tokens, normal forms and lemmas; the language of a question
    thesaurus     synonyms, gradable adjectives, function words, nouns by kind; sentences that cover a question best
    word_forms    plurals, articles, verb forms, pronouns
    quantities    numbers with units, and their conversion
    values        cells as people write them; dates of any precision
    labels        names of columns and predicates as words; properties that say yes or no; misspelt words corrected
    small_talk    greetings and requests, blanked; questions that ask nothing of the data
    translation   German and French questions in English words, and sentences of answers
    sanitize      text of a graph made harmless for prompts and pages
"""
