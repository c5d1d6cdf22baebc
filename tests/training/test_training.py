"""Training runs: the scalar GPT's log, resuming bit for bit, and the two commands with everything that goes wrong."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice

import pytest
from support.parts import require
from support.timeouts import PATIENCE
from typer.testing import CliRunner

from retrograd import training
from retrograd.cli import plots
from retrograd.cli.train import train
from retrograd.engine import Value
from retrograd.errors import AnomalyError, CheckpointError, DataError
from retrograd.training import (
    GPTSettings,
    MoonsSettings,
    checkpoints,
    load_gpt,
    read_log,
    sample,
    sampling,
    train_gpt,
    train_moons,
)
from retrograd.training.data import Vocabulary

WORDS = ["anna", "bob", "cab", "abba", "dad", "add"]
SMALL_OPTIONS = ["--n-embd", "4", "--n-head", "2", "--block-size", "5", "--steps", "8"]


@pytest.fixture
def small(tmp_path) -> GPTSettings:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS))
    return GPTSettings(str(path), steps=8, n_embd=4, n_head=2, block_size=5)


def losses(run) -> list[float]:
    return [progress.loss for progress in run]


def run_command(*arguments, columns=80):
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(train, [str(argument) for argument in arguments])


# --- known numbers --------------------------------------------------------------------------------


def test_the_scalar_gpts_training_log(names_file, tmp_path):
    settings = GPTSettings(str(names_file), steps=5)
    assert [f"{loss:.4f}" for loss in losses(train_gpt(settings, tmp_path))] == [
        "3.3660",
        "3.4243",
        "3.1769",
        "3.0790",
        "3.2437",
    ]


@pytest.mark.native  # a thousand steps take the reference engine minutes
def test_the_scalar_gpts_whole_run(names_file, tmp_path):
    """Its published 1000-step run: the last loss, and the names that it makes up."""
    run = losses(train_gpt(GPTSettings(str(names_file)), tmp_path))
    assert [f"{loss:.4f}" for loss in (*run[:3], run[-1])] == ["3.3660", "3.4243", "3.1778", "2.6497"]
    model, vocabulary = load_gpt(tmp_path)
    assert [sample(model, vocabulary) for _ in range(8)] == [
        "kamon",
        "ann",
        "karai",
        "jaire",
        "vialan",
        "karia",
        "yeran",
        "anna",
    ]


# --- resuming -------------------------------------------------------------------------------------


def test_a_killed_run_resumes_bit_for_bit(small, tmp_path):
    whole = losses(train_gpt(small, tmp_path / "whole"))
    run = train_gpt(small, tmp_path / "run", save_every=0.0)
    first = losses(islice(run, 5))
    shutil.copytree(tmp_path / "run", tmp_path / "killed")  # what kill -9 leaves: no chance to tidy up
    with open(tmp_path / "killed" / training.LOG, "a") as log:
        log.write('{"step": 6, "loss": 1.0}\n{"step": 7, "lo')  # steps after the checkpoint, one cut short
    rest = losses(train_gpt(small, tmp_path / "killed", resume=True))
    assert first + rest == whole
    assert [entry["loss"] for entry in read_log(tmp_path / "killed")] == whole
    assert [entry["step"] for entry in read_log(tmp_path / "killed")] == list(range(1, 9))
    assert set(os.listdir(tmp_path / "killed")) == set(os.listdir(tmp_path / "whole"))
    models = [load_gpt(tmp_path / name)[0].state_dict() for name in ("whole", "killed")]
    assert all((models[0][name] == models[1][name]).all() for name in models[0])


def test_a_closed_run_saves_and_resumes_bit_for_bit(tmp_path):
    settings = MoonsSettings(points=6, steps=6)
    whole = losses(train_moons(settings, tmp_path / "whole"))
    run = train_moons(settings, tmp_path / "run")
    first = losses(islice(run, 2))
    run.close()
    assert checkpoints.load_checkpoint(tmp_path / "run").step == 2
    assert first + losses(train_moons(settings, tmp_path / "run", resume=True)) == whole
    assert losses(train_moons(settings, tmp_path / "run", resume=True)) == []
    assert whole[-1] < whole[0]


def test_a_finished_run_can_be_trained_on(small, tmp_path):
    losses(train_gpt(small, tmp_path / "run"))
    more = list(train_gpt(replace(small, steps=10), tmp_path / "run", resume=True))
    assert [progress.step for progress in more] == [9, 10]
    assert more[0].lr == pytest.approx(0.01 * 0.2)
    assert training.saved_settings(tmp_path / "run", GPTSettings).steps == 10


def test_progress_and_log(small, tmp_path):
    progress = list(train_gpt(small, tmp_path / "run"))
    assert [p.lr for p in progress] == [0.01 * (1 - step / 8) for step in range(8)]
    assert all(p.rate > 0 and p.accuracy is None and p.steps == 8 for p in progress)
    lines = (tmp_path / "run" / training.LOG).read_text().splitlines()
    assert [json.loads(line)["loss"] for line in lines] == [p.loss for p in progress]
    assert json.loads(lines[0]).keys() == {"step", "loss", "lr", "rate", "tier"}
    (moons,) = train_moons(MoonsSettings(points=4, steps=1), tmp_path / "moons")
    assert moons.accuracy in (0.0, 0.25, 0.5, 0.75, 1.0)
    assert "accuracy" in read_log(tmp_path / "moons")[0]


def test_what_resuming_refuses(small, tmp_path):
    run = tmp_path / "run"
    losses(train_gpt(small, run))
    other = tmp_path / "other.txt"
    other.write_text("\n".join(reversed(WORDS)))
    for settings, message in (
        (replace(small, n_embd=8), "was started with n_embd 4, not 8"),
        (replace(small, seed=1), "was started with seed 42, not 1"),
        (replace(small, steps=7), "has finished 8 steps, more than 7"),
        (replace(small, data=str(other)), "was started with other data"),
    ):
        with pytest.raises(CheckpointError, match=message):
            train_gpt(settings, run, resume=True)
    with pytest.raises(CheckpointError, match="kind 'gpt', not 'moons'"):
        train_moons(MoonsSettings(), run, resume=True)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        train_gpt(small, tmp_path / "absent", resume=True)
    with pytest.raises(CheckpointError, match="already holds a run"):
        train_gpt(small, run)
    with pytest.raises(CheckpointError, match=r"is a file, and a run needs a folder"):
        train_gpt(small, other)
    with pytest.raises(ValueError, match="3 does not divide 4"):
        train_gpt(replace(small, n_head=3), run, force=True)
    assert len(read_log(run)) == 8  # a wrong wish has deleted nothing
    losses(train_gpt(replace(small, steps=2), run, force=True))
    assert len(read_log(run)) == 2


@pytest.mark.parametrize(
    "damage",
    [{"steps": "8"}, {"n_embd": 4.0}, {"lr": 1}, {"data": 3}, {"extra": 1}],
)
def test_a_damaged_config(small, tmp_path, damage):
    losses(train_gpt(small, tmp_path / "run"))
    path = tmp_path / "run" / checkpoints.INDEX
    index = json.loads(path.read_text())
    index["config"]["settings"] |= damage
    path.write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match="damaged or foreign"):
        load_gpt(tmp_path / "run")


def test_a_diverged_run_stops_and_keeps_its_checkpoint(small, tmp_path):
    with pytest.raises(AnomalyError, match=r"the loss of step \d is (nan|inf): .* below 1e\+200"):
        losses(train_gpt(replace(small, lr=1e200), tmp_path / "run"))
    assert checkpoints.load_checkpoint(tmp_path / "run").step == 0


def test_a_full_disk_loses_nothing(small, tmp_path, monkeypatch):
    run = train_gpt(small, tmp_path / "run", save_every=0.0)
    first = losses(islice(run, 3))

    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(checkpoints, "write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        next(run)
    monkeypatch.undo()
    resumed = train_gpt(small, tmp_path / "run", resume=True)
    assert first + losses(resumed) == losses(train_gpt(small, tmp_path / "whole"))


# --- sampling -------------------------------------------------------------------------------------


def test_sampling(small, tmp_path):
    losses(train_gpt(small, tmp_path / "run"))
    model, vocabulary = load_gpt(tmp_path / "run")
    made = [sample(model, vocabulary, 1.0) for _ in range(5)]
    assert all(len(text) <= 5 and set(text) <= set("abcdno") for text in made)
    load_gpt(tmp_path / "run")  # goes back to the random state after training
    assert [sample(model, vocabulary, 1.0) for _ in range(5)] == made
    assert sample(model, vocabulary, 0.0, "ab") == sample(model, vocabulary, 0.0, "ab")
    assert sample(model, vocabulary, 1e-300, "ab").startswith("ab")
    assert sample(model, vocabulary, 1e300, "ab").startswith("ab")
    assert (Value(1.0) + 1)._children  # recording is on again
    for prompt, temperature, message in (
        ("axe", 0.5, "'x' is not in the vocabulary; .*: abcdno"),
        ("abbab", 0.5, "at most 4 characters here; this one has 5"),
        ("a", -1.0, "temperature must be a number from 0 up"),
        ("a", float("nan"), "temperature must be a number from 0 up"),
    ):
        with pytest.raises(DataError, match=message):
            sample(model, vocabulary, temperature, prompt)


def test_temperature_sharpens():
    random.seed(0)
    counts = {}
    for temperature in (0.0, 0.25, 1.0):
        drawn = [sampling._draw([0.0, 1.0, 0.5], temperature) for _ in range(300)]
        counts[temperature] = drawn.count(1)
    assert counts[0.0] == 300 > counts[0.25] > counts[1.0] > 100


# --- the commands ---------------------------------------------------------------------------------


def test_train_gpt_command(small, tmp_path):
    out = tmp_path / "run"
    result = run_command("gpt", "--data", small.data, *SMALL_OPTIONS, "--out", out, "--samples", "3", "--prompt", "ab")
    assert result.exit_code == 0, result.output
    assert "step 8/8  loss " in result.stderr
    assert "Loss: from 1.9807 to 1.7923" in result.stdout
    assert "sample  3: ab" in result.stdout
    assert (out / "loss.png").exists() == ("Written: " in result.stdout)
    again = run_command("gpt", "--out", out, "--resume", "--samples", "3", "--prompt", "ab")
    assert "All 8 steps were done already." in again.stderr
    assert again.stdout.splitlines()[-3:] == result.stdout.splitlines()[-3:]


@pytest.mark.long
def test_train_moons_command(tmp_path):
    result = run_command("moons", "--points", "8", "--steps", "3", "--out", tmp_path / "run", columns=40)
    assert result.exit_code == 0, result.output
    assert "right " in result.stderr
    assert "● +1   ○ -1   ░ the network says +1" in result.stdout
    pictures = [line for line in result.stdout.splitlines() if "Written" not in line]
    assert all(len(line) <= 40 for line in pictures)


def test_pictures(tmp_path):
    require("matplotlib")
    plots.save_curve(tmp_path / "curve.png", [1, 2, 3], [3.0, 1.0, 2.0])
    plots.save_boundary(tmp_path / "boundary.png", lambda x, y: x - y, [(0.0, 1.0), (1.0, 0.0)], [-1, 1])
    for name in ("curve.png", "boundary.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_pictures_without_matplotlib(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run_command("gpt", "--data", small.data, *SMALL_OPTIONS, "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert 'No loss.png: a PNG needs matplotlib: pip install "retrograd[plot]".' in result.stdout


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [20, 60, 100])
@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [3.0, 1.0, 2.0], [1 / (i + 1) for i in range(1000)]])
def test_curve_fits_and_shows_its_scales(values, width, ascii_only):
    lines = plots.curve(values, width, ascii_only=ascii_only)
    assert len(lines) == 9
    assert all(len(line) <= width for line in lines)
    assert lines[-1].endswith(f"step {len(values)}")
    assert all(line.isascii() for line in lines) or not ascii_only
    assert any(mark in "".join(lines) for mark in ("*" if ascii_only else "⠁⠈⠉⠒⠤⠑⢣⡠⢸⣀⠢⠲⡀"))


def test_running_means():
    assert plots.running_means([4.0, 2.0, 6.0], 2) == [4.0, 3.0, 4.0]
    assert plots.running_means([4.0, 2.0], 1) == [4.0, 2.0]


def test_wrong_wishes_are_one_sentence(small, tmp_path):
    done = tmp_path / "done"
    run_command("gpt", "--data", small.data, *SMALL_OPTIONS, "--out", done)
    new = ["--out", tmp_path / "new"]
    for arguments, sentence in (
        (["--out", done], f"retrograd: {done} already holds a run"),
        (["--out", done, "--resume", "--force"], "give one of the two"),
        (["--out", done, "--resume", "--n-layer", "2"], "was started with n_layer 1, not 2"),
        (["--out", done, "--resume", "--prompt", "x"], "'x' is not in the vocabulary"),
        ([*new, "--resume"], "there is no checkpoint"),
        ([*new, "--data", tmp_path / "absent"], "absent cannot be read (No such file or directory)"),
        ([*new, "--n-head", "3"], "n_head must divide n_embd"),
        ([*new, "--lr", "inf"], "learning rate must be"),
        ([*new, "--n-embd", "100000000"], "parameters, and a scalar engine trains at most 10,000,000"),
        ([*new, "--n-layer", "100000000"], "parameters, and a scalar engine trains at most 10,000,000"),
        ([*new, "--prompt", "é"], "'é' is not in the vocabulary"),
        (["--out", small.data], "is a file, and a run needs a folder"),
        (["--out", "/proc/none/run"], "/proc/none"),
    ):
        result = run_command("gpt", *arguments)
        assert result.exit_code == 1, arguments
        assert sentence in result.stderr
        assert result.stderr.startswith("retrograd: ")
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "new").exists()
    assert run_command("gpt", "--steps", "0").exit_code == 2


@pytest.mark.native
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_saves_and_kill_loses_no_more_than_the_last_seconds(small, tmp_path, number):
    out, whole = tmp_path / "run", tmp_path / "whole"
    options = ["--data", small.data, "--n-embd", "4", "--n-head", "2", "--block-size", "5", "--steps"]
    program = [sys.executable, "-c", "from retrograd.cli.train import train; train()", "gpt", "--out", str(out)]
    process = subprocess.Popen([*program, *options, "1000000"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while len(read_log(out)) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    stderr = process.communicate(timeout=PATIENCE)[1]
    done = checkpoints.load_checkpoint(out).step
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "stopping after this step, and saving; Ctrl-C again interrupts at once\n" in stderr
        assert f"stopped after step {done} of 1000000, and saved; resume with: retrograd train gpt" in stderr
        assert f"--out {out}" in stderr
        assert "--resume" in stderr
        assert "Traceback" not in stderr
        assert done >= 3
    else:
        assert process.returncode == -signal.SIGKILL
    settings = replace(small, steps=1_000_000)
    resumed = losses(islice(train_gpt(settings, out, resume=True), 2))
    assert losses(islice(train_gpt(settings, whole), done + 2))[done:] == resumed


def test_a_vocabulary_of_a_resumed_run_is_the_models(small, tmp_path):
    losses(train_gpt(small, tmp_path / "run"))
    assert load_gpt(tmp_path / "run")[1].characters == Vocabulary("".join(WORDS)).characters


def test_too_many_points_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at most 100,000 points, not 1,000,000"):
        train_moons(MoonsSettings(points=1_000_000), tmp_path / "run")


@pytest.mark.parametrize(
    "content", [b"garbage\n", b"\xff\xfe\x00\n", b'{"step": 1}\n', b'{"step": true, "loss": 1.0}\n', b'{"loss": 1.0}\n']
)
def test_a_foreign_line_in_the_log_is_left_out(small, tmp_path, content):
    losses(train_gpt(small, tmp_path / "run"))
    whole = read_log(tmp_path / "run")
    with open(tmp_path / "run" / training.LOG, "ab") as log:
        log.write(content)
    assert read_log(tmp_path / "run") == whole
    assert run_command("gpt", "--out", tmp_path / "run", "--resume", "--samples", "0").exit_code == 0


def test_a_second_ctrl_c_keeps_the_checkpoint_and_says_how_to_go_on(small, tmp_path, monkeypatch):
    def interrupted(task, step, saved):
        raise KeyboardInterrupt

    monkeypatch.setattr(training.runs, "compiled_step", interrupted)
    monkeypatch.setattr(training.runs, "one_step", interrupted)
    result = run_command("gpt", "--data", small.data, *SMALL_OPTIONS, "--out", tmp_path / "run")
    assert result.exit_code == 130
    assert "interrupted at once; the run's last checkpoint is kept: retrograd train gpt --out " in result.stderr
    assert result.stderr.endswith(" --resume\n")
    assert checkpoints.load_checkpoint(tmp_path / "run").step == 0


def test_ctrl_c_while_a_file_is_written_leaves_the_old_one_alone(tmp_path, monkeypatch):
    path = tmp_path / "file"
    checkpoints.write_atomically(path, b"old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.write_atomically(path, b"new")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_a_sample_does_not_command_the_terminal(tmp_path):
    data = tmp_path / "data.txt"
    data.write_text("\x1b\x1b\x1b\n", encoding="utf-8")
    result = run_command("gpt", "--data", data, *SMALL_OPTIONS, "--out", tmp_path / "run", "--prompt", "\x1b")
    assert result.exit_code == 0
    assert "sample  1: \\x1b" in result.stdout
    assert "\x1b" not in result.stdout
