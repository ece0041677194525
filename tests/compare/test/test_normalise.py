"""What differs from run to run, and what does not."""

import unittest

from compare.normalise import normalised

FIRST = "   0.001 rdmsr cpu0 0x391 -> 0x0 ; socket 0 uncore global_ctl: 0 ; thread 7\n"
SECOND = "   0.002 wrmsr cpu0 0x391 <- 0x1 ; socket 0 uncore global_ctl: en_pc0 ; thread 7\n"
OTHER = "   0.001 wrmsr cpu8 0x391 <- 0x1 ; socket 1 uncore global_ctl: en_pc0 ; thread 8\n"


class Normalise(unittest.TestCase):
    def test_threads_of_sockets_take_turns_as_they_like(self):
        one = "head\n" + OTHER + FIRST + SECOND + "tail\n"
        two = "head\n" + FIRST.replace("thread 7", "thread 9").replace("0.001", "0.009") + OTHER + SECOND + "tail\n"
        self.assertEqual(normalised(one), normalised(two))

    def test_the_order_of_a_sockets_accesses_is_compared(self):
        self.assertNotEqual(normalised(FIRST + SECOND + OTHER), normalised(SECOND + FIRST + OTHER))

    def test_each_access_is_compared(self):
        self.assertNotEqual(normalised(FIRST + OTHER), normalised(FIRST + OTHER.replace("<- 0x1", "<- 0x3")))
        self.assertNotEqual(normalised(FIRST + OTHER), normalised(FIRST + OTHER + OTHER))
