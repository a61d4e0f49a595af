#include "apps/ashlar/shared/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "policy/profile.h"
#include "text/nearest_name.h"

namespace ashlar {
namespace {

/// A command with the names above it: "ashlar sim run".
struct Command {
  const CLI::App* app = nullptr;
  std::string name;
};

/// The innermost command that was named.
Command named_command(const CLI::App& app) {
  Command command{&app, app.get_name()};
  while (!command.app->get_subcommands().empty()) {
    command.app = command.app->get_subcommands().front();
    command.name += " " + command.app->get_name();
  }
  return command;
}

std::vector<std::string_view> views(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown_word(const Command& command, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    return "unknown option " + name + suggestion(name, options_of(*command.app));
  }
  const std::vector<std::string> verbs = verbs_of(*command.app);
  if (verbs.empty()) return "unexpected argument \"" + word + "\"";
  return "unknown verb \"" + word + "\"" + did_you_mean(word, views(verbs));
}

/// "--jobs FILE (Job trace: ...)" of the option that CLI11's message begins with; empty if it begins with none.
std::string option_text(const CLI::App& app, std::string_view message) {
  const std::string name(message.substr(0, message.find_first_of(": ")));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return {};
  const std::string form = option->get_type_name().empty() ? "" : " " + option->get_type_name();
  return name + form + (option->get_description().empty() ? "" : " (" + option->get_description() + ")");
}

std::string what_is_wrong(const Command& command, const CLI::ParseError& error) {
  // Before what CLI11 says: a misspelled option is reported as a required one that is missing.
  const std::vector<std::string> unknown = command.app->remaining();
  for (const std::string& word : unknown)
    if (word.size() > 1 && word.front() == '-') return unknown_word(command, word);
  if (!unknown.empty()) return unknown_word(command, unknown.front());
  std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string option = option_text(*command.app, message);
    return option.empty() ? "expected a verb: " + fmt::format("{}", fmt::join(verbs_of(*command.app), ", "))
                          : "expected " + option;
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {  // of a flag; the values of options have checks
    const std::size_t equals = message.find(" = ");
    const std::size_t name = message.rfind("--", equals);
    if (name != std::string::npos) return message.substr(name, equals - name) + ": expected no value";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string option = option_text(*command.app, message);
    if (!option.empty()) return message.substr(0, message.find_first_of(": ")) + ": expected a value: " + option;
  }
  return message;
}

// CLI11 keeps with an option no more than its checks: what completion offers for a value stands in the name of one.
constexpr const char* kFileHint = "file ";
constexpr const char* kWordsHint = "one of ";
std::string accepts_everything(std::string&) { return {}; }

cli::ValueSpec value_of(CLI::Option& option) {
  std::string hint;
  try {
    hint = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  cli::ValueSpec value;
  value.is_file = hint.find(kFileHint) != std::string::npos;
  const std::size_t at = hint.find(kWordsHint);
  if (at != std::string::npos)
    value.words = CLI::detail::split(hint.substr(at + std::string_view(kWordsHint).size()), ' ');
  return value;
}

cli::OptionSpec option_spec(CLI::Option& option) {
  cli::OptionSpec spec;
  for (const std::string& name : option.get_snames()) spec.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) spec.names.push_back("--" + name);
  spec.description = option.get_description();
  if (option.get_type_size() == 0) return spec;
  spec.value_name = option.get_type_name();
  spec.value = value_of(option);
  spec.is_repeated = option.get_items_expected_max() > 1;
  return spec;
}

template <class Number>
bool parses(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string hint = fmt::format("{}{}", kWordsHint, fmt::join(words, " "));
  return CLI::Validator(
      [words = std::move(words)](std::string& value) {
        if (std::find(words.begin(), words.end(), value) != words.end()) return std::string();
        return "expected " + or_list(views(words)) + ", got \"" + value + "\"" + suggestion(value, words);
      },
      "", hint);
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& value) {
        std::int64_t number = 0;
        if (parses(value, number) && number >= least && number <= most) return std::string();
        const std::string range =
            most == INT64_MAX ? fmt::format("from {}", least) : fmt::format("from {} to {}", least, most);
        return fmt::format("expected a whole number {}, got \"{}\"", range, value);
      },
      "");
}

CLI::Validator number_in(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& value) {
        double number = 0;
        if (parses(value, number) && number >= least && number <= most) return std::string();
        return fmt::format("expected a number from {} to {}, got \"{}\"", least, most, value);
      },
      "");
}

CLI::Validator file_to_write() {
  return CLI::Validator(
      [](std::string& path) {
        if (path.empty()) return std::string("expected the name of a file to write, got \"\"");
        std::error_code ignored;
        const bool is_directory = std::filesystem::is_directory(path, ignored);
        return is_directory ? "expected the name of a file to write, got the directory \"" + path + "\""
                            : std::string();
      },
      "", kFileHint);
}

CLI::Validator any_file() { return CLI::Validator(accepts_everything, "", kFileHint); }

CLI::Validator profile_or_file() {
  return CLI::Validator(accepts_everything, "",
                        fmt::format("{}{}{}", kFileHint, kWordsHint, fmt::join(builtin_profile_names(), " ")));
}

void add_format_option(CLI::App& verb, std::string& output, const std::vector<std::string>& formats) {
  verb.add_option("-o,--output", output, "Format: " + or_list(views(formats)))
      ->type_name("FORMAT")
      ->check(one_of(formats))
      ->capture_default_str();
}

cli::CommandSpec command_spec(CLI::App& app) {
  cli::CommandSpec spec;
  spec.name = app.get_name();
  spec.description = app.get_description();
  for (CLI::Option* option : app.get_options()) {
    if (option->get_positional())
      spec.arguments.push_back({option->get_single_name(), value_of(*option), option->get_items_expected_max() > 1});
    else
      spec.options.push_back(option_spec(*option));
  }
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) spec.verbs.push_back(command_spec(*verb));
  return spec;
}

std::string option_as_value(const std::string& option, const std::string& value) {
  const bool is_option = value.size() > 1 && value[0] == '-' && (value[1] < '0' || value[1] > '9');
  return is_option ? option + ": expected a name, got the option " + value : std::string();
}

std::string command_name(const CLI::App& app) { return named_command(app).name; }

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const Command command = named_command(app);
  return command.name + ": " + what_is_wrong(command, error) + " (" + command.name + " --help)";
}

}  // namespace ashlar
