"""Attacks on started servers and on ingests, each with a limit: python -m benchmarks.abuse.

- case: the result of an attack as a row, and the poll of /healthz while attacks run
- measured: a command in a process of its own, with its seconds and its peak memory
- questions: questions designed to take long, clients that disconnect, SIGTERM under load, SQL statements of a grammar
- requests: hostile requests to a server with two keys
- protocols: hostile requests of the protocols of other vendors
- occupying: one key occupies the slots for queries while another asks
- files: hostile RDF files and documents, each ingested in a process of its own, and questions about what was read
- databases: hostile relational databases and addresses, and hostile queries over an attached database
- stores: hostile publications and archives in a store that servers share
- answers: hostile answers of SPARQL endpoints, each read in a process of its own by read_answer
- models: servers of chat models that never end or that repeat a key
- lifecycle: kills, also within uploads and deletions, signals, a full disk, lost keys, a clock set back (shifted_clock)
"""
