// completion: scripts with which a shell completes the verbs, options, values and files of a command line. They are
// static text: completing starts no program.
#pragma once

#include <string>

#include "cli/completion/command_spec.h"

namespace ashlar::cli {

/// To be sourced by bash 3.2 or later; needs no other package.
std::string bash_completion(const CommandSpec& command);
/// A file `_NAME` in a folder of $fpath, or to be sourced after compinit.
std::string zsh_completion(const CommandSpec& command);
/// A file NAME.fish in ~/.config/fish/completions, or to be sourced.
std::string fish_completion(const CommandSpec& command);

}  // namespace ashlar::cli
