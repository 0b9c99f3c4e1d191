"""The database that the settings name, else a file of the data folder: Settings + file name -> StateDatabase."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.state.database import StateDatabase, StorageError, make_private, open_database, open_file


def open_state(settings: Settings, name: str) -> StateDatabase:
    """The database of NACRE_DATABASE_URL; without one, the file of a name in the data folder, which other users of this
    machine may not read. Raises ConfigError."""
    if settings.database_url is not None:
        try:
            return open_database(settings.database_url.get_secret_value(), settings.database_keys)
        except OSError as error:
            raise ConfigError(f"The file of NACRE_DATABASE_URL can't be written: {error.strerror}.") from error
        except StorageError as error:
            raise ConfigError(f"NACRE_DATABASE_URL can't be used: {error}.") from error
    file = settings.data / name
    try:
        make_private(file)
        return open_file(file)
    except OSError as error:
        raise ConfigError(f"Can't write {file}: {error.strerror}. Check who may write there, or NACRE_DATA.") from error
    except StorageError as error:
        raise _unusable_file(file, error) from error


def shared_state(settings: Settings) -> Callable[[], StateDatabase] | None:
    """What opens the database of NACRE_DATABASE_URL; None without one."""
    return None if settings.database_url is None else partial(open_state, settings, "")


def unusable_state(database: StateDatabase, error: Exception) -> ConfigError:
    """The error for a database that can't be used, with what to do."""
    if database.file is not None:
        return _unusable_file(database.file, error)
    return ConfigError(f"NACRE_DATABASE_URL can't be used: {error}. Check that the server runs and lets Nacre in.")


def _unusable_file(file: Path, error: Exception) -> ConfigError:
    advice = "Close what holds it, make room on its disk, or set NACRE_DATA."
    return ConfigError(f"Can't use {file}: {error}. {advice}")
