"""Verified questions for the command line, the HTTP API, MCP and the Python client.

Files in reading order:
    service.py  what a caller may see, confirm, approve, check and remove
    lines.py    JSON lines -> verified questions, and back
    calibrate_due.py   probabilities of graphs whose verified questions changed
    name_proposals.py  other names that they teach
"""
