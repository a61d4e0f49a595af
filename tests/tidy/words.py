"""The third part of tidy: classes, names, phrases and printers. Each check takes the tree that tidy.py has read and yields (file, line, what is wrong)."""
import re
from collections import Counter, defaultdict
from pathlib import Path

from cpp_text import LITERAL


TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")


def class_paths(tree):
    """The full names of all classes, each namespace and outer class included: ashlar::kube::Api::Session."""
    found = set()
    for declared in tree.declared.values():
        for item in declared:
            if item.kind == "type" and not item.text.startswith(("using", "enum")):
                found.add("::".join((*item.scope, TEMPLATE_ARGUMENTS.sub("", item.name))))
    return found


def check_one_source(tree):
    """The members of one class that are defined outside it are defined in one source."""
    classes = class_paths(tree)
    sources = defaultdict(dict)
    for name, declared in tree.declared.items():
        if not name.endswith(".cpp"):
            continue
        for item in declared:
            outer, _, member = TEMPLATE_ARGUMENTS.sub("", item.name).rpartition("::")
            path = "::".join((*item.scope, outer))
            if item.kind == "function" and member and path in classes and "" not in item.scope:  # a class without a name outside is in one file anyway
                sources[path].setdefault(name, item.line)
    for path, found in sorted(sources.items()):
        first, *others = sorted(found)
        for name in others:
            yield name, found[name], f"members of {path.rpartition('::')[2]} are defined in {first} as well: split the class, not the file"


# The language asks for these by name: ranges, tuples, hashes.
LANGUAGE_NAMES = {"begin", "end", "value_type", "iterator", "const_iterator", "is_transparent", "main", "is_avalanching"}
FOR_TESTS = re.compile(r"//.*\bfor tests\b", re.I)
TEST_LIBRARIES = ("envtest",)  # what tests and benchmarks use of them is used
DEFINE = re.compile(r"^[ \t]*#\s*define\b(?:[^\n\\]|\\.|\\\n)*", re.M)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def pair_of(name):
    """A header and the source of the same name are one thing."""
    return name.rsplit(".", 1)[0]


def is_marked_for_tests(lines, number):
    """Whether `for tests` stands on a declaration's line, or in the comment right above it."""
    above = number - 1
    while above > 0 and lines[above - 1].strip().startswith("//"):
        above -= 1
    return any(FOR_TESTS.search(line) for line in lines[above:number])


def is_looked_for(item):
    """Whether somebody outside should use this declaration by its name: not what is private, constructors, conversions, what a base class or a template names."""
    if not item.is_public or not re.fullmatch(r"\w+", item.name) or item.name in LANGUAGE_NAMES or re.search(r"^template\s*<\s*>", item.text):
        return False
    if item.kind == "function":
        return not (item.in_class and item.name == item.scope[-1]) and not re.search(r"\b(?:override|friend|virtual)\b", item.text)
    return not (item.in_class and item.kind == "constant")


def files_by_word(tree):
    """(the pairs of src in which each identifier occurs, the identifiers of tests and benchmarks)."""
    found = defaultdict(set)
    for name, code in tree.code.items():
        for word in set(IDENTIFIER.findall(code)):
            found[word].add(pair_of(name))
    in_tests = set()
    for folder in ("tests", "bench"):
        for path in (tree.root / folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                in_tests.update(IDENTIFIER.findall(path.read_text(encoding="utf-8", errors="replace")))
    return found, in_tests


def is_used_in_pair(tree, name, item, declared_times):
    """Whether the header needs it itself, or its source does so as somebody outside would: by calling it on an object, or by naming an enumerator."""
    if len(re.findall(rf"\b{item.name}\b", tree.code[name])) > declared_times:
        return True
    source = tree.code.get(pair_of(name) + ".cpp", "")
    use = rf"[\w)\]]\s*(?:\.|->)\s*{item.name}\b" if item.in_class else rf"\b{item.name}\b" if item.kind == "enumerator" else r"(?!)"
    return re.search(use, re.sub(r"\bthis\s*->", "", source)) is not None


def check_used_nowhere(tree):
    """What a header declares is used in src, outside its source; what only its source needs is private, what only tests need says so."""
    files, in_tests = files_by_word(tree)
    macros = {word for code in tree.code.values() for define in DEFINE.findall(code) for word in IDENTIFIER.findall(define)}
    for name, declared in tree.declared.items():
        if not name.endswith(".h") or tree.raw[name].startswith("// Generated"):
            continue
        times = Counter(item.name for item in declared)
        lines = tree.raw[name].splitlines()
        for item in declared:
            if not is_looked_for(item) or item.name in macros or files[item.name] - {pair_of(name)}:
                continue
            if tree.folder(name) in TEST_LIBRARIES and item.name in in_tests:
                continue
            if not is_used_in_pair(tree, name, item, times[item.name]) and not is_marked_for_tests(lines, item.line):
                yield name, item.line, f"{item.kind} {item.name} is used nowhere else in src: remove it, hide it in the source, or mark it `for tests`"


SENTENCES_MAX = 3
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|vs)\.")
SENTENCE_END = re.compile(r"[.!?][)\"'`]*(?=\s+[(\"'`]*[A-Z]|\s*$)")
OF_A_POLICY = re.compile(r"(?:Example|Cost)\b[^:.]*:")


