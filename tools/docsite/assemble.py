"""Puts the sources of the site together in ``build/docs-source``, and has Sphinx build ``build/site`` of them."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

from docsite import accessible, chapters, classroom, gallery, operators, reference
from retrograd.explorer.page import document
from retrograd.lesson.course.build import load
from retrograd.lesson.course.page import page

ROOT = Path(__file__).resolve().parents[2]
DOCS, SOURCE, SITE = ROOT / "docs", ROOT / "build" / "docs-source", ROOT / "build" / "site"

#: A link of Markdown to a file: neither an address nor a place on the same page.
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>(?![a-z]+:|#)[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


def build(source: Path = SOURCE, site: Path = SITE, quiet: bool = True) -> int:
    """Build the site; any warning is an error. Returns Sphinx's exit status."""
    from sphinx.cmd.build import main

    assemble(source)
    flags = ["-q"] if quiet else []
    status = main([*flags, "-E", "-W", "--keep-going", "-b", "html", "-c", str(DOCS), str(source), str(site)])
    if status == 0:
        accessible.mend(site)
        for name, text in frames():
            _write(site / name, text)
        classroom.install(site)
        shutil.rmtree(site / ".doctrees", ignore_errors=True)
    return int(status)


def assemble(source: Path = SOURCE) -> None:
    """Write every page of the site below ``source``, and remove what has no source any more."""
    wanted = {source / name: text for name, text in pages()}
    for old in [path for path in source.rglob("*") if path.is_file() and path not in wanted]:
        old.unlink()
    for path, text in wanted.items():
        _write(path, text)


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of every page."""
    for file in sorted(DOCS.rglob("*.md")):
        yield file.relative_to(DOCS).as_posix(), with_links(file.read_text(encoding="utf-8"), file)
    yield from chapters.pages()
    yield from operators.pages()
    yield from reference.pages()
    yield from gallery.pages()


def frames() -> Iterator[tuple[str, str]]:
    """The pages that stand inside others, or by themselves: the explorer and the lesson."""
    yield "live/explorer.html", document({"format": "retrograd-explorer", "version": 2}, "Explorer")
    yield "lesson.html", page(load())


def with_links(text: str, file: Path) -> str:
    """The text of a page, its links to files that are not pages leading to the repository instead."""
    home = repository()

    def renew(match: re.Match[str]) -> str:
        target = (file.parent / match["target"]).resolve()
        if target.suffix == ".md" and target.is_relative_to(DOCS):
            return match[0]
        if target.suffix in (".png", ".svg") and target.is_relative_to(DOCS):
            return match[0]
        if not home:
            return match["text"]
        kind = "tree" if target.is_dir() else "blob"
        return f"[{match['text']}]({home}/{kind}/main/{target.relative_to(ROOT).as_posix()}{match['anchor'] or ''})"

    return _LINK.sub(renew, text)


def repository() -> str:
    """The address of the repository, as pyproject.toml has it, or an empty string."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls = project.get("urls", {})
    return str(urls.get("Source") or urls.get("Repository") or urls.get("Homepage") or "").rstrip("/")


def _write(path: Path, text: str) -> None:
    """Write a file where it differs: Sphinx reads again what is newer."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
