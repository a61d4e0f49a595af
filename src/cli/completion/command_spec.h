// command_spec: a command line as completion sees it: verbs, options, arguments and what their values may be. Plain
// text, taken from the same description as --help.
#pragma once

#include <string>
#include <vector>

namespace ashlar::cli {

/// What a value may be: one of the words, a file, either, or (if there are neither) anything.
struct ValueSpec {
  std::vector<std::string> words;
  bool is_file = false;
};

struct OptionSpec {
  std::vector<std::string> names;  ///< with their dashes: "-o", "--output"
  std::string description;
  std::string value_name;  ///< "FORMAT"; empty: a flag, which takes no value
  ValueSpec value;
  bool is_repeated = false;  ///< may be given several times
};

struct ArgumentSpec {
  std::string name;
  ValueSpec value;
  bool is_repeated = false;  ///< takes all further arguments
};

struct CommandSpec {
  std::string name;
  std::string description;
  std::vector<OptionSpec> options;
  std::vector<ArgumentSpec> arguments;
  std::vector<CommandSpec> verbs;
};

}  // namespace ashlar::cli
