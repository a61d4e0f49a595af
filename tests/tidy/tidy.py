#!/usr/bin/env python3
"""Checks that the tree is the house that the design draws: who includes whom, how long files and functions are, that the core
reads no clock, draws no random number, starts no thread and iterates over nothing unordered, that every folder says what it is,
that every policy is tested and documented, and that floating point is rounded the same way everywhere.

    tests/tidy/tidy.py [ROOT]

Prints one line per check; violations as file:line: what is wrong. Exit status 1 if there are any. There is no list of exceptions.
"""
import json
import re
import sys
from pathlib import Path

import house
import words
from cpp_text import functions_of, strip
from declared import declarations
from recipe_blocks import blocks_of

FILE_LINES_MAX = 500
COLUMNS_MAX = 120
FUNCTION_LINES_MAX = 70
README_LINES_MAX = 60

CORE = ("base", "model", "state", "policy", "learn", "engine")
MAY_INCLUDE = {
    "base": (),
    "model": ("base",),
    "state": ("base", "model"),
    "text": ("base", "model"),
    "names": ("base",),
    "policy": ("base", "model", "state", "text"),
    "learn": ("base", "model"),
    "engine": ("base", "model", "state", "policy", "learn", "text"),
    "http": ("base",),
    "kubeclient": ("base", "text", "http"),
    "envtest": ("base", "http", "kubeclient"),
}
EDGE_LEAVES = ("text", "names", "config")  # every edge folder may include these; config includes the core and text
# The scheduler on Kubernetes, other clusters and the agent are clients of an API server.
MAY_USE_ALSO = {"live": ("http", "kubeclient"), "federation": ("http", "kubeclient"), "agent": ("http", "kubeclient")}
EDGE = EDGE_LEAVES + ("live", "agent", "sim", "store", "signal", "federation", "cli", "web")

# What the core may include from outside: the standard library without clocks, threads, randomness and files.
BANNED_HEADERS = """atomic barrier chrono condition_variable ctime time.h filesystem fstream future iostream latch mutex
    random semaphore shared_mutex stop_token sys/time.h thread unistd.h""".split()
LEARN_MAY_USE = re.compile(r"^(Eigen|xgboost)/")
BANNED_WORDS = re.compile(
    r"\bstd::(chrono|thread|jthread|async|mutex|shared_mutex|random_device|mt19937(_64)?|default_random_engine|shuffle|cout|cerr"
    r"|ofstream|ifstream|getenv|time|clock)\b"
    r"|(?<![\w:.>])(rand|srand|random|drand48|time|clock|gettimeofday|clock_gettime|getenv|system|usleep|sleep)\s*\("
    r"|\bthread_local\b|\bvolatile\b")
UNORDERED = re.compile(r"\bunordered_(?:multi)?(?:map|set)\s*<")
FAST_MATH = re.compile(r"-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffp-contract=(?!off)\w+")


class Tree:
    """The C++ files below ROOT/src, read once, with and without comments."""

    def __init__(self, root):
        self.root = Path(root)
        self.raw = {}
        for path in sorted((self.root / "src").rglob("*")):
            if path.suffix in (".h", ".cpp") and path.is_file():
                self.raw[path.relative_to(self.root).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
        self.code = {name: strip(text) for name, text in self.raw.items()}
        self.declared = {name: declarations(code) for name, code in self.code.items()}

    def folder(self, name):
        return name.split("/")[1]

    def core(self):
        return {name: code for name, code in self.code.items() if self.folder(name) in CORE}


def allowed_folders(folder):
    """What a folder may include besides itself; None where everything is allowed."""
    if folder == "apps":
        return None
    if folder in MAY_INCLUDE:
        return MAY_INCLUDE[folder]
    if folder in EDGE_LEAVES:
        return CORE + EDGE_LEAVES
    return CORE + EDGE_LEAVES + MAY_USE_ALSO.get(folder, ())


def check_layers(tree):
    for name, text in tree.raw.items():
        folder = tree.folder(name)
        if folder not in MAY_INCLUDE and folder not in EDGE and folder != "apps":
            yield name, 1, f"folder {folder} is not in the design's table of folders"
            continue
        allowed = allowed_folders(folder)
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1).split("/")[0]
            if "/" not in match.group(1) or target.startswith("."):
                yield name, number, f'write the path from src/: "{folder}/{match.group(1)}"'
            elif target == "apps" and folder != "apps":
                yield name, number, "nothing includes apps/"
            elif target != folder and allowed is not None and target not in allowed:
                yield name, number, f"{folder} may include {', '.join(allowed) or 'no other folder'}; not {target}"


