"""Judges a run of the suite: what each spec did, beside what the table of excuses says of it. Pure functions over values; judge_test.py says what they must do.

The table (excused.toml) names specs that need not pass, each with a reason of a known kind. A spec that fails without an excuse is a fault of the
scheduler or a missing row; a spec that is excused and passes is a row to strike out.
"""
import tomllib
from dataclasses import dataclass

# What a reason may begin with, in the order of the closing line.
KINDS = ("this issue", "later issue", "roadmap", "needs a kubelet", "upstream skips")

WORDS_MAX = 300


@dataclass
class Outcome:
    """What one spec did: passed, failed or skipped (by itself); seconds; what it says."""

    name: str
    state: str
    seconds: float = 0.0
    words: str = ""


def name_of(spec):
    return " ".join(spec["ContainerHierarchyTexts"] + [spec["LeafNodeText"]])


def specs_of(report):
    """The specs of a ginkgo JSON report, without its set-up and its reporters; with those that were filtered out."""
    return [spec for suite in report for spec in suite["SpecReports"] or () if spec["LeafNodeType"] == "It"]


def setup_failures_of(report):
    """What failed before the first spec: then no spec has said anything."""
    before = [spec for suite in report for spec in suite["SpecReports"] or () if spec["LeafNodeType"].endswith("BeforeSuite")]
    return [one_line(spec["Failure"]["Message"]) for spec in before if spec["State"] != "passed"]


def one_line(text):
    """All of a failure's words that fit into three lines of a terminal: "Expected" alone says nothing."""
    words = " ".join(text.split())
    return words if len(words) <= WORDS_MAX else words[:WORDS_MAX - 1] + "…"


def outcome_of(spec):
    """A spec that timed out, was interrupted or panicked has failed; one that is pending is skipped."""
    state = {"passed": "passed", "skipped": "skipped", "pending": "skipped"}.get(spec["State"], "failed")
    return Outcome(name_of(spec), state, spec.get("RunTime", 0) / 1e9, one_line(spec.get("Failure", {}).get("Message", "")))


def read_table(text):
    """The excuses by name of the spec. ValueError for a row that lacks a name or a reason of a known kind, and for one that stands twice."""
    excuses = {}
    for row in tomllib.loads(text).get("spec", []):
        if set(row) != {"name", "reason"}:
            raise ValueError(f"a row has name and reason, nothing else: {row}")
        if kind_of(row["reason"]) is None:
            raise ValueError(f"a reason begins with one of {', '.join(KINDS)}: {row['reason']}")
        if row["name"] in excuses:
            raise ValueError(f"twice in the table: {row['name']}")
        excuses[row["name"]] = row["reason"]
    return excuses


def kind_of(reason):
    return next((kind for kind in KINDS if reason.startswith(kind + ": ")), None)


def for_any_scheduler(excuses):
    """The excuses that hold for kube-scheduler too: those of the cluster, not of ours."""
    return {name: reason for name, reason in excuses.items() if kind_of(reason) in ("needs a kubelet", "upstream skips")}


def judge(outcome, excuses):
    """One of passed, excused, FAILED, SKIPPED (no excuse for either) and STALE (excused, but it passes)."""
    is_excused = outcome.name in excuses
    if outcome.state == "passed":
        return "STALE" if is_excused else "passed"
    return "excused" if is_excused else outcome.state.upper()


def closing_line(outcomes, excuses):
    """`35 specs: 22 passed, 13 skipped with a reason (12 later issue, 1 needs a kubelet)`, and what is wrong, if anything is."""
    judged = [(judge(outcome, excuses), outcome) for outcome in outcomes]

    def counted(verdict):
        return [outcome for known, outcome in judged if known == verdict]

    kinds = [kind_of(excuses[outcome.name]) for outcome in counted("excused")]
    line = f"{len(outcomes)} specs: {len(counted('passed'))} passed, {len(kinds)} skipped with a reason"
    if kinds:
        line += " (" + ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds) + ")"
    wrong = (("FAILED", "failed"), ("SKIPPED", "skipped without a reason"), ("STALE", "excused, but passed: strike them from the table"))
    return line + "".join(f", {len(counted(verdict))} {words}" for verdict, words in wrong if counted(verdict))


def is_good(outcomes, excuses):
    return all(judge(outcome, excuses) in ("passed", "excused") for outcome in outcomes)
