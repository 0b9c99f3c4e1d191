"""The agents, one file each: the contract of the agent, its version by rules, its version by a model.

In reading order:

turn_view      what every agent sees of a turn
result         what every agent returns
database       what agents may ask of an open graph
agents         the agents of a turn by reasoner
rewriter       makes a question stand alone
tool_selector  chooses the branches of a round
query_writer   finds the rows that answer
fuser          writes the answer
translate_draft  the answer of the rules in German or French
extractor      takes triples out of texts
answering      candidates -> the answer, its status and its record
query_writing  queries written by a model
models         bounded calls of chat models
prompts        the prompts, filled by prompt.py
run_in_thread  blocking work in threads
"""
