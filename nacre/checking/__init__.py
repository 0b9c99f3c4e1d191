"""Check sentences against their evidence.

Reading order:
    claims           the unsupported claims of a sentence, and its numbers
    evidence_index   the words, numbers and dates of the evidence, and those of a sentence in it
"""
