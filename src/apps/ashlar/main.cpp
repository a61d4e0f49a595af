// The program `ashlar`: one binary with a verb for everything a user or a cluster asks of it. This file only builds the command
// line from the table in verbs.h and turns what a verb throws into an exit status (0 done, 1 failed, 2 bad input or usage).
#include "apps/ashlar/verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Ashlar decides which workload runs on which accelerators, when and beside whom."};
  app.name("ashlar");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
#define ASHLAR_ADD(verb) ashlar::add_##verb(app);
  ASHLAR_VERBS(ASHLAR_ADD)
#undef ASHLAR_ADD
  try {
    app.parse(argc, argv);
    if (!std::cout.flush() || std::fflush(stdout) != 0) {
      std::cerr << "ashlar: the output could not be written in full\n";
      return kFailed;
    }
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    // Asking for --help is a ParseError too, with status 0.
    return app.exit(error) == 0 ? 0 : kBadInput;
  } catch (const std::exception& error) {
    std::cerr << "ashlar: " << error.what() << '\n';
    return kFailed;
  }
}
