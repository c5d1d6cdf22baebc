"""Ask for known holes in what is installed, and say how many packages the answer speaks of: ``python tools/audit.py``.

pip-audit passes over a package that its source of advisories does not know, and succeeds. Behind a mirror that is every
package, and the success says nothing; then this says so, and fails where RETROGRAD_REQUIRE lists ``advisories``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def verdict(dependencies: Sequence[dict[str, Any]], required: bool) -> tuple[int, str]:
    """The exit status and what to say, from pip-audit's list of dependencies."""
    holes = []
    for package in dependencies:
        for hole in package.get("vulns", ()):
            mended = ", ".join(hole["fix_versions"]) or "no version"
            holes.append(f"{package['name']} {package['version']}: {hole['id']}, mended in {mended}")
    unknown = [package["name"] for package in dependencies if "skip_reason" in package]
    audited = len(dependencies) - len(unknown)
    if holes:
        return 1, "\n".join([f"{len(holes)} known holes:", *holes])
    if not audited:
        return int(required), (
            f"NOT AUDITED: the package index has no advisories for any of the {len(unknown)} installed packages, so "
            "nothing is known about holes in them. Run `make audit` where pypi.org can be reached."
        )
    rest = f"; nothing is known of {', '.join(unknown)}" if unknown else ""
    return 0, f"{audited} of {len(dependencies)} packages audited, no known hole{rest}"


def main() -> int:
    """Run pip-audit over this environment."""
    command = [sys.executable, "-m", "pip_audit", "--local", "--skip-editable", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        dependencies = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"pip-audit gave no answer (status {done.returncode}): {done.stderr.strip()[-1000:]}")
        return 1
    status, says = verdict(dependencies, "advisories" in os.environ.get("RETROGRAD_REQUIRE", "").split(","))
    print(says)
    return status


if __name__ == "__main__":
    sys.exit(main())
