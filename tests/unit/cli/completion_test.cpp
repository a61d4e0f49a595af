// Scripts of completion: what each shell reads, for names and descriptions that its syntax could trip over.
#include "cli/completion/completion.h"

#include <gmock/gmock.h>

namespace ashlar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CommandSpec tool() {
  CommandSpec run{.name = "run", .description = "Run it: now", .options = {}, .arguments = {}, .verbs = {}};
  run.options = {{{"-o", "--output"}, "Format: [a] or it's b\\", "FORMAT", {{"a", "b"}, false}, false},
                 {{"--policy"}, "Rule", "NAME", {{"x"}, true}, true},
                 {{"--log"}, "Folder", "DIR", {{}, true}, false},
                 {{"--url"}, "Where", "URL", {}, false},
                 {{"-q"}, "Quiet", "", {}, false}};
  run.arguments = {{"KIND", {{"k1", "k2"}, false}, false}, {"FILE", {{}, true}, true}};
  return {.name = "tool", .description = "", .options = {}, .arguments = {}, .verbs = {run}};
}

TEST(BashCompletion, HasACaseForEachPlace) {
  const std::string script = bash_completion(tool());
  for (const char* line :
       {"'tool run') path=\"$path $word\" ;;",
        "'tool run -o' | 'tool run --output' | 'tool run --policy' | 'tool run --log' | 'tool run "
        "--url') option=$word ;;",
        "'tool run') options='-o --output --policy --log --url -q' ;;",
        "'tool run -o' | 'tool run --output') words='a b' ;;", "'tool run --policy') words='x' files=1 ;;",
        "'tool run --log') files=1 ;;", "'tool 0') words='run' ;;", "'tool run 0') words='k1 k2' ;;",
        "'tool run '*) files=1 ;;", "complete -F _tool tool"})
    EXPECT_THAT(script, HasSubstr(line));
  EXPECT_THAT(script, Not(HasSubstr("--url') words")));
}

TEST(ZshCompletion, QuotesWhatItsSpecificationsGiveAMeaning) {
  const std::string script = zsh_completion(tool());
  EXPECT_TRUE(script.starts_with("#compdef tool\n"));
  for (const char* line :
       {R"('(-o --output)'{-o+,--output=}'[Format\: \[a\] or it'\''s b\\]:FORMAT:(a b)')",
        R"x('*--policy=[Rule]:NAME:{ _alternative "words:name:(x)" "files:file:_files" }')x",
        "'(--log)--log=[Folder]:DIR:_files'", "'(--url)--url=[Where]:URL: '", "'(-q)-q[Quiet]'", "'1:KIND:(k1 k2)'",
        "'*:FILE:_files'", "'run:Run it: now'", "run) _tool_run ;;", "compdef _tool tool"})
    EXPECT_THAT(script, HasSubstr(line));
}

TEST(FishCompletion, HasALineForEachPlace) {
  const std::string script = fish_completion(tool());
  const std::string at_run = R"(complete -c tool -n 'test (__tool_path) = "tool run"' )";
  for (const std::string& line :
       {std::string("      case 'tool run'\n"), std::string("complete -c tool -f\n"),
        std::string(R"(complete -c tool -n 'test (__tool_path) = "tool"' -a run -d 'Run it: now')"),
        at_run + R"(-s o -l output -x -a 'a b' -d 'Format: [a] or it\'s b\\')",
        at_run + "-l policy -r -F -a 'x' -d 'Rule'", at_run + "-l log -r -F -d 'Folder'",
        at_run + "-l url -x -d 'Where'", at_run + "-s q -d 'Quiet'", at_run + "-a 'k1 k2'\n", at_run + "-F\n"})
    EXPECT_THAT(script, HasSubstr(line));
}

}  // namespace
}  // namespace ashlar::cli
