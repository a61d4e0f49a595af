#!/usr/bin/env python3
"""What does one event cost when one thing grows? Varies what the other benches hold still, and points at steps.

    ./dev bench cliffs [DIMENSION]... [--blocking skip|strict|easy] [--list]
    ./dev bench cliffs --report [QUANTITY]...

With --report, bench_cliffs measures in memory what grows (kinds of jobs, holds, groups of a gang, unlike nodes, ...); the table is printed, the plot is
written to build/cliffs.svg, and the exit status is 1 if a size costs more than 4 times as much as the one before (sizes are sqrt(10) apart) and report.py does not list that step with
its reason, or lists one that is gone.

Without it, each point is a case of the case language, played by `ashlar case` with some events and without: the difference in CPU time, by event, is the cost.
A point that costs more than STEP times what its growth would explain is marked, without a limit.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import report

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "bin" / "ashlar"
SECONDS_MAX = 120
STEP = 3.0
SHORTEST_MS = 5.0  # below, the difference of two processes says little


def full(nodes, extra=""):
    """Nodes of eight cards, each taken by one job that ends some day."""
    return f"cluster {nodes} x h100x8 cpu=64 memory=1024GiB\n" + "".join(
        f"job f{i} 8 gpu cpu=60 {extra} on node{i} duration {36000 + i}s at 0s\n" for i in range(nodes))


def ends(events, nodes):
    return [f"end f{e * 7 % nodes} at {10000 + e * 2000}ms\n" for e in range(events)]


def come_and_go(events):
    return [f"add node x{e} h100x8 cpu=64 memory=1024GiB at {10000 + e * 2000}ms\nlose x{e} at {11000 + e * 2000}ms\n" for e in range(events)]


def kinds(size, events):
    """jobs that wait, each of its own kind, on 1,000 nodes; a job ends"""
    return "", full(1000) + "".join(f"job w{i} 1 gpu cpu=8 memory={1024 + i}MiB duration 90000s at 1s\n" for i in range(size)), ends(events, 1000)


def selectors(size, events):
    """jobs that wait, each with a rule of its own about nodes, on 1,000 nodes; a job ends"""
    waiting = "".join(f"job w{i} 1 gpu affinity pool=p,k{i}!=x duration 90000s at 1s\n" for i in range(size))
    return "", full(1000).replace("cpu=64 memory", "labels pool=p cpu=64 memory", 1) + waiting, ends(events, 1000)


def held(size, events):
    """jobs of their own kinds behind one promise, on 1,000 nodes; nothing happens (a tick)"""
    text = "cluster 1000 x h100x8 memory=1024GiB\njob e0 8 gpu on node1 duration 36000s at 0s\n"
    text += "".join(f"job f{i} 8 gpu on node{i} duration {80000 + i}s at 0s\n" for i in range(2, 1000)) + "gang h 2 x 8 gpu duration 40000s at 1s\n"
    text += "".join(f"job w{i} 1 gpu memory={1024 + i}MiB duration 90000s at 2s\n" for i in range(size))
    return "", text, [f"tick at {10000 + e * 2000}ms\n" for e in range(events)]


def queues(size, events):
    """queues with a blocked head each, on 1,000 nodes; a node comes and goes"""
    jobs = "".join(f"gang h{i} 2 x 8 gpu queue q{i} duration 40000s at 1s\njob w{i} 1 gpu queue q{i} duration 90000s at 1s\n" for i in range(size))
    return "".join(f"queue q{i}\n" for i in range(size)), full(1000) + jobs, come_and_go(events)


def quotas(size, events):
    """queues that wait for the quota that they share, on 100 nodes; some of it comes free"""
    jobs = "".join(f"job r{i} 1 gpu queue q{i % size} duration {36000 + i}s at 0s\n" for i in range(64))
    jobs += "".join(f"job w{i} 1 gpu queue q{i} duration 90000s at 1s\n" for i in range(size))
    limits = "queue top quota gpu=64\n" + "".join(f"queue q{i} parent top\n" for i in range(size))
    return limits, "cluster 100 x h100x8\n" + jobs, [f"end r{e} at {10000 + e * 2000}ms\n" for e in range(events)]


def unlike(size, events):
    """gangs of sixteen unlike members that wait, on 1,000 nodes; a job ends"""
    members = " + ".join(f"1 x 8 gpu cpu={1 + k}" for k in range(16))
    return "", full(1000) + "".join(f"gang w{i} {members} duration 90000s at 1s\n" for i in range(size)), ends(events, 1000)


def never(size, events):
    """jobs that can never run, each of its own kind, on 1,000 nodes; a node comes and goes"""
    return "", full(1000) + "".join(f"job w{i} 9 gpu memory={1024 + i}MiB at 1s\n" for i in range(size)), come_and_go(events)


def alike(size, events):
    """jobs of one kind that wait, on 1,000 nodes; a job ends"""
    return "", full(1000) + "".join(f"job w{i} 8 gpu duration 90000s at 1s\n" for i in range(size)), ends(events, 1000)


DIMENSIONS = {
    "alike": (alike, [1000, 10000, 40000]),
    "kinds": (kinds, [100, 1000, 3000]),
    "selectors": (selectors, [100, 1000, 3000]),
    "held": (held, [100, 1000, 3000]),
    "queues": (queues, [10, 100, 1000]),
    "quotas": (quotas, [100, 1000, 3000]),
    "unlike": (unlike, [10, 100, 300]),
    "never": (never, [100, 1000, 10000]),
}


def played(text, folder):
    """CPU seconds of one process; None where it took too long."""
    path = Path(folder) / "cliff.case"
    path.write_text(text, encoding="utf-8")
    before = os.times()
    try:
        done = subprocess.run([PROGRAM, "case", path], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        return None
    if ": expected" in done.stderr or "error" in done.stderr.lower():
        sys.exit(f"cliffs: the case is not understood:\n{done.stderr[:500]}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def cost_ms(make, size, blocking, folder, events=16):
    seconds = []
    for count in (0, events):
        queues_text, world, happenings = make(size, count)
        text = f"# a cliff?\nprofile ashlar blocking={blocking}\n{queues_text}{world}---- at 3s\n\n{''.join(happenings)}"
        if count:
            text += "---- at 1h\n\n"
        seconds.append(played(text, folder))
    return None if None in seconds else 1000 * (seconds[1] - seconds[0]) / events


def lines_of(quantities):
    """What bench_cliffs prints of these; of all if there are none."""
    measuring = subprocess.Popen([ROOT / "build" / "release" / "bin" / "bench_cliffs", *quantities], stdout=subprocess.PIPE, text=True)
    lines = []
    for line in measuring.stdout:
        lines.append(line)
        quantity, size, event, _ = line.split()
        if event == "set-up":
            print(f"\r  measuring {quantity} {int(size):,}" + 12 * " ", end="", file=sys.stderr, flush=True)
    print("\r" + 40 * " " + "\r", end="", file=sys.stderr)
    if measuring.wait() != 0 or not lines:
        sys.exit(f"cliffs: bench_cliffs failed; its quantities are {', '.join(report.QUANTITIES)}")
    return lines


def full_report(quantities):
    """Builds and runs bench_cliffs; 1 if there are steps. Where there seems to be one, a quantity is measured up to five times again, as a shared machine is slow at
    times: the least cost counts."""
    subprocess.run([ROOT / "dev", "build", "bench_cliffs"], check=True, stdout=subprocess.DEVNULL)
    measured = report.read(lines_of(quantities))
    for _ in range(5):
        if doubtful := [q for q in measured if report.problems({q: measured[q]})]:
            report.keep_least(measured, report.read(lines_of(doubtful)))
    print("cliffs: CPU time of one event, mostly on 1,000 nodes of 8 devices, profile ashlar; the best of up to 9 runs, of more where one seemed slow")
    print(report.table(measured))
    picture = ROOT / "build" / "cliffs.svg"
    picture.write_text(report.plot(measured), encoding="utf-8")
    found, notes = report.problems(measured), report.notes(measured)
    print(f"\nplot: {picture.relative_to(ROOT)}\nsteps above {report.STEP:g} (costs below {report.FLOOR_US:g} us count as that): {len(found)}, known: {len(notes)}")
    for note in notes:
        print(f"  known   {note}")
    for problem in found:
        print(f"  MISSED  {problem}")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev bench cliffs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dimension", nargs="*", metavar="DIMENSION", help="default: all of --list")
    parser.add_argument("--blocking", default="easy", choices=["skip", "strict", "easy"], help="default: easy")
    parser.add_argument("--list", action="store_true", help="the dimensions")
    parser.add_argument("--report", action="store_true", help="measure to 100,000, plot, and fail at steps")
    options = parser.parse_args()
    if options.report:
        if unknown := [q for q in options.dimension if q not in report.QUANTITIES]:
            parser.error(f"no quantity {unknown[0]}; there are {', '.join(report.QUANTITIES)}")
        return full_report(options.dimension)
    if unknown := [d for d in options.dimension if d not in DIMENSIONS]:
        parser.error(f"no dimension {unknown[0]}; there are {', '.join(DIMENSIONS)}")
    if options.list:
        for name, (make, sizes) in DIMENSIONS.items():
            print(f"{name:10} {make.__doc__} {sizes}")
        return 0
    if not PROGRAM.exists():
        sys.exit("cliffs: build/release/bin/ashlar is not built; run ./dev build")
    steps = 0
    print(f"cliffs: CPU milliseconds of one event, blocking {options.blocking}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.dimension or DIMENSIONS:
            make, sizes = DIMENSIONS[name]
            print(f"\n{name}: {make.__doc__}")
            before = None
            for size in sizes:
                cost = cost_ms(make, size, options.blocking, folder)
                if cost is None:
                    print(f"  {size:8,}  more than {SECONDS_MAX} s", flush=True)
                    steps += 1
                    break
                is_step = before is not None and cost > SHORTEST_MS and cost / max(before[1], SHORTEST_MS) > STEP * size / before[0]
                steps += is_step
                print(f"  {size:8,}  {cost:10.1f} ms{'  STEP' if is_step else ''}", flush=True)
                before = (size, cost)
    print(f"\n{steps} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
