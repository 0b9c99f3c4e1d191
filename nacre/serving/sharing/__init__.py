"""Sharing an answer: a frozen copy that people without a key read at an address nobody can guess.

In reading order:

    freeze    the record of an answer -> a bounded copy
    service   who may share, what a link must not outlive
    page      a copy -> a page without scripts
    routes    /share/TOKEN
"""
