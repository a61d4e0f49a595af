#include "cli/completion/completion.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace ashlar::cli {
namespace {

/// One word of a POSIX shell, whatever it holds.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

/// Every command with the names that lead to it: "ashlar sim run".
void each_command(const CommandSpec& command, const std::string& path,
                  const std::function<void(const CommandSpec&, const std::string&)>& visit) {
  visit(command, path);
  for (const CommandSpec& verb : command.verbs) each_command(verb, path + " " + verb.name, visit);
}

std::vector<std::string> names_of(const std::vector<CommandSpec>& verbs) {
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const CommandSpec& verb : verbs) names.push_back(verb.name);
  return names;
}

// ---- bash -----------------------------------------------------------------------------------------------------------

/// "'ashlar why -o' | 'ashlar why --output'"
std::string bash_patterns(const std::string& path, const std::vector<std::string>& words) {
  const std::string start = path + " ";
  std::vector<std::string> patterns;
  patterns.reserve(words.size());
  for (const std::string& word : words) patterns.push_back(quoted(start + word));
  return joined(patterns, " | ");
}

std::string bash_value(const ValueSpec& value) {
  std::string text;
  if (!value.words.empty()) text += " words=" + quoted(joined(value.words, " "));
  if (value.is_file) text += " files=1";
  return text;
}

struct BashCases {
  std::string steps;    ///< what a word before the cursor is
  std::string values;   ///< by option, what its value may be
  std::string places;   ///< by command and number of arguments before the cursor, what may stand there
  std::string options;  ///< by command
};

void add_bash_cases(const CommandSpec& command, const std::string& path, BashCases& cases) {
  std::vector<std::string> options, with_value;
  for (const OptionSpec& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (option.value_name.empty()) continue;
    with_value.insert(with_value.end(), option.names.begin(), option.names.end());
    if (const std::string value = bash_value(option.value); !value.empty())
      cases.values += fmt::format("      {}){} ;;\n", bash_patterns(path, option.names), value);
  }
  if (!command.verbs.empty()) {
    const std::vector<std::string> verbs = names_of(command.verbs);
    cases.steps += fmt::format("      {}) path=\"$path $word\" ;;\n", bash_patterns(path, verbs));
    cases.places += fmt::format("      {}) words={} ;;\n", quoted(path + " 0"), quoted(joined(verbs, " ")));
  }
  if (!with_value.empty()) cases.steps += fmt::format("      {}) option=$word ;;\n", bash_patterns(path, with_value));
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const ArgumentSpec& argument = command.arguments[i];
    const std::string value = bash_value(argument.value);
    const std::string place = argument.is_repeated ? quoted(path + " ") + "*" : quoted(path + " " + std::to_string(i));
    if (!value.empty()) cases.places += fmt::format("      {}){} ;;\n", place, value);
  }
  cases.options += fmt::format("      {}) options={} ;;\n", quoted(path), quoted(joined(options, " ")));
}

constexpr const char* kBashText = R"(# Bash completion of {name}, printed by `{name} completion bash`.
_{name}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} path={name} option='' count=0 words='' files='' options='' word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ -n $option ]]; then
      [[ $word == '=' ]] || option=''
      continue
    fi
    case "$path $word" in
{steps}      *' -'*) ;;
      *) ((++count)) ;;
    esac
  done
  [[ $cur != '=' ]] || cur=''
  case "$path" in
{options}  esac
  if [[ -n $option ]]; then
    options=''
    case "$path $option" in
{values}      *) ;;
    esac
  elif [[ $cur != -* ]]; then
    case "$path $count" in
{places}      *) ;;
    esac
    [[ -z $cur && -z $words$files ]] || options=''
  fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words $options" -- "$cur")
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  fi
}}
complete -F _{name} {name}
)";

// ---- zsh ------------------------------------------------------------------------------------------------------------

/// Text within a specification of _arguments or _describe, where brackets and colons have a meaning.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const ValueSpec& value) {
  const std::string words = "(" + joined(value.words, " ") + ")";
  if (value.is_file && !value.words.empty())
    return "{ _alternative \"words:name:" + words + "\" \"files:file:_files\" }";
  if (value.is_file) return "_files";
  return value.words.empty() ? " " : words;
}

/// One argument of _arguments: '(-o --output)'{-o+,--output=}'[Format]:FORMAT:(table json)'.
std::string zsh_option(const OptionSpec& option) {
  const bool has_value = !option.value_name.empty();
  std::vector<std::string> forms;
  for (const std::string& name : option.names)
    forms.push_back(!has_value ? name : name + (name.starts_with("--") ? "=" : "+"));
  std::string rest = "[" + zsh_text(option.description) + "]";
  if (has_value) rest += ":" + zsh_text(option.value_name) + ":" + zsh_action(option.value);
  const std::string before = option.is_repeated ? "*" : "(" + joined(option.names, " ") + ")";
  if (forms.size() == 1) return quoted(before + forms[0] + rest);
  return quoted(before) + "{" + joined(forms, ",") + "}" + quoted(rest);
}

