"""What every benchmark prints: one JSON object with figure, baseline, ratio and machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    processor = "unknown"
    if Path("/proc/cpuinfo").exists():
        names = [x for x in Path("/proc/cpuinfo").read_text().split("\n") if "model name" in x]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "cores": os.cpu_count(),
        "processor": processor,
        "system": platform.system(),
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 1),
    }


def say(result: dict[str, Any], description: str) -> None:
    """Print the result; with --json as one object, else one line per value."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = {**result, "machine": machine()}
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name}: {value}")
