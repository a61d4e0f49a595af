// `ashlar version`: the release, and the compiler that built it.
#include "apps/ashlar/verbs.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace ashlar {

void add_version(CLI::App& app) {
  app.set_version_flag("--version", "ashlar " ASHLAR_VERSION);
  CLI::App* verb = app.add_subcommand("version", "Print the version and the compiler it was built with");
  verb->callback([] { std::cout << "ashlar " ASHLAR_VERSION "\nbuilt with " << __VERSION__ << '\n'; });
}

}  // namespace ashlar
