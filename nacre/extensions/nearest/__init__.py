"""What is nearest to a question that no rows surely answer.

In reading order:
    search       texts and facts that are nearest; the look-up of the nearest fact
    facts        the facts of the things that a question names, and of things of a class
    repair       readings in place of one that does not give what is asked for, or of none
    reshape      plans of the shape that a question asks for, over the things of another plan
"""
