#!/usr/bin/env python3
"""CONTRIBUTING's recipe for a policy, carried out as written: on a copy of the tree each block makes its file or adds its lines; tidy accepts the result; what
has changed is compiled with the commands of the given build and linked with its other objects; each case of the recipe passes there, and not without it.

    tests/recipe/recipe_test.py BUILD_FOLDER

BUILD_FOLDER is a built one, with cases_test, such as build/release. Exit status 1 with what went wrong.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tidy"))

from recipe_blocks import blocks_of  # noqa: E402

LIBRARY = "src/policy/libashlar_policy.a"
PROGRAM = """#include <fstream>
#include <iostream>
#include <sstream>

#include "sim/case/case.h"

int main(int, char** arguments) {
  std::ostringstream text;
  text << std::ifstream(arguments[1]).rdbuf();
  const auto outcome = ashlar::sim::run_case(text.str(), arguments[1]);
  if (!outcome) return std::cout << outcome.error().message << "\\n", 2;
  std::cout << ashlar::sim::diff_text(*outcome, arguments[1], false);
  return outcome->is_as_expected() ? 0 : 1;
}
"""


class Failure(Exception):
    pass


def run(command, where, **options):
    done = subprocess.run(command, cwd=where, shell=isinstance(command, str), capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failure(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def blocks():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = blocks_of(text)
    if len([b for b in found if b.kind == "case"]) < 2:
        raise Failure("CONTRIBUTING.md: the recipe has fewer than two cases")
    return found


def carry_out(block, tree):
    target = tree / block.path
    if block.kind != "diff":
        if target.exists():
            raise Failure(f"CONTRIBUTING.md: {block.path} is there already")
        target.write_text(block.body, encoding="utf-8")
        return
    text = target.read_text(encoding="utf-8")
    if (count := text.count(block.before)) != 1:
        raise Failure(f"CONTRIBUTING.md: {block.path} has these lines {count} times, not once:\n{block.before}")
    target.write_text(text.replace(block.before, block.after), encoding="utf-8")


def command_for(build, target):
    return run(["ninja", "-C", str(build), "-t", "commands", target], ROOT).splitlines()[-1]


def compile_command(build, source, target):
    """How the build compiles sources of the policies, for this source and object."""
    command = command_for(build, "src/policy/CMakeFiles/ashlar_policy.dir/node/node.cpp.o")
    command = re.sub(r" -MD -MT \S+ -MF \S+", "", command)
    command = re.sub(r" -o \S+ -c \S+", f" -o {target} -c {source}", command)
    return command


def build_program(build, sources, tree, scratch):
    """The library of policies with the given sources in it, and a program that plays a case with it."""
    command = compile_command(build, "SOURCE", "TARGET")
    if f"-I{ROOT}/src" not in command:
        raise Failure(f"the build does not include {ROOT}/src:\n{command}")
    for source in sources:
        place = command.replace(f"-I{ROOT}/src", f"-I{tree}/src").replace("SOURCE", str(tree / source))
        run(place.replace("TARGET", str(scratch / (Path(source).name + ".o"))), build)
    library = scratch / "libashlar_policy.a"
    shutil.copy(build / LIBRARY, library)
    run(["ar", "r", str(library), *[str(scratch / (Path(s).name + ".o")) for s in sources]], scratch)
    main = scratch / "main.cpp"
    main.write_text(PROGRAM, encoding="utf-8")
    run(command.replace("SOURCE", str(main)).replace("TARGET", str(scratch / "main.o")), build)
    link = command_for(build, "bin/cases_test")
    link = re.sub(r"(?:\S*tests/unit/cases/CMakeFiles/\S+\.o )+", f"{scratch}/main.o ", link)
    for name, policies in (("with", str(library)), ("without", LIBRARY)):
        run(link.replace(LIBRARY, policies).replace("-o bin/cases_test", f"-o {scratch}/{name}").replace("libgtest_main.a", "libgtest.a"), build)


def check(build):
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        tree = scratch / "tree"
        for name in run(["git", "ls-files", "-z"], ROOT).split("\0"):
            if name and (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, tree / name)
        changed = [block.path for block in blocks()]
        for block in blocks():
            carry_out(block, tree)
        run([sys.executable, "tests/tidy/anchors.py", "--fix"], tree)  # a part of ./dev fmt
        run([sys.executable, "tests/tidy/tidy.py"], tree)
        build_program(build, sorted({p for p in changed if p.endswith(".cpp")}), tree, scratch)
        for case in [p for p in changed if p.endswith(".case")]:
            run([str(scratch / "with"), str(tree / case)], tree)
            if subprocess.run([str(scratch / "without"), str(tree / case)], cwd=tree, capture_output=True, check=False).returncode == 0:
                raise Failure(f"{case} passes without the policy that it is for")
            print(f"ok     {case}")


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    began = time.monotonic()
    try:
        check(Path(arguments[0]).resolve())
    except Failure as failure:
        print(f"the recipe of CONTRIBUTING.md does not hold: {failure}")
        return 1
    print(f"the recipe holds ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
