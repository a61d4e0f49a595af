#!/usr/bin/env python3
"""Steps are found where a cost rises too fast, and nowhere else; what was left out is said."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import report  # noqa: E402


def lines(quantity, costs, event="tick"):
    return [f"{quantity} {size} {event} {cost}" for size, cost in costs]


class Report(unittest.TestCase):
    def test_linear_growth_is_no_step(self):
        measured = report.read(lines("kinds", [(100, 1000.0), (316, 3162.0), (1000, 10000.0)]))
        self.assertEqual([], report.problems(measured))

    def test_quadratic_growth_is(self):
        measured = report.read(lines("kinds", [(100, 1000.0), (316, 10000.0)]))
        self.assertEqual(["kinds, tick: 316 cost 10.0 times as much as the size before (10 ms)"], report.problems(measured))

    def test_costs_below_the_floor_count_as_the_floor(self):
        measured = report.read(lines("kinds", [(1, 0.4), (3, 40.0), (10, 199.0)]))
        self.assertEqual([], report.problems(measured))
        measured = report.read(lines("kinds", [(1, 0.4), (3, 40.0), (10, 201.0)]))
        self.assertEqual(1, len(report.problems(measured)))

    def test_what_was_left_out_is_a_problem(self):
        measured = report.read(lines("held", [(100, 1.0)]) + ["held 316 left-out 8.5"])
        self.assertEqual(["held: 316 and more were left out, because the size before took too long"], report.problems(measured))

    def test_table_and_plot_hold_every_quantity(self):
        all_events = [line for event in report.EVENTS for line in lines("levels", [(1, 10.0), (3, 9000.0)], event)]
        measured = report.read(all_events)
        self.assertIn("at most 16 levels", report.table(measured))
        self.assertIn("x180.0!", report.table(measured))
        self.assertEqual(len(report.EVENTS), report.plot(measured).count("<circle"))

    def test_an_event_that_a_quantity_lacks_is_left_blank(self):
        measured = report.read([line for event in report.EVENTS if event != "guest" for line in lines("kinds", [(1, 10.0)], event)])
        self.assertIn("- ", report.table(measured))
        self.assertEqual([], report.problems(measured))


if __name__ == "__main__":
    unittest.main()
