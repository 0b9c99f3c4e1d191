"""Check sentences against their evidence.

Reading order:
- claims: the unsupported claims of a sentence
- numbers: its numbers
- sentence_match: its words in the evidence
- evidence_index: the words, numbers and dates of the evidence
"""
