#!/usr/bin/env python3
"""The tidy test finds what it says it finds: each test writes a small tree with one violation and names the check that must see it."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import anchors  # noqa: E402
from cpp_text import functions_of, strip  # noqa: E402
from tidy import violations  # noqa: E402

FLAGS = {"cmake/flags.cmake": "add_compile_options(-ffp-contract=off)\n"}


def checks_of(files, but=("used nowhere",)):
    """The titles of the checks that find something in a tree of these files, {path: text}. Small trees declare names without users, unless that is the matter."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**FLAGS, **files}.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return {violation[0] for violation in violations(folder)} - set(but)


def source(text):
    return "// Thing: what this file is for.\n" + text


def policy_source(text):
    return "// thing: what it prefers. Example: 2 free, 8 free: the first. Cost: O(1) a node.\n" + text


class Layers(unittest.TestCase):
    def test_a_clean_tree_has_no_violations(self):
        self.assertEqual(checks_of({
            "src/base/id.h": source("#include <vector>\n"),
            "src/model/job.h": source('#include "base/id.h"\n'),
            "src/live/watch.cpp": source('#include <chrono>\n#include "http/client.h"\n#include "engine/decide.h"\n'),
            "src/apps/ashlar/main.cpp": source('#include "live/watch.h"\n#include "apps/ashlar/verbs.h"\n'),
        }), set())

    def test_core_does_not_include_a_higher_layer(self):
        self.assertEqual(checks_of({"src/state/cluster/cluster.h": source('#include "engine/decide.h"\n')}), {"layers"})

    def test_core_does_not_include_the_edge(self):
        self.assertEqual(checks_of({"src/engine/decide.cpp": source('#include "live/watch.h"\n')}), {"layers"})

    def test_edge_folders_do_not_include_each_other(self):
        self.assertEqual(checks_of({"src/sim/run.cpp": source('#include "http/client.h"\n')}), {"layers"})

    def test_configuration_is_a_leaf_of_the_edge(self):
        self.assertEqual(checks_of({"src/sim/run.cpp": source('#include "config/profile_file.h"\n')}), set())
        self.assertEqual(checks_of({"src/config/profile_file.cpp": source('#include "sim/run.h"\n')}), {"layers"})
        self.assertEqual(checks_of({"src/engine/decide.cpp": source('#include "config/profile_file.h"\n')}), {"layers"})

    def test_nothing_includes_the_programs(self):
        self.assertEqual(checks_of({"src/cli/table.h": source('#include "apps/ashlar/verbs.h"\n')}), {"layers"})

    def test_includes_are_written_from_src(self):
        self.assertEqual(checks_of({"src/state/cluster/cluster.cpp": source('#include "cluster.h"\n')}), {"layers"})

    def test_a_folder_outside_the_design_is_seen(self):
        self.assertEqual(checks_of({"src/util/strings.h": source("")}), {"layers"})


class Recipe(unittest.TestCase):
    DIFF = "```diff src/policy/node/node.cpp\n   a row\n+  a new one\n```\n"

    def checks_with(self, rows):
        return checks_of({"CONTRIBUTING.md": self.DIFF, "src/policy/node/node.cpp": policy_source(rows)})

    def test_lines_that_stand_once_are_fine_before_and_after(self):
        self.assertNotIn("the recipe's diffs", self.checks_with("  a row\n"))
        self.assertNotIn("the recipe's diffs", self.checks_with("  a row\n  a new one\n"))

    def test_lines_that_are_gone_or_stand_twice_are_seen(self):
        self.assertIn("the recipe's diffs", self.checks_with("  another row\n"))
        self.assertIn("the recipe's diffs", self.checks_with("  a row\n  a row\n"))


