"""``retrograd train gpt`` on several hosts: two processes on this machine, over the loopback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.parts import ALL, require

from retrograd.errors import HostsError
from retrograd.training import GPTSettings, read_log, train_gpt
from retrograd.training.hosts import connect

pytestmark = pytest.mark.native  # JAX computes, on either engine's behalf: the reference engine makes no JAX function

SIZES = ["--n-embd", "4", "--n-head", "2", "--block-size", "3", "--batch", "5", "--samples", "1"]
SETTINGS = GPTSettings(n_embd=4, n_head=2, block_size=3, batch=5)


def begin(out: Path, process: int, port: int, *options: str) -> subprocess.Popen[str]:
    """One of two processes, with two devices."""
    command = [sys.executable, "-m", "retrograd", "train", "gpt", "--backend", "jax", "--out", str(out), *SIZES]
    command += ["--coordinator", f"127.0.0.1:{port}", "--processes", "2", "--process-id", str(process), *options]
    devices = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    return subprocess.Popen(
        command,
        env={**os.environ, **devices, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def losses(out: Path) -> list[float]:
    return [entry["loss"] for entry in read_log(out)]


def native(out: Path, steps: int) -> list[float]:
    """The losses of the same run on the native engine."""
    return [progress.loss for progress in train_gpt(replace(SETTINGS, steps=steps), out)]


@pytest.mark.skipif(not ALL, reason="half a minute for one command in two processes: make accuracy")
def test_two_processes_train_the_run_of_one_and_the_first_saves_it(tmp_path: Path) -> None:
    require("jax")
    port, out = free_port(), tmp_path / "run"
    both = [begin(out, number, port, "--steps", "3") for number in range(2)]
    said = [process.communicate(timeout=280) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert "sample  1" in said[0][0]
    assert "Loss" not in said[1][0]
    assert losses(out) == pytest.approx(native(tmp_path / "native", 3), rel=1e-12)
    assert len(list(out.glob("parameters-*.safetensors"))) == 1


@pytest.mark.skipif(not ALL, reason="a minute, half of which JAX waits for the one that is lost: make accuracy")
def test_a_process_that_is_lost_ends_the_run_with_a_sentence_and_it_resumes(tmp_path: Path) -> None:
    require("jax")
    port, out = free_port(), tmp_path / "run"
    first, second = (begin(out, number, port, "--steps", "1000000") for number in range(2))
    while first.poll() is None and len(losses(out)) < 5:
        time.sleep(0.2)
    children = Path(f"/proc/{second.pid}/task/{second.pid}/children").read_text().split()
    for process in (*map(int, children), second.pid):
        os.kill(process, signal.SIGKILL)
    second.communicate()
    said = first.communicate(timeout=200)[1]
    assert first.returncode == 1
    assert said.splitlines()[-1].startswith("retrograd: another process of the run is ")
    assert "--resume" in said.splitlines()[-1]
    saved = json.loads((out / "checkpoint.json").read_text())["step"]
    settings = replace(SETTINGS, steps=1_000_000)
    resumed = train_gpt(settings, out, resume=True, backend="jax", devices=1)
    progress = next(resumed)
    resumed.close()
    assert progress.step == saved + 1


def test_what_cannot_be_is_refused_before_anything_begins() -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        connect("somewhere")
    with pytest.raises(ValueError, match="come together"):
        connect("127.0.0.1:1", processes=2)
    with pytest.raises(ValueError, match="numbered from 0 to 1"):
        connect("127.0.0.1:1", processes=2, process_id=2)
    assert issubclass(HostsError, RuntimeError)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--processes", "2"], "--coordinator HOST:PORT"),
        (["--coordinator", "127.0.0.1:1"], "--backend jax"),
    ],
)
def test_options_that_miss_another_are_told_so(options: list[str], sentence: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "retrograd", "train", "gpt", *options, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert sentence in done.stderr
