"""Sharing an answer: a frozen copy that people without a key read at an address nobody can guess.

In reading order:
    routes          share an answer, list and withdraw links; the page of a shared answer
    shared_answers  the record of an answer -> a bounded copy -> rows beside its thread; its chart
    command         `nacre shares list | revoke`
    static/         the page's part: share.js (the button), shares.js (one's links), texts by language
"""
