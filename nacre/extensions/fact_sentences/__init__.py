"""The facts of each thing as sentences, which searches by words and by meaning find.

In reading order:
    passages   facts of each thing -> sentences -> passages
    phrases    titles of things, wordings of predicates, phrases for objects
"""
