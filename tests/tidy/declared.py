"""What a C++ file declares, read from its stripped text: namespaces, classes, functions, enumerators, constants; and whether a reader outside sees them.

Like cpp_text, it reads tokens and not the language; what matters is that code formatted by our .clang-format is understood.
"""
import re
from dataclasses import dataclass

from cpp_text import SCOPE, opens_function

PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", re.M)
TEMPLATE = re.compile(r"^\s*template\s*<")
LABEL = re.compile(r"\b(public|private|protected)\s*:(?!:)")
HEAD = re.compile(r"\b(namespace|class|struct|union|enum(?:\s+(?:class|struct))?|extern)\b(?:\s*\[\[[^\]]*\]\])*\s*((?:\w+(?:<[^<>]*>)?::)*\w*)[^;]*$", re.S)
FUNCTION = re.compile(r"((?:\w+\s*(?:<[^<>()]*>)?\s*::\s*)*~?(?:operator\s*[^\s\w(]+|operator\s*\(\)|operator\b[\w\s:*&<>]*|\w+))\s*\($")
NO_FUNCTION = ("if", "for", "while", "switch", "return", "decltype", "noexcept", "requires", "alignas", "sizeof", "static_assert", "explicit", "__attribute__")


@dataclass(frozen=True)
class Declared:
    kind: str          # "type", "function", "enumerator" or "constant"
    name: str          # as written: A::f where the function stands outside its class
    scope: tuple       # the namespaces and classes around it, outermost first; "" where they have no name
    is_public: bool    # not in a private or protected part of a class, nor in a function
    in_class: bool
    line: int
    text: str          # the declaration up to its body


def without_template(text):
    """The text behind `template <...>`."""
    while TEMPLATE.match(text):
        depth, at = 0, text.index("<")
        for at in range(at, len(text)):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            if depth == 0:
                break
        text = text[at + 1:]
    return text


def function_name(text):
    """The name before the first parenthesis that opens parameters; None where there is none."""
    depth = 0
    for at, character in enumerate(text):
        if character == "<" and not text[:at].rstrip().endswith("operator"):
            depth += 1
        elif character == ">" and text[at - 1] not in "-" and depth:
            depth -= 1
        elif character == "=" and depth == 0 and "operator" not in text[:at]:
            return None
        elif character == "(" and depth == 0:
            if re.match(r"\(\s*\*", text[at:]):  # a pointer to a function is a value
                return None
            match = FUNCTION.search(text[:at + 1])
            if match and match.group(1) not in NO_FUNCTION:
                return re.sub(r"\s+", "", match.group(1)) if "operator" not in match.group(1) else match.group(1).strip()
    return None


def declared_in(text):
    """(kind, name) of one statement outside function bodies, or None: fields, forward declarations, friends and aliases of namespaces declare nothing here."""
    text = re.sub(r"\[\[[^\]]*\]\]", "", without_template(text)).strip()
    if not text or re.match(r"(?:friend|namespace|static_assert|extern\s*$|class|struct|union|enum|return)\b", text):
        return None
    alias = re.match(r"using\s+(\w+)\s*=", text)
    if alias:
        return "type", alias.group(1)
    if text.startswith(("using", "typedef")):
        return None
    function = function_name(text)
    if function and re.match(r"[\w:~]", text):
        return "function", function
    constant = re.match(r"[^={]*?\b(k[A-Z]\w*)\s*(?:\[[^\]]*\]\s*)*(?:$|[={])", text, re.S)
    if constant and re.search(r"\b(?:const|constexpr|constinit)\b", text):
        return "constant", constant.group(1)
    return None


class Reader:
    """One pass over the text: a stack of scopes, and the text since the last statement."""

    def __init__(self, code):
        self.code = PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), code)
        self.found = []
        self.scopes = []  # per open scope: [kind, name, whether what stands here is public, whether the scope itself is seen]
        self.before = ""
        self.line = 1
        self.start = 1

    def inside_class(self):
        return bool(self.scopes) and self.scopes[-1][0] in ("class", "struct", "union")

    def add(self, kind, name, text):
        seen = all(is_public for _, _, is_public in self.scopes)
        scope = tuple(name for _, name, _ in self.scopes)
        self.found.append(Declared(kind, name, scope, seen, self.inside_class(), self.start, re.sub(r"\s+", " ", text.strip())))

    def statement(self):
        declared = declared_in(self.before)
        if declared:
            self.add(*declared, self.before)
        self.before = ""

    def open_scope(self):
        head = HEAD.search(without_template(self.before).strip())
        kind, name = (head.group(1).split()[0], head.group(2)) if head else ("extern", "")
        if kind in ("class", "struct", "union", "enum") and name:
            self.add("type", name, self.before)
        self.scopes.append([kind, name, kind != "class" and not (kind == "namespace" and not name)])
        self.before = ""

    def skip_braces(self, at):
        """Behind the brace that closes the one at `at`."""
        depth = 0
        for at in range(at, len(self.code)):
            character = self.code[at]
            depth += {"{": 1, "}": -1}.get(character, 0)
            self.line += character == "\n"
            if depth == 0:
                break
        return at + 1

    def enumerators(self, at):
        end = self.code.index("}", at)
        for match in re.finditer(r"(?:^|,)\s*(\w+)", re.sub(r"=[^,]*", lambda m: " " * len(m.group(0)), self.code[at:end])):
            self.start = self.line + self.code.count("\n", at, at + match.start(1))
            self.add("enumerator", match.group(1), match.group(1))

    def open(self, at):
        """After the brace at `at`, or behind the braces of a body or a value."""
        before = self.before.strip()
        if opens_function(self.before):
            name = function_name(re.sub(r"\[\[[^\]]*\]\]", "", without_template(before)))
            if name and not before.startswith("friend"):
                self.add("function", name, before)
            self.before = ""
            return self.skip_braces(at)
        if SCOPE.search(before) is None:
            self.before += "{}"
            return self.skip_braces(at)
        self.open_scope()
        if self.scopes[-1][0] == "enum":
            self.enumerators(at + 1)
        return at + 1

    def read(self):
        at = 0
        while at < len(self.code):
            character = self.code[at]
            if character == "{":
                at = self.open(at)
                continue
            self.line += character == "\n"
            at += 1
            if character == "}":
                if self.scopes:
                    self.scopes.pop()
                self.before = ""
            elif character == ";":
                self.statement()
            else:
                if not self.before.strip() and not character.isspace():
                    self.start, self.before = self.line, ""
                self.before += character
                label = LABEL.search(self.before) if character == ":" and self.code[at:at + 1] != ":" else None
                if label and self.inside_class():
                    self.scopes[-1][2] = label.group(1) == "public"
                    self.before = ""
        return self.found


def declarations(code):
    """Everything that stripped code declares outside function bodies, in order."""
    return Reader(code).read()
