"""Verified questions of an open graph: which ones an owner may use, what they give, and whether they still hold.

Files in reading order:
    look_up.py         the verified questions that may answer an owner's question
    graph_identity.py  whether a new version is still the same graph
    run.py             the plan or query of a verified question -> what it gives
    confirm.py         an answer or a query that a person confirms -> a verified question
    check.py           whether verified questions still hold in the present version
    calibrate.py       verified questions that the rules answer alone -> the probabilities of their graph
    first_use.py       a question understood beside verified ones, which are checked at their first use
"""
