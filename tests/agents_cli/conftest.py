"""Prints the table CLI x fault after the matrix ran."""

import pytest

CELL = "cell"


@pytest.fixture
def cell(record_property):
    """Called with (cli, case, what was seen) when a cell is right."""
    return lambda cli, case, seen: record_property(CELL, (cli, case, seen))


def pytest_terminal_summary(terminalreporter):
    cells = {}
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == CELL:
                cli, case, seen = value
                cells[cli, case] = seen
    if not cells:
        return
    clis = list(dict.fromkeys(cli for cli, _ in cells))
    terminalreporter.section("coding CLIs: how each case ended")
    width = max(len(seen) for seen in (*cells.values(), *clis)) + 2
    rows = [("", *clis)]
    cases = list(dict.fromkeys(case for _, case in cells))
    rows += [(case, *(cells.get((cli, case), "-") for cli in clis)) for case in cases]
    for first, *rest in rows:
        terminalreporter.write_line(f"{first:<22}" + "".join(f"{one:<{width}}" for one in rest))
