#!/usr/bin/env python3
"""What does each public header cost a compiler, and how many of our headers stand behind a policy?

    ./dev bench headers [--runs N] [--all] [FOLDER...]

Each header of src/ is compiled alone, with the flags of the release build and without code generation; the fastest of N runs (default 3) counts, less that of
an empty file. Prints the dearest of each folder (--all: every header) and, for each source of a policy, the headers of ours that it includes, directly or not.
Exit status 1 where a policy has 10 or more.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-O3", "-march=x86-64-v3", "-Isrc", "-Ibuild/release/generated", "-fsyntax-only", "-x", "c++"]
BEHIND_A_POLICY_MAX = 9
SHOWN_OF_A_FOLDER = 3


def seconds(source, runs):
    """The fastest of some compilations; None where it does not compile alone."""
    best = None
    for _ in range(runs):
        began = time.monotonic()
        done = subprocess.run(["g++", *FLAGS, str(source)], cwd=ROOT, capture_output=True, check=False)
        if done.returncode != 0:
            return None
        best = min(best or 1e9, time.monotonic() - began)
    return best


def ours_behind(source):
    """Headers below src/ that a file includes, directly or not."""
    done = subprocess.run(["g++", "-std=c++20", "-Isrc", "-Ibuild/release/generated", "-MM", str(source)], cwd=ROOT, capture_output=True, text=True, check=False)
    return {word for word in done.stdout.split() if word.startswith("src/") and word.endswith(".h")} - {str(source)}


def costs(folders, runs):
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        probe = Path(scratch) / "probe.cpp"
        probe.write_text("", encoding="utf-8")
        empty = seconds(probe, runs)
        for header in sorted((ROOT / "src").rglob("*.h")):
            name = header.relative_to(ROOT / "src").as_posix()
            if folders and name.split("/")[0] not in folders:
                continue
            probe.write_text(f'#include "{name}"\n', encoding="utf-8")
            took = seconds(probe, runs)
            found.append((name, None if took is None else max(took - empty, 0.0), len(ours_behind(header.relative_to(ROOT)))))
    return found


def print_costs(found, shows_all):
    by_folder = defaultdict(list)
    for row in found:
        by_folder[row[0].split("/")[0]].append(row)
    print(f"{'header':48} {'alone':>8} {'ours behind it':>15}")
    for rows in by_folder.values():
        rows.sort(key=lambda r: -(r[1] or 0))
        for name, took, behind in rows if shows_all else rows[:SHOWN_OF_A_FOLDER]:
            print(f"{name:48} {'does not compile alone' if took is None else f'{took * 1000:5.0f} ms':>8} {behind:15}")
    timed = sorted(took for _, took, _ in found if took is not None)
    if timed:
        print(f"{len(timed)} headers: median {timed[len(timed) // 2] * 1000:.0f} ms, together {sum(timed):.1f} s")


def print_policies():
    counts = {}
    for source in sorted((ROOT / "src/policy").rglob("*.cpp")):
        text = source.read_text(encoding="utf-8")
        if not re.search(r"_policies\(\)|builtin_profile", text):  # the tables name every policy
            counts[source.relative_to(ROOT).as_posix()] = len(ours_behind(source.relative_to(ROOT)))
    worst = max(counts, key=counts.get)
    is_kept = counts[worst] <= BEHIND_A_POLICY_MAX
    print(f"headers of ours behind a policy: median {sorted(counts.values())[len(counts) // 2]}, most {counts[worst]} ({worst}); "
          f"limit {BEHIND_A_POLICY_MAX}: {'ok' if is_kept else 'MISSED'}")
    return is_kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="of src/; default: all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="every header, not only the dearest of each folder")
    options = parser.parse_args()
    print_costs(costs(set(options.folders), options.runs), options.all)
    return 0 if print_policies() else 1


if __name__ == "__main__":
    sys.exit(main())
