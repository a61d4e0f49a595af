"""Published jobs, and the replays of them that `./dev bench queueing` runs."""
import csv
import json
import lzma
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ASHLAR = ROOT / "build" / "release" / "bin" / "ashlar"
TRACES = Path(os.environ.get("ASHLAR_TRACES", ROOT.parent / "shared" / "traces"))
REPLAY, JOBS, NODES = "philly-p-octnov-replay-input.csv.xz", "philly-passed-jobs.csv.xz", "philly-vc-nodes.csv.xz"


def ashlar(*arguments):
    """The runs that a simulation prints."""
    done = subprocess.run([ASHLAR, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench queueing: ashlar {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return json.loads(done.stdout)["runs"]


def behind_walls(jobs, nodes, shrink, policies, stops, *further):
    return ashlar("sim", "queue", "--jobs", jobs, "--vcs", nodes, "--shrink", shrink, "--stops", stops, "--policy", ",".join(map(str, policies)), "-o", "json", *further)


def scenario(jobs, clusters, shrink, folder, profile):
    """All nodes together; each virtual cluster is a queue that is guaranteed as many GPUs as it has of its own. `jobs`: a file, or some by priority."""
    rules = "stops: {own: lower-or-longer, whileBorrowing: lower-or-longer}, protected: {preempt: 1m, reclaim: 1m}"
    shrunk = {vc: math.ceil(count / shrink) for vc, count in clusters.items()}
    text = [f'profile: "{profile}"', "restart: [7s, 30s, 60s]", "nodes:", f"  - {{count: {sum(shrunk.values())}, cpu: 96, memory: 1Ti, gpus: 8}}", "queues:"]
    text += [f'  - {{name: "{vc}", guarantee: {{gpus: {8 * count}}}, {rules}}}' for vc, count in shrunk.items()]
    text.append("trace:")
    of_priority = jobs if isinstance(jobs, dict) else {0: jobs}
    text += [f"  - {{path: {path}, format: csv, width: gpus, per_member: 8, priority: {priority}}}" for priority, path in of_priority.items()]
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


def job_lines(path):
    """What `--per-job` has written, by job: numbers but for the names."""
    with open(path, encoding="utf-8") as file:
        return [{key: value if key in ("policy", "vc") else float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def write_jobs(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["vc", "gpu_num", "submit_time", "duration", "priority"])
        out.writerows(rows)
    return path