class PolicyHeaders(unittest.TestCase):
    def policy_behind(self, count):
        """A policy with that many headers of ours behind it, each including the next."""
        tree = {f"src/base/h{i}.h": source(f'#include "base/h{i + 1}.h"\n' if i + 1 < count else "") for i in range(count)}
        return {**tree, "src/policy/score/greedy.cpp": source('#include "base/h0.h"\n')}

    def test_few_are_fine(self):
        self.assertNotIn("headers behind a policy", checks_of(self.policy_behind(9)))

    def test_too_many_are_seen_however_deep(self):
        self.assertIn("headers behind a policy", checks_of(self.policy_behind(10)))

    def test_the_table_of_a_kind_includes_them_all(self):
        tree = self.policy_behind(10)
        tree["src/policy/score/score.cpp"] = tree.pop("src/policy/score/greedy.cpp")
        self.assertNotIn("headers behind a policy", checks_of(tree))


class PureCore(unittest.TestCase):
    def test_no_clock_header(self):
        self.assertEqual(checks_of({"src/engine/decide.cpp": source("#include <chrono>\n")}), {"headers of the core"})

    def test_no_thread_header(self):
        self.assertEqual(checks_of({"src/state/state.cpp": source("#include <mutex>\n")}), {"headers of the core"})

    def test_no_library_beyond_the_standard_one(self):
        self.assertEqual(checks_of({"src/model/job.h": source("#include <boost/json.hpp>\n")}), {"headers of the core"})

    def test_no_random_number_but_the_given_ones(self):
        self.assertEqual(checks_of({"src/policy/score/x.txt": "", "src/engine/a.cpp": source("int f() { return rand(); }\n")}), {"words of the core"})

    def test_no_clock_call(self):
        self.assertEqual(checks_of({"src/state/a.cpp": source("auto now() { return std::chrono::system_clock::now(); }\n")}), {"words of the core"})

    def test_words_in_comments_and_strings_are_not_calls(self):
        self.assertEqual(checks_of({"src/state/a.cpp": source('// rand() is not used\nconst char* kText = "std::mutex time()";\n')}), set())

    def test_a_member_named_time_is_no_clock(self):
        self.assertEqual(checks_of({"src/state/a.cpp": source("long f(Job& job) { return job.time(); }\n")}), set())

    def test_no_walk_over_an_unordered_map(self):
        text = "#include <unordered_map>\nstd::unordered_map<int, std::vector<int>> rows_;\nvoid f() {\n  for (auto& [k, v] : rows_) g(v);\n}\n"
        self.assertEqual(checks_of({"src/state/a.cpp": source(text)}), {"unordered iteration in the core"})

    def test_no_walk_over_one_declared_in_the_header(self):
        self.assertEqual(checks_of({
            "src/state/a.h": source("struct A { std::unordered_set<int> seen_; };\n"),
            "src/state/a.cpp": source("void f(A& a) { auto i = a.seen_.begin(); }\n"),
        }), {"unordered iteration in the core"})

    def test_looking_up_in_an_unordered_map_is_fine(self):
        self.assertEqual(checks_of({"src/state/a.cpp": source("std::unordered_map<int, int> rows_;\nint f() { return rows_.at(1); }\n")}), set())


class Sizes(unittest.TestCase):
    def test_a_file_of_501_lines_is_too_long(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source("int a;\n" * 500)}), {"file length"})

    def test_a_line_of_121_columns_is_too_long(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source("int " + "a" * 116 + ";\n")}), {"line length"})

    def test_a_line_of_120_columns_is_not(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source("int " + "a" * 115 + ";\n")}), set())

    def test_the_bytes_of_a_raw_string_are_not(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source('auto a = R"(' + "a" * 120 + ')";\n')}), set())

    def test_a_file_of_500_lines_is_not(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source("int a;\n" * 499)}), set())

    def test_generated_tables_are_exempt(self):
        self.assertEqual(checks_of({"src/http/a.cpp": "// Generated by a program.\n" + "int a;\n" * 900}), set())

    def test_a_function_of_71_lines_is_too_long(self):
        body = "int f(int a) {\n" + "  ++a;\n" * 69 + "}\n"
        self.assertEqual(checks_of({"src/http/a.cpp": source(body)}), {"function length"})

    def test_a_function_of_70_lines_is_not(self):
        body = "int f(int a) {\n" + "  ++a;\n" * 68 + "}\n"
        self.assertEqual(checks_of({"src/http/a.cpp": source(body)}), set())

    def test_a_long_table_is_no_function(self):
        self.assertEqual(checks_of({"src/http/a.cpp": source("const int kTable[] = {\n" + "  1,\n" * 100 + "};\n")}), set())

    def test_a_file_opens_with_a_paragraph(self):
        self.assertEqual(checks_of({"src/http/a.cpp": "int a;\n"}), {"file openings"})


