"""A slice of the campaign against the reader; see ``tests.campaigns.hostile_bytes``."""

from __future__ import annotations

from tests.campaigns import hostile_bytes


def test_damaged_files_are_answered() -> None:
    # About a minute. Ten seconds for a file is a hang; the campaign is stricter than a busy machine allows.
    report = hostile_bytes.run(seed=1, files=50_000, seconds_a_file=10.0)
    assert report.faults == []
    # The damage reaches every part of the reader, and is not all of one kind.
    assert len(report.rules) > 25
    assert report.read > 5000
