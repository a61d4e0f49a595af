"""The blocks of CONTRIBUTING's recipe: files that it adds, and diffs of files that are there."""
import re
from typing import NamedTuple

BLOCK = re.compile(r"^```(cpp|case|diff) (\S+)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    kind: str
    path: str
    body: str
    line: int

    @property
    def before(self):
        """Of a diff: the lines that the file has."""
        return "".join(line[1:] for line in self.body.splitlines(True) if line.startswith(" "))

    @property
    def after(self):
        return "".join(line[1:] for line in self.body.splitlines(True))


def blocks_of(text):
    return [Block(*match.groups(), text.count("\n", 0, match.start()) + 1) for match in BLOCK.finditer(text)]
