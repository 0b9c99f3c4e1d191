"""Open a tantivy index without writing to its folder: folder -> index."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nacre.errors import ToolError
from nacre.stores.search.file_integrity import DamagedIndex, check_sizes, engine_panics, verify_seal


class IndexFolder:
    """A read-only handle on one index folder. Nothing is written to it, so any number of processes may read it."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open the index; raises DamagedIndex if its files changed. Error messages call it `name`."""
        import tantivy

        self._folder, self._name, self._sizes = folder, name, verify_seal(folder)
        # tantivy writes a lock file into the folder of each index it opens, so it gets a private folder of links. The
        # searcher has all files open: the links are removed at once, so that a process that is killed leaves none
        with tempfile.TemporaryDirectory(prefix="nacre-index-", ignore_cleanup_errors=True) as private:
            for file in folder.iterdir():
                if file.suffix != ".lock":
                    os.symlink(file.absolute(), os.path.join(private, file.name))
            with engine_panics(name):
                index = tantivy.Index.open(private)
                self.schema: Any = index.schema
                self.searcher: Any = index.searcher()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before reading: raises ToolError `unavailable` if a file was truncated since it was opened,
        because reading it would crash the process, or if the engine panics."""
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{self._name} is {error}") from None
        with engine_panics(self._name):
            yield
