"""What is nearest to a question that no rows surely answer.

In reading order:
    search       texts and facts that are nearest; the look-up of the nearest fact
    class_facts  the facts of things of a class that are nearest to a question without names
"""