def opening_of(text):
    """The comment that a file opens with, as lines without their slashes."""
    return [line[2:] for line in re.match(r"(?:\ufeff?//[^\n]*\n)*", text)[0].splitlines()]


def sentences_of(lines):
    """The sentences of an opening; lines indented by three or more are tables and examples in code."""
    prose = " ".join(line.strip() for line in lines if not line.startswith("   "))
    starts = [0] + [match.end() for match in SENTENCE_END.finditer(ABBREVIATION.sub(lambda match: "x" * len(match[0]), prose))]
    found = [prose[start:end].strip() for start, end in zip(starts, starts[1:] + [len(prose)])]
    return [sentence for sentence in found if sentence]


def check_header_paragraphs(tree):
    """A header opens with at most three sentences; what a policy says under `Example:` and `Cost:`, which it must say, does not count."""
    for name, text in tree.raw.items():
        if not name.endswith(".h") or text.startswith("// Generated"):
            continue
        sentences = sentences_of(opening_of(text))
        if tree.folder(name) == "policy":
            sentences = [sentence for sentence in sentences if not OF_A_POLICY.match(sentence)]
        if len(sentences) > SENTENCES_MAX:
            yield name, 1, f"opens with {len(sentences)} sentences; at most {SENTENCES_MAX}: move what one function promises to that function"


# Phrases that are always worse than another one, and that one; whole words, in any case, also over the end of a line of a comment.
GONE_PHRASES = {
    "so many": "this many, that many, at most N",
    "whoever": "any job that, any process that",
    "beyond recall": "cannot be cancelled",
    "handed to the kernel": "written to the socket",
    "room came": "capacity was freed",
    "it lacks": "what is missing",
    "who waits": "waiting jobs",
    "those who wait": "waiting jobs",
    "who may run": "which jobs may run",
    "who goes first": "which job goes first",
    "is told": "is reported, is given",
    "are told": "are reported, are given",
    "was told": "was reported, was given",
    "were told": "were reported, were given",
    "be told": "be reported, be given",
}
# The same in cases, which are specifications: one word for one thing, and jobs are no persons.
GONE_IN_CASES = GONE_PHRASES | {
    "promise": "reservation", "promises": "reservations", "promised": "reserved",
    "who": "a job that", "whom": "the jobs that", "nobody": "no job", "somebody": "another job, another writer",
    "asks": "requests", "told": "reported, given", "is said": "is given", "are said": "are given",
}


def phrase_pattern(phrases):
    return re.compile(r"\b(?:" + "|".join(phrase.replace(" ", r"(?:\s+(?:(?://+<?|#)\s+)?)") for phrase in phrases) + r")\b(?! (?:apart|from)\b)", re.I)


GONE_PHRASE = phrase_pattern(GONE_PHRASES)
GONE_IN_CASE = phrase_pattern(GONE_IN_CASES)
HASH_COMMENT = re.compile(r"(?<![^\s])#(?!\d).*")


def words_of(text, comments_only):
    """The comments of a source, and its literals if wanted; everything else blanked out, line numbers kept."""
    kept, end = [], 0
    for match in LITERAL.finditer(text):
        kept.append(re.sub(r"[^\n]", " ", text[end:match.start()]))
        is_comment = match[0].startswith(("//", "/*"))
        kept.append(match[0] if is_comment or not comments_only else re.sub(r"[^\n]", " ", match[0]))
        end = match.end()
    return "".join(kept)


