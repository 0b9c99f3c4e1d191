"""Audit: who asked, approved, uploaded, shared or deleted what, and when; what is stored of a person.

In reading order:
    entries  what callers do -> lines in files of the data folder, or rows in a database, for a limited time
    command  `nacre audit`; `nacre person show | delete`
"""
