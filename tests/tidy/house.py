"""The second part of tidy: the words and the rooms. Each check takes the tree that tidy.py has read and yields (file, line, what is wrong)."""
import re
from collections import Counter, defaultdict
from pathlib import Path

from anchors import check_anchors

STEMS_MAX = 15           # sources of one folder, a header and its .cpp being one
SAME_FIRST_WORD_MAX = 2  # of them

# What things are called no longer, and what they are called now. Whole identifiers; words of the case language, profile keys and annotations are strings
# and stay.
GONE = {
    "Agenda": "PendingQueue", "ShapeKey": "EquivalenceClass", "ShapeId": "ClassId", "Round": "Cycle", "Promise": "Reservation", "EndSearch": "EarliestStart",
    "ClassView": "FitTable", "ViewCache": "FitTables", "EngineMemory": "EngineFields", "by_quota": "by_count",
    "rises": "freed_nodes", "losses": "changed_nodes", "gains": "unforeseen_frees", "backlog_turn": "backlog_seq", "start_turn": "start_seq",
    "bind_turn": "bind_attempt", "CardAsk": "DeviceRequest", "CardMask": "DeviceMask", "ModelId": "DeviceClassId",
    "keeps_the_laws": "is_allowed_live", "stands_alone": "is_exclusive", "problem_of": "validate", "LiveReign": "LeaderTerm", "LiveLane": "StatusWriter",
    "LiveIntake": "Tracker", "LiveActuator": "Binder", "LiveSource": "EventBuffer", "LiveCache": "StandbyCache", "PodDraft": "PodBuilder",
    "may_leave": "may_send", "Fence": "SendGuard", "SecondOpinion": "ProfileComparison", "Stance": "JobDecision", "Happening": "ScriptedEvent",
    "DurationLaw": "DurationDistribution", "stranger": "foreign_pod", "Told": "Reported", "fence": "may_send", "event_guard": "event_validation",
    "withhold": "block", "see_node": "upsert_node", "drop_node": "remove_node", "LiveRead": "ReadApi", "read_law": "read_distribution",
    "has_told_trouble_": "has_reported_trouble_", "told_again_after": "reported_again_after", "keep_to_the_beat": "decide_at_cadence",
    "told": "reported", "told_": "reported_", "told_reasons": "reported_reasons", "Ask": "MemberNeed", "asks": "needs, requests", "asks_": "needs_", "asks_of": "needs_of",
    "MemberAsk": "MemberRequest", "memory_ask": "memory_request", "take_ask": "take_request", "draft": "builder", "promised": "reserved", "promised_at": "reserved_at",
    "law": "spec, distribution, process", "ScenarioFailureLaw": "ScenarioFailureProcess", "resources_asked": "resources_requested",
}


def check_gone_words(tree):
    gone = re.compile(r"\b(" + "|".join(GONE) + r")\b")
    for name, code in tree.code.items():
        for number, line in enumerate(code.splitlines(), 1):
            match = gone.search(line)
            if match:
                yield name, number, f"{match.group(0)} is called {GONE[match.group(0)]} now"


def check_rooms(tree):
    """A folder that has grown too large, or holds files that want a folder of their own."""
    folders = defaultdict(set)
    for name in tree.raw:
        path = Path(name)
        folders[path.parent.as_posix()].add(path.stem)
    for folder, stems in sorted(folders.items()):
        if len(stems) > STEMS_MAX:
            yield folder, 1, f"{len(stems)} sources; a folder has at most {STEMS_MAX}: which of them are a room of their own?"
        words = Counter(stem.split("_")[0] for stem in stems)
        for word, count in sorted(words.items()):
            if count > SAME_FIRST_WORD_MAX and word != folder.split("/")[-1]:
                yield folder, 1, f"{count} sources begin with {word}: they want a folder"


INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/', re.M)
LIBRARY = re.compile(r"ashlar_library\(\s*(\w+)\s+(?:IN_BATCHES\s+)?DEPENDS\s+([^)]*)\)")


def check_dependencies(tree):
    """CMake links what is included, and nothing else of ours."""
    ours = {tree.folder(name) for name in tree.raw}
    for makefile in sorted(tree.root.glob("src/**/CMakeLists.txt")):
        text = makefile.read_text(encoding="utf-8")
        library = LIBRARY.search(text)
        if not library:
            continue
        folder = makefile.parent.relative_to(tree.root).as_posix()
        files = {name: raw for name, raw in tree.raw.items() if name.startswith(folder + "/")}
        included = {target for raw in files.values() for target in INCLUDE.findall(raw)} & ours - {tree.folder(folder + "/x"), "apps"}
        linked = {word for word in library.group(2).split() if word in ours}
        line = text.count("\n", 0, library.start()) + 1
        where = makefile.relative_to(tree.root).as_posix()
        for name in sorted(included - linked):
            yield where, line, f"includes {name}/ and does not depend on it"
        for name in sorted(linked - included):
            yield where, line, f"depends on {name} and includes nothing of it"


