"""Size of the code: python -m benchmarks.size [--write [--because REASON]].

The files and lines of Python in each package stand in `size.json` and only go down; `tests/repository` checks them.
Beside them are printed: tokens of Python, and lines of YAML, JavaScript and prompts, so that nothing hides there.
"""

import argparse
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ratchet import compare, settle

ROOT = Path(__file__).parents[1]
FILE, COMMAND = Path(__file__).with_name("size.json"), "python -m benchmarks.size"
PRODUCT = ("agents", "graph", "tools", "ingestion", "nacre", "evaluation")
EXTENSIONS = "nacre/extensions"
OUTSIDE_CORE = (EXTENSIONS, "evaluation")
BESIDE = {"YAML": "*.yaml", "JavaScript": "*.js", "prompts": "agents/prompts/*.md"}
# tokens that only lay the text out
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--write", action="store_true", help="write the lower figures to size.json")
    parser.add_argument("--because", default="", help="why a figure may rise")
    options = parser.parse_args(arguments)
    print(f"{'':18}{'files':>8}{'lines':>9}{'tokens':>11}")
    sums = {"core": [0, 0, 0], "all": [0, 0, 0]}
    for package in packages():
        texts = [path.read_text(encoding="utf-8") for path in python_files(package)]
        row = [len(texts), sum(map(count_lines, texts)), sum(map(count_tokens, texts))]
        for name in ("all",) if package in OUTSIDE_CORE else ("core", "all"):
            sums[name] = [one + other for one, other in zip(sums[name], row, strict=True)]
        print_row(package, row)
    for name, row in sums.items():
        print_row(name, row)
    for name, pattern in BESIDE.items():
        beside = [path for path in tracked(pattern) if path.relative_to(ROOT).parts[0] in PRODUCT]
        print_row(name, [len(beside), sum(count_lines(path.read_text(encoding="utf-8")) for path in beside)])
    sizes = measure()
    return settle(compare(sizes, FILE), sizes, FILE, COMMAND, options.because if options.write else None)


def measure() -> dict[str, float]:
    """The files and lines of each package; the extensions and the rest of `nacre` are two."""
    sizes: dict[str, float] = {}
    for package in packages():
        texts = [path.read_text(encoding="utf-8") for path in python_files(package)]
        sizes |= {f"{package}: files": len(texts), f"{package}: lines": sum(map(count_lines, texts))}
    return sizes


def packages() -> Iterator[str]:
    """The packages that exist."""
    return (package for package in (*PRODUCT, EXTENSIONS) if (ROOT / package).is_dir())


def python_files(package: str) -> list[Path]:
    """The modules of a package; those of extensions belong to no other."""
    others = ROOT / EXTENSIONS
    found = tracked(f"{package}/*.py")
    return found if package == EXTENSIONS else [path for path in found if others not in path.parents]


def tracked(*patterns: str) -> list[Path]:
    """The files of the repository that match a pattern and exist, also those that are not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in sorted(set(listed.stdout.splitlines())) if (ROOT / line).is_file()]


def count_lines(text: str) -> int:
    """Physical lines.

    >>> count_lines("a = 1\\n\\nb = 2\\n")
    3
    """
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def count_tokens(text: str) -> int:
    """The tokens of a module without comments and layout.

    >>> count_tokens("a = 1  # one\\n")
    3
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type not in LAYOUT and bool(token.string) for token in tokens)


def print_row(name: str, row: list[int]) -> None:
    print(f"{name:18}{row[0]:8,}{row[1]:9,}" + (f"{row[2]:11,}" if len(row) > 2 else ""))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