class FunctionBodies(unittest.TestCase):
    def found(self, text):
        return [(first, last) for first, last, _ in functions_of(strip(text))]

    def test_constructors_with_member_initialisers(self):
        self.assertEqual(self.found("A::A(int a)\n    : a_{a},\n      b_(a) {\n  f();\n}\n"), [(1, 5)])

    def test_methods_in_a_class(self):
        self.assertEqual(self.found("class A {\n public:\n  int f() const {\n    return 1;\n  }\n  int g_ = 2;\n};\n"), [(3, 5)])

    def test_lambdas_belong_to_their_function(self):
        self.assertEqual(self.found("void f() {\n  auto g = [](int a) {\n    return a;\n  };\n}\n"), [(1, 5)])

    def test_templates_operators_and_trailing_returns(self):
        text = "template <class T>\nbool operator<(const T& a, const T& b) noexcept {\n  return a.x < b.x;\n}\nauto f(int a) -> int {\n  return a;\n}\n"
        self.assertEqual(self.found(text), [(1, 4), (5, 7)])

    def test_braces_in_literals_and_comments_do_not_count(self):
        self.assertEqual(self.found("int f() {\n  g('{', \"{\", R\"({)\");  // {\n  return 1'000;\n}\n"), [(1, 4)])

    def test_namespaces_enums_and_initialised_structs_are_no_functions(self):
        self.assertEqual(self.found("namespace a {\nenum class E : int {\n  kA,\n};\nstruct S s = {\n  .a = 1,\n};\n}  // namespace a\n"), [])


