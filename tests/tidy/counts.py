#!/usr/bin/env python3
"""The house in numbers: rooms, arrows between folders, the largest room, the median file and function.

    tests/tidy/counts.py [ROOT]
"""
import sys
from collections import Counter
from pathlib import Path

from cpp_text import functions_of
from house import INCLUDE
from tidy import CORE, Tree


def median(values):
    return sorted(values)[len(values) // 2] if values else 0


def main(arguments):
    tree = Tree(arguments[0] if arguments else ".")
    rooms = Counter(stem.parent.as_posix() for stem in {Path(name).with_suffix("") for name in tree.raw})
    arrows = {(tree.folder(name), target) for name, text in tree.raw.items() for target in INCLUDE.findall(text)
              if target != tree.folder(name) and any(n.startswith(f"src/{target}/") for n in tree.raw)}
    order = {folder: i for i, folder in enumerate(CORE)}
    up = [(a, b) for a, b in arrows if a in order and (b not in order and b != "text" or order.get(b, -1) > order[a])]
    largest, stems = max(rooms.items(), key=lambda room: room[1])
    functions = [last - first + 1 for code in tree.code.values() for first, last, _ in functions_of(code)]
    print(f"{len(rooms)} rooms in {len({tree.folder(n) for n in tree.raw})} folders; {len(arrows)} arrows between folders, {len(up)} up")
    print(f"largest room: {largest}, {stems} sources; {len(tree.raw)} files, median {median([t.count(chr(10)) for t in tree.raw.values()])} lines; "
          f"{len(functions)} functions, median {median(functions)} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
