#!/usr/bin/env python3
"""Runs the unit tests against one-line mutants of the sources and prints those that no test notices.

    ./dev bench mutants [N] [--seed S] [--since COMMIT] [--known] [--folder engine]... [--file PATH]... [--jobs J] [--restart]

N mutants (default 200) are drawn by the seed (default: the hash of the commit) over core and edge. Each is built incrementally in a copy of the tree
and run against the unit tests that link it, those of its own folder first; tests on a real API server are left out. What does not compile, or compiles
to the same instructions, is drawn again. Results are kept: a run that was ended goes on where it stopped; --restart forgets them. --known runs the
mutants of bench/mutants/known.json, which must all die, instead. Exit status 1 if fewer than 90 % die.
"""
import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import draw  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutants"
LEFT_OUT = ("cluster_", "web_", "demo_", "base_bench")
SECONDS_MIN = 15         # a test may take this long, or
SECONDS_FACTOR = 4       # this many times what it takes without a mutant; beyond, it hangs and the mutant is noticed
MEMORY_MAX = 6 << 30     # bytes a test may map: a mutant that allocates without end must not take the machine along
KILLED_SHARE_MIN = 0.9
# Which test program knows a folder best; others that link it come after, the quickest first.
OWN_TEST = {"src/sim/trace/": "readers_test", "src/sim/scenario/": "readers_test", "src/sim/case/": "cases_test",
            "src/sim/results": "readers_test"}


def own_test_of(file):
    for prefix, test in OWN_TEST.items():
        if file.startswith(prefix):
            return test
    return file.split("/")[1] + "_test"


def commit_hash():
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unversioned"


