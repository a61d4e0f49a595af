#!/usr/bin/env python3
"""How long do the jobs of a published trace wait, with estimates as wrong as they are?

    ./dev bench queueing [--shrink K,...] [--draws N] [--short]

Philly's passed jobs of October and November 2017 on 11 virtual clusters, each shrunk to a K-th of its nodes; a stop costs 7, 30 or 60 s. Behind walls each
virtual cluster has its own nodes (`ashlar sim queue`). With borrowing all share them, and each is guaranteed its own (`ashlar sim run`). Published policies
stand beside: those marked * know the true run times. Then the same with N estimates drawn anew, and for September, October and December.
Traces are read from $ASHLAR_TRACES (default ../shared/traces); without them it says so and ends with 0. Exit status 1 where a goal is missed.
"""
import argparse
import datetime
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from promises import critical, first_come, guarantees
from replay import HERE, JOBS, NODES, REPLAY, ROOT, TRACES, ashlar, behind_walls, estimate, read, scenario, write_jobs

OURS = ["shortest", "shortest-easy"]
PUBLISHED = {"fifo": "FIFO", "qssf": "QSSF", "sjf": "SJF*", "srtf": "SRTF*", "tiresias": "Tiresias"}
HEAD = f"  {'seconds; JCT: from submission to end':<34} {'mean JCT':>9} {'mean queue':>10} {'p99 queue':>10} {'p99.9 queue':>11} {'stops':>7} {'wall':>7}"


class Goals:
    """What was to be reached, and what was."""

    def __init__(self):
        self.missed = 0

    def say(self, what, value, most, better=None):
        is_met = value <= most
        self.missed += not is_met
        further = "" if better is None else f"; the stretch {better:,} is {'met' if value <= better else 'missed'}"
        print(f"  {'met   ' if is_met else 'MISSED'} {what}: {value:,.{0 if most > 1000 else 1}f}, at most {most:,}{further}")


def lines(names, runs):
    for name, run in zip(names, runs):
        line(name, run)


def line(name, run):
    print(f"  {name:<34} {run['mean_jct_seconds']:9,.0f} {run['mean_queue_seconds']:10,.0f} {run['p99_queue_seconds']:10,.0f} "
          f"{run['p999_queue_seconds']:11,.0f} {run['preemptions']:7,} {run['wall_seconds']:6.1f}s")


def months(clusters, first, last, draw):
    """Jobs submitted from the first day to before the last one, with estimates of their own."""
    rows = [(datetime.datetime.fromisoformat(row["timestamp"]), row) for row in read(JOBS) if row["cluster"] in clusters]
    rows = sorted((row for row in rows if first <= row[0].date() < last), key=lambda row: row[0])
    start = rows[0][0]
    jobs = [(row["cluster"], row["num_gpus"], int((at - start).total_seconds()), round(float(row["duration"]))) for at, row in rows]
    return [(*job, estimate(job[3], draw)) for job in jobs]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shrink", default="4,3,2")
    options.add_argument("--draws", type=int, default=3)
    options.add_argument("--short", action="store_true", help="only the goals")
    chosen = options.parse_args()
    if not (TRACES / REPLAY).exists():
        print(f"bench queueing: SKIPPED: no published traces in {TRACES}; set ASHLAR_TRACES to the folder that holds them")
        return 0
    subprocess.run([ROOT / "dev", "build", "ashlar"], check=True, stdout=subprocess.DEVNULL)
    goals = Goals()
    profiles = [HERE / f"{name}.yaml" for name in OURS]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        clusters = {row["vc"]: int(row["node num"]) for row in read(NODES)}
        nodes = TRACES / NODES
        for shrink in [4] if chosen.short else [int(k) for k in chosen.shrink.split(",")]:
            print(f"== behind walls, k = {shrink}, estimates of the trace\n{HEAD}")
            if not chosen.short:
                lines(PUBLISHED.values(), behind_walls(TRACES / REPLAY, nodes, shrink, PUBLISHED, "lower"))
            runs = behind_walls(TRACES / REPLAY, nodes, shrink, profiles, "lower-or-longer")
            lines(OURS, runs)
            if shrink == 4:
                goals.say("mean JCT of shortest", runs[0]["mean_jct_seconds"], 30_000, 28_781)
                goals.say("its p99.9 queue", runs[0]["p999_queue_seconds"], 2_832_801)
        path = folder / "jobs.csv"
        write_jobs(path, [(row["vc"], row["gpu_num"], row["submit_time"], row["duration"], row["priority"]) for row in read(REPLAY)])
        print(f"== with borrowing, k = 4\n{HEAD}")
        for name, profile in zip(OURS, profiles):
            runs = ashlar("sim", "run", scenario(path, clusters, 4, folder, profile), "-o", "json")
            line(name, runs[0])
            if name == OURS[0]:
                goals.say("mean JCT of shortest", runs[0]["mean_jct_seconds"], 11_800)
        print("== guarantees with borrowing, k = 4")
        guarantees(goals, path, clusters, folder, profiles[0])
        print("== critical jobs with borrowing, k = 3")
        critical(goals, clusters, folder, profiles[0])
        print("== first come, first served, with reservations, behind walls")
        first_come(goals, folder)
        for seed in range(0 if chosen.short else chosen.draws):
            draw = random.Random(seed)
            write_jobs(path, [(row["vc"], row["gpu_num"], row["submit_time"], row["duration"], estimate(int(row["duration"]), draw)) for row in read(REPLAY)])
            print(f"== behind walls, k = 4, estimates drawn anew, seed {seed}\n{HEAD}")
            lines(OURS, behind_walls(path, nodes, 4, profiles, "lower-or-longer"))
        for month, after in [] if chosen.short else [(9, 10), (10, 11), (12, 13)]:
            first, last = datetime.date(2017, month, 1), datetime.date(2017 + after // 13, (after - 1) % 12 + 1, 1)
            write_jobs(path, months(clusters, first, last, random.Random(month)))
            print(f"== behind walls, k = 4, jobs of {first:%B}\n{HEAD}")
            lines(PUBLISHED.values(), behind_walls(path, nodes, 4, PUBLISHED, "lower"))
            lines(OURS, behind_walls(path, nodes, 4, profiles, "lower-or-longer"))
    print(f"{goals.missed} goals missed")
    return 1 if goals.missed else 0


if __name__ == "__main__":
    sys.exit(main())
