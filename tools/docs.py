"""Build the documentation site: ``make docs`` runs this, and ``build/site/index.html`` is its front page."""

from __future__ import annotations

import sys

from docsite.assemble import SITE, build

if __name__ == "__main__":
    status = build()
    if status == 0:
        print(f"The site is in {SITE}: open {SITE / 'index.html'}.")
        print(f"The Python of chapter 6 wants a server: python -m http.server -d {SITE}")
    sys.exit(status)
