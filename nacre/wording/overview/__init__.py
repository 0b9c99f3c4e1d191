"""A graph as a whole in words: what it is about, what is remarkable, what can be asked.

Reading order:
- kinds: the main kinds of things with their numbers
- links: how the kinds hang together, what is known of them
- highlights: the largest, earliest and most linked things; spans of numbers and dates
- origin: by whom, since when and under which licence, as far as the graph states it
- overview: the sentences for what a turn wants
"""