class House(unittest.TestCase):
    def test_a_folder_needs_its_readme(self):
        files = {"src/http/CMakeLists.txt": "", "src/http/a.h": source("")}
        self.assertEqual(checks_of(files), {"folder READMEs"})
        self.assertEqual(checks_of({**files, "src/http/README.md": "# http\n"}), set())

    def test_a_readme_has_at_most_60_lines(self):
        self.assertEqual(checks_of({"src/http/CMakeLists.txt": "", "src/http/a.h": source(""), "src/http/README.md": "line\n" * 61}), {"folder READMEs"})

    def test_a_policy_needs_a_test_and_a_row(self):
        policy = {"src/policy/score/pack_tight.h": policy_source('constexpr ScorePolicy kPackTight{.name = "pack-tight"};\n')}
        case = {"tests/cases/score/pack.case": "profile pack-tight\n"}
        row = {"docs/reference/policies.md": "| `pack-tight` | fills nodes |\n"}
        self.assertEqual(checks_of(policy), {"policies tested and documented"})
        self.assertEqual(checks_of({**policy, **case}), {"policies tested and documented"})
        self.assertEqual(checks_of({**policy, **row}), {"policies tested and documented"})
        self.assertEqual(checks_of({**policy, **case, **row}), set())
        bare = {"src/policy/score/pack_tight.h": source('constexpr ScorePolicy kPackTight{.name = "pack-tight"};\n')}
        self.assertEqual(checks_of({**bare, **case, **row}), {"policies tested and documented"})
        self.assertEqual(checks_of({**policy, "tests/cases/a.case": "# pack-tight is a word here\n", **row}), {"policies tested and documented"})

    def test_a_part_of_a_policy_needs_none(self):
        files = {"src/policy/score/fgd.h": policy_source("Fgd fgd();\n"), "src/policy/score/fgd_mix.h": policy_source(""), "tests/cases/a.case": "profile fgd\n",
                 "docs/reference/policies.md": "| `fgd` |\n"}
        self.assertEqual(checks_of({**files, "src/policy/tables.cpp": source('const Row kTable[] = {{"fgd"}};\n')}), set())
        named = source('const Row kTable[] = {{"fgd"}, {"fgd-mix"}};\n')
        self.assertEqual(checks_of({**files, "src/policy/tables.cpp": named}), {"policies tested and documented"})

    def test_another_policys_name_is_no_row(self):
        files = {"src/policy/score/pack.h": policy_source('const char* kName = "pack";\n'), "tests/cases/a.case": "pack-tight\n", "docs/reference/policies.md": "| `pack-tight` |\n"}
        self.assertEqual(checks_of(files), {"policies tested and documented"})


    def test_a_code_needs_a_row(self):
        names = 'std::string_view reason_name(int code) {\n  if (code == 1) return "Odd";\n  return "None";\n}\n'
        rows = {"docs/reference/reasons.md": "\n| `None` | x |\n| `Oddly` | Odd |\n"}
        self.assertEqual(checks_of({"src/model/plan.cpp": source(names), **rows}), {"codes documented"})
        rows["docs/reference/reasons.md"] += "| `Odd` | x |\n"
        self.assertEqual(checks_of({"src/model/plan.cpp": source(names), **rows}), set())


    def test_a_key_of_an_answer_needs_a_row(self):
        answer = {"src/live/read/read_api.cpp": source('void answer(W& w) { w.member("age", 1).key("nodes"); }\n')}
        self.assertEqual(checks_of({**answer, "docs/reference/json.md": "| `age` | x |\n"}), {"answers documented"})
        self.assertEqual(checks_of({**answer, "docs/reference/json.md": "| `age`, `nodes[].name` | x |\n"}), set())


    def test_a_metric_needs_a_row_and_a_row_a_metric(self):
        metrics = {"src/live/read/metrics.cpp": source('void add(S& s) { s.set("ashlar_nodes", 1); }\n')}
        row = "| `ashlar_nodes` | | nodes |\n"
        self.assertEqual(checks_of({**metrics, "docs/reference/metrics.md": "no row\n"}), {"metrics documented"})
        self.assertEqual(checks_of({**metrics, "docs/reference/metrics.md": row}), set())
        self.assertEqual(checks_of({**metrics, "docs/reference/metrics.md": row + "| `ashlar_pods` | | pods |\n"}), {"metrics documented"})


class WordsAndRooms(unittest.TestCase):
    def test_a_word_that_is_gone(self):
        self.assertEqual(checks_of({"src/engine/a.h": source("struct Agenda;\n")}), {"words that are gone"})
        self.assertEqual(checks_of({"src/engine/a.h": source("struct AgendaOfMeetings;  // not the Agenda\n")}), set())

    def test_a_folder_has_at_most_15_sources(self):
        names = "abcdefghijklmnop"
        files = {f"src/engine/{name}{end}": source("") for name in names[:15] for end in (".h", ".cpp")}
        self.assertEqual(checks_of(files), set())
        self.assertEqual(checks_of({**files, "src/engine/p.h": source("")}), {"rooms"})

    def test_three_files_of_one_first_word_want_a_folder(self):
        files = {f"src/engine/gang_{name}.h": source("") for name in ("a", "b")}
        self.assertEqual(checks_of(files), set())
        self.assertEqual(checks_of({**files, "src/engine/gang.cpp": source("")}), {"rooms"})
        self.assertEqual(checks_of({f"src/engine/gang/gang_{name}.h": source("") for name in "abc"}), set())

    def test_what_is_linked_is_what_is_included(self):
        files = {"src/state/a.h": source('#include "base/id.h"\n'), "src/base/id.h": source(""), "src/model/b.h": source(""), "src/state/README.md": "# state\n"}
        self.assertEqual(checks_of({**files, "src/state/CMakeLists.txt": "ashlar_library(state DEPENDS base)\n"}), set())
        self.assertEqual(checks_of({**files, "src/state/CMakeLists.txt": "ashlar_library(state DEPENDS base model)\n"}), {"dependencies"})
        self.assertEqual(checks_of({**files, "src/state/CMakeLists.txt": "ashlar_library(state DEPENDS Threads::Threads)\n"}), {"dependencies"})


