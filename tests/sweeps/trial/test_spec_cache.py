"""Facts that follow from a spec are kept between commands, and never answer for other code or data."""

import subprocess
import sys
from dataclasses import replace

import pytest

import vera
from sweeps.trial import spec_cache
from sweeps.trial.identity import Trial
from sweeps.trial.spec_cache import SpecCache, compute_code_stamp
from vera.methods.contract import Method
from vera.spec.registry import methods
from vera.spec.trial_spec import TrialSpec

SPEC = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 10)


def open_cache(folder):
    cache = SpecCache()
    cache.open(folder)
    return cache


def refuse(*arguments):
    raise AssertionError("derived although it is known")


def test_a_value_is_derived_once_and_read_by_a_later_process(tmp_path):
    first = open_cache(tmp_path)
    assert first.find("facts", SPEC, lambda: {"lr": 1e-4}) == {"lr": 1e-4}
    first.save()
    later = open_cache(tmp_path)
    assert later.has("facts", replace(SPEC, seed=7))
    assert later.find("facts", replace(SPEC, seed=7), refuse) == {"lr": 1e-4}
    assert not later.has("facts", replace(SPEC, steps=11))
    assert not later.has("size", SPEC)


def test_kept_facts_give_the_same_ids(tmp_path, monkeypatch):
    trials = [Trial(replace(SPEC, seed=seed), "smoke") for seed in (0, 1)]
    ids = [trial.id for trial in trials]
    for _ in range(2):
        monkeypatch.setattr("sweeps.trial.identity.spec_cache", cache := open_cache(tmp_path))
        assert [replace(trial).id for trial in trials] == ids
        cache.save()
        monkeypatch.setattr("sweeps.trial.identity._derive_facts", refuse)
    assert len(set(ids)) == 2


def test_nothing_is_kept_before_the_cache_is_opened(tmp_path):
    cache = SpecCache()
    assert [cache.find("facts", SPEC, lambda value=value: value) for value in (1, 2)] == [1, 2]
    cache.save()


def test_facts_of_user_files_and_of_plugins_are_not_kept(tmp_path):
    @methods.register("own")
    class OwnMethod(Method):
        pass

    cache = open_cache(tmp_path)
    for spec in (replace(SPEC, dataset={"name": "mnist-logit"}), replace(SPEC, method={"name": "own"})):
        cache.find("facts", spec, dict)
        assert not cache.has("facts", spec)


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_replaced(tmp_path, content):
    cache = open_cache(tmp_path)
    cache.find("facts", SPEC, dict)
    cache.save()
    [path] = tmp_path.iterdir()
    path.write_bytes(content)
    again = open_cache(tmp_path)
    assert not again.has("facts", SPEC)
    again.find("facts", SPEC, dict)
    again.save()
    assert open_cache(tmp_path).has("facts", SPEC)


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = open_cache(tmp_path / "file" / "below")
    assert cache.find("facts", SPEC, dict) == {}
    cache.save()


def test_changed_code_has_another_stamp_and_its_old_file_is_removed(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/method.py"):
        (package / name).write_text("lr = 1")
    monkeypatch.setattr(vera, "__file__", str(package / "__init__.py"))
    stamps = [compute_code_stamp()]
    cache = open_cache(tmp_path / "cache")
    cache.find("facts", SPEC, dict)
    cache.save()
    (package / "room" / "method.py").write_text("lr = 0.1")
    stamps.append(compute_code_stamp())
    monkeypatch.setattr(spec_cache, "PACKAGES", ())
    stamps.append(compute_code_stamp())
    assert len(set(stamps)) == 3
    again = open_cache(tmp_path / "cache")
    assert not again.has("facts", SPEC)
    again.find("facts", SPEC, dict)
    again.save()
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_the_second_plan_of_a_table_loads_no_torch(tmp_path):
    words = ["vera", "plan", "table2", "--profile", "smoke", "--results-dir", str(tmp_path / "none")]
    code = f"import sys; sys.argv = {words}; from bench.cli.main import main; "
    code += "assert main() == 0; sys.exit('torch' in sys.modules)"
    environment = {"VERA_CACHE": str(tmp_path), "OMP_NUM_THREADS": "1"}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True) for _ in range(2)
    ]
    assert [run.returncode for run in runs] == [1, 0]
    assert runs[0].stdout == runs[1].stdout != b""
