"""A slice of the campaign against the reader; see ``tests.campaigns.hostile_bytes``."""

from __future__ import annotations

from tests.campaigns import hostile_bytes


def test_damaged_files_are_answered() -> None:
    report = hostile_bytes.run(seed=1, files=2500)
    assert report.faults == []
    # The damage reaches every part of the reader, and is not all of one kind.
    assert len(report.rules) > 25
    assert report.read > 200
