#!/usr/bin/env python3
"""What judging a run of the suite must do: see judge.py."""
import unittest

from judge import closing_line, for_any_scheduler, is_good, judge, name_of, outcome_of, Outcome, read_table, setup_failures_of, specs_of

TABLE = """
[[spec]]
name = "preempts"
reason = "later issue: preemption"

[[spec]]
name = "runs a program"
reason = "needs a kubelet: exec"
"""


def spec(state, leaf="preempts", containers=(), kind="It", message=""):
    return {"ContainerHierarchyTexts": list(containers), "LeafNodeText": leaf, "LeafNodeType": kind, "State": state, "RunTime": 2_500_000_000,
            "Failure": {"Message": message}}


class Table(unittest.TestCase):
    def test_gives_the_reason_of_each_spec(self):
        self.assertEqual(read_table(TABLE), {"preempts": "later issue: preemption", "runs a program": "needs a kubelet: exec"})
        self.assertEqual(read_table("# nothing is excused\n"), {})

    def test_refuses_a_reason_of_no_known_kind(self):
        for reason in ("it is slow", "later issue", "later issue:", "needs a kubelet"):
            with self.subTest(reason), self.assertRaisesRegex(ValueError, "a reason begins with one of"):
                read_table(f'[[spec]]\nname = "a"\nreason = "{reason}"\n')

    def test_refuses_a_row_without_a_reason_with_more_or_twice(self):
        with self.assertRaisesRegex(ValueError, "name and reason"):
            read_table('[[spec]]\nname = "a"\n')
        with self.assertRaisesRegex(ValueError, "name and reason"):
            read_table('[[spec]]\nname = "a"\nreason = "roadmap: devices"\nowner = "b"\n')
        with self.assertRaisesRegex(ValueError, "twice in the table: preempts"):
            read_table(TABLE + '[[spec]]\nname = "preempts"\nreason = "roadmap: devices"\n')


class Report(unittest.TestCase):
    def test_names_a_spec_by_its_containers_and_text(self):
        self.assertEqual(name_of(spec("passed", "is whole", ["[sig-scheduling] Gang", "with quorum"])), "[sig-scheduling] Gang with quorum is whole")

    def test_has_specs_and_apart_from_them_what_failed_in_setting_up(self):
        report = [{"SpecReports": [spec("failed", kind="SynchronizedBeforeSuite", message="\n  no server\nmore"), spec("passed"),
                                   spec("interrupted", kind="ReportAfterSuite")]},
                  {"SpecReports": None}]
        self.assertEqual([found["State"] for found in specs_of(report)], ["passed"])
        self.assertEqual(setup_failures_of(report), ["no server more"])
        report[0]["SpecReports"][0]["State"] = "passed"
        self.assertEqual(setup_failures_of(report), [])

    def test_counts_whatever_ended_early_as_failed(self):
        for state in ("failed", "timedout", "interrupted", "panicked", "aborted", "a state of the next release"):
            self.assertEqual(outcome_of(spec(state, message="why\nand more")), Outcome("preempts", "failed", 2.5, "why and more"))
        self.assertEqual(len(outcome_of(spec("failed", message="word " * 1000)).words), 300)
        self.assertEqual(outcome_of(spec("pending")).state, "skipped")
        self.assertEqual(outcome_of(spec("skipped")).state, "skipped")
        self.assertEqual(outcome_of(spec("passed")).state, "passed")


class Judging(unittest.TestCase):
    excuses = read_table(TABLE)

    def test_excuses_what_the_table_names(self):
        self.assertEqual(judge(Outcome("preempts", "failed"), self.excuses), "excused")
        self.assertEqual(judge(Outcome("preempts", "skipped"), self.excuses), "excused")
        self.assertEqual(judge(Outcome("binds", "failed"), self.excuses), "FAILED")
        self.assertEqual(judge(Outcome("binds", "skipped"), self.excuses), "SKIPPED")
        self.assertEqual(judge(Outcome("binds", "passed"), self.excuses), "passed")

    def test_excuses_kube_scheduler_only_where_the_cluster_is_short(self):
        self.assertEqual(for_any_scheduler(self.excuses), {"runs a program": "needs a kubelet: exec"})

    def test_calls_a_row_stale_whose_spec_passes(self):
        self.assertEqual(judge(Outcome("preempts", "passed"), self.excuses), "STALE")

    def test_is_good_only_without_any_of_the_three(self):
        self.assertTrue(is_good([Outcome("binds", "passed"), Outcome("preempts", "failed")], self.excuses))
        for bad in (Outcome("binds", "failed"), Outcome("binds", "skipped"), Outcome("preempts", "passed")):
            self.assertFalse(is_good([Outcome("spreads", "passed"), bad], self.excuses))

    def test_counts_in_one_line(self):
        good = [Outcome("binds", "passed"), Outcome("spreads", "passed"), Outcome("preempts", "failed"), Outcome("runs a program", "skipped")]
        self.assertEqual(closing_line(good, self.excuses),
                         "4 specs: 2 passed, 2 skipped with a reason (1 later issue, 1 needs a kubelet)")
        bad = [Outcome("preempts", "passed"), Outcome("a", "failed"), Outcome("b", "skipped")]
        self.assertEqual(closing_line(bad, self.excuses), "3 specs: 0 passed, 0 skipped with a reason, 1 failed, 1 skipped without a reason, "
                                                          "1 excused, but passed: strike them from the table")


if __name__ == "__main__":
    unittest.main()
