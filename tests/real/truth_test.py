#!/usr/bin/env python3
"""Checks of the checkers: the fleet's truth, remote_write bodies, the holding rule."""
import unittest

import fleet_truth as truth
import remote_write


class TruthTest(unittest.TestCase):
    def test_energy_is_the_sum_of_its_parts(self):
        gpu = truth.Gpu("n", 0)
        whole = truth.used_millijoules(gpu, 1000.25, 1047.5)
        parts = sum(truth.used_millijoules(gpu, 1000.25 + k, min(1001.25 + k, 1047.5))
                    for k in range(48))
        self.assertLessEqual(abs(whole - parts), 48)
        constant = truth.power_milliwatts(gpu, 1000)
        self.assertEqual(truth.used_millijoules(gpu, 1000, 1005), constant * 5)

    def test_a_reset_counts_from_zero(self):
        gpu = truth.Gpu("n", 0, "resets")
        readings = [(k * 1000, truth.energy_counter(gpu, 2000 + k)) for k in range(60)]
        self.assertTrue(any(after < before for (_, before), (_, after)
                            in zip(readings, readings[1:])))
        # What was used between the last reading before a reset and the reset is unknowable.
        self.assertLessEqual(truth.counted(readings),
                             truth.used_millijoules(gpu, 2000, 2059))
        self.assertGreater(truth.counted(readings),
                           0.9 * truth.used_millijoules(gpu, 2000, 2059))

    def test_held_mean(self):
        samples = [(0, 10), (1000, 20), (2000, None), (9000, 40)]
        self.assertEqual(truth.held_mean(samples, 0, 10_000, 2500), (70_000 / 3000, 3000))
        self.assertEqual(truth.held_mean(samples, 500, 1500, 2500), (15, 1000))
        self.assertEqual(truth.held_mean(samples, 2000, 9000, 2500), (None, 0))

    def test_the_mean_of_many_samples_is_the_true_one(self):
        gpu = truth.Gpu("n", 1)
        samples = [(k * 100, truth.share_ppm(gpu, "engine", 5000 + k / 10)) for k in range(600)]
        mean, known = truth.held_mean(samples, 0, 60_000, 2500)
        self.assertEqual(known, 60_000)
        self.assertAlmostEqual(mean, truth.mean_ppm(gpu, "engine", 5000, 5060), delta=1)

    def test_exposition_has_what_each_mode_is_for(self):
        text = {mode: truth.exposition([truth.Gpu("n", 0, mode, 2)], 15.0) for mode in truth.MODES}
        self.assertIn('GPU_I_PROFILE="3g.20gb",GPU_I_ID="1"', text["mig"])
        self.assertNotIn("GPU_UTIL{", text["mig"])
        self.assertEqual(text["shared"].count("DCGM_FI_DEV_POWER_USAGE{"), 4)
        self.assertIn('hostname="n"', text["renamed"])
        self.assertIn("DCGM_FI_PROF_SM_UTIL_RATIO{", text["renamed"])
        self.assertIn(" 9223372036854775794", text["sentinels"])


class RemoteWriteTest(unittest.TestCase):
    def test_there_and_back(self):
        series = [({"__name__": "up", "job": "x"}, [(1767225600000, 1.5), (1767225601000, None)]),
                  ({"__name__": "m", "long": "y" * 70_000}, [(5, -0.0)])]
        back = remote_write.decode(remote_write.encode(series))
        self.assertEqual(back, [(tuple(sorted(labels.items())), samples)
                                for labels, samples in series])

    def test_copies_of_snappy(self):
        # "abcd" and a copy of twelve bytes four back, which overlaps itself.
        data = bytes([16, 3 << 2]) + b"abcd" + bytes([(12 - 1) << 2 | 2, 4, 0])
        self.assertEqual(remote_write.unsnappy(data), b"abcd" * 4)
        with self.assertRaises(ValueError):
            remote_write.unsnappy(bytes([17, 3 << 2]) + b"abcd")


if __name__ == "__main__":
    unittest.main()
