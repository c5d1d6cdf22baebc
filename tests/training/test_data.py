"""Data files, the vocabulary and the two moons."""

from __future__ import annotations

import math
import os
import re

import pytest

from retrograd.errors import DataError
from retrograd.training import data

pytestmark = pytest.mark.native  # about files


def test_the_bundled_names():
    names = data.load_documents()
    assert len(names) == 4018
    assert names == sorted(set(names))
    assert all(re.fullmatch("[a-z]{2,15}", name) for name in names)
    assert {"mary", "james", "aaron"} <= set(names)
    assert len(data.Vocabulary("".join(names))) == 27


def test_each_line_is_a_document(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("\ufeff anna \r\n\r\nzoë\u2028x\rbob\n\n".encode())
    assert data.load_documents(path) == ["anna", "zoë\u2028x", "bob"]
    assert data.load_documents(str(path)) == data.load_documents(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no document"),
        (b" \n\r\n\t\n", "holds no document"),
        (b"anna\0bob\n", "is a binary file .byte 4 is zero"),
        (b"anna\nb\xf6b\n", r"is not UTF-8 text \(byte 0xf6 in line 2\)"),
    ],
)
def test_files_that_are_no_documents(tmp_path, content, message):
    path = tmp_path / "wrong.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        data.load_documents(path)
    assert str(path) in str(caught.value)


def test_a_file_too_large_is_refused_by_its_size(tmp_path, monkeypatch):
    path = tmp_path / "large.txt"
    with open(path, "wb") as file:
        file.truncate(2 * 1024**3)  # a sparse file: no room is taken, and reading it would be noticed
    with pytest.raises(DataError, match="too large: 2,147,483,648 bytes"):
        data.load_documents(path)
    monkeypatch.setattr(data, "LARGEST_FILE", 8)
    path.write_bytes(b"anna\nbob\n")
    with pytest.raises(DataError, match="too large: 9 bytes"):
        data.load_documents(path)


def test_things_that_are_no_files(tmp_path):
    for path, message in (
        (tmp_path, "Is a directory"),
        (tmp_path / "absent.txt", "No such file"),
        ("a\0b", "not a file name"),
        ("/dev/zero", "not a regular file"),
    ):
        with pytest.raises(DataError, match=message):
            data.load_documents(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        data.load_documents(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no file permissions of that kind")
def test_an_unreadable_file(tmp_path):
    path = tmp_path / "closed.txt"
    path.write_text("anna")
    path.chmod(0)
    user = os.geteuid()
    if user == 0:  # root may read everything, so be somebody else for a moment
        os.seteuid(65534)
    try:
        with pytest.raises(DataError, match="Permission denied"):
            data.load_documents(path)
    finally:
        os.seteuid(user)


def test_the_vocabulary():
    vocabulary = data.Vocabulary("banana")
    assert (vocabulary.characters, vocabulary.bos, len(vocabulary)) == ("abn", 3, 4)
    assert vocabulary.encode("nab") == [2, 0, 1]
    assert vocabulary.decode([2, 0, 1]) == "nab"
    with pytest.raises(DataError, match="'x' is not in the vocabulary; the model was trained on these characters: abn"):
        vocabulary.encode("bax")


def test_moons():
    points, labels = data.make_moons(101, noise=0.0, seed=3)
    assert (labels.count(-1), labels.count(1)) == (50, 51)
    for (x, y), label in zip(points, labels, strict=True):
        centre = (0.0, 0.0) if label < 0 else (1.0, 0.5)
        assert math.hypot(x - centre[0], y - centre[1]) == pytest.approx(1.0)
        assert (y - centre[1]) * label <= 1e-12
    assert labels != sorted(labels)
    assert data.make_moons(10, seed=1) == data.make_moons(10, seed=1) != data.make_moons(10, seed=2)
    for wrong in ({"n": 1}, {"noise": -0.1}, {"noise": math.nan}):
        with pytest.raises(DataError):
            data.make_moons(**wrong)
