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

    def with_known(self, known):
        before, report.KNOWN_STEPS = report.KNOWN_STEPS, known
        self.addCleanup(setattr, report, "KNOWN_STEPS", before)

    def test_a_known_step_is_a_note_with_its_reason(self):
        self.with_known({("groups", "ends", 316): "because"})
        measured = report.read(lines("groups", [(100, 1000.0), (316, 10000.0)], "ends"))
        self.assertEqual([], report.problems(measured))
        self.assertEqual(["groups, ends: 316 cost 10.0 times as much as the size before: because"], report.notes(measured))

    def test_a_step_at_another_size_or_event_is_not_known(self):
        self.with_known({("groups", "ends", 316): "because"})
        for event, sizes in (("tick", (100, 316)), ("ends", (316, 1000))):
            measured = report.read(lines("groups", zip(sizes, (1000.0, 10000.0)), event))
            self.assertEqual(1, sum("10.0 times" in problem for problem in report.problems(measured)), event)

    def test_a_known_step_that_is_gone_is_a_problem(self):
        self.with_known({("groups", "ends", 316): "because"})
        measured = report.read(lines("groups", [(100, 1000.0), (316, 3162.0)], "ends"))
        self.assertEqual(["groups, ends: 316 is no step any more; mended: take it off the list"], report.problems(measured))

    def test_a_known_step_that_is_nearly_one_stays_on_the_list(self):
        self.with_known({("groups", "ends", 316): "because"})
        self.assertEqual([], report.problems(report.read(lines("groups", [(100, 1000.0), (316, 3800.0)], "ends"))))

    def test_the_least_cost_counts_where_it_is_measured_again(self):
        measured = report.read(lines("kinds", [(1, 100.0), (3, 900.0)], "ends"))
        self.assertEqual(1, len(report.problems(measured)))
        report.keep_least(measured, report.read(lines("kinds", [(1, 120.0), (3, 300.0)], "ends")))
        self.assertEqual([], report.problems(measured))
        self.assertEqual({1: 100.0, 3: 300.0}, measured["kinds"]["ends"].costs)

    def test_a_known_step_that_was_not_measured_is_none(self):
        self.with_known({("groups", "ends", 316): "because"})
        self.assertEqual([], report.problems(report.read(lines("groups", [(100, 1000.0)], "ends"))))
        self.assertEqual([], report.problems(report.read(lines("kinds", [(316, 1000.0)], "ends"))))

    def test_no_step_of_the_quantities_of_every_cluster_is_known_and_each_has_a_reason(self):
        for (quantity, event, size), reason in report.KNOWN_STEPS.items():
            self.assertIn(quantity, report.QUANTITIES)
            self.assertNotIn(quantity, report.WITHOUT_STEPS)
            self.assertIn(event, report.EVENTS)
            self.assertGreater(size, 1)
            self.assertGreater(len(reason), 20)

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
