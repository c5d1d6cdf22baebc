"""JupyterLab, in a real browser: a notebook shows the explorer, is saved and opened again, and still shows it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import new_context
from support.parts import require
from support.timeouts import PATIENCE

pytestmark = pytest.mark.native  # the notebook is the same, whichever engine made the trace

SOURCE = "import retrograd as rg\nrg.explore('a*b + c', a=2, b=-3, c=10)"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a notebook in a running JupyterLab, and its file."""
    require("jupyterlab")
    nbformat = require("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    file = tmp_path / "notebook.ipynb"
    nbformat.write(notebook, file)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    import retrograd

    source = str(Path(retrograd.__file__).resolve().parents[1])
    environment = {**os.environ, **folders, "HOME": str(tmp_path), "PYTHONPATH": source}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=secret"]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}", "--LabApp.news_url="]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}/api?token=secret", server)
            yield f"http://127.0.0.1:{port}/lab/tree/notebook.ipynb?token=secret", file
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:  # it may be busy with a kernel that does not end
                server.kill()
                server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(address)
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    pytest.fail("JupyterLab did not start")


def step_through(page: Any) -> str:
    """Go to the start and one step on, in the frame of the notebook; what the step says."""
    frame = page.frame_locator("iframe[title='retrograd explorer']")
    frame.locator("input[type=range]").press("Home")
    frame.get_by_role("button", name="Step forward").click()
    return str(frame.locator(".sentence .said").inner_text())


def test_a_saved_notebook_still_shows_the_explorer(browser: Any, lab: tuple[str, Path]) -> None:
    address, file = lab
    context = new_context(browser, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    # What JupyterLab asks on a slow machine, such as whether to wait for the kernel, is accepted.
    page.add_locator_handler(page.locator("dialog.jp-Dialog .jp-mod-accept"), lambda button: button.first.click())
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    for _ in range(12):  # what is run before the kernel is there is lost
        page.click(".jp-Notebook .jp-CodeCell .jp-InputArea-editor")
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(5000)
        if page.locator("iframe[title='retrograd explorer']").count():
            break
    assert step_through(page) == "d = a * b = 2.0 * -3.0 = -6.0"
    page.keyboard.press("ArrowRight")  # keys go to the frame that has the focus, not to the notebook
    said = page.frame_locator("iframe[title='retrograd explorer']").locator(".sentence .said")
    assert said.inner_text() == "L = d + c = -6.0 + 10.0 = 4.0"
    before = file.stat().st_mtime_ns
    page.click(".jp-NotebookPanel-toolbar")
    page.keyboard.press("Control+s")
    deadline = time.monotonic() + PATIENCE
    while (file.stat().st_mtime_ns == before or "iframe" not in file.read_text()) and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    assert file.stat().st_size <= 500_000
    page.reload()
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    assert step_through(page) == "d = a * b = 2.0 * -3.0 = -6.0"
    context.close()
