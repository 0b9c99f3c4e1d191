"""From facts to passages: sentences that know their triple or their place.

In reading order:
    passages   facts of each thing -> sentences -> passages
    phrases    titles of things, wordings of predicates, phrases for objects
    sentences  texts -> sentences; sentences -> passages of a length that suits search
"""
