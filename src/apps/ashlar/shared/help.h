// help: the form of `--help`: at most 80 columns wide, and its words are those of this project's messages.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace ashlar {

/// For the root of the command line, before its verbs are added: they take it over.
std::shared_ptr<CLI::Formatter> help_form();

}  // namespace ashlar
