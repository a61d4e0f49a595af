#!/usr/bin/env python3
"""Each rule writes the fault it is named for, and nothing where a mutant would say nothing."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import draw  # noqa: E402
import run  # noqa: E402


def after(line, prefix="int f(int a, int b) {\n"):
    """The mutants of one line inside a function, as (rule, what the line becomes)."""
    text = "// A file.\n" + prefix + line + "\n  return a;\n}\n"
    number = 1 + len(prefix.splitlines()) + 1
    return {(m.rule, m.after.strip()) for m in draw.sites_of("src/base/a.cpp", text) if m.line == number}


class Rules(unittest.TestCase):
    def test_bounds(self):
        self.assertIn(("bound", "if (a <= b) g();"), after("  if (a < b) g();"))
        self.assertIn(("bound", "if (a > b) g();"), after("  if (a >= b) g();"))

    def test_template_brackets_are_no_bounds(self):
        self.assertEqual(set(), {m for m in after("  std::vector<int> x = h<int>(a);") if m[0] == "bound"})

    def test_arrows_are_no_signs(self):
        self.assertEqual(set(), {m for m in after("  auto y = p->q(b);") if m[0] == "sign"})

    def test_signs(self):
        self.assertIn(("sign", "a -= b;"), after("  a += b;"))
        self.assertIn(("sign", "--a;"), after("  ++a;"))

    def test_logic(self):
        self.assertIn(("logic", "if (x || !y) g();"), after("  if (x && !y) g();"))
        self.assertIn(("logic", "if (x && y) g();"), after("  if (x && !y) g();"))

    def test_constants(self):
        self.assertIn(("constant", "int c = 8;"), after("  int c = 7;"))
        self.assertIn(("constant", "x = false;"), after("  x = true;"))

    def test_named_limits_stand_outside_functions_too(self):
        found = draw.sites_of("src/base/a.h", "// A file.\nconstexpr std::size_t kTriesMax = 64;\n")
        self.assertIn("constexpr std::size_t kTriesMax = 1;", {m.after for m in found})

    def test_dropped_calls_and_exits(self):
        self.assertIn(("dropped call", ";"), after("  rows.push_back(a);"))
        self.assertIn(("dropped exit", "if (false && (a == 3)) return 1;"), after("  if (a == 3) return 1;"))

    def test_conditions_of_dropped_exits_keep_their_literals(self):
        self.assertIn(("dropped exit", 'if (false && (s == "x")) continue;'), after('  if (s == "x") continue;'))

    def test_comments_literals_and_checks_are_left_alone(self):
        for line in ('  // a < b && c == 3', '  ASHLAR_CHECK(a < b);', '  rows.reserve(3);'):
            self.assertEqual(set(), after(line), line)
        self.assertEqual(set(), {m for m in after('  s = "1 < 2";') if m[0] in ("bound", "constant")})

    def test_a_mutant_differs_from_its_line(self):
        for m in draw.sites_of("src/base/a.cpp", "int f(int a) {\n  if (!a && a < 3) return a + 1;\n  return 0;\n}\n"):
            self.assertNotEqual(m.before, m.after)


class Drawing(unittest.TestCase):
    sites = draw.sites_of("src/base/a.cpp", "int f(int a) {\n  ++a;\n  a += 3;\n  return a < 5 ? 1 : 0;\n}\n")

    def test_the_seed_decides(self):
        self.assertEqual(draw.shuffled(self.sites, "s"), draw.shuffled(self.sites, "s"))

    def test_one_site_of_a_line(self):
        drawn = draw.shuffled(self.sites, "s")
        self.assertEqual(len({m.line for m in drawn}), len(drawn))


class Within(unittest.TestCase):
    sites = [site for file in ("src/state/a.cpp", "src/state/a.cpp.h", "src/state/time/b.cpp", "src/stately/c.cpp")
             for site in draw.sites_of(file, "int f(int a) {\n  ++a;\n  return a < 5 ? 1 : 0;\n}\n")]

    def files_of(self, folders, files):
        return sorted({s.file for s in draw.sites_within(self.sites, folders, files)})

    def test_all_if_nothing_is_named(self):
        self.assertEqual(self.sites, draw.sites_within(self.sites, [], []))

    def test_a_folder_is_what_lies_in_it(self):
        self.assertEqual(["src/state/a.cpp", "src/state/a.cpp.h", "src/state/time/b.cpp"], self.files_of(["state"], []))
        self.assertEqual(["src/state/time/b.cpp"], self.files_of(["state/time/"], []))

    def test_a_file_is_no_beginning_of_another(self):
        self.assertEqual(["src/state/a.cpp"], self.files_of([], ["state/a.cpp"]))

    def test_folders_and_files_together(self):
        self.assertEqual(["src/state/time/b.cpp", "src/stately/c.cpp"], self.files_of(["state/time"], ["stately/c.cpp"]))

    def test_what_is_named_twice_is_drawn_once(self):
        self.assertEqual(draw.sites_within(self.sites, ["state"], []), draw.sites_within(self.sites, ["state"], ["state/a.cpp", "state/a.cpp"]))

    def test_a_name_without_mutants_is_refused(self):
        for folders, files in ((["stat"], []), ([], ["state/gone.cpp"]), ([], ["state"])):
            with self.assertRaises(ValueError):
                draw.sites_within(self.sites, folders, files)


class Lock(unittest.TestCase):
    def test_a_second_run_in_one_folder_refuses(self):
        with tempfile.TemporaryDirectory() as folder, run.sole_run(Path(folder)):
            second = f"import sys; sys.path.insert(0, {str(Path(run.__file__).parent)!r}); import run\nwith run.sole_run(run.Path({folder!r})): print('ran')"
            done = subprocess.run([sys.executable, "-c", second], capture_output=True, text=True, check=False)
            self.assertEqual(1, done.returncode)
            self.assertIn("another run uses " + folder, done.stderr)
            self.assertEqual("", done.stdout)

    def test_the_lock_goes_with_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            with run.sole_run(Path(folder)):
                pass
            with run.sole_run(Path(folder)):
                pass


class LinesWritten(unittest.TestCase):
    def test_new_lines_of_each_file_and_none_of_what_went(self):
        difference = "\n".join(["--- a/src/a.cpp", "+++ b/src/a.cpp", "@@ -3,0 +4,2 @@ void f() {", "+x", "+y", "@@ -9 +12 @@", "-u", "+v",
                                "--- a/src/b.cpp", "+++ b/src/b.cpp", "@@ -5,2 +4,0 @@", "-u", "-v",
                                "--- a/src/gone.cpp", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-u", "-v"])
        self.assertEqual({"src/a.cpp": {4, 5, 12}, "src/b.cpp": set()}, draw.lines_written(difference))


class Known(unittest.TestCase):
    root = Path(__file__).resolve().parents[2]

    def test_each_stands_in_one_line(self):
        for entry in json.loads((Path(__file__).parent / "known.json").read_text(encoding="utf-8")):
            with self.subTest(entry["what"]):
                lines = (self.root / entry["file"]).read_text(encoding="utf-8").splitlines()
                self.assertEqual(1, sum(entry["from"] in line for line in lines), f"{entry['file']}: {entry['from']}")


if __name__ == "__main__":
    unittest.main()
