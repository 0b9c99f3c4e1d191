"""Content with random damage: bytes and a source of chance -> bytes."""

import random


def changed_bytes(content: bytes, chance: random.Random) -> bytes:
    """The content with a few places cut out, doubled, overwritten or cut off."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(changed) + 1)
        piece = changed[start : start + chance.randint(1, 40)]
        how = chance.choice(("out", "again", "bits", "off"))
        if how == "out":
            del changed[start : start + len(piece)]
        elif how == "again":
            changed[start:start] = piece * chance.randint(1, 50)
        elif how == "bits":
            changed[start : start + len(piece)] = bytes(chance.randrange(256) for _ in piece)
        else:
            del changed[max(start, 1) :]
    return bytes(changed)
