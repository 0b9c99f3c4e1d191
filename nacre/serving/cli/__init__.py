"""The command line: one module per command or group of commands.

In reading order:

    main         arguments -> a command and an exit code
    ingest       `nacre ingest`, `nacre index`
    attach       `nacre attach`
    graphs       `nacre graphs`, `report`, `export`, `remove`, `doctor`
    ask          `nacre ask`, `nacre chat`
    serve        `nacre serve`
    keys         `nacre keys`
    mcp          `nacre mcp`
    model        `nacre model`
    extract      `nacre extract`
    complete     `nacre complete`
    eval         `nacre eval`
    compare      `nacre compare`
    calibrate    `nacre calibrate`
"""
