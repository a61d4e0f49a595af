// `ashlar case FILE...`: plays .case files through the engine and shows where the result differs. Exit status 1 on
// differences, 2 on files that cannot be read.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "cli/terminal.h"
#include "sim/case/case.h"
#include "sim/results/output_file.h"
#include "sim/trace/text_source.h"

namespace ashlar {
namespace {

struct CaseOptions {
  std::vector<std::string> files;
  bool is_update = false;
};

int run_file(const std::string& path, bool is_update) {
  const Result<std::string> text = sim::read_text(path);
  if (!text) {
    std::cerr << text.error().message << '\n';
    return kBadInput;
  }
  const Result<sim::CaseOutcome> outcome = sim::run_case(*text, path);
  if (!outcome) {
    std::cerr << outcome.error().message << '\n';
    return outcome.error().kind == Error::Kind::kInvalid ? kBadInput : kFailed;
  }
  if (outcome->is_as_expected()) return 0;
  std::cout << sim::diff_text(*outcome, path, cli::wants_colour(STDOUT_FILENO));
  if (!is_update) return kFailed;
  if (const Result<void> written = sim::write_whole_file(path, outcome->updated); !written) {
    std::cerr << written.error().message << '\n';
    return kBadInput;
  }
  std::cout << path << ": updated\n";
  return 0;
}

}  // namespace

void add_case(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("case", "Run .case files through the engine and show where it deviates");
  auto options = std::make_shared<CaseOptions>();
  verb->add_option("FILE", options->files, "Files to run")->required()->type_name("")->check(any_file());
  verb->add_flag("--update", options->is_update,
                 "Write the observed results into the files; review the diff like code");
  verb->callback([options] {
    int worst = 0, as_expected = 0;
    for (const std::string& path : options->files) {
      const int status = run_file(path, options->is_update);
      as_expected += status == 0 ? 1 : 0;
      worst = std::max(worst, status);
    }
    std::cout << as_expected << " of " << options->files.size() << " cases as expected\n";
    if (worst != 0) throw CLI::RuntimeError(worst);
  });
}

}  // namespace ashlar
