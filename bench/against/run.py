#!/usr/bin/env python3
"""Is this tree slower than an earlier commit? Runs a bench of both in turns and compares the medians.

    ./dev bench against COMMIT [--bench engine|sim|cluster|log|policy] [--pairs 7] [--limit 1.03] [-- OPTIONS OF THE BENCH]

The commit is built in a checkout of its own under build/against. Each pair runs both programs, the order changing from pair to pair, so that what else
happens on the machine falls on both. For every figure that both print: the two medians, and the median of the pairs' ratios, as cost (1.05: this tree
needs 5 % more; for rates the other way round). Exit status 1 if a ratio is above the limit (default 1.03, for `cluster` 1.10).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "against"
ROW = re.compile(r"^  ((?:  )?\S.*?)\s{2,}(-?[\d.]+) (\S.*?)\s*(?:(?:<=|>=) .*)?$")
RATES = ("per second", "k/s", "pods/s", "MB/s", "/s")
LIMITS = {"cluster": 1.10}


def rows_of(text):
    """What a bench printed: name -> (value, unit). A row that is set in belongs to the one above it."""
    found, main_row = {}, ""
    for line in text.splitlines():
        if m := ROW.match(line):
            name = m.group(1)
            main_row = main_row if name.startswith(" ") else name
            found[name if name == main_row else f"{main_row[:40]}...:{name[1:]}"] = (float(m.group(2)), m.group(3).strip())
    return found


def cost_ratio(base, new, unit):
    """How much more this tree needs than the base."""
    if base <= 0 or new <= 0:
        return None
    return base / new if unit.endswith(RATES) else new / base


def run(command, where, **more):
    return subprocess.run([str(c) for c in command], cwd=where, check=False, text=True, **more)


def build(tree, targets):
    if run(["./dev", "build", *targets], tree, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"against: {' '.join(targets)} of {tree} does not build; see `./dev build {targets[0]}` there")


def checkout(commit):
    """The folder of the base commit, and its hash."""
    named = run(["git", "rev-parse", "--verify", "--quiet", commit + "^{commit}"], ROOT, stdout=subprocess.PIPE)
    if named.returncode != 0:
        sys.exit(f"against: no commit '{commit}' in this repository")
    digest = named.stdout.strip()
    tree = WORK / digest[:12]
    if not tree.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, tree], ROOT)
        run(["git", "checkout", "--quiet", "--detach", digest], tree)
    return tree, digest[:7]


def figures(tree, bench, more):
    done = run([tree / "build" / "release" / "bin" / f"bench_{bench}", *more], tree, stdout=subprocess.PIPE)
    rows = rows_of(done.stdout)
    if not rows:  # a missed limit of its own is no reason to stop; no figures are
        sys.exit(f"against: bench_{bench} of {tree} printed no figures (exit status {done.returncode})")
    return rows


def report(pairs, limit):
    """Prints the table; returns how many figures are above the limit."""
    missed = 0
    print(f"\n{'figure':78} {'base':>12} {'now':>12} {'unit':10} {'cost':>6}")
    for name, (_, unit) in pairs[0][0].items():
        values = [(b[name][0], n[name][0]) for b, n in pairs if name in b and name in n]
        ratios = [r for b, n in values if (r := cost_ratio(b, n, unit)) is not None]
        if len(ratios) < len(pairs):
            continue
        ratio = statistics.median(ratios)
        missed += ratio > limit
        print(f"{name:78} {statistics.median(b for b, _ in values):12.1f} {statistics.median(n for _, n in values):12.1f} {unit:10} {ratio:6.3f}"
              f"{' MISSED' if ratio > limit else ''}")
    return missed


def main():
    parser = argparse.ArgumentParser(prog="./dev bench against", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the base")
    parser.add_argument("--bench", default="engine", choices=["engine", "sim", "cluster", "log", "policy"], help="default: engine")
    parser.add_argument("--pairs", type=int, default=7, help="default: 7")
    parser.add_argument("--limit", type=float, default=None, help="of the cost ratio; default: 1.03, for cluster 1.10")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, more = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")
    limit = options.limit or LIMITS.get(options.bench, 1.03)
    os.environ.setdefault("ASHLAR_TRACES", str(ROOT.parent / "shared" / "traces"))
    tree, short = checkout(options.commit)
    targets = [f"bench_{options.bench}"] + (["ashlar"] if options.bench in ("sim", "cluster") else [])
    build(tree, targets)
    build(ROOT, targets)
    if options.bench == "cluster":
        script = ROOT / "tests" / "controlplane" / "build.sh"
        os.environ["ASHLAR_ASSETS"] = run([script, "--where"], ROOT, stdout=subprocess.PIPE).stdout.strip()
    pairs = []
    for i in range(options.pairs):
        order = [tree, ROOT] if i % 2 == 0 else [ROOT, tree]
        seen = {t: figures(t, options.bench, more) for t in order}
        pairs.append((seen[tree], seen[ROOT]))
        print(f"pair {i + 1} of {options.pairs}: " + ", ".join(f"{r:.3f}" for n, (b, u) in seen[tree].items()
                                                                 if n in seen[ROOT] and (r := cost_ratio(b, seen[ROOT][n][0], u)) is not None), flush=True)
    print(f"bench {options.bench}: base {short} against this tree, medians of {options.pairs} pairs, limit {limit}")
    missed = report(pairs, limit)
    print(f"\n{missed} figures above {limit}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
