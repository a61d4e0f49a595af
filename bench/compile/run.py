#!/usr/bin/env python3
"""How long does the build take, without a compiler cache?

    ./dev bench compile [--slowest N] [--only-first-picture]

First, how long a newcomer waits: in a clone of the last commit, without any cache (packages are installed), `./dev demo` until it shows its first placed job.
Then builds in a folder of its own: `ashlar` from nothing, then everything else, then `ashlar` again with one policy touched; the last also with the flags of
daily work (preset dev), whose first build is not counted. Prints each with its limit, the computing time and the slowest N steps (default 10). Exit status 1
if a limit is exceeded. Takes about a quarter of an hour on two cores.
"""
import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POLICY = ROOT / "src/policy/score/gpu_clustering.cpp"


def run(*command):
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "CCACHE_DISABLE": "1"}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(folder, target):
    """Seconds, and seconds of computing."""
    began, used = time.monotonic(), cpu_seconds()
    run("ninja", "-C", folder, target)
    return time.monotonic() - began, cpu_seconds() - used


def slowest(folder, count):
    """The longest steps of the build so far, as (seconds, output)."""
    steps = {}
    for line in (Path(folder) / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        steps[output] = (int(end) - int(begin)) / 1000
    return sorted(((took, output) for output, took in steps.items()), reverse=True)[:count]


def show(what, took, limit):
    seconds, used = took
    is_kept = seconds <= limit
    print(f"{what:52} {seconds:6.0f} s {used:6.0f} s of computing   limit {limit:4} s  {'ok' if is_kept else 'MISSED'}", flush=True)
    return is_kept


def first_picture(scratch):
    """Until the demo on a cold machine shows a job that has a place: seconds, and seconds of computing."""
    tree, cache = scratch + "/clone", scratch + "/cache"
    run("git", "clone", "-q", str(ROOT), tree)
    began, used = time.monotonic(), cpu_seconds()
    environment = {**os.environ, "CCACHE_DISABLE": "1", "XDG_CACHE_HOME": cache, "GOPATH": cache + "/go", "GOFLAGS": "-modcacherw"}
    demo = subprocess.Popen(["./dev", "demo", "--no-wait", "--color", "never"], cwd=tree, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    seen = []
    for line in demo.stdout:
        seen.append(line)
        if re.match(r"\s*\d+ s\s+\+ ", line):
            break
    took = time.monotonic() - began
    os.killpg(demo.pid, signal.SIGTERM)
    demo.stdout.close()
    demo.wait()
    if not seen or not seen[-1].lstrip()[:1].isdigit():
        sys.exit(f"./dev demo ended without a picture:\n{''.join(seen[-30:])}")
    return took, cpu_seconds() - used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--only-first-picture", action="store_true")
    options = parser.parse_args()
    kept = []
    with tempfile.TemporaryDirectory() as scratch:
        kept.append(show("./dev demo on a cold machine, until its first job", first_picture(scratch), 300))
        if options.only_first_picture:
            return 0 if all(kept) else 1
        release, dev = scratch + "/release", scratch + "/dev"
        run("cmake", "--preset", "release", "-B", release)
        program = build(release, "ashlar")
        kept.append(show("ashlar, from nothing", program, 240))
        rest = build(release, "all")
        kept.append(show("everything, from nothing", (program[0] + rest[0], program[1] + rest[1]), 480))
        POLICY.touch()
        kept.append(show("ashlar after touching one policy, release", build(release, "ashlar"), 60))
        run("cmake", "--preset", "dev", "-B", dev)
        build(dev, "ashlar")
        POLICY.touch()
        kept.append(show("ashlar after touching one policy, dev", build(dev, "ashlar"), 20))
        for took, output in slowest(release, options.slowest):
            print(f"  {took:5.1f} s  {output}")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
