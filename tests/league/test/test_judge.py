"""The judge, on texts that were made by hand, and what is left behind, by hand-written logs."""

import unittest

from league import case, registers, tools, truth
from league.judge import Printed, judge, worries

TRUTH = (5120.0, 2560.0)


class Outcomes(unittest.TestCase):
    def outcome(self, read, write, text="", status=0, doubts=False, usual=frozenset()):
        return judge(Printed(read, write, doubts), TRUTH, text, status, set(usual)).outcome

    def test_a_number_within_the_tolerance_is_right(self):
        self.assertEqual(self.outcome(5120, 2560), "right")
        self.assertEqual(self.outcome(5120 * 1.029, 2560 * 0.971), "right")
        self.assertEqual(self.outcome(5120 * 1.031, 2560), "wrong")
        self.assertEqual(self.outcome(5120, 2560 * 0.969), "wrong")

    def test_a_zero_that_is_none_is_wrong_and_one_that_is_is_right(self):
        self.assertEqual(self.outcome(5120, 0), "wrong")
        self.assertEqual(judge(Printed(5120, 0), (5120, 0), "", 0, set()).outcome, "right")
        self.assertEqual(judge(Printed(5120, 6), (5120, 0), "", 0, set()).outcome, "wrong")

    def test_a_word_makes_a_false_number_honest_unless_it_is_said_on_a_sound_machine(self):
        line = "WARN: counter 3 is not available"
        self.assertEqual(self.outcome(3840, 1920, line), "said")
        self.assertEqual(self.outcome(3840, 1920, line, usual=worries("WARN: counter 7 is not available")), "wrong")
        self.assertEqual(self.outcome(3840, 1920, doubts=True), "said")
        self.assertEqual(self.outcome(3840, 1920, "all is well"), "wrong")

    def test_no_number(self):
        self.assertEqual(self.outcome(None, None, "ERROR - no access"), "refused")
        self.assertEqual(self.outcome(None, 2560, status=1), "refused")
        self.assertEqual(self.outcome(None, None), "wrong")

    def test_signals_and_what_does_not_end(self):
        self.assertEqual(self.outcome(5120, 2560, status=139), "crashed")
        self.assertEqual(self.outcome(5120, 2560, status=None), "crashed")
        self.assertEqual(self.outcome(None, None, status=255), "refused")
        self.assertEqual(self.outcome(None, None, status=129), "refused", "perf's status for what it cannot do, not SIGHUP")


E5_LOG = """\
    1.9 pciwr 0000:ff:10.4+0xd8.4 <- 0x400304         ; a control
    2.0 pciwr 0000:ff:10.4+0xdc.4 <- 0x400c04         ; another
    2.1 pciwr 0000:ff:10.4+0xd8.4 <- 0x0              ; stopped
    2.2 wrmsr cpu1 0xd10 <- 0x400334                  ; a slice's
    2.3 wrmsr cpu1 0xd10 <- 0x334                     ; not enabled any more
    2.4 wrmsr cpu0 0x38f <- 0x700400000               ; no uncore control
"""


class LeftBehind(unittest.TestCase):
    def test_the_last_value_of_a_control_decides(self):
        self.assertEqual(registers.left_running(E5_LOG, "e5-2600"), ["0000:ff:10.4+0xdc.4"])

    def test_a_write_that_failed_leaves_nothing(self):
        self.assertEqual(registers.left_running("2.2 wrmsr cpu1 0xd10 <- 0x400334 fault ; x\n", "e5-2600"), [])

    def test_nehalem_needs_its_enable(self):
        control = "1.0 wrmsr cpu0 0x3c1 <- 0x42072c ; x\n"
        self.assertEqual(registers.left_running(control, "nehalem"), [])
        self.assertEqual(registers.left_running(control + "1.1 wrmsr cpu0 0x391 <- 0x2 ; x\n", "nehalem"), ["0x3c1"])
        self.assertEqual(registers.left_running(control + "1.1 wrmsr cpu0 0x391 <- 0x1 ; x\n", "nehalem"), [])

    def test_emerald_rapids_counts_when_an_event_is_selected(self):
        log = "1.0 memwr 0xf01a2840.4 <- 0xcf05 ; x\n1.0 memwr 0xf01aa844.4 <- 0xf005 ; x\n1.1 memwr 0xf01aa844.4 <- 0x0 ; x\n"
        self.assertEqual(registers.left_running(log, "emerald-rapids"), ["0xf01a2840"])

    def test_a_counter_of_somebody_else_is_taken_by_another_value(self):
        self.assertEqual(registers.taken_over(E5_LOG, "e5-2600", [0]), ["0000:ff:10.4+0xd8.4"])
        self.assertEqual(registers.taken_over(E5_LOG, "e5-2600", [2]), [])
        same = "1.9 pciwr 0000:ff:10.4+0xd8.4 <- 0x400304 ; the same\n"
        self.assertEqual(registers.taken_over(same, "e5-2600", [0]), [])


