"""Public names and signatures are those of ``public_names.txt``: what leaves it breaks somebody's script."""

from __future__ import annotations

from pathlib import Path

from helpers_signatures import lines

SNAPSHOT = Path(__file__).with_name("public_names.txt")


def test_public_names_and_signatures_are_those_of_the_snapshot():
    # A name or keyword that is added on purpose is added to the file as well, by its line in the message.
    known = SNAPSHOT.read_text().splitlines()
    now = lines()
    assert {"gone": sorted(set(known) - set(now)), "new": sorted(set(now) - set(known))} == {"gone": [], "new": []}