def check_core_headers(tree):
    for name in tree.core():
        for number, line in enumerate(tree.raw[name].splitlines(), 1):
            match = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if not match:
                continue
            header = match.group(1)
            if header in BANNED_HEADERS:
                yield name, number, f"the core must not include <{header}>: no clock, randomness, thread, lock or file in it"
            elif ("/" in header or "." in header) and not (tree.folder(name) == "learn" and LEARN_MAY_USE.match(header)):
                yield name, number, f"the core includes only the standard library, not <{header}>"


def check_core_words(tree):
    for name, code in tree.core().items():
        for number, line in enumerate(code.splitlines(), 1):
            match = BANNED_WORDS.search(line)
            if match:
                yield name, number, f"'{match.group(0).strip()}' has no place in the core"


def unordered_names(code):
    """Names of variables, members and type aliases declared with an unordered container."""
    for match in UNORDERED.finditer(code):
        depth, end = 1, match.end()
        while end < len(code) and depth:
            depth += {"<": 1, ">": -1}.get(code[end], 0)
            end += 1
        declared = re.match(r"\s*[&*]?\s*(\w+)\s*[;={,)(]", code[end:])
        if declared:
            yield declared.group(1)


def check_unordered(tree):
    by_folder = {}
    for name, code in tree.core().items():
        by_folder.setdefault(tree.folder(name), set()).update(unordered_names(code))
    for name, code in tree.core().items():
        for unordered in sorted(by_folder[tree.folder(name)]):
            walks = re.compile(rf"for\s*\([^;()]*:\s*(?:\w+(?:\.|->))*{unordered}\s*\)|\b{unordered}\.c?begin\s*\(")
            for match in walks.finditer(code):
                yield name, code.count("\n", 0, match.start()) + 1, f"iterates over the unordered '{unordered}': its order differs between machines"


def check_file_lines(tree):
    for name, text in tree.raw.items():
        lines = text.count("\n")
        if lines > FILE_LINES_MAX and not text.startswith("// Generated"):
            yield name, lines, f"{lines} lines; above {FILE_LINES_MAX} split the class, not the file"


def check_columns(tree):
    """Code and comments fit COLUMNS_MAX columns; the bytes of a raw string are what they must be."""
    for name, text in tree.raw.items():
        if text.startswith("// Generated"):
            continue
        raw = set()
        for match in re.finditer(r'R"(\w*)\(.*?\)\1"', text, re.S):
            first = text.count("\n", 0, match.start()) + 1
            raw.update(range(first, first + match.group(0).count("\n") + 1))
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS_MAX and number not in raw:
                yield name, number, f"{len(line)} columns; a line has at most {COLUMNS_MAX}"


def check_function_lines(tree):
    for name, code in tree.code.items():
        if tree.raw[name].startswith("// Generated"):
            continue
        for first, last, signature in functions_of(code):
            if last - first + 1 > FUNCTION_LINES_MAX:
                yield name, first, f"{last - first + 1} lines in {signature}; a function has at most {FUNCTION_LINES_MAX}"


def check_openings(tree):
    """A .cpp beside a header of the same name is described there."""
    for name, text in tree.raw.items():
        if name.endswith(".cpp") and name[:-4] + ".h" in tree.raw:
            continue
        if not text.lstrip("\ufeff").startswith("//"):
            yield name, 1, "a file opens with a comment that says what it is (`// name: ...`)"


def check_readmes(tree):
    for makefile in sorted(tree.root.glob("src/**/CMakeLists.txt")):
        folder = makefile.parent
        if not any(folder.rglob("*.h")) and not any(folder.rglob("*.cpp")):
            continue
        readme = folder / "README.md"
        where = readme.relative_to(tree.root).as_posix()
        if not readme.exists():
            yield where, 1, "missing: every folder says its purpose, main types, what it may include and how to test it"
        elif len(readme.read_text(encoding="utf-8").splitlines()) > README_LINES_MAX:
            yield where, README_LINES_MAX, f"longer than {README_LINES_MAX} lines"


def is_policy(stem, tree):
    """Whether a table in src/policy names it; best_fit_parts, say, is a part of best_fit and has no name of its own."""
    spoken = '"' + stem.replace("_", "-") + '"'
    return any(spoken in text for name, text in tree.raw.items() if tree.folder(name) == "policy")


