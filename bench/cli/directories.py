"""Checks of --data-dir and --results-dir, before a verb runs."""

import argparse
import errno
import os

from vera.errors import SettingError, VeraError

UNUSABLE = (errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of paths that cannot exist; other paths may still be created."""


def check_working_dir() -> None:
    """Raise VeraError if the working directory was removed: torch does not even load there."""
    try:
        os.getcwd()
    except OSError as error:
        raise VeraError("The working directory no longer exists. Change to another one: cd DIR") from error


def use_data_dir(arguments: argparse.Namespace) -> None:
    """Fix the data directory for the whole process. The ids of trials depend on the files in it."""
    folder = find_data_dir(arguments)
    if folder is not None:
        _refuse_file("--data-dir", getattr(arguments, "data_dir", None) or folder)
        arguments.data_dir = os.environ["VERA_DATA"] = folder
    elif hasattr(arguments, "data_dir"):  # a verb that reads data files
        _refuse_file("VERA_DATA", os.environ.get("VERA_DATA", ""))


def find_data_dir(arguments: argparse.Namespace) -> str | None:
    """The directory of --data-dir, else that of the file in --dataset; None for VERA_DATA or the default."""
    folder = getattr(arguments, "data_dir", None)
    if getattr(arguments, "dataset", None):
        from bench.cli.selection.dataset import parse_dataset

        own = parse_dataset(arguments.dataset)[1]
        if own is not None and folder is not None and os.path.abspath(own) != os.path.abspath(folder):
            raise SettingError(f"--dataset names a file in {own}, --data-dir is {folder}. Omit --data-dir.")
        folder = folder if own is None else own
    return None if folder is None else os.path.abspath(folder)


def check_results_dir(arguments: argparse.Namespace) -> None:
    """Raise if --results-dir cannot hold results; the error shows the path as it was typed."""
    folder = getattr(arguments, "results_dir", None)
    if folder is None:
        return
    from sweeps.store.location import check_location, is_url

    check_location(folder)
    _refuse_file("--results-dir", folder)
    try:
        os.stat(folder)
    except OSError as error:
        if error.errno in UNUSABLE and not is_url(folder):
            raise SettingError(
                f"--results-dir {folder} cannot be used: {error.strerror}. Choose another directory."
            ) from error


def check_results_writable(results_dir: str) -> None:
    """Raise StoreError unless a run could store its results there. Leaves nothing behind."""
    from sweeps.run.writable_store import check_writable
    from sweeps.store.location import join_location

    check_writable(*(join_location(results_dir, name) for name in ("trials", "checkpoints")))


def _refuse_file(setting: str, path: str) -> None:
    if os.path.isfile(os.path.expanduser(path)):
        raise SettingError(f"{setting} {path} is a file, not a directory. Choose a directory.")