std::string zsh_function_name(std::string path) {
  for (char& c : path) c = c == ' ' ? '_' : c;
  return "_" + path;
}

std::string zsh_function(const CommandSpec& command, const std::string& path) {
  const std::string name = zsh_function_name(path);
  std::string text = name + "() {\n";
  if (!command.verbs.empty()) text += "  local context state state_descr line\n  typeset -A opt_args\n";
  text += std::string("  _arguments -s -S") + (command.verbs.empty() ? "" : " -C");
  for (const OptionSpec& option : command.options) text += " \\\n    " + zsh_option(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const ArgumentSpec& argument = command.arguments[i];
    const std::string place = argument.is_repeated ? "*" : std::to_string(i + 1);
    text += " \\\n    " + quoted(place + ":" + zsh_text(argument.name) + ":" + zsh_action(argument.value));
  }
  if (command.verbs.empty()) return text + "\n}\n\n";
  text +=
      " \\\n    '1:verb:->verb' \\\n    '*::argument:->rest'\n  case $state in\n    verb)\n      local -a verbs=(\n";
  for (const CommandSpec& verb : command.verbs)
    text += "        " + quoted(zsh_text(verb.name) + ":" + verb.description) + "\n";
  text += "      )\n      _describe -t verbs verb verbs ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandSpec& verb : command.verbs)
    text += "        " + verb.name + ") " + zsh_function_name(path + " " + verb.name) + " ;;\n";
  return text + "      esac ;;\n  esac\n}\n\n";
}

// ---- fish -----------------------------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_option(const OptionSpec& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value_name.empty()) text += option.value.is_file ? " -r -F" : " -x";
  if (!option.value.words.empty()) text += " -a " + fish_quoted(joined(option.value.words, " "));
  return text + " -d " + fish_quoted(option.description) + "\n";
}

std::string fish_lines(const CommandSpec& command, const std::string& root, const std::string& path) {
  const std::string line =
      fmt::format("complete -c {0} -n {1}", root, fish_quoted("test (__" + root + "_path) = \"" + path + "\""));
  std::string text;
  for (const CommandSpec& verb : command.verbs)
    text += line + " -a " + verb.name + " -d " + fish_quoted(verb.description) + "\n";
  for (const OptionSpec& option : command.options) text += line + fish_option(option);
  for (const ArgumentSpec& argument : command.arguments) {
    if (argument.value.is_file) text += line + " -F\n";
    if (!argument.value.words.empty()) text += line + " -a " + fish_quoted(joined(argument.value.words, " ")) + "\n";
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandSpec& command) {
  BashCases cases;
  each_command(command, command.name,
               [&](const CommandSpec& of, const std::string& path) { add_bash_cases(of, path, cases); });
  return fmt::format(kBashText, fmt::arg("name", command.name), fmt::arg("steps", cases.steps),
                     fmt::arg("options", cases.options), fmt::arg("values", cases.values),
                     fmt::arg("places", cases.places));
}

std::string zsh_completion(const CommandSpec& command) {
  std::string text =
      fmt::format("#compdef {0}\n# Zsh completion of {0}, printed by `{0} completion zsh`.\n\n", command.name);
  each_command(command, command.name,
               [&](const CommandSpec& of, const std::string& path) { text += zsh_function(of, path); });
  // In a file of $fpath this text is the body of the function itself; sourced, it registers it.
  return text + fmt::format("if [ \"$funcstack[1]\" = \"_{0}\" ]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n",
                            command.name);
}

std::string fish_completion(const CommandSpec& command) {
  const std::string& name = command.name;
  std::vector<std::string> paths;
  std::string lines;
  each_command(command, name, [&](const CommandSpec& of, const std::string& path) {
    if (path != name) paths.push_back(fish_quoted(path));
    lines += fish_lines(of, name, path);
  });
  std::string text = fmt::format("# Fish completion of {0}, printed by `{0} completion fish`.\n", name);
  text += fmt::format(
      "function __{0}_path\n  set -l path {0}\n  for word in (commandline -opc)[2..-1]\n    switch \"$path $word\"\n",
      name);
  if (!paths.empty()) text += "      case " + joined(paths, " ") + "\n        set path \"$path $word\"\n";
  return text + "    end\n  end\n  echo $path\nend\n\ncomplete -c " + name + " -f\n" + lines;
}

}  // namespace ashlar::cli
