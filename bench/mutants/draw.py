"""Draws one-line mutants of the sources: the smallest faults a person could write, each of which some test ought to notice.

A site is a place in one line where one of the rules below applies; sites are found in code without comments and literals, formatted by our
.clang-format (binary operators have spaces around them, templates have none). Which sites are drawn depends on the seed and the sources alone.
"""
import random
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "tidy"))
from cpp_text import functions_of, strip  # noqa: E402

# What no unit test links (programs, the demo's play), or holds no logic of ours.
FOLDERS_LEFT_OUT = ("apps", "web", "envtest")


@dataclass(frozen=True)
class Mutant:
    """One line of one file, written differently."""
    file: str    # from the root of the tree
    line: int    # from 1
    rule: str
    before: str  # the whole line
    after: str

    def title(self):
        return f"{self.file}:{self.line}: {self.rule}: `{self.before.strip()}` -> `{self.after.strip() or ';'}`"

    def record(self):
        return asdict(self)


def swap(pattern, replacement):
    """A rule that rewrites each match of the pattern, one at a time."""
    compiled = re.compile(pattern)
    return lambda code: [(m.start(), m.end(), m.expand(replacement)) for m in compiled.finditer(code)]


def numbers(code):
    """Integer literals, one more each; 0 and 1 become each other. Not in names, floating point, or array types."""
    found = []
    for m in re.finditer(r"(?<![\w.'])(\d+)(?![\w.'])", code):
        value = int(m.group(1))
        found.append((m.start(), m.end(), str({0: 1, 1: 0}.get(value, value + 1))))
    return found


def named_limits(code):
    """`constexpr ... kSomething = 64` or `kSomething{1000}` becomes 1."""
    m = re.search(r"\bk[A-Z]\w*(?: = |\{)(\d[\d']*)(?=[;},])", code)
    return [(m.start(1), m.end(1), "1")] if m and "constexpr" in code and m.group(1) != "1" else []


def dropped_call(code):
    """A line that is one call and nothing else."""
    m = re.fullmatch(r"(\s*)([\w:.\->\[\]()&*]+\(.*\);)\s*", code)
    if not m or re.match(r"\s*(return|throw|co_|static_assert|using|case|delete|if|for|while|switch)\b", code):
        return []
    text = m.group(2)
    if text.count("(") != text.count(")"):
        return []
    return [(m.start(2), m.end(2), ";")]


def dropped_exit(code):
    """`if (...) return;`, `continue`, `break`: the exit is never taken."""
    m = re.fullmatch(r"\s*if \((.*)\) (return[^;]*|continue|break);\s*", code)
    return [(m.start(1), m.end(1), "false && (" + m.group(1) + ")")] if m else []


RULES = {
    "bound": [swap(r"(?<=[\w)\]]) < (?=[\w(!*&-])", " <= "), swap(r" <= ", " < "), swap(r"(?<=[\w)\]]) > (?=[\w(!*&-])", " >= "), swap(r" >= ", " > ")],
    "equality": [swap(r" == ", " != "), swap(r" != ", " == ")],
    "sign": [swap(r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), swap(r"(?<=[\w)\]]) - (?=[\w(])", " + "), swap(r" \+= ", " -= "), swap(r" -= ", " += "),
             swap(r"\+\+(?=\w)", "--"), swap(r"(?<!\w)--(?=\w)", "++")],
    "logic": [swap(r" && ", " || "), swap(r" \|\| ", " && "), swap(r"(?<=[( ])!(?=[\w(])", "")],
    "constant": [numbers, named_limits, swap(r"\btrue\b", "false"), swap(r"\bfalse\b", "true")],
    "extreme": [swap(r"\bstd::min\b", "std::max"), swap(r"\bstd::max\b", "std::min")],
    "dropped call": [dropped_call],
    "dropped exit": [dropped_exit],
}

# Lines whose mutants say nothing: declarations, checks of what must hold anyway, hints about memory, what is only printed for a person at a terminal.
SILENT = re.compile(r"ASHLAR_D?CHECK|static_assert|\breserve\(|shrink_to_fit|^\s*(#|template|using|namespace|friend|case |default:)|\boperator(<=>|==|<)|__builtin_expect"
                    r"|= default;|= delete;|\blog::|spdlog::|\[\[noreturn\]\]")


def lines_in_functions(code):
    lines = set()
    for first, last, _ in functions_of(code):
        lines.update(range(first, last + 1))
    return lines


def sites_of(file, text):
    """All mutants of one file, in the order of the text."""
    code = strip(text)
    inside = lines_in_functions(code)
    found = []
    raw_lines = text.splitlines()
    for number, (line, raw) in enumerate(zip(code.splitlines(), raw_lines), start=1):
        if SILENT.search(line) or not line.strip():
            continue
        for rule, variants in RULES.items():
            for variant in variants:
                for start, end, replacement in variant(line):
                    if number not in inside and not (variant is named_limits or (rule == "constant" and variant is not numbers and " = " in line)):
                        continue
                    if variant is dropped_exit:  # the condition keeps its literals
                        replacement = "false && (" + raw[start:end] + ")"
                    after = raw[:start] + replacement + raw[end:]
                    found.append(Mutant(file, number, rule, raw, after))
    return found


def all_sites(root):
    """Mutants of every folder of src/ that unit tests link, in the order of path and text."""
    root = Path(root)
    found = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp") or path.relative_to(root / "src").parts[0] in FOLDERS_LEFT_OUT:
            continue
        found += sites_of(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return found


def sites_within(sites, folders, files):
    """Those of the folders and of the files, both named from src/ on; all if none is named. A name that has no site raises ValueError."""
    if not folders and not files:
        return sites
    found = []
    for name, begin in [(f, f"src/{f.rstrip('/')}/") for f in folders] + [(f, f"src/{f}") for f in files]:
        of_name = [s for s in sites if s.file == begin or (begin.endswith("/") and s.file.startswith(begin))]
        if not of_name:
            raise ValueError(f"no mutant can be drawn in src/{name}")
        found += of_name
    return list(dict.fromkeys(found))


def lines_written(difference):
    """{file: numbers of its new lines}, from the text of `git diff --unified=0`."""
    written, file = {}, None
    for line in difference.splitlines():
        if line.startswith("+++ "):
            file = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@ ") and file:
            first, _, count = line.split()[2][1:].partition(",")
            written.setdefault(file, set()).update(range(int(first), int(first) + int(count or 1)))
    return written


def shuffled(sites, seed):
    """All sites in the order of being drawn. Lines first, then one site of the line, so that a crowded line is not drawn more often."""
    generator = random.Random(str(seed))
    by_line = {}
    for site in sites:
        by_line.setdefault((site.file, site.line), []).append(site)
    keys = sorted(by_line)
    generator.shuffle(keys)
    return [generator.choice(by_line[key]) for key in keys]