def check_policies(tree):
    docs = tree.root / "docs/reference/policies.md"
    rows = [line for line in docs.read_text(encoding="utf-8").splitlines() if line.startswith("|")] if docs.exists() else []
    specs = [path for kind in ("unit", "cases") for path in (tree.root / "tests" / kind).rglob("*") if path.suffix in (".cpp", ".h", ".case")]
    tests = "\n".join(path.stem + "\n" + path.read_text(encoding="utf-8", errors="replace") for path in specs)
    stems = {}
    for name in tree.raw:
        parts = name.split("/")
        if len(parts) == 4 and parts[1] == "policy" and parts[2] in ("node", "score", "order", "victim", "device"):
            stems.setdefault(Path(name).stem, name)
    for stem, name in stems.items():
        if stem == name.split("/")[2] or not is_policy(stem, tree):  # the table of a kind is called as the kind
            continue
        spelling = rf"(?<![\w-]){stem.replace('_', '[-_]')}(?![\w-])"
        # Words such as "model" or "random" are everywhere: a test names the policy as such, by its header, in quotes, as a setting of a case, or a case is
        # called like it.
        kind = name.split("/")[2]
        named = rf"policy/{kind}/{stem}\.h|\"{stem.replace('_', '[-_]')}[-\w]*\"|^profile .*{spelling}|lower_by_{stem}\b|^{stem.replace('_', '[-_]')}$"
        if not re.search(named, tests, re.MULTILINE):
            yield name, 1, f"no test or case under tests/ names the policy {stem}"
        if not any(re.search(spelling, row) for row in rows):
            yield name, 1, f"no row of docs/reference/policies.md names {stem}"
        header = str(Path(name).with_suffix(".h"))
        opening = "\n".join(words.opening_of(tree.raw.get(header, "")))
        if header in tree.raw and not ("Example" in opening and "Cost" in opening):
            yield header, 1, "a policy's header states an example and its cost"


def check_codes(tree):
    """Every code that a user reads has a row: what the functions called *reason_name return, and the table of reasons."""
    docs = tree.root / "docs/reference/reasons.md"
    rows = docs.read_text(encoding="utf-8") if docs.exists() else ""
    for name, text in tree.raw.items():
        blocks = list(re.finditer(r"^std::string_view \w*reason_name\(.*?^}", text, re.M | re.S))
        codes = [(code, block.start()) for block in blocks for code in re.findall(r'return "(\w+)"', block[0])]
        codes += [(match[1], match.start()) for match in re.finditer(r'\.code = ReasonCode::k\w+,\s*\.name = "(\w+)"', text)]
        for code, at in dict(codes).items():
            if f"\n| `{code}` |" not in rows:
                yield name, text.count("\n", 0, at) + 1, f"no row of docs/reference/reasons.md explains {code}"


def check_answers(tree):
    """Every key of the read API's JSON has a row: what is written by member(), member_bool() and key()."""
    docs = tree.root / "docs/reference/json.md"
    rows = docs.read_text(encoding="utf-8") if docs.exists() else ""
    for name, text in tree.raw.items():
        if not name.endswith("/read_api.cpp"):
            continue
        for match in re.finditer(r'\b(?:member(?:_bool)?|key)\("(\w+)"', text):
            if not re.search(rf"[`.]{match[1]}(?:\[\]|\.\*)*[`.]", rows):
                yield name, text.count("\n", 0, match.start()) + 1, f"docs/reference/json.md does not explain the key {match[1]}"


METRIC = re.compile(r'"(ashlar_[a-z0-9_]+)"')


def check_metrics(tree):
    """Every series that the scheduler serves has a row in the reference, and every row is a series."""
    docs = tree.root / "docs/reference/metrics.md"
    rows = {}
    for number, line in enumerate(docs.read_text(encoding="utf-8").splitlines() if docs.exists() else (), 1):
        if line.startswith("| `ashlar_"):
            rows.update({name: number for name in re.findall(r"`(ashlar_\w+)`", line.split(" | ")[0])})
    served = set()
    for name, text in tree.raw.items():
        if not name.startswith("src/live/read/"):
            continue
        for match in METRIC.finditer(text):
            served.add(match[1])
            if match[1] not in rows:
                yield name, text.count("\n", 0, match.start()) + 1, f"docs/reference/metrics.md does not describe {match[1]}"
    for row in sorted(set(rows) - served):
        yield "docs/reference/metrics.md", rows[row], f"nothing in src/live/read serves {row}"


