"""Which configurations a tenth has, and how selections are put into batches."""

import unittest

from compare.command import Command, Configuration
from compare.selections import countable, dealt, split
from compare.slices import chosen

ALL = [Configuration(f"{family} {number}", "counts", family, (Command("counts", ("stat",)),)) for family in "abc" for number in range(40)]


def row(event: str, subevent: str | None, umask: str | None) -> dict:
    return {"unit": "cbo", "event": event, "subevent": subevent, "umask": umask}


class Slices(unittest.TestCase):
    def test_tenths_are_all_and_share_none(self):
        names = [one.name for tenth in range(1, 11) for one in chosen(list(ALL), 3, tenth)]
        self.assertEqual(sorted(names), sorted(one.name for one in ALL))

    def test_a_seed_gives_the_same_tenth_again_and_another_seed_another(self):
        self.assertEqual(chosen(list(ALL), 3, 1), chosen(list(ALL), 3, 1))
        self.assertNotEqual(chosen(list(ALL), 3, 1), chosen(list(ALL), 4, 1))

    def test_each_tenth_has_every_family(self):
        for tenth in range(1, 11):
            self.assertEqual([sum(one.family == family for one in chosen(list(ALL), 1, tenth)) for family in "abc"], [4, 4, 4])

    def test_no_event_is_lost_in_batches(self):
        events = [str(number) for number in range(103)]
        self.assertEqual(sorted(event for batch in dealt(events, 10) for event in batch), sorted(events))
        self.assertLessEqual(max(map(len, dealt(events, 10))), 10)
        halves = split(events, lambda batch: not {"7", "8"} <= set(batch))
        self.assertEqual([event for batch in halves for event in batch], events)
        self.assertEqual(len(halves), len([batch for batch in halves if not {"7", "8"} <= set(batch)]))

    def test_an_event_that_needs_a_subevent_is_no_selection(self):
        rows = [row("A", None, None), row("A", "X", "0x1"), row("B", None, None), row("C", None, "0x2"), row("C", "Y", "0x4")]
        self.assertEqual(countable(rows), ["cbo/A.X/", "cbo/B/", "cbo/C/", "cbo/C.Y/"])


if __name__ == "__main__":
    unittest.main()