class RulesStandOnce(unittest.TestCase):
    def test_a_switch_over_reasons_belongs_to_the_table_and_its_printer(self):
        switch = source("int f(ReasonCode c) {\n  switch (c) {\n    case ReasonCode::kNoNodes:\n      return 1;\n  }\n  return 0;\n}\n")
        self.assertEqual(checks_of({"src/live/read/x.cpp": switch}), {"reasons stand once"})
        self.assertEqual(checks_of({"src/text/x.cpp": switch}), set())

    def test_the_engine_does_not_ask_which_rule_a_profile_names(self):
        asks = source("bool f(const Profile& p) { return p.blocking == Blocking::kStrict; }\n")
        self.assertEqual(checks_of({"src/engine/x.cpp": asks}), {"rules are rows"})
        self.assertEqual(checks_of({"src/policy/x.cpp": asks}), set())


def all_checks_of(files):
    return checks_of(files, but=())


class UsedNowhere(unittest.TestCase):
    SOURCE = {"src/web/x.cpp": source("int f() { return 1; }\nint g() { return f(); }\n")}

    def found_in(self, header, **others):
        return all_checks_of({"src/web/x.h": source(f"namespace ashlar {{\n{header}\n}}\n"), **{f"src/cli/{name}.cpp": source(text) for name, text in others.items()}})

    def test_a_function_that_only_its_source_calls_is_hidden_there(self):
        self.assertEqual(all_checks_of({"src/web/x.h": source("int f();\n"), **self.SOURCE}), {"used nowhere"})
        self.assertEqual(all_checks_of({"src/web/x.h": source("int f();\n"), **self.SOURCE, "src/cli/y.cpp": source("int h() { return f(); }\n")}), set())

    def test_what_only_tests_use_says_so(self):
        test = {"tests/unit/x_test.cpp": "int a = f();\n"}
        self.assertEqual(all_checks_of({"src/web/x.h": source("int f();\n"), **test}), {"used nowhere"})
        self.assertEqual(all_checks_of({"src/web/x.h": source("int f();  // for tests\n"), **test}), set())
        self.assertEqual(all_checks_of({"src/web/x.h": source("/// One. For tests: counts.\nint f();\n"), **test}), set())
        self.assertEqual(all_checks_of({"src/envtest/x.h": source("int f();\n"), **test}), set())

    def test_types_constants_enumerators_and_public_members(self):
        for unused in ("struct Thing {};", "using Thing = int;", "inline constexpr int kThing = 1;", "enum class E { kA, kB };\nE e(E = E::kA);",
                       "class C {\n public:\n  int size() const { return 1; }\n};\nC c();"):
            self.assertEqual(self.found_in(unused, y="int a = c() + e();\n"), {"used nowhere"}, unused)
        self.assertEqual(self.found_in("struct Thing {};\nThing c();", y="auto a = c();\n"), set())
        self.assertEqual(self.found_in("class C {\n public:\n  C();\n  ~C() override;\n  int f() override;\n  int field = 0;\n  bool operator<(const C& c);\n\n private:\n"
                                       "  int g();\n  static constexpr int kA = 1;\n};\nC c();", y="auto a = c();\n"), set())

    def test_a_member_that_the_source_calls_on_an_object_is_used(self):
        header = {"src/web/x.h": source("struct A {\n  int f() const;\n};\nstruct B {\n  A a;\n};\n"), "src/cli/y.cpp": source("B b;\n")}
        self.assertEqual(all_checks_of({**header, "src/web/x.cpp": source("int A::f() const { return 1; }\nint h(B& b) { return b.a.f(); }\n")}), set())
        self.assertEqual(all_checks_of({**header, "src/web/x.cpp": source("int A::f() const { return 1; }\nint h(B& b) { return f(); }\n")}), {"used nowhere"})


