// usage: the checks of options, what completion may offer for them, and what is said about a command line that is
// wrong: the option, what was expected, and the nearest known name. CLI11's own messages are not shown.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/completion/command_spec.h"

namespace ashlar {

/// Ends a verb with an exit status and a message; `main` puts the command in front of it ("ashlar sim run: ...").
class VerbError final : public CLI::RuntimeError {
 public:
  VerbError(int status, std::string message) : CLI::RuntimeError(status), message_(std::move(message)) {}
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

/// One of these words.
CLI::Validator one_of(std::vector<std::string> words);
CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX);
/// A path that is not that of a directory.
CLI::Validator file_to_write();
/// These accept everything, and state for completion that a value is the path of a file, or a profile: the name of a
/// built-in one or a file.
CLI::Validator any_file();
CLI::Validator profile_or_file();
CLI::Validator number_in(double least, double most);
/// -o, --output with these formats; the value of `output` is the default.
void add_format_option(CLI::App& verb, std::string& output, const std::vector<std::string>& formats);
/// The command line below `app`, as completion sees it.
cli::CommandSpec command_spec(CLI::App& app);
/// "expected a name, got the option --report" if `value`, given to `option`, is an option; empty if not. CLI11 takes
/// any word as the value of an option that may be repeated.
std::string option_as_value(const std::string& option, const std::string& value);

/// "ashlar sim run": the innermost command that was named.
std::string command_name(const CLI::App& app);
/// "ashlar sim run: unknown option --polcy; did you mean "--policy"? (ashlar sim run --help)": one line about a command
/// line that failed to parse.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace ashlar
