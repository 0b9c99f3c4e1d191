"""German and French: dictionaries for questions, and sentences of answers. Their data is in `de/` and `fr/`.

Files in reading order:

- dictionary: the entries of `glosses.yaml`
- glosses: words of questions and labels in English
- numbers: numbers and dates as English writes them
- templates: sentences of answers, by `answers.yaml`
"""