class Phrases(unittest.TestCase):
    GONE = {"phrases that are gone"}

    def test_a_phrase_that_is_gone_in_a_comment_a_literal_or_a_page(self):
        self.assertEqual(checks_of({"src/web/x.cpp": source("int a;  // at most So many of them\n")}), self.GONE)
        self.assertEqual(checks_of({"src/web/x.cpp": source('const char* kText = "whoever fits";\n')}), self.GONE)
        self.assertEqual(checks_of({"docs/how-to/x.md": "whoever fits\n"}), self.GONE)
        self.assertEqual(checks_of({"docs/decisions/1.md": "whoever fits\n", "CHANGELOG.md": "whoever fits\n"}), set())

    def test_it_is_found_over_the_end_of_a_line(self):
        self.assertEqual(checks_of({"src/web/x.cpp": source("  /// and so\n  /// many of them\nint a;\n")}), self.GONE)
        self.assertEqual(checks_of({"src/web/x.cpp": source("  /// and so\nint many;\n")}), set())

    def test_names_and_longer_words_are_not_phrases(self):
        self.assertEqual(checks_of({"src/web/x.cpp": source("int whoever;  // also manyfold, not so manyfold; kept, not whoevers; they are told apart\n")}), set())

    def test_tests_scripts_manifests_and_cases_count(self):
        self.assertEqual(checks_of({"tests/unit/x_test.cpp": 'TEST(A, B) { f("so many"); }\n'}), self.GONE)
        self.assertEqual(checks_of({"tests/unit/x_test.cpp": "// so many\n"}), self.GONE)
        self.assertEqual(checks_of({"tests/verbs/x.py": "# so many\n"}), self.GONE)
        self.assertEqual(checks_of({"tests/tidy/x.py": "# so many\n"}), set())
        self.assertEqual(checks_of({"deploy/x.yaml": "a: b  # so many\n"}), self.GONE)
        self.assertEqual(checks_of({"deploy/x.yaml": "a: so many\n"}), set())
        self.assertEqual(checks_of({"dev.d/x.sh": "# so many\n"}), self.GONE)
        self.assertEqual(checks_of({"tests/cases/a/x.case": "# so\n# many\n"}), self.GONE)

    def test_of_cases_the_comments_count_and_their_words(self):
        for sentence in ("the promised node", "who waits longest", "it asks 4 GPUs", "nobody passes"):
            self.assertEqual(checks_of({"tests/cases/a/x.case": f"# {sentence}\n"}), self.GONE, sentence)
        self.assertEqual(checks_of({"tests/cases/a/x.case": "job who 1 gpu\nbind #99 node0\n"}), set())
        self.assertEqual(checks_of({"tests/cases/a/x.case": "job a 1 gpu  # who waits\n"}), self.GONE)


class OnePrinter(unittest.TestCase):
    ELSEWHERE = {"one printer, one parser"}

    def test_what_text_prints_and_parses_is_printed_and_parsed_nowhere_else(self):
        for function in ("Result<Millis> parse_duration(std::string_view text) {}", "std::string devices_text(DeviceMask mask) {}",
                         "std::size_t edit_distance(int a, int b) {}", "std::string dimension_text(int a) {}"):
            self.assertEqual(checks_of({"src/sim/x.cpp": source(function)}), self.ELSEWHERE, function)
            self.assertEqual(checks_of({"src/text/x.cpp": source(function)}), set())

    def test_members_and_callers_may_be_called_alike(self):
        text = "Millis YamlMap::parse_duration(int key) { return parse_duration(text); }\nstd::string duration_key() { return {}; }  // did you mean it?\n"
        self.assertEqual(checks_of({"src/sim/x.cpp": source(text)}), set())

    def test_did_you_mean_is_written_once(self):
        self.assertEqual(checks_of({"src/sim/x.cpp": source('int a = f("; did you mean \\"" + b);\n')}), self.ELSEWHERE)


