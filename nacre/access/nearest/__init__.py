"""What a graph says that is nearest to a question which nothing surely answers.

In reading order:

search          the sentences to answer with, if no rows do
prose_matches   things whose texts have the words that a reading leaves out
look_up         the property of a named thing that is nearest in meaning, as a reading
named_facts     the facts of the things that a question names
class_facts     the facts of things of a class that a question names
answer_kind     whether a fact is of the kind that the question word asks for
likeness        how near sentences are to a question
"""