def check_float_flags(tree):
    texts = [tree.root / "CMakeLists.txt", tree.root / "CMakePresets.json", tree.root / "dev"]
    for pattern in ("cmake/*", "src/**/CMakeLists.txt", "tests/**/CMakeLists.txt", "bench/**/CMakeLists.txt", "dev.d/*"):
        texts += sorted(tree.root.glob(pattern))
    for path in texts:
        if not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if FAST_MATH.search(line.split("#")[0]):
                yield path.relative_to(tree.root).as_posix(), number, "floating point must be rounded as written: no fast-math, no contraction"
    for name, code in tree.code.items():
        for number, line in enumerate(code.splitlines(), 1):
            if re.search(r"#\s*pragma\s+(GCC\s+optimize|STDC\s+FP_CONTRACT\s+ON)|__attribute__\s*\(\(\s*optimize", line):
                yield name, number, "no pragma or attribute changes the rounding or optimisation flags of a file"
    flags = tree.root / "cmake/flags.cmake"
    if not flags.exists() or not re.search(r"^add_compile_options\([^)]*-ffp-contract=off", flags.read_text(encoding="utf-8"), re.M):
        yield "cmake/flags.cmake", 1, "must add -ffp-contract=off unconditionally"


def check_compile_commands(tree):
    presets = tree.root / "CMakePresets.json"
    names = [p["name"] for p in json.loads(presets.read_text(encoding="utf-8")).get("configurePresets", [])] if presets.exists() else []
    for preset in names:
        path = tree.root / "build" / preset / "compile_commands.json"
        if not path.exists():
            continue
        for entry in json.loads(path.read_text(encoding="utf-8")):
            contract = re.findall(r"-ffp-contract=\w+", entry["command"])
            if contract != ["-ffp-contract=off"] or FAST_MATH.search(entry["command"]):
                yield path.relative_to(tree.root).as_posix(), 1, f"{Path(entry['file']).name} is not compiled with -ffp-contract=off alone"


HEADERS_OF_A_POLICY_MAX = 9


def headers_behind(tree, name, seen):
    """Our headers that a file includes, directly or not."""
    for target in re.findall(r'^\s*#\s*include\s+"([^"]+)"', tree.raw.get(name, ""), re.M):
        header = f"src/{target}"
        if header in tree.raw and header not in seen:
            seen.add(header)
            headers_behind(tree, header, seen)
    return seen


def check_policy_headers(tree):
    """A policy sees the columns of the nodes, or one job: a reader of it, and its compiler, read little else. Tables of policies include them all."""
    for name in tree.raw:
        parts = name.split("/")
        is_table = len(parts) == 4 and parts[3] == f"{parts[2]}.cpp"
        if len(parts) < 4 or parts[:2] != ["src", "policy"] or not name.endswith(".cpp") or is_table:
            continue
        count = len(headers_behind(tree, name, set()))
        if count > HEADERS_OF_A_POLICY_MAX:
            yield name, 1, f"{count} headers of ours are behind this policy, {HEADERS_OF_A_POLICY_MAX} at most: include what it uses"


def check_recipe(tree):
    """A diff of CONTRIBUTING's recipe names lines that its file has, once; the recipe's test carries it out."""
    contributing = tree.root / "CONTRIBUTING.md"
    text = contributing.read_text(encoding="utf-8") if contributing.exists() else ""
    for block in blocks_of(text):
        if block.kind != "diff":
            continue
        target = tree.root / block.path
        there = target.read_text(encoding="utf-8") if target.exists() else ""
        if there.count(block.before) != 1 and there.count(block.after) != 1:
            yield "CONTRIBUTING.md", block.line, f"{block.path} has the first lines of this diff {there.count(block.before)} times, not once"


CHECKS = (
    ("layers", check_layers),
    ("headers behind a policy", check_policy_headers),
    ("headers of the core", check_core_headers),
    ("words of the core", check_core_words),
    ("unordered iteration in the core", check_unordered),
    ("file length", check_file_lines),
    ("line length", check_columns),
    ("function length", check_function_lines),
    ("file openings", check_openings),
    ("folder READMEs", check_readmes),
    ("policies tested and documented", check_policies),
    ("codes documented", check_codes),
    ("answers documented", check_answers),
    ("metrics documented", check_metrics),
    ("the recipe's diffs", check_recipe),
    ("floating-point flags", check_float_flags),
    ("compile commands", check_compile_commands),
) + house.CHECKS + words.CHECKS


def violations(root):
    """Every violation below root as (check, file, line, message), in the order of CHECKS."""
    tree = Tree(root)
    return [(title, *found) for title, check in CHECKS for found in check(tree)]


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = violations(root)
    for title, _ in CHECKS:
        here = [violation for violation in found if violation[0] == title]
        print(f"tidy: {title}: {'ok' if not here else f'{len(here)} violations'}")
        for _, file, line, message in here:
            print(f"  {file}:{line}: {message}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