class OneSource(unittest.TestCase):
    CLASS = {"src/live/track/tracker.h": source("namespace ashlar {\nclass Tracker {\n public:\n  void a();\n  bool b() const;\n  struct Row {\n    ~Row();\n  };\n};\n}\n")}

    def found_with(self, first, second):
        inside = "namespace ashlar {{\n{}\n}}\n"
        return checks_of({**self.CLASS, "src/live/track/a.cpp": source(inside.format(first)), "src/live/track/b.cpp": source(inside.format(second))})

    def test_members_of_a_class_are_defined_in_one_source(self):
        self.assertEqual(self.found_with("void Tracker::a() {}", "const std::vector<A::B>& Tracker::b() const {\n  return b_;\n}"), {"one class, one source"})
        self.assertEqual(self.found_with("Tracker::~Tracker() = default;", "bool Tracker::operator==(const Tracker& o) const { return true; }"), {"one class, one source"})
        self.assertEqual(self.found_with("void Tracker::a() {}\nbool Tracker::b() const { return true; }", "Tracker::Row f(Tracker& t) { return t.a(); }"), set())

    def test_a_nested_class_is_a_class_of_its_own(self):
        self.assertEqual(self.found_with("void Tracker::a() {}", "Tracker::Row::~Row() { Tracker::a(); }"), set())

    def test_classes_of_two_sources_may_share_a_name(self):
        local = "namespace {\nstruct Lane {\n  void go();\n};\nvoid Lane::go() {}\n}"
        self.assertEqual(self.found_with(local, local), set())
        template = "template <class T>\nvoid Tracker::Row<T>::put(T t) {}"
        self.assertEqual(self.found_with(template, template), {"one class, one source"})


class Openings(unittest.TestCase):
    def test_a_header_opens_with_its_name(self):
        self.assertEqual(checks_of({"src/web/x.h": "// What does it answer?\nint f();\n"}), {"names of openings"})
        self.assertEqual(checks_of({"src/web/x.h": "// x: what it is.\nint f();\n"}), set())

    def test_a_header_opens_with_at_most_three_sentences(self):
        three = "// x: what it is, e.g. This. When it is used,\n// at 0.5 s. Cost: O(n).\n"
        self.assertEqual(checks_of({"src/web/x.h": three + "int f();\n"}), set())
        self.assertEqual(checks_of({"src/web/x.h": three + "// One more.\nint f();\n"}), {"header paragraphs"})
        self.assertEqual(checks_of({"src/web/x.h": three + "//   a  A table. Of words. And more. Or so.\n\n// Another. Comment. Follows.\nint f();\n"}), set())

    def test_example_and_cost_of_a_policy_do_not_count(self):
        text = "// x: prefers A. And B. And C.\n// Example: 1, 2: the first. Cost (best of 5): 1 ns.\nint f();\n"
        self.assertEqual(checks_of({"src/policy/x.h": text}), set())
        self.assertEqual(checks_of({"src/state/x.h": text}), {"header paragraphs"})


class Glossary(unittest.TestCase):
    def test_public_types_of_the_core_are_in_it(self):
        files = {"src/base/x.h": source("namespace ashlar {\nstruct Thing {\n  int a;\n};\n}\n"), "docs/glossary.md": "| `Other` | x |\n"}
        self.assertEqual(checks_of(files), {"glossary"})
        self.assertEqual(checks_of({**files, "docs/glossary.md": "| `Thing` | x |\n"}), set())
        self.assertEqual(checks_of({**files, "docs/glossary.md": "| `Thing`, `Gone` | x |\n"}), {"glossary"})
        self.assertEqual(checks_of({**files, "docs/glossary.md": "| `Thing` | x, not `Gone` |\n"}), set())


