"""Verified questions of an open graph: which ones an owner may use, what they give, and whether they still hold.

Files in reading order:
    look_up.py  the verified questions that may answer an owner's question
"""
