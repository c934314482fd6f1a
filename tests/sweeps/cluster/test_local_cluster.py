"""A local cluster in a process of its own: where it listens, what it writes, and how it ends."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from cluster_helpers import is_alive
from engine_helpers import PLUGIN, finish, start, wait_for

from sweeps.cluster import reaper

SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIA-fake-access-key",
    "AWS_SECRET_ACCESS_KEY": "fake-secret-access-key",
    "AWS_SESSION_TOKEN": "fake-session-token",
    "WANDB_API_KEY": "fake-wandb-key",
    "GITHUB_TOKEN": "fake-github-token",
}
LISTENING = "0A"
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
"""127.0.0.1 in both tables of the kernel, and ::1."""


@pytest.fixture
def ray_folder():
    """A folder for Ray's session with a short path, because socket paths have a length limit."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def start_sweep(results, ray_folder):
    (ray_folder / "tmp").mkdir()
    places = {"RAY_TMPDIR": ray_folder, "TMPDIR": ray_folder / "tmp"}
    flags = ("--plugin", PLUGIN, "--results-dir", results, "--max-concurrent", 1, "--checkpoint-every", 0)
    return start("run", "patience", *flags, **places, **SECRETS)


def list_family(root):
    """The process and its living descendants, with their command lines."""
    known = {root: ""}
    reaper.add_descendants(known, reaper.read_processes())
    family = {}
    for number in filter(is_alive, known):
        with suppress(FileNotFoundError, ProcessLookupError):
            family[number] = Path(f"/proc/{number}/cmdline").read_text()
    return family


def list_open_files(number):
    """What the descriptors of a process refer to; a process or descriptor that is gone has none."""
    folder = Path(f"/proc/{number}/fd")
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in os.listdir(folder):
            with suppress(FileNotFoundError, ProcessLookupError):
                yield os.readlink(folder / name)


def list_addresses(numbers):
    """The local addresses at which these processes listen, in the kernel's spelling."""
    targets = [target for number in numbers for target in list_open_files(number)]
    sockets = {target[len("socket:[") : -1] for target in targets if target.startswith("socket:[")}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path("/proc/net", table).read_text().splitlines()[1:]
    ]
    return {line[1].split(":")[0] for line in lines if line[3] == LISTENING and line[9] in sockets}


def find_secrets(*folders):
    """The files below these folders that hold a secret."""
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [
        (file, name)
        for file in files
        for name, value in SECRETS.items()
        if value.encode() in file.read_bytes()
    ]


def test_a_lost_raylet_ends_the_run_with_one_line(tmp_path, ray_folder):
    """On the way: the cluster listens on loopback only, and no file that the run leaves holds a secret."""
    driver = start_sweep(tmp_path, ray_folder)
    wait_for(lambda: list((tmp_path / "checkpoints").glob("*.pt")), driver)
    family = list_family(driver.pid)
    addresses = list_addresses(family)
    assert addresses
    assert addresses <= set(LOOPBACK)
    raylet = next(number for number, command in family.items() if "raylet/raylet" in command)
    os.kill(raylet, signal.SIGKILL)
    code, out, err = finish(driver)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "raylet" in err
    assert "run the same command again" in err
    assert "raylet" not in out
    wait_for(lambda: not any(is_alive(number) for number in family))
    assert list((ray_folder / "tmp").glob("vera-*")) == []
    assert (ray_folder / "ray").is_dir()
    assert find_secrets(tmp_path, ray_folder) == []


def test_sigterm_while_the_cluster_starts_is_an_orderly_end(tmp_path, ray_folder):
    driver = start_sweep(tmp_path, ray_folder)
    wait_for(lambda: list((ray_folder / "ray").glob("session_*")), driver)
    family = list_family(driver.pid)
    driver.terminate()
    code, _, err = finish(driver)
    assert code == 128 + signal.SIGTERM
    assert len(err.splitlines()) == 1
    assert "Interrupted" in err
    wait_for(lambda: not any(is_alive(number) for number in family))


def test_the_reaper_kills_descendants_once_its_input_ends(tmp_path):
    """Also a grandchild whose parent has gone meanwhile; a stranger is spared."""
    file = tmp_path / "grandchild"
    script = f"sleep 600 & echo $! > {file}; read _"
    parent = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE)
    stranger = subprocess.Popen(["sleep", "600"])
    grandchild = int(wait_for(lambda: file.read_text().strip()))
    running = subprocess.Popen([sys.executable, reaper.__file__, str(parent.pid)], stdin=subprocess.PIPE)
    time.sleep(2 * reaper.INTERVAL)
    parent.communicate()
    assert is_alive(grandchild)
    running.communicate()
    assert not is_alive(grandchild)
    assert is_alive(stranger.pid)
    stranger.kill()
    stranger.wait()