class Subranges(unittest.TestCase):
    def test_what_clang_cannot_compile_is_found(self):
        self.assertEqual(checks_of({"src/engine/x.cpp": source("auto f(V& v) { return std::ranges::unique(v); }\n")}), {"no subranges"})
        self.assertEqual(checks_of({"src/engine/x.cpp": source("auto f(V& v) { return std::ranges::sort(v); }\n")}), set())


class Drawing(unittest.TestCase):
    def test_the_drawing_names_folders_and_rooms(self):
        files = {"src/state/holds/kept.h": source("int a;\n"), "docs/explanation/house.md": "```\n core  state\n         holds\n```\nand more\n"}
        self.assertEqual(checks_of(files), set())
        self.assertEqual(checks_of({**files, "docs/explanation/house.md": "```\n core  state\n```\nwith holds\n"}), {"the drawing of the house"})
        self.assertEqual(checks_of({**files, "docs/explanation/house.md": "```\n core  holds\n```\nand state\n"}), {"the drawing of the house"})


class Anchors(unittest.TestCase):
    def page(self, number):
        return {"docs/x.md": f"See [`int f`](../src/base/x.cpp#L{number}).\n", "src/base/x.cpp": source("int f() { return 1; }\n")}

    def test_the_line_holds_the_name(self):
        self.assertEqual(checks_of(self.page(2)), set())
        self.assertEqual(checks_of(self.page(1)), {"anchors"})

    def test_the_file_is_there_and_says_the_name(self):
        self.assertEqual(checks_of({**self.page(2), "docs/x.md": "[`int f`](../src/base/y.cpp#L1)\n"}), {"anchors"})
        self.assertEqual(checks_of({**self.page(2), "docs/x.md": "[`gone`](../src/base/x.cpp#L2)\n"}), {"anchors"})

    def test_a_definition_is_meant_rather_than_a_call(self):
        lines = ["void g() {", "  int x = f(1);", "}", "int f(int a) {", "}"]
        self.assertEqual(anchors.line_of("f", 2, lines), 4)
        self.assertEqual(anchors.line_of("int x", 4, lines), 2)

    def test_numbers_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.page(7).items():
                place = Path(folder) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
            self.assertEqual(anchors.main(["--fix", folder]), 0)
            self.assertIn("#L2)", (Path(folder) / "docs/x.md").read_text(encoding="utf-8"))


class FloatingPoint(unittest.TestCase):
    def test_fast_math_in_a_preset(self):
        preset = json.dumps({"configurePresets": [{"name": "release", "cacheVariables": {"CMAKE_CXX_FLAGS_RELEASE": "-O3 -ffast-math"}}]})
        self.assertEqual(checks_of({"CMakePresets.json": preset}), {"floating-point flags"})

    def test_ofast_in_a_folder(self):
        self.assertEqual(checks_of({"src/sim/CMakeLists.txt": "target_compile_options(ashlar_sim PRIVATE -Ofast)\n"}), {"floating-point flags"})

    def test_flags_must_be_unconditional(self):
        self.assertEqual(checks_of({"cmake/flags.cmake": "if(X)\n  add_compile_options(-ffp-contract=off)\nendif()\n"}), {"floating-point flags"})

    def test_no_pragma_changes_them(self):
        self.assertEqual(checks_of({"src/sim/a.cpp": source('#pragma GCC optimize("fast-math")\n')}), {"floating-point flags"})

    def test_a_compile_command_without_the_flag(self):
        preset = json.dumps({"configurePresets": [{"name": "release"}]})
        for command, expected in (("g++ -O3 a.cpp", {"compile commands"}), ("g++ -O3 -ffp-contract=off a.cpp", set()),
                                  ("g++ -ffp-contract=off -ffp-contract=fast a.cpp", {"compile commands"})):
            commands = json.dumps([{"file": "a.cpp", "command": command}])
            self.assertEqual(checks_of({"CMakePresets.json": preset, "build/release/compile_commands.json": commands}), expected)


if __name__ == "__main__":
    unittest.main()
