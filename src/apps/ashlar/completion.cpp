// `ashlar completion SHELL`: prints the script with which that shell completes the command line of this program.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "cli/completion/completion.h"

namespace ashlar {

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print the script that completes commands in bash, zsh or fish");
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(one_of({"bash", "zsh", "fish"}));
  verb->callback([&app, shell] {
    const cli::CommandSpec command = command_spec(app);
    std::cout << (*shell == "bash"  ? cli::bash_completion(command)
                  : *shell == "zsh" ? cli::zsh_completion(command)
                                    : cli::fish_completion(command));
  });
}

}  // namespace ashlar
