"""German and French: dictionaries for questions, and sentences of answers. Their data is in `de/` and `fr/`.

Files in reading order:

- glosses: words of questions and labels in English, by `glosses.yaml`
- templates: sentences of answers, by `answers.yaml`
"""