def difference_since(commit):
    done = subprocess.run(["git", "diff", "--unified=0", "--no-color", commit, "--", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"mutants: --since {commit}: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def sole_run(work):
    """Holds the work folder for one run. Two runs would write over each other's mutants and judge a mix of both; a run that was killed leaves no lock."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"mutants: another run uses {work}; wait for its end, or run in another checkout")
        yield


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class Tree:
    """A copy of the sources with a build folder of its own, in which one mutant at a time is built and tested."""

    def __init__(self, number):
        self.root = WORK / f"tree-{number}"
        self.build = self.root / "build"
        self.objects = {}   # object file -> digest without a mutant
        self.users = {}     # source or header -> objects
        self.tests = {}     # test program -> objects that it links
        self.seconds = {}   # test program -> how long it takes

    def copy_sources(self):
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        wanted = set()
        for name in filter(None, names):
            source, target = ROOT / name, self.root / name
            if not source.is_file():
                continue
            wanted.add(target)
            if target.exists() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for folder in ("src", "tests"):
            for path in (self.root / folder).rglob("*"):
                if path.is_file() and path not in wanted:
                    path.unlink()

    def configure(self):
        if not (self.build / "build.ninja").exists():
            # Optimised a little, with the costly checks that a release build leaves out, as in the sanitizers' run of ./dev test.
            self.must(["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"])

    def must(self, command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit("mutants: " + " ".join(str(c) for c in command) + "\n" + done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout

    def ninja(self, *targets, parallel=1):
        return subprocess.run(["ninja", "-C", str(self.build), "-j", str(parallel), *targets], capture_output=True, text=True, check=False)

    def build_all(self):
        self.must(["ninja", "-C", self.build, *self.programs()])
        self.read_dependencies()
        for objects in self.tests.values():
            for name in objects:
                if name not in self.objects:
                    self.objects[name] = digest(self.build / name)

    def programs(self):
        """The test programs that are run."""
        listed = self.must(["ninja", "-C", self.build, "-t", "targets", "all"])
        programs = {line.split(":")[0] for line in listed.splitlines() if line.startswith("bin/") and ": CXX_EXECUTABLE" in line}
        return sorted(p for p in programs if p.endswith("_test") and not Path(p).name.startswith(LEFT_OUT))

    def read_dependencies(self):
        """From ninja's own books: which objects a file goes into, and which of them each test program links."""
        for program in self.programs():
            name = Path(program).name
            inputs = self.must(["ninja", "-C", self.build, "-t", "inputs", program]).splitlines()
            self.tests[name] = {i for i in inputs if i.endswith(".o")}
        current = None
        for line in self.must(["ninja", "-C", self.build, "-t", "deps"]).splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif line.strip() and current:
                path = Path(line.strip())
                path = path if path.is_absolute() else (self.build / path)
                self.users.setdefault(os.path.normpath(path), set()).add(current)

    def objects_of(self, file):
        return self.users.get(os.path.normpath(self.root / file), set())

    def tests_of(self, file):
        """Programs that link the file: its own folder's first, then the quickest."""
        objects = self.objects_of(file)
        own = own_test_of(file)
        return sorted((t for t, linked in self.tests.items() if linked & objects), key=lambda t: (t != own, self.seconds.get(t, 0)))

    def run(self, test, limit):
        """Exit status of a test program; None if it took too long."""
        scratch = WORK / f"tmp-{self.root.name}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        environment = {**os.environ, "TMPDIR": str(scratch), "RC_PARAMS": "seed=20261122", "ASHLAR_SANITIZED": "1"}
        process = subprocess.Popen([self.build / "bin" / test, "--gtest_brief=1", "--gtest_fail_fast"], cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX)))
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def time_tests(self):
        for test in sorted(self.tests):
            started = time.monotonic()
            if self.run(test, 1200) != 0:
                sys.exit(f"mutants: {test} fails without any mutant; see {self.build / 'bin' / test}")
            self.seconds[test] = time.monotonic() - started

    def judge(self, mutant):
        """("killed", by) | ("survived", "") | ("uncompilable" | "equivalent" | "unlinked", "")"""
        path = self.root / mutant.file
        original = path.read_text(encoding="utf-8")
        lines = original.split("\n")
        if lines[mutant.line - 1] != mutant.before:
            return "uncompilable", ""
        lines[mutant.line - 1] = mutant.after
        path.write_text("\n".join(lines), encoding="utf-8")
        try:
            return self.judge_built(mutant)
        finally:
            path.write_text(original, encoding="utf-8")

    def judge_built(self, mutant):
        tests = self.tests_of(mutant.file)
        if not tests:
            return "unlinked", ""
        has_difference = False
        for test in tests:
            if self.ninja(f"bin/{test}").returncode != 0:
                return "uncompilable", ""
            touched = self.objects_of(mutant.file) & self.tests[test]
            has_difference = has_difference or any(digest(self.build / o) != self.objects[o] for o in touched)
            if not has_difference:
                continue  # this program is the same as without the mutant
            status = self.run(test, max(SECONDS_MIN, SECONDS_FACTOR * self.seconds[test]))
            if status != 0:
                return "killed", f"{test}{' (hangs)' if status is None else ''}"
        return ("survived" if has_difference else "equivalent"), ""


