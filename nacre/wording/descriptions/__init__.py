"""Facts of things and groups in sentences.

Reading order:
- profile: the description that a plan asks for
- thing: one thing
- property_facts, fact_sentences, incoming_links: its properties, sentences, and what links to it
- group, class_definition: the members of a group, and what the graph says of their class
- comparison, comparison_sentences: two things or groups side by side, and what they share
- part_statistics: numbers of parts
- facts: values and links in words
- identifying_names: names of things without a label
- sparql_facts: descriptions without tables
"""
