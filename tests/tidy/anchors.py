#!/usr/bin/env python3
"""Anchors: links of the documentation to a line of the sources, as [`name`](../../src/file.cpp#L12). The line holds the name.

    tests/tidy/anchors.py [--fix] [ROOT]

Prints each anchor that points elsewhere; with --fix it writes the number of the nearest line that holds the name instead. Exit status 1 if one is left.
"""
import re
import sys
from pathlib import Path

ANCHOR = re.compile(r"\[`([^`\]]+)`\]\(([^)#\s]+)#L(\d+)\)")


def line_of(name, number, lines):
    """The line, from 1, that holds the name and is nearest to the number, of definitions where there are some; None where there is none."""
    found = [i for i, line in enumerate(lines, 1) if name in line]
    defined = [i for i in found if re.match(r"[A-Za-z][^=;]*(?<![\w.>])" + re.escape(name) + r"\b.*[{(,]$|.*\b" + re.escape(name) + r"\(.*\) (const )?\{", lines[i - 1])
               and not lines[i - 1].startswith((" ", "/"))]
    return min(defined or found, key=lambda i: abs(i - number)) if found else None


def anchors_of(page, root):
    """(line of the page, match, what the anchor's number should be or None, what is wrong) of each anchor that points elsewhere."""
    for at, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for match in ANCHOR.finditer(text):
            name, place, number = match.group(1), (page.parent / match.group(2)).resolve(), int(match.group(3))
            if not place.is_file():
                yield at, match, None, f"{match.group(2)} does not exist"
                continue
            right = line_of(name, number, place.read_text(encoding="utf-8", errors="replace").splitlines())
            if right is None:
                yield at, match, None, f"{match.group(2)} says nowhere {name}"
            elif right != number:
                yield at, match, right, f"{name} is in line {right} of {match.group(2)}, not {number}; ./dev fmt writes it"


def pages(root):
    return sorted(path for path in (Path(root) / "docs").rglob("*.md") if path.is_file())


def check_anchors(tree):
    for page in pages(tree.root):
        for at, _, _, problem in anchors_of(page, tree.root):
            yield page.relative_to(tree.root).as_posix(), at, problem


def fix(page, root):
    wrong = {match.group(0): (match, right) for _, match, right, _ in anchors_of(page, root) if right is not None}
    if not wrong:
        return
    text = page.read_text(encoding="utf-8")
    for old, (match, right) in wrong.items():
        text = text.replace(old, f"[`{match.group(1)}`]({match.group(2)}#L{right})")
    page.write_text(text, encoding="utf-8")


def main(arguments):
    fixes = "--fix" in arguments
    root = Path(next((a for a in arguments if a != "--fix"), "."))
    is_wrong = False
    for page in pages(root):
        if fixes:
            fix(page, root)
        for at, _, _, problem in anchors_of(page, root):
            print(f"{page}:{at}: {problem}")
            is_wrong = True
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
