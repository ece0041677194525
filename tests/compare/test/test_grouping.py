"""Differences, and the causes that they are gathered in."""

import json
import unittest

from compare.causes import Causes
from compare.command import Command, Configuration, Outcome
from compare.difference import differences


def compared(before: str, after: str, output: str = "counts", statuses: tuple[int, int] = (0, 0)) -> Causes:
    command = Command(output, ("stat",))
    causes = Causes()
    for name in ("one", "two"):
        configuration = Configuration(name, "counts", "e5-2600", (command,))
        outcomes = (Outcome(status, {"stdout": text}) for status, text in zip(statuses, (before, after), strict=True))
        causes.extend(differences(configuration, command, *outcomes))
    return causes


def line(event: str, value: int, truth: int, validity: str = "measured", **more) -> str:
    fields = {"counter-value": f"{value}.000000", "unit": "", "event": event, "event-runtime": 10, "validity": validity, "truth": truth, "error": 0.0}
    return json.dumps(fields | more) + "\n"


class Grouping(unittest.TestCase):
    def test_equal_outcomes_have_no_cause(self):
        text = line("cbo/A_B.C/", 1, 1) + "words\n"
        self.assertEqual(compared(text, text).found, {})

    def test_one_cause_for_all_events_of_a_unit(self):
        before = line("cbo/A_B.C/", 1, 1) + line("cbo3/A_B.D/", 2, 2)
        after = line("cbo/A_B.C/", 5, 1) + line("cbo3/A_B.D/", 7, 2)
        (cause,) = compared(before, after).sorted()
        self.assertEqual((cause.example.place, cause.example.field, cause.example.kind), ("cbo", "counter-value", "number"))
        self.assertEqual((cause.count, cause.subjects, cause.configurations), (4, {"cbo/A_B.C/", "cbo3/A_B.D/"}, {"one", "two"}))
        self.assertEqual((cause.example.before, cause.example.after), ("1.000000", "5.000000"))

    def test_counts_of_two_units_and_truth_are_causes_of_their_own(self):
        before = line("cbo/A/", 1, 1) + line("imc/B/", 2, 2)
        after = line("cbo/A/", 2, 1) + line("imc/B/", 3, 4)
        found = {(cause.example.place, cause.example.field) for cause in compared(before, after).sorted()}
        self.assertEqual(found, {("cbo", "counter-value"), ("imc", "counter-value"), ("imc", "truth")})

    def test_an_error_that_follows_is_no_cause_but_one_that_comes_alone_is(self):
        follows = line("cbo/A/", 1, 1), line("cbo/A/", 2, 1).replace('"error": 0.0', '"error": 1.0')
        self.assertEqual([cause.example.field for cause in compared(*follows).sorted()], ["counter-value"])
        alone = line("cbo/A/", 1, 1), line("cbo/A/", 1, 1).replace('"error": 0.0', '"error": 1.0')
        self.assertEqual([cause.example.field for cause in compared(*alone).sorted()], ["error"])

    def test_the_time_of_a_run_is_one_cause_whatever_it_counted(self):
        before = line("cbo/A/", 1, 1) + line("imc/B/", 2, 2)
        (cause,) = compared(before, before.replace('"event-runtime": 10', '"event-runtime": 11')).sorted()
        self.assertEqual((cause.example.field, cause.count), ("event-runtime", 4))

    def test_validity_says_from_what_to_what(self):
        (cause,) = compared(line("cbo/A/", 1, 1), line("cbo/A/", 1, 1, "suspect")).sorted()
        self.assertEqual((cause.example.kind, cause.example.shape), ("validity", "measured -> suspect"))

    def test_records_that_come_go_or_change_places(self):
        one, two = line("cbo/A/", 1, 1), line("cbo/B/", 1, 1)
        for kind, before, after in (("gone", one + two, one), ("new", one, one + two), ("order", one + two, two + one)):
            self.assertEqual([cause.example.kind for cause in compared(before, after).sorted()], [kind])

    def test_a_field_that_is_gone_differs_from_one_that_is_null(self):
        (cause,) = compared('{"event": "A", "umask": null}\n', '{"event": "A"}\n', "list").sorted()
        self.assertEqual((cause.example.field, cause.example.kind), ("umask", "gone"))

    def test_intervals_of_one_event_are_compared_in_turn(self):
        before = line("cbo/A/", 1, 1, interval=1) + line("cbo/A/", 2, 2, interval=2)
        after = line("cbo/A/", 1, 1, interval=1) + line("cbo/A/", 3, 2, interval=2)
        (cause,) = compared(before, after).sorted()
        self.assertEqual((cause.example.before, cause.example.after), ("2.000000", "3.000000"))

    def test_a_word_that_changed_in_many_lines_is_one_cause(self):
        before = "cha0 read ctl0 msr 0x2002 (in use?)\ncha1 read ctl1 msr 0x2012 (in use?)\n"
        (cause,) = compared(before, before.replace("in use?", "taken?"), "plan").sorted()
        self.assertEqual((cause.example.kind, cause.example.shape, cause.count), ("text", "(in use?) -> (taken?)", 4))

    def test_an_address_that_changed_is_a_number_in_its_line(self):
        (cause,) = compared("cha0 write ctl0 <- 0x1\n", "cha0 write ctl0 <- 0x3\n", "plan").sorted()
        self.assertEqual((cause.example.kind, cause.example.before), ("number", "cha0 write ctl0 <- 0x1"))

    def test_lines_that_come_or_change_places(self):
        (cause,) = compared("a\nb\n", "a\nb\nc\n").sorted()
        self.assertEqual((cause.example.kind, cause.example.after), ("new", "c"))
        (cause,) = compared("a\nb\n", "b\na\n").sorted()
        self.assertEqual(cause.example.kind, "order")

    def test_an_exit_status_is_a_cause(self):
        (cause,) = compared("", "", statuses=(0, 129)).sorted()
        self.assertEqual((cause.example.field, cause.example.shape), ("exit status", "0 -> 129"))

    def test_only_what_the_rules_name_is_passed_over(self):
        words = " virtual time: 0.1 s; real time: {} s, {} times as long\n"
        self.assertEqual(compared(words.format("0.24", 335196), words.format("1.10", 4)).found, {})
        access = "    {}  memrd 0xe8000050.8 -> {}\n"
        self.assertEqual(compared(access.format("0.068700116", "0x0"), access.format("0.1", "0x0")).found, {})
        self.assertNotEqual(compared(access.format("0.1", "0x0"), access.format("0.1", "0x1")).found, {})
        virtual = compared(words.format("0.24", 3), words.replace("0.1 s", "0.2 s").format("0.24", 3))
        self.assertEqual([cause.example.kind for cause in virtual.sorted()], ["number"])


if __name__ == "__main__":
    unittest.main()
