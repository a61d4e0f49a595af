"""Just enough understanding of C++ text for the tidy test: removing comments and literals, and finding the bodies of functions.

It reads tokens, not the language; what matters is that code formatted by our .clang-format is understood.
"""
import re

LITERAL = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S)

# A function's text before its body: parameters, then only what may stand behind them.
SIGNATURE = re.compile(
    r"[\w>\]=<*+\-!|&^~%/,()]\s*\([^;]*\)\s*(?:const|volatile|noexcept(?:\s*\([^()]*\))?|override|final|mutable|try|&&?|\s|->[\w\s:<>,*&()]+)*$",
    re.S)
WITH_MEMBERS = re.compile(r"\)\s*(?:noexcept(?:\s*\([^()]*\))?\s*)?:(?!:)[^;]*$", re.S)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()=]*$", re.S)
CONTROL = re.compile(r"^\s*(?:if|for|while|switch|catch|else|do|return)\b")


def strip(text):
    """The text with comments and literals blanked out, line numbers kept. Include lines keep nothing of their path."""
    return LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def opens_function(before):
    """Whether a `{` after this text, since the last statement or scope, opens a function's body."""
    before = before.strip()
    if not before or CONTROL.match(before) or SCOPE.search(before):
        return False
    if before.endswith(("=", ",", "(", "return")):
        return False
    if WITH_MEMBERS.search(before):
        return before.endswith((")", "}"))  # behind the last member; `a_` would open that member's value
    return SIGNATURE.search(before) is not None


def functions_of(code):
    """(first line, last line, signature) of each function body in stripped code; lambdas belong to the function they are in."""
    lines = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.M)
    found = []
    stack = []   # per open brace: (kind, first line, signature, text before it)
    before = ""  # since the last ; { } that ended something
    line = 1
    start = 1
    in_function = 0
    for character in lines:
        if character == "\n":
            line += 1
        if character == "{":
            is_body = not in_function and opens_function(before)
            is_scope = not in_function and not is_body and (SCOPE.search(before.strip()) is not None)
            kind = "function" if is_body else "scope" if is_scope else "value"
            stack.append((kind, start, before))
            in_function += is_body
            if kind != "value":
                before = ""
        elif character == "}":
            if not stack:
                continue
            kind, first, text = stack.pop()
            if kind == "function":
                in_function -= 1
                found.append((first, line, re.sub(r"\s+", " ", text.strip())[:80]))
            if kind == "value":
                before = text + "{}"
            else:
                before = ""
        elif character == ";" and not in_function:
            before = ""
        elif not in_function and not (stack and stack[-1][0] == "value"):
            if not before.strip() and not character.isspace():
                start = line
                before = ""
            before += character
            if re.search(r"\b(?:public|private|protected)\s*:$", before):
                before = ""
    return found
