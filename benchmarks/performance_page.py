"""What was measured -> docs/performance.md, each kind of measurement between marks of its own."""

import os
import platform
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
END = "<!-- end -->"


def describe_machine() -> str:
    """The machine of this run, in a few words."""
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    return f"{os.cpu_count()} cores{memory}, {platform.system()}, Python {platform.python_version()}"


def write_section(mark: str, command: str, measured: str, page: Path = PAGE) -> None:
    """Put what `command` measured on this machine between `<!-- MARK -->` and the end mark after it."""
    text = page.read_text(encoding="utf-8")
    start = f"<!-- {mark} -->"
    head, found, rest = text.partition(start)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{page} has no {start} with {END} after it.")
    page.write_text(f"{head}{start}\n`{command}` on {describe_machine()}:\n\n{measured}\n{END}{tail}", encoding="utf-8")
