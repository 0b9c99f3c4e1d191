"""Languages and their data: words, forms, quantities, dates, and the accessors of the language data.

`base.py` is the one way to the word lists and patterns under `en/` (`word_list`, `phrase_list`, `word_map`, `pattern`):

    from nacre.language.base import pattern, word_list

    word_list("words", "fewer")         frozenset of words; the entry is `fewer: less fewer` in en/words.yaml
    pattern("patterns", "prose")        compiled; the entry is a list of regular expressions, joined by "|"

A stage that needs words or patterns of its own has a file of its own there: `en/dialogue.yaml`, `en/wording.yaml`, ...
`resources/` holds data that is of no one language: codes, countries, names of languages.

Files in reading order:

- tokens: text -> tokens, normal forms and lemmas
- base: the language data under `en/`
- thesaurus: synonyms, gradable adjectives, function words, nouns for persons and places
- forms: plurals, articles, verb forms, pronouns
- quantities: numbers with units, and their conversion
- dates: dates of any precision, and how they are written
- format_values: cells as people write them
- split_labels: names of columns and predicates as words
- readable_label: labels that are codes or JSON
- booleans: properties that say yes or no, in whatever form their data has
- spelling: slips of the keyboard, corrected
- courtesy: greetings and requests, blanked
- orientation: questions that ask nothing of the data, by the nearest paraphrase
- detect_language: the language of a question
- rank_sentences: the sentences that cover a question best
- translation: German and French questions in English words, and sentences of answers
- sanitize: text of a graph made harmless for prompts and pages
"""
