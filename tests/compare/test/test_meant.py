"""The file of causes that are meant."""

import unittest

from compare.command import Command, Configuration
from compare.difference import Difference
from compare.meant import MeantError, judge, parse

DIFFERENCE = Difference("e5-2600", "counts", "cbo", "cbo/A_B.C/", "truth", "number", "", "1", "2", "e5-2600 stream", "pericore stat")


class Meant(unittest.TestCase):
    def test_all_patterns_of_an_entry_have_to_match(self):
        meant = parse('[[meant]]\nreason = "r"\noutput = "counts"\nsubject = "cbo/A_*"\n[[meant]]\nreason = "r"\nplace = "cbo"\nfield = "counter-value"\n', "f")
        self.assertTrue(judge(DIFFERENCE, meant))
        self.assertEqual([one.matched for one in meant], [1, 0])

    def test_a_configuration_of_another_family_or_without_the_output_cannot_show_it(self):
        entry = parse('[[meant]]\nreason = "r"\nfamily = "e5-*"\noutput = "counts"\n', "f")[0]
        of = lambda family, *outputs: Configuration("", "", family, tuple(Command(output, ()) for output in outputs))
        self.assertTrue(entry.may_be_in(of("e5-2600", "metrics", "counts")))
        self.assertFalse(entry.may_be_in(of("e5-2600", "metrics")))
        self.assertFalse(entry.may_be_in(of("nehalem", "counts")))

    def test_what_no_entry_matches_is_not_meant(self):
        self.assertFalse(judge(DIFFERENCE, parse('[[meant]]\nreason = "r"\nplace = "ha"\n', "f")))
        self.assertFalse(judge(DIFFERENCE, parse("", "f")))

    def test_mistakes_are_pointed_at(self):
        for text, words in (
            ('[[meant]]\nplace = "cbo"\n', "f: entry 1 has no reason"),
            ('[[meant]]\nreason = "r"\n', "f: entry 1 has no pattern, so all would be meant"),
            ('[[meant]]\nreason = "r"\nplace = "a"\n[[meant]]\nreason = "r"\nunit = "a"\n', "f: entry 2: no pattern 'unit'"),
            ('[[meant]]\nreason = "r"\nplace = 3\n', "f: entry 1: place is no text"),
            ('[[ment]]\nreason = "r"\n', "no table 'ment'"),
            ("[[meant]\n", "f: "),
        ):
            with self.subTest(text), self.assertRaises(MeantError) as raised:
                parse(text, "f")
            self.assertIn(words, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
