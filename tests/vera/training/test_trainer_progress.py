"""The progress bar: text in a terminal, a widget in a notebook, and no warning where widgets are missing."""

import io
import os
import sys
import warnings
from importlib import import_module
from types import SimpleNamespace

import pytest
import tqdm
from terminal import Terminal
from trainer_helpers import make_scripted_trainer

from vera.training import progress


@pytest.fixture
def fresh_import():
    """The bar class is chosen again, as in a new process."""
    names = ("tqdm.auto", "tqdm.autonotebook", "tqdm.notebook")
    held = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    progress._import_tqdm.cache_clear()
    yield
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(held)
    progress._import_tqdm.cache_clear()


def pretend_notebook(monkeypatch):
    """IPython as a kernel without ipywidgets."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    for name in [name for name in os.environ if name == "QT_API" or name.startswith("SPYDER")]:
        monkeypatch.delenv(name)  # other consoles, to tqdm


def test_somebody_watches_in_a_terminal_and_in_a_notebook_only(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not progress.is_interactive()
    assert not make_scripted_trainer().progress
    monkeypatch.setitem(
        sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(config={}))
    )
    assert not progress.is_interactive(), "IPython in a terminal whose stderr is a file"
    pretend_notebook(monkeypatch)
    assert progress.is_interactive()
    assert make_scripted_trainer().progress
    assert not make_scripted_trainer(progress=False).progress
    monkeypatch.delitem(sys.modules, "IPython")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert progress.is_interactive()


def test_a_notebook_without_widgets_shows_text_and_no_warning(monkeypatch, fresh_import, capsys):
    pretend_notebook(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_scripted_trainer(progress=True).run()
    assert "10/10" in capsys.readouterr().err
    assert issubclass(progress._import_tqdm(), tqdm.tqdm)


def test_without_the_filter_tqdm_would_warn(monkeypatch, fresh_import):
    pretend_notebook(monkeypatch)
    with pytest.warns(tqdm.TqdmWarning, match="IProgress"):
        import_module("tqdm.auto")


def test_a_resumed_run_continues_its_bar(capsys):
    trainer = make_scripted_trainer(progress=True)
    trainer.run(until=4)
    assert "4/10" in capsys.readouterr().err
    trainer.run(until=5)
    assert "5/10" in capsys.readouterr().err
