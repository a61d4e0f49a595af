#!/usr/bin/env python3
"""How long do the jobs of a published trace wait, with estimates as wrong as they are?

    ./dev bench queueing [--shrink K,...] [--draws N] [--short]

Philly's passed jobs of October and November 2017 on 11 virtual clusters, each shrunk to a K-th of its nodes; a stop costs 7, 30 or 60 s. Behind walls each
virtual cluster has its own nodes (`ashlar sim queue`). With borrowing all share them, and each is guaranteed its own (`ashlar sim run`). Published policies
stand beside: those marked * know the true run times. Then the same with N estimates drawn anew, and for September, October and December.
Traces are read from $ASHLAR_TRACES (default ../shared/traces); without them it says so and ends with 0. Exit status 1 where a goal is missed.
"""
import argparse
import csv
import datetime
import json
import lzma
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ASHLAR = ROOT / "build" / "release" / "bin" / "ashlar"
TRACES = Path(os.environ.get("ASHLAR_TRACES", ROOT.parent / "shared" / "traces"))
REPLAY, JOBS, NODES = "philly-p-octnov-replay-input.csv.xz", "philly-passed-jobs.csv.xz", "philly-vc-nodes.csv.xz"
OURS = ["shortest", "shortest-easy"]
PUBLISHED = {"fifo": "FIFO", "qssf": "QSSF", "sjf": "SJF*", "srtf": "SRTF*", "tiresias": "Tiresias"}
HEAD = f"  {'':<34} {'mean JCT':>9} {'mean queue':>10} {'p99 queue':>10} {'p99.9 queue':>11} {'stops':>7} {'wall':>7}"


class Goals:
    """What was to be reached, and what was."""

    def __init__(self):
        self.missed = 0

    def say(self, what, value, most, better=None):
        is_met = value <= most
        self.missed += not is_met
        further = "" if better is None else f"; the stretch {better:,} is {'met' if value <= better else 'missed'}"
        print(f"  {'met   ' if is_met else 'MISSED'} {what}: {value:,.0f}, at most {most:,}{further}")


def ashlar(*arguments):
    done = subprocess.run([ASHLAR, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench queueing: ashlar {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return json.loads(done.stdout)["runs"]


def lines(names, runs):
    for name, run in zip(names, runs):
        line(name, run)


def line(name, run):
    print(f"  {name:<34} {run['mean_jct_seconds']:9,.0f} {run['mean_queue_seconds']:10,.0f} {run['p99_queue_seconds']:10,.0f} "
          f"{run['p999_queue_seconds']:11,.0f} {run['preemptions']:7,} {run['wall_seconds']:6.1f}s")


def behind_walls(jobs, nodes, shrink, policies, stops):
    return ashlar("sim", "queue", "--jobs", jobs, "--vcs", nodes, "--shrink", shrink, "--stops", stops, "--policy", ",".join(map(str, policies)), "-o", "json")


def scenario(jobs, clusters, shrink, folder, profile):
    """All nodes together; each virtual cluster is a queue that is guaranteed as many GPUs as it has of its own."""
    rules = "stops: {own: lower-or-longer, whileBorrowing: lower-or-longer}, protected: {preempt: 1m, reclaim: 1m}"
    shrunk = {vc: math.ceil(count / shrink) for vc, count in clusters.items()}
    text = [f'profile: "{profile}"', "restart: [7s, 30s, 60s]", "nodes:", f"  - {{count: {sum(shrunk.values())}, cpu: 96, memory: 1Ti, gpus: 8}}", "queues:"]
    text += [f'  - {{name: "{vc}", guarantee: {{gpus: {8 * count}}}, {rules}}}' for vc, count in shrunk.items()]
    text.append(f"trace: {{path: {jobs}, format: csv, width: gpus, per_member: 8}}")
    path = folder / "borrowing.yaml"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


def estimate(duration, draw):
    """As the published error model has it: a tenth of the jobs within 10 %, half within 50 %, 70 % within 100 %, 90 % within 10 times, the others within 100."""
    share = draw.random()
    most = 0.1 if share < 0.1 else 0.5 if share < 0.5 else 1 if share < 0.7 else 10 if share < 0.9 else 100
    return round(duration * (1 + draw.uniform(-most, most)))


def read(name):
    with lzma.open(TRACES / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_jobs(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["vc", "gpu_num", "submit_time", "duration", "priority"])
        out.writerows(rows)
    return path


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