class Ledger:
    """What has been judged so far, in a file that a later run goes on with."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.done = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                self.done[self.key(record["mutant"])] = record

    @staticmethod
    def key(record):
        return (record["file"], record["line"], record["after"])

    def add(self, mutant, outcome, by, seconds):
        record = {"mutant": mutant.record(), "outcome": outcome, "by": by, "seconds": round(seconds, 1)}
        with self.lock:
            self.done[self.key(record["mutant"])] = record
            with self.path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")

    def outcome_of(self, mutant):
        record = self.done.get(self.key(mutant.record()))
        return record["outcome"] if record else None


def known_mutants():
    found = []
    for entry in json.loads((Path(__file__).parent / "known.json").read_text(encoding="utf-8")):
        lines = (ROOT / entry["file"]).read_text(encoding="utf-8").split("\n")
        places = [i for i, line in enumerate(lines) if entry["from"] in line]
        if len(places) != 1:
            sys.exit(f"mutants: known.json: {entry['file']} has {len(places)} lines with `{entry['from']}` ({entry['what']}); bring the entry up to date")
        before = lines[places[0]]
        found.append(draw.Mutant(entry["file"], places[0] + 1, entry["what"], before, before.replace(entry["from"], entry["to"])))
    return found


def work(tree, todo, ledger, is_enough, started):
    while not is_enough():
        try:
            mutant = todo.get_nowait()
        except queue.Empty:
            return
        begun = time.monotonic()
        outcome, by = tree.judge(mutant)
        ledger.add(mutant, outcome, by, time.monotonic() - begun)
        if outcome in ("killed", "survived"):
            print(f"{time.monotonic() - started:6.0f} s  {outcome:9} {by:24} {mutant.title()}", flush=True)


def prepare(jobs):
    trees = [Tree(k) for k in range(jobs)]
    for tree in trees:
        tree.copy_sources()
        tree.configure()
        tree.build_all()
    trees[0].time_tests()
    for tree in trees:
        tree.seconds = trees[0].seconds
    print("tests: " + ", ".join(f"{t} {s:.0f} s" for t, s in sorted(trees[0].seconds.items())), flush=True)
    return trees


def summary(drawn, ledger):
    judged = [m for m in drawn if ledger.outcome_of(m) in ("killed", "survived")]
    survivors = [m for m in judged if ledger.outcome_of(m) == "survived"]
    print(f"\n{len(judged)} mutants, {len(judged) - len(survivors)} killed, {len(survivors)} survived"
          f" ({100 * (len(judged) - len(survivors)) / max(len(judged), 1):.1f} % killed)")
    for mutant in survivors:
        print("survived  " + mutant.title())
    return len(judged), len(survivors)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=200, metavar="N", help="this many mutants that compile and differ")
    parser.add_argument("--seed", default=None, help="of the drawing; default: the hash of the commit")
    parser.add_argument("--known", action="store_true", help="the mutants of known.json instead; all must die")
    parser.add_argument("--folder", action="append", default=[], help="only of this folder of src/, e.g. engine or sim/case; may be repeated")
    parser.add_argument("--file", action="append", default=[], help="only of this file below src/, e.g. engine/cycle.cpp; may be repeated, also beside --folder")
    parser.add_argument("--since", metavar="COMMIT", help="only of lines that were written after this commit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="trees in which mutants are tried at the same time")
    parser.add_argument("--restart", action="store_true", help="forget the results of an earlier run of this seed")
    parser.add_argument("--list", action="store_true", help="only print what would be drawn")
    options = parser.parse_args()
    seed = options.seed or commit_hash()
    if options.count < 1 or options.jobs < 1:
        parser.error("N and --jobs must be at least 1")
    try:
        sites = draw.sites_within(draw.all_sites(ROOT), options.folder, options.file)
    except ValueError as error:
        parser.error(str(error))
    if options.since:
        written = draw.lines_written(difference_since(options.since))
        sites = [s for s in sites if s.line in written.get(s.file, ())]
    drawn = known_mutants() if options.known else draw.shuffled(sites, seed)
    wanted = len(drawn) if options.known else min(options.count, len(drawn))
    print(f"{len(sites)} sites, seed {seed}" if not options.known else f"{len(drawn)} known mutants", flush=True)
    if options.list:
        for mutant in drawn[:wanted]:
            print(mutant.title())
        return 0
    with sole_run(WORK):
        return judge_all(drawn, wanted, options, results_name(seed, options))


def results_name(seed, options):
    if options.known:
        return "known"
    return "seed-" + hashlib.sha256(f"{seed} {sorted(options.folder)} {sorted(options.file)} {options.since or ''}".encode()).hexdigest()[:12]


def judge_all(drawn, wanted, options, name):
    """Exit status: 0 if enough of the mutants were noticed."""
    started = time.monotonic()
    trees = prepare(options.jobs)
    ledger_path = WORK / f"results-{name}.jsonl"
    if options.restart or options.known:
        ledger_path.unlink(missing_ok=True)
    ledger = Ledger(ledger_path)
    todo = queue.Queue()
    for mutant in drawn:
        if ledger.outcome_of(mutant) is None:
            todo.put(mutant)

    def is_enough():
        return sum(r["outcome"] in ("killed", "survived") for r in list(ledger.done.values())) >= wanted

    threads = [threading.Thread(target=work, args=(tree, todo, ledger, is_enough, started), daemon=True) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)
    judged, survivors = summary(drawn, ledger)
    print(f"{time.monotonic() - started:.0f} s with {options.jobs} trees; results in {ledger_path.relative_to(ROOT)}")
    if options.known:
        return 1 if survivors or judged < wanted else 0
    return 1 if survivors > (1 - KILLED_SHARE_MIN) * judged else 0


if __name__ == "__main__":
    sys.exit(main())
