"""The page: one HTML file that holds the script, the style and the data, and that may load nothing else.

Its content security policy allows exactly the one script and the one style inside it, by their hashes, and no
request of any kind. The data is a block of JSON, in which no ``<`` stands.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import BundleMissingError

__all__ = ["bundle", "document", "payload_json"]


@cache
def bundle(name: str) -> str:
    """The text of ``explorer.js`` or ``explorer.css``, built from ``web/``.

    Raises BundleMissingError in a checkout where it was not built.
    """
    path = files(__package__) / "bundle" / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BundleMissingError(
            "the explorer's page was not built in this checkout: run make web (it needs Node), or pip install ."
        ) from None


def payload_json(payload: Mapping[str, Any]) -> str:
    """A payload as JSON that can stand inside a script element, whatever its strings are."""
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def document(payload: Mapping[str, Any], title: str = "", connect: str = "", entry: str = "explorer") -> str:
    """The whole HTML file for a payload.

    ``entry`` is the bundle that shows it: ``explorer``, or ``live`` for a training run. ``connect`` is what the page
    may talk to, for a page that is served: empty for a file, which may talk to nothing.
    """
    script, style = bundle(f"{entry}.js"), bundle(f"{entry}.css") + _PAGE_STYLE
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data: blob:",
            *([f"connect-src {connect}"] if connect else []),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    shown = " ".join(title.split())[:80]
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(shown + ' · ' if shown else '')}retrograd</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<div id="retrograd"></div>\n'
        f'<script type="application/json" id="retrograd-data">{payload_json(payload)}</script>\n'
        f'<script type="module">{script}</script>\n'
        "<noscript>This page shows a computation step by step, and needs JavaScript for it.</noscript>\n"
        "</body>\n</html>\n"
    )


#: What the page needs around the explorer itself.
_PAGE_STYLE = "html,body,#retrograd{height:100%;margin:0}"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
