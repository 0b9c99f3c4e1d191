"""Word forms in English, for the wording of answers.

- nouns: plural, singular, articles, possessives, lists of names
- measure_nouns: nouns for counts and measures, and their superlatives
- verb_phrase: a verb that agrees, with what follows it, and its denial
- verbs: participles, the active of a passive, agent nouns
- pronouns: "it", "they", "she" and their forms
"""
