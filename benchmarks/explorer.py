"""The explorer's figures: sizes of what is delivered, and times in a real Chromium on this machine.

    python -m benchmarks.explorer

Needs Playwright and Chromium (as the tests do). Times are medians, with the worst in parentheses.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrograd import Value, nn
from retrograd.explorer import Explorer, explore
from retrograd.explorer.page import bundle

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = ["--disable-background-networking", *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])]

RUNS = 7
#: Steps, and frames of a pan, from the middle of the graph.
STEPS = 40

#: Milliseconds from the moment at which the file is read to the first contentful paint.
PAINT = """async () => {
    while (!performance.getEntriesByName('first-contentful-paint').length) await new Promise(requestAnimationFrame);
    const [read] = performance.getEntriesByType('navigation');
    return performance.getEntriesByName('first-contentful-paint')[0].startTime - read.domInteractive;
}"""
#: The same from the load event on, which comes when the page's script has run.
AFTER_LOAD = """async () => {
    while (!performance.getEntriesByName('first-contentful-paint').length) await new Promise(requestAnimationFrame);
    const [read] = performance.getEntriesByType('navigation');
    return performance.getEntriesByName('first-contentful-paint')[0].startTime - read.loadEventStart;
}"""
#: Each step with its layout and style, as far as the next frame.
STEPPING = """async (count) => {
    const store = document.getElementById('retrograd').explorer;
    store.goTo(Math.floor(store.state.shown.stepCount / 2));
    const times = [];
    for (let k = 0; k < count; k++) {
        await new Promise(requestAnimationFrame);
        const start = performance.now();
        store.forward();
        for (let turn = 0; turn < 9; turn++) await null;  // the page draws itself in a microtask
        document.querySelector('.graph, .canvas canvas').getBoundingClientRect();
        times.push(performance.now() - start);
    }
    return times;
}"""
PANNING = """async (count) => {
    const target = document.querySelector('.graph, .canvas canvas');
    const frame = target.getBoundingClientRect();
    const event = (type, k) => target.dispatchEvent(new PointerEvent(type, {
        pointerId: 1, bubbles: true, clientX: frame.left + 300 + 5 * k, clientY: frame.top + 200 + 3 * k }));
    target.setPointerCapture = () => undefined;
    target.hasPointerCapture = () => true;
    event('pointerdown', 0);
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let k = 1; k <= count; k++) {
        event('pointermove', k);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
    }
    event('pointerup', count);
    return times;
}"""


def small() -> Explorer:
    return explore("(a*b + c) * (a + b)", a=2, b=-3, c=10)


def of_150_nodes() -> Explorer:
    """A perceptron of 148 nodes."""
    random.seed(1)
    model = nn.MLP(2, [9, 2, 1])
    return explore(lambda: (model([1.0, 0.5]) - 1.0) ** 2)


def gpt() -> Explorer:
    """The scalar GPT on "emma"."""
    random.seed(42)
    model = nn.GPT(27)

    def loss() -> Value:
        return model.loss([26, 4, 12, 12, 0, 26])

    return explore(loss)


class Bench:
    def __init__(self, chromium: Any, folder: Path) -> None:
        self.chromium = chromium
        self.folder = folder

    def page(self, explorer: Explorer, name: str) -> Any:
        file = explorer.save(self.folder / f"{name}.html")
        context = self.chromium.new_context(viewport={"width": 1280, "height": 800}, offline=True)
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector(".explorer")
        return page

    def loads(self, explorer: Explorer, name: str, after: Callable[[Any], float]) -> list[float]:
        times = []
        for _ in range(RUNS):
            page = self.page(explorer, name)
            times.append(after(page))
            page.context.close()
        return times


def show(what: str, bar: str, times: list[float], unit: str = "ms") -> None:
    print(f"{what:58} {bar:>9} {statistics.median(times):8.1f} {unit} ({max(times):.1f})")


def sizes() -> None:
    script, style = (len(bundle(f"explorer.{kind}").encode()) for kind in ("js", "css"))
    print(f"{'bundle: script, minified':58} {'<= 150':>9} {script / 1000:8.1f} KB (style sheet: {style / 1000:.1f} KB)")
    print(f"{'HTML of a small expression':58} {'<= 200':>9} {len(small().to_html().encode()) / 1000:8.1f} KB")
    print(f"{'HTML of the scalar GPT':58} {'<= 6':>9} {len(gpt().to_html().encode()) / 1e6:8.2f} MB")
    frame = json.dumps(small()._repr_html_())
    print(f"{'a display adds to a notebook':58} {'<= 500':>9} {len(frame) / 1000:8.1f} KB")


def unfold(page: Any, all_of_it: bool = True) -> int:
    page.evaluate("all => document.getElementById('retrograd').explorer.unfoldAll(all)", all_of_it)
    page.wait_for_timeout(300)
    return int(page.evaluate("document.getElementById('retrograd').explorer.state.scene.items.length"))


def main() -> None:
    from playwright.sync_api import sync_playwright

    sizes()
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        bench = Bench(chromium, Path(folder))
        first = bench.loads(small(), "small", lambda page: float(page.evaluate(PAINT)))
        show("first paint of a small expression", "", first)
        middle = of_150_nodes()
        paints = bench.loads(middle, "middle", lambda page: float(page.evaluate(PAINT)))
        show("first paint of 150 nodes, from the file's end", "", paints)
        paints = bench.loads(middle, "middle", lambda page: float(page.evaluate(AFTER_LOAD)))
        show("first paint of 150 nodes, after load", "<= 100", paints)
        page = bench.page(middle, "middle")
        count = unfold(page)
        unfolding = "() => { const s = performance.now(); const e = document.getElementById('retrograd').explorer;"
        unfolding += (
            " e.unfoldAll(false); const t = performance.now(); e.unfoldAll(true); return performance.now() - t; }"
        )
        show(f"laying out {count} boxes anew", "<= 100", [page.evaluate(unfolding) for _ in range(RUNS)])
        show(f"one step, {count} boxes in view", "<= 16", page.evaluate(STEPPING, STEPS))
        large = gpt()
        interactive = bench.loads(large, "gpt", lambda page: float(page.evaluate("performance.now()")))
        show("the scalar GPT is there and answers", "<= 2000", interactive)
        page = bench.page(large, "gpt")
        show("one step of the scalar GPT, folded", "<= 16", page.evaluate(STEPPING, STEPS))
        show("one frame of a pan, folded", "<= 33", page.evaluate(PANNING, STEPS))
        count = unfold(page)
        page.wait_for_timeout(1500)
        show(f"one frame of a pan, {count:,} boxes", "<= 33", page.evaluate(PANNING, STEPS))
        chromium.close()


if __name__ == "__main__":
    main()
