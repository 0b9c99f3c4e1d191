"""Write measurements to docs/performance.md: a mark and a text -> the section between the mark and the end mark."""

import os
import platform
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
END = "<!-- end -->"


def describe_machine() -> str:
    """Cores, memory, operating system and Python of this machine."""
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    return f"{os.cpu_count()} cores{memory}, {platform.system()}, Python {platform.python_version()}"


def write_section(mark: str, command: str, measured: str, page: Path = PAGE) -> None:
    """Replace the text between `<!-- MARK -->` and the next end mark by the results of `command` on this machine."""
    text = page.read_text(encoding="utf-8")
    start = f"<!-- {mark} -->"
    head, start_mark, rest = text.partition(start)
    _, end_mark, tail = rest.partition(END)
    if not start_mark or not end_mark:
        raise SystemExit(f"{page} has no {start} with {END} after it.")
    page.write_text(f"{head}{start}\n`{command}` on {describe_machine()}:\n\n{measured}\n{END}{tail}", encoding="utf-8")
