"""What a graph says that is nearest to a question which nothing else answers.

In reading order:

search          the sentences to answer with, if no rows do
prose_matches   things whose texts have the words that a reading leaves out
named_facts     the facts of the things that a question names
likeness        how near sentences are to a question
"""