class Reading(unittest.TestCase):
    sound = next(one for one in case.load() if one.name == "e5")

    def test_pcm(self):
        text = (
            ",,SKT0,SKT0,SKT0,SKT0,SKT0,SKT0,System,System,System\n"
            "Date,Time,Ch0Read,Ch0Write,Mem Read (MB/s),Mem Write (MB/s),P. Write (T/s),Memory (MB/s),Read,Write,Memory\n"
            "2026-11-27,00:27:06.051,   64.10,   32.05,  256.40,  128.20, 0,  384.60,    256.40,    128.20,    384.60\n"
        )
        read = tools.pcm_read(text, self.sound)
        self.assertEqual((read.read, read.write, read.doubts), (256.4, 128.2, False))
        self.assertTrue(tools.pcm_read(text.replace("   64.10,   32.05", ","), self.sound).doubts)
        self.assertEqual(tools.pcm_read("Access denied\n", self.sound).numbers(), (None, None))

    def test_likwid(self):
        text = "Memory read bandwidth [MBytes/s],256.1,256.2\nMemory write bandwidth [MBytes/s],128.0,nan\n"
        read = tools.likwid_read(text, self.sound)
        self.assertAlmostEqual(read.read, 512.3)
        self.assertFalse(read.doubts)
        self.assertTrue(tools.likwid_read(text + "CAS_COUNT_RD,MBOX0C0,5,-\n", self.sound).doubts)
        self.assertNotEqual(read.write, read.write, "a NaN is a number that is never right")
        self.assertEqual(judge(read, (512.3, 128.0), "", 0, set()).outcome, "wrong")

    def test_perf(self):
        text = (
            "S0,1,1000000,,uncore_imc_0/event=0x4,umask=0x3,name=reads/,1000000000,100.00,,\n"
            "S0,1,2000000,,reads,2000000000,100.00,,\n"
            "S0,1,<not counted>,,writes,0,100.00,,\n"
        )
        read = tools.perf_read(text.splitlines()[1], self.sound)
        self.assertEqual(read.numbers(), (64.0, None))
        self.assertTrue(tools.perf_read(text, self.sound).doubts)

    def test_pericore(self):
        rows = '{"event":"imc/MEM_READ_BANDWIDTH","metric-value":"5120000000","validity":"measured"}\n'
        rows += '{"event":"imc/MEM_WRITE_BANDWIDTH","metric-value":"<not supported>","validity":"unreadable"}\n'
        read = tools.pericore_read(rows, self.sound)
        self.assertEqual((read.numbers(), read.doubts), ((5120.0, None), True))


class Truth(unittest.TestCase):
    def test_by_hand(self):
        by_name = {one.name: one.by_hand() for one in case.load()}
        # 4 channels x 20,000,000 lines x 64 bytes = 5.12 GB/s; three channels of one unit; eight channels.
        self.assertEqual(by_name["e5"], (5120.0, 2560.0))
        self.assertEqual(by_name["nhm"], (3840.0, 1920.0))
        self.assertEqual(by_name["emr"], (10240.0, 0.0))
        self.assertEqual(by_name["e5-2s"], (10240.0, 5120.0))
        self.assertEqual(by_name["e5-hidden-one"], (3840.0, 1920.0))
        self.assertIsNone(by_name["e5-stream"])

    def test_the_ledgers_lines(self):
        row = '{"unit":"imc","event":"CAS_COUNT","subevent":"%s","socket":%d,"per_second":[1e6,2e6]}\n'
        text = row % ("RD", 0) + row % ("RD", 1) + row % ("WR", 0) + row % ("RD_REG", 0)
        self.assertEqual(truth.megabytes(text, "e5-2600"), (384.0, 192.0))

    def test_the_league_is_large_enough(self):
        self.assertGreaterEqual(len(case.load()), 60)
        self.assertGreaterEqual(len(tools.TOOLS), 5)
