"""The command line: one module per command or few commands.

In reading order:

    main         arguments -> a command and an exit code
    ingest       `nacre ingest`, `nacre index`
    attach       `nacre attach`
    graphs       `nacre graphs`, `report`, `export`, `remove`, `doctor`
    ask          `nacre ask`, `nacre chat`
    serve        `nacre serve`
    mcp          `nacre mcp`
    migrate      `nacre migrate`
    extract      `nacre extract`
    complete     `nacre complete`
    eval         `nacre eval`
    compare      `nacre compare`
    calibrate    `nacre calibrate`
    groups/      `nacre keys`, `nacre layer`, `nacre model`
"""