def comments_with_hashes(text):
    """The comments of a script, a manifest or a case, line numbers kept."""
    return "\n".join((HASH_COMMENT.search(line) or [""])[0] for line in text.split("\n"))


def files_below(root, *patterns):
    """(name, text) of the files that match; build outputs and what others wrote are not below these patterns."""
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and "tidy" not in path.parts:  # which holds the phrases themselves
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def written_texts(tree):
    """(file, what people wrote in it) of the sources, the tests, scripts and manifests, and the pages. What a decision or the changelog says stays."""
    for name, text in tree.raw.items():
        if not text.startswith("// Generated"):
            yield name, words_of(text, comments_only=False)
    for path in sorted((tree.root / "tests").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            yield path.relative_to(tree.root).as_posix(), words_of(path.read_text(encoding="utf-8", errors="replace"), comments_only=False)
    yield from files_below(tree.root, "tests/**/*.py", "bench/**/*.py")
    for name, text in files_below(tree.root, "deploy/**/*.yaml", "dev.d/*.sh"):
        yield name, comments_with_hashes(text)
    pages = [tree.root / "README.md", tree.root / "CONTRIBUTING.md"]
    for folder in ("docs", "src"):
        pages += sorted((tree.root / folder).rglob("*.md"))
    for path in pages:
        name = path.relative_to(tree.root).as_posix()
        if path.is_file() and not name.startswith("docs/decisions/"):
            yield name, path.read_text(encoding="utf-8")


def gone_phrases_of(name, text, pattern, phrases):
    for match in pattern.finditer(text):
        phrase = " ".join(word for word in match[0].lower().split() if not word.startswith(("/", "#")))
        yield name, text.count("\n", 0, match.start()) + 1, f"'{phrase}': better {phrases[phrase]}"


def check_gone_phrases(tree):
    for name, text in written_texts(tree):
        yield from gone_phrases_of(name, text, GONE_PHRASE, GONE_PHRASES)
    for name, text in files_below(tree.root, "tests/cases/**/*.case"):
        yield from gone_phrases_of(name, comments_with_hashes(text), GONE_IN_CASE, GONE_IN_CASES)


# What has one printer and one parser, in text/: how functions that print or parse it are called.
CONCEPTS = {
    "durations": r"(?:parse|format|print)_\w*duration|\w*(?:duration|span)_(?:text|in_words)",
    "amounts": r"(?:parse|format|print)_(?:amount|quantity|cores|cpu|bytes|memory|gpus|milli)\w*|(?:amount|quantity|quota|dimension|memory|bytes)_(?:text|in_words)",
    "lists of devices": r"(?:parse|format|print)_(?:devices?|cards?|mask)\w*|(?:devices?|cards?|mask)_(?:text|in_words|ranges|list)",
    "the nearest name": r"edit_distance|levenshtein\w*|nearest_\w+|did_you_mean",
}
DID_YOU_MEAN = re.compile(r'"[^"\n]*\bdid you mean\b', re.I)


def check_one_printer(tree):
    """Durations, amounts, lists of devices and the nearest name are printed and parsed by free functions of text/ only; members may call those."""
    in_sources = {item.name for name, declared in tree.declared.items() if name.endswith(".cpp") for item in declared if item.kind == "function"}
    for name, declared in tree.declared.items():
        if tree.folder(name) == "text":
            continue
        for item in declared:
            if item.kind != "function" or item.in_class or "::" in item.name or (name.endswith(".h") and item.name in in_sources):
                continue
            for concept, names in CONCEPTS.items():
                if re.fullmatch(names, item.name):
                    yield name, item.line, f"{item.name}: text/ alone prints and parses {concept}"
        literals = words_of(tree.raw[name], comments_only=False)
        for match in DID_YOU_MEAN.finditer(re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), literals)):
            yield name, literals.count("\n", 0, match.start()) + 1, "'did you mean': text/ alone says it"


CHECKS = (
    ("one class, one source", check_one_source),
    ("used nowhere", check_used_nowhere),
    ("header paragraphs", check_header_paragraphs),
    ("phrases that are gone", check_gone_phrases),
    ("one printer, one parser", check_one_printer),
)