REASON_SWITCH = re.compile(r"\bcase\s+ReasonCode::k\w+")


def check_reason_switches(tree):
    """What a reason means stands once: a switch over reason codes is in model/ or text/ only."""
    for name, code in tree.code.items():
        if tree.folder(name) in ("model", "text"):
            continue
        match = REASON_SWITCH.search(code)
        if match:
            yield name, code.count("\n", 0, match.start()) + 1, "a switch over reason codes outside model/ and text/"


RULE_BY_NAME = re.compile(r"\b(?:Blocking|PlacementRule|VictimRule)::k\w+")


def check_rules_are_rows(tree):
    """The engine takes a profile's rule from a table; it never asks which one it is."""
    for name, code in tree.code.items():
        if tree.folder(name) != "engine":
            continue
        for match in RULE_BY_NAME.finditer(code):
            yield name, code.count("\n", 0, match.start()) + 1, f"{match[0]}: take the rule's row from its table instead of asking for it"


PUBLIC_TYPE = re.compile(r"^(?:(?:struct|class|enum class) (\w+)\b[^;{]*\{|using (\w+) =)", re.M)
CORE = ("base", "model", "state", "policy", "learn", "engine")


TYPE_ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.M)


def check_glossary(tree):
    """Every public type of the core is in the glossary, and every type of the glossary's table is in src."""
    glossary = tree.root / "docs/glossary.md"
    if not glossary.exists():
        return
    text = glossary.read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)`", text))
    used = {word for code in tree.code.values() for word in re.findall(r"\w+", code)}
    for row in TYPE_ROW.finditer(text):
        for name in re.findall(r"`(\w+)`", row[1]):
            if name not in used:
                yield "docs/glossary.md", text.count("\n", 0, row.start()) + 1, f"{name} is nowhere in src"
    for name, code in tree.code.items():
        if tree.folder(name) not in CORE or not name.endswith(".h"):
            continue
        for match in PUBLIC_TYPE.finditer(code):
            public = match.group(1) or match.group(2)
            if public not in known and public != "std":
                yield name, code.count("\n", 0, match.start()) + 1, f"docs/glossary.md does not say what {public} is"


DRAWN = CORE + ("live", "sim")  # folders whose rooms the drawing names


def check_drawing(tree):
    """The drawing of the house names each folder of src and each room of the folders that it draws room by room."""
    page = tree.root / "docs/explanation/house.md"
    if not page.exists():
        return
    drawn = set(re.findall(r"\w+", page.read_text(encoding="utf-8").split("```")[1]))
    folders = {Path(name).parts[1] for name in tree.raw}
    rooms = {Path(name).parts[2] for name in tree.raw if tree.folder(name) in DRAWN and len(Path(name).parts) > 3}
    for name in sorted((folders | rooms) - drawn):
        yield "docs/explanation/house.md", 1, f"the drawing does not name {name}"


NAMED_OPENING = re.compile(r"// [\w<>-]+( and [\w-]+| \(unverified\))?: \S")


def check_openings(tree):
    """A header opens with its name and what it is."""
    for name, text in tree.raw.items():
        if name.endswith(".h") and not NAMED_OPENING.match(text):
            yield name, 1, "a header opens with `// Name: what it is.`"


SUBRANGE = re.compile(r"\bstd::(?:views|ranges)::(?:equal_range|find_end|partition|remove|remove_if|rotate|search|stable_partition|subrange|unique)\b|\bstd::views::")


def check_no_subranges(tree):
    """The fuzzers are built with Debian's clang, which cannot compile GCC's subranges."""
    for name, code in tree.code.items():
        for match in SUBRANGE.finditer(code):
            yield name, code.count("\n", 0, match.start()) + 1, f"{match[0]} returns a subrange, which clang 14 cannot compile; take iterators"


CHECKS = (
    ("words that are gone", check_gone_words),
    ("rooms", check_rooms),
    ("dependencies", check_dependencies),
    ("reasons stand once", check_reason_switches),
    ("rules are rows", check_rules_are_rows),
    ("no subranges", check_no_subranges),
    ("anchors", check_anchors),
    ("glossary", check_glossary),
    ("the drawing of the house", check_drawing),
    ("names of openings", check_openings),
)
