"""Speed and memory of ingests, questions and servers, mostly as ratios measured side by side in one run.

`python -m benchmarks` runs ingest, wide_graphs, latency and questions, and checks their limits. The other programs run
alone: load, browsing, soak_clients, soak_kill, abuse and fuzz against started servers, and browser in a browser.

- guard: the work that questions and ingests cost, counted
- size: files and lines of the packages
- ratchet: figures that only go down
- path: the modules that one question runs through
- results: measurements in processes of their own, and results with their limits
- inputs: generated graphs and SQL statements
- measure: one measurement of an ingest
- ingest, wide_graphs, latency, questions: the measurements of `python -m benchmarks`
- server: a started server
- load: many clients at once
- browsing: the pages of a large graph
- soak_clients: clients of all interfaces for a long time
- soak_kill: ingests that are killed at random moments
- abuse: attacks on servers and ingests, each with a limit
- fuzz: random input for a time
- browser: the page in chromium
- performance_page: the results in docs/performance.md
"""
