// `ashlar version`: the release, and the compiler that built it.
#include "apps/ashlar/verbs.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "apps/ashlar/shared/json.h"
#include "apps/ashlar/shared/usage.h"

namespace ashlar {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;  // begins with its name
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

void add_version(CLI::App& app) {
  app.set_version_flag("--version", "ashlar " ASHLAR_VERSION);
  CLI::App* verb = app.add_subcommand("version", "Print the version and the compiler it was built with");
  auto output = std::make_shared<std::string>("text");
  add_format_option(*verb, *output, {"text", "json"});
  verb->callback([output] {
    if (*output == "json")
      std::cout << json_document("Version", {{"version", ASHLAR_VERSION}, {"compiler", kCompiler}});
    else
      std::cout << "ashlar " ASHLAR_VERSION "\nbuilt with " << kCompiler << '\n';
  });
}

}  // namespace ashlar
