"""The progress bar of a run: a line in a terminal, a widget in a notebook."""

import sys
import warnings
from functools import cache
from typing import Any

from tqdm import TqdmWarning


def is_interactive() -> bool:
    """Whether somebody watches: stderr is a terminal, or this process is the kernel of a notebook."""
    return sys.stderr.isatty() or _is_notebook()


def make_progress_bar(label: str, *, total: int, initial: int, shown: bool) -> Any:
    """A tqdm bar that counts steps. Use it as a context manager."""
    return _import_tqdm()(total=total, initial=initial, desc=label, unit="step", disable=not shown)


def _is_notebook() -> bool:
    """Whether IPython runs as a kernel. It is imported already if it does."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if get_shell is None else get_shell()
    return shell is not None and "IPKernelApp" in shell.config


@cache
def _import_tqdm() -> Any:
    """The bar class for this environment.

    In a notebook without ipywidgets tqdm warns when it is imported and falls back to text. The text is
    enough, so the warning is not shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm
    return tqdm
