"""Calls of chat models: bounded, counted, validated.

In reading order:

limits             what a call may take
model_settings     limits, size and priors as the settings say
structured_output  how a model is asked for a record
failure_reasons    why a call failed, without text of the server
calls              one call: a record or a stream of text
reply_cache        replies that are kept
usage, call_log    calls counted, and recorded for people
priors             how often a model's queries are right
prompt_prefill     prompts that a server reads in advance
"""
