"""A chat model in this process.

In reading order:
    local_model   settings and a model file -> a chat model; its prompt prefilled with a schema
    local_engine  a llama.cpp server in this process
    local_files   model files: recommended, downloaded and chosen ones
    command       `nacre model`
"""
