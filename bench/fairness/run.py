#!/usr/bin/env python3
"""How fairly do queues that all have waiting work share a cluster?

    ./dev bench fairness [--weeks N]

24 queues, three deep, weights 1 to 4 at each level, no guarantees, all with the same offered load, four times what there is in all. What counts is the GPU time
that each queue gets in N weeks (1), over its share by weight: Jain's index of these, (sum x)^2 / (n sum x^2). 1 is equal; 1/n is one queue that gets all.
Where queues have jobs of one size each, small jobs fill what wide ones leave, beyond their share: to compare. Exit status 1 where a goal is missed.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASHLAR = ROOT / "build" / "release" / "bin" / "ashlar"
NODES, HOURS = 125, 168
ORGANISATIONS = {"north": 2, "south": 1}
DEPARTMENTS = {"a": 1, "b": 2, "c": 3}
TEAMS = {"1": 1, "2": 2, "3": 3, "4": 4}
SHAPES = {
    "singles": "gpus: 1, cpu: 8, memory: 64Gi, duration: 5h",
    "halves": "gpus: 4, cpu: 32, memory: 256Gi, duration: 4h",
    "nodes": "gpus: 8, cpu: 64, memory: 512Gi, duration: 3h",
    "gangs": "members: 4, gpus: 8, cpu: 64, memory: 512Gi, duration: 2h",
}
# Order of queues, whether each queue has jobs of all shapes or of one, and the least index that is to be reached; None: to compare.
SAID = {"all": "jobs of all sizes", "one": "jobs of one size each"}
RUNS = [("drf", "all", 0.99), ("fair-tree", "all", 0.99), ("by-job", "all", None), ("drf", "one", None)]


def tree():
    """Lines of the scenario, and of each queue at the bottom what it is to get of all."""
    lines, shares = [], {}

    def add(name, parent, weight):
        lines.append(f"  - {{name: {name}, weight: {weight}" + (f", parent: {parent}}}" if parent else "}"))

    for org, org_weight in ORGANISATIONS.items():
        add(org, "", org_weight)
        for part, part_weight in DEPARTMENTS.items():
            add(f"{org}-{part}", org, part_weight)
            for team, team_weight in TEAMS.items():
                name = f"{org}-{part}{team}"
                add(name, f"{org}-{part}", team_weight)
                shares[name] = org_weight / sum(ORGANISATIONS.values()) * part_weight / sum(DEPARTMENTS.values()) * team_weight / sum(TEAMS.values())
    return lines, shares


def arrivals(names, weeks, mix):
    """Which shape a queue's jobs have, if they have one, does not depend on its weight: they take turns."""
    kinds = list(SHAPES)
    lines = []
    for index, kind in enumerate(kinds):
        queues = [name for i, name in enumerate(names) if mix == "all" or (i + i // len(kinds)) % len(kinds) == index]
        lines.append(f"  - {{name: {kind}, load: 1, until: {7 * weeks}d, queues: {{{', '.join(f'{name}: 1' for name in queues)}}}, jobs: [{{{SHAPES[kind]}}}]}}")
    return lines


def scenario(folder, profile, weeks, mix):
    queues, shares = tree()
    (folder / f"{profile}.yaml").write_text(f"apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: {profile}\nbase: ashlar\nqueueOrder: {profile}\n", encoding="utf-8")
    text = [f"title: fairness under {profile}", f"horizon: {7 * weeks + 1}d", f"profile: {profile}.yaml", "nodes:"]
    text += [f"  - {{count: {NODES}, cpu: 96, memory: 1Ti, gpus: 8}}", "queues:", *queues, "arrivals:", *arrivals(list(shares), weeks, mix)]
    path = folder / f"fairness-{profile}.yaml"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path, shares


def gpu_hours(path, weeks):
    """Of each queue, of what ran within these weeks. Nothing is stopped here, so a job runs from its start to its end."""
    end, got = weeks * HOURS * 3600, {}
    with open(path, encoding="utf-8") as file:
        for job in csv.DictReader(file):
            seconds = min(float(job["end_seconds"]), end) - float(job["start_seconds"])
            got[job["vc"]] = got.get(job["vc"], 0.0) + max(0.0, seconds) * int(job["gpus"]) / 3600
    return got


def index_of(values):
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--weeks", type=int, default=1)
    weeks = options.parse_args().weeks
    subprocess.run([ROOT / "dev", "build", "ashlar"], check=True, stdout=subprocess.DEVNULL)
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for profile, mix, goal in RUNS:
            path, shares = scenario(Path(scratch), profile, weeks, mix)
            jobs = Path(scratch) / "jobs.csv"
            done = subprocess.run([ASHLAR, "sim", "run", path, "-o", "json", "--per-job", jobs], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"bench fairness: {done.stderr.strip()}")
            run, got = json.loads(done.stdout)["runs"][0], gpu_hours(jobs, weeks)
            total = sum(got.values())
            per_share = {name: got.get(name, 0.0) / (share * total) for name, share in shares.items()}
            index = index_of(per_share.values())
            least, most = min(per_share, key=per_share.get), max(per_share, key=per_share.get)
            is_met = goal is None or index >= goal
            missed += not is_met
            word = "       " if goal is None else "met    " if is_met else "MISSED "
            print(f"  {word}{profile:<10} {SAID[mix]:<24} Jain's index {index:.4f}" + ("" if goal is None else f", at least {goal}") +
                  f"; {least} gets {per_share[least]:.2f} of its share, {most} {per_share[most]:.2f}; "
                  f"{100 * total / (NODES * 8 * HOURS * weeks):.1f} % of the GPU time used, {run['wall_seconds']:.1f} s")
    print(f"{missed} goals missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
