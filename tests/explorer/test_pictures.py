"""The pictures of the README, made from the pages that the tests see (make pictures writes them to docs/pictures)."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from support.browser import Page, Show

from retrograd import explore, nn

pytestmark = pytest.mark.native  # one set of pictures

FOLDER = os.environ.get("RETROGRAD_PICTURES")
TEXT, VALUES = "(a*b + c) * (a + b)", {"a": 2.0, "b": -3.0, "c": 10.0}


def keep(page: Page, name: str, folder: Path) -> None:
    page.page.wait_for_timeout(300)
    target = Path(FOLDER) if FOLDER else folder
    target.mkdir(parents=True, exist_ok=True)
    data = page.page.screenshot(path=target / f"{name}.png")
    assert len(data) > 15_000  # something is drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_step_backward(show: Show, tmp_path: Path, scheme: str, width: int, height: int) -> None:
    page = show(TEXT, values=VALUES, color_scheme=scheme, viewport={"width": width, "height": height})
    page.press("ArrowLeft")
    keep(page, f"explorer-{'wide' if width > 800 else 'narrow'}-{scheme}", tmp_path)


def test_the_visit_order_game(show: Show, tmp_path: Path) -> None:
    page = show(TEXT, values=VALUES)
    page.open("b = a + 1; c = a * 3; d = b * c", a=2.0)
    page.press("g")
    for node in (5, 4, 0, 2):
        page.page.click(f"[data-place='{node}']")
    page.click("Run it")
    page.press("End")
    keep(page, "explorer-game", tmp_path)


def test_a_folded_model(show: Show, tmp_path: Path) -> None:
    random.seed(42)
    model = nn.GPT(27)

    def loss() -> Any:
        return model.loss([26, 4, 12, 12, 0, 26])

    page = show(explore(loss))
    page.press("y")
    keep(page, "explorer-gpt", tmp_path)
