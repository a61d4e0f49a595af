"""Runs the specs in a cluster that with_cluster has started, and judges them. run.py starts it; its options are those of run.py."""
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from judge import closing_line, for_any_scheduler, is_good, judge, name_of, outcome_of, read_table, setup_failures_of, specs_of
from run import ROOT, arguments

SUITE = Path(os.environ["ASHLAR_ASSETS"]) / "e2e.test"
TABLE = ROOT / "bench/e2e/excused.toml"
LOGS = ROOT / "build/e2e" / arguments().scheduler
# Specs of other groups come along with upstream's packages.
OURS = r"\[sig-scheduling\]"
ALL_SECONDS = 5400


def ginkgo(report, *flags):
    """One run of the suite; its JSON report. It reads certificates beside the folder that it runs in."""
    file, log = LOGS / f"{report}.json", LOGS / f"{report}.log"
    file.unlink(missing_ok=True)
    with open(log, "w", encoding="utf-8") as out:
        subprocess.run([SUITE, "--ginkgo.no-color", "--ginkgo.seed=1", "--ginkgo.v", f"--ginkgo.json-report={file}", "--provider=local",
                        f"--kubeconfig={os.environ.get('KUBECONFIG', '')}", "--dump-logs-on-failure=false", *flags],
                       stdout=out, stderr=subprocess.STDOUT, cwd=os.environ.get("ASHLAR_CLUSTER_LOGS", LOGS), check=False)
    if not file.exists():
        sys.exit(f"e2e: the suite wrote no report; its log is {log}")
    return json.loads(file.read_text(encoding="utf-8"))


def exactly(names):
    """Ginkgo searches in the suite's own name and the spec's."""
    return "--ginkgo.focus= (" + "|".join(re.escape(name) for name in names) + ")$"


def run(report, names, seconds):
    """What these specs did."""
    done = ginkgo(report, exactly(names), f"--ginkgo.timeout={seconds}s")
    for failure in setup_failures_of(done):
        sys.exit(f"e2e: no spec ran: {failure}; the log is {LOGS}/{report}.log")
    return [outcome_of(spec) for spec in specs_of(done) if name_of(spec) in names]


def show(outcome, excuses):
    verdict = judge(outcome, excuses)
    reason = excuses.get(outcome.name, "")
    print(f"{verdict:8} {outcome.seconds:6.1f} s  {outcome.name}" + (f"\n{'':19}{reason}" if reason else ""))
    if verdict in ("FAILED", "SKIPPED"):
        print(f"{'':19}{outcome.words}")
    sys.stdout.flush()


def run_all(chosen, names, excuses):
    """The specs in two parts: those that must pass, at once; then each excused one alone, since it may take its whole time and leave things behind."""
    from world import World
    required = [name for name in names if name not in excuses]
    excused = [name for name in names if name in excuses and not chosen.skip_excused]
    outcomes = []
    with World(chosen.scheduler, LOGS) as world:
        print(f"{len(required)} specs run, {len(names) - len(required)} are excused; what is going on: {LOGS}/required.log", flush=True)
        for outcome in run("required", required, ALL_SECONDS) if required else ():
            show(outcome, excuses)
            outcomes.append(outcome)
        for number, name in enumerate(excused):
            world.require_programs()
            world.sweep()
            for outcome in run(f"excused-{number}", [name], chosen.patience):
                show(outcome, excuses)
                outcomes.append(outcome)
        world.require_programs()
    return outcomes


def main():
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the programs of the cluster end with this one
    LOGS.mkdir(parents=True, exist_ok=True)
    known = [name_of(spec) for spec in specs_of(ginkgo("list", "--ginkgo.dry-run")) if re.search(OURS, name_of(spec))]
    try:
        excuses = read_table(TABLE.read_text(encoding="utf-8"))
    except ValueError as wrong:
        sys.exit(f"e2e: {TABLE}: {wrong}")
    for name in excuses:
        if name not in known:
            sys.exit(f"e2e: {TABLE.name} names a spec that is not there: {name}")
    if chosen.scheduler == "kube-scheduler":
        excuses = for_any_scheduler(excuses)
    names = [name for name in known if chosen.focus.search(name)]
    if chosen.list:
        print("\n".join(names))
        return 0
    if not names:
        sys.exit(f"e2e: no spec matches {chosen.focus.pattern}")
    try:
        outcomes = run_all(chosen, names, excuses)
    except RuntimeError as wrong:
        sys.exit(f"e2e: {wrong}")
    print(closing_line(outcomes, excuses))
    expected = [name for name in names if not (chosen.skip_excused and name in excuses)]
    if len(outcomes) != len(expected):
        print(f"e2e: {len(expected)} specs were to run, {len(outcomes)} did")
        return 1
    return 0 if is_good(outcomes, excuses) else 1


if __name__ == "__main__":
    sys.exit(main())
