"""Checkpoints: they come back bit for bit, survive a crash at any moment, and refuse what is not theirs."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random

import numpy as np
import pytest
import safetensors.numpy

from retrograd.errors import CheckpointError
from retrograd.training import checkpoints
from retrograd.training.checkpoints import INDEX, Checkpoint, load_checkpoint, save_checkpoint

pytestmark = pytest.mark.native  # about files


def made(step=3, scale=1.0) -> Checkpoint:
    random.seed(5)
    random.gauss(0, 1)  # leaves a second normal number in the state
    optimizer = {"class": "Adam", "settings": {"lr": 0.1, "steps": step}, "arrays": {"m": np.arange(3.0) * scale}}
    parameters = {"w": np.array([[0.1, -0.0], [np.inf, 5e-324]]) * scale, "b": np.array(1 / 3)}
    return Checkpoint(step, {"kind": "test", "characters": "aé"}, parameters, optimizer)


def parameter_file(folder):
    (path,) = folder.glob("parameters-*.safetensors")
    return path


def test_it_comes_back_bit_for_bit(tmp_path):
    saved = made()
    save_checkpoint(tmp_path / "run", saved)
    loaded = load_checkpoint(tmp_path / "run")
    assert (loaded.step, loaded.config) == (saved.step, saved.config)
    assert loaded.optimizer["settings"] == saved.optimizer["settings"]
    for name, array in saved.parameters.items():
        assert loaded.parameters[name].tobytes() == array.tobytes()
        assert loaded.parameters[name].shape == array.shape
    assert loaded.optimizer["arrays"]["m"].tolist() == [0.0, 1.0, 2.0]
    expected = [random.random(), random.gauss(0, 1)]
    random.setstate(loaded.random_state)
    assert [random.random(), random.gauss(0, 1)] == expected
    assert sorted(os.listdir(tmp_path / "run")) == [INDEX, parameter_file(tmp_path / "run").name]


def test_anyone_can_read_the_parameters(tmp_path):
    save_checkpoint(tmp_path, made())
    tensors = safetensors.numpy.load_file(parameter_file(tmp_path))
    assert sorted(tensors) == ["model.b", "model.w", "optimizer.m"]


@pytest.mark.parametrize("call", range(4))
def test_a_crash_at_any_moment_leaves_a_whole_checkpoint(tmp_path, monkeypatch, call):
    """The process dies at the nth of: flush parameters, rename them, flush index, rename it."""
    save_checkpoint(tmp_path, made(3))
    count = 0

    def dying(real):
        def function(*arguments):
            nonlocal count
            count += 1
            if count == call + 1:
                raise KeyboardInterrupt  # not an OSError: nothing tidies up, as after kill -9
            return real(*arguments)

        return function

    monkeypatch.setattr(checkpoints, "_flush_folder", lambda folder: None)
    monkeypatch.setattr(checkpoints.os, "fsync", dying(os.fsync))
    monkeypatch.setattr(checkpoints.os, "replace", dying(os.replace))
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path, made(4, scale=2.0))
    monkeypatch.undo()
    assert load_checkpoint(tmp_path).step == 3
    save_checkpoint(tmp_path, made(5, scale=3.0))
    assert load_checkpoint(tmp_path).step == 5
    assert sorted(os.listdir(tmp_path)) == [INDEX, parameter_file(tmp_path).name]


def test_a_full_disk_leaves_the_old_checkpoint_and_no_litter(tmp_path, monkeypatch):
    save_checkpoint(tmp_path, made(3))
    before = sorted(os.listdir(tmp_path))

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoints.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save_checkpoint(tmp_path, made(4, scale=2.0))
    assert str(tmp_path) in caught.value.filename
    assert sorted(os.listdir(tmp_path)) == before
    assert load_checkpoint(tmp_path).step == 3


def test_truncated_files(tmp_path):
    save_checkpoint(tmp_path, made())
    whole = (tmp_path / INDEX).read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        (tmp_path / INDEX).write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match="truncated or not a checkpoint"):
            load_checkpoint(tmp_path)
    (tmp_path / INDEX).write_bytes(whole)
    path = parameter_file(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(CheckpointError, match="it is truncated, or another file"):
        load_checkpoint(tmp_path)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CheckpointError, match="SHA-256 differs"):
        load_checkpoint(tmp_path)
    path.unlink()
    with pytest.raises(CheckpointError, match="is missing"):
        load_checkpoint(tmp_path)


def test_no_checkpoint(tmp_path):
    for folder in (tmp_path, tmp_path / "absent", tmp_path / "file" / "inside"):
        (tmp_path / "file").touch()
        with pytest.raises(CheckpointError, match="there is no checkpoint in"):
            load_checkpoint(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04\x95pickle", "not a checkpoint"),
        (b"[1, 2]", "not a retrograd checkpoint"),
        (b'{"format": "other"}', "not a retrograd checkpoint"),
        (b"[" * 100_000, "not a checkpoint"),
        (b'{"format": "retrograd-checkpoint", "version": 99}', "version 99; this retrograd reads version 1"),
        (b'{"format": "retrograd-checkpoint", "version": 1}', "lacks 'parameters'"),
    ],
)
def test_foreign_files(tmp_path, content, message):
    (tmp_path / INDEX).write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("step", "3"),
        ("step", -1),
        ("config", []),
        ("parameters", None),
        ("parameters", {"file": "../other.safetensors", "bytes": 1, "sha256": ""}),
        ("parameters", {"file": 3, "bytes": 1, "sha256": ""}),
        ("optimizer", 3),
        ("random_state", None),
        ("random_state", [3, [1, 2], None]),
        ("random_state", [3, [-1] * 625, None]),
        ("random_state", [3, ["x"] * 625, None]),
        ("random_state", [2, [0] * 625, None]),
        ("random_state", [3, [0] * 625, "x"]),
    ],
)
def test_damaged_entries(tmp_path, key, value):
    save_checkpoint(tmp_path, made())
    index = json.loads((tmp_path / INDEX).read_text())
    (tmp_path / INDEX).write_text(json.dumps({**index, key: value}))
    with pytest.raises(CheckpointError, match="is damaged or was not written by retrograd"):
        load_checkpoint(tmp_path)


def test_a_parameter_file_of_another_kind(tmp_path):
    save_checkpoint(tmp_path, made())
    index = json.loads((tmp_path / INDEX).read_text())
    for content, message in (
        (b"not safetensors at all", "not a safetensors file"),
        (safetensors.numpy.save({"model.w": np.zeros(2, dtype=np.float32)}), "holds 'model.w' as float32"),
    ):
        (tmp_path / "other.safetensors").write_bytes(content)
        entry = {"file": "other.safetensors", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        (tmp_path / INDEX).write_text(json.dumps({**index, "parameters": entry}))
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(tmp_path)
