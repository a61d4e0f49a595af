// `ashlar case FILE...`: plays .case files through the engine and shows where the result differs. Exit status 1 on
// differences, 2 on files that cannot be read.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/ashlar/shared/json.h"
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
  std::string output = "text";
};

/// What became of one file.
struct FileResult {
  int status = 0;  ///< exit status
  bool is_updated = false;
  std::string error;  ///< empty if it could be run and written
  sim::CaseOutcome outcome;
};

FileResult failed(const Error& error, int status) {
  std::cerr << error.message << '\n';
  return {.status = status, .is_updated = false, .error = error.message, .outcome = {}};
}

FileResult run_file(const std::string& path, bool is_update) {
  const Result<std::string> text = sim::read_text(path);
  if (!text) return failed(text.error(), kBadInput);
  Result<sim::CaseOutcome> outcome = sim::run_case(*text, path);
  if (!outcome) return failed(outcome.error(), outcome.error().kind == Error::Kind::kInvalid ? kBadInput : kFailed);
  FileResult result;
  result.outcome = std::move(outcome).value();
  if (result.outcome.is_as_expected()) return result;
  result.status = is_update ? 0 : kFailed;
  if (!is_update) return result;
  if (const Result<void> written = sim::write_whole_file(path, result.outcome.updated); !written) {
    std::cerr << written.error().message << '\n';
    result.error = written.error().message;
    result.status = kBadInput;
  }
  result.is_updated = result.error.empty();
  return result;
}

void print_text(const std::string& path, const FileResult& result) {
  if (!result.outcome.is_as_expected())
    std::cout << sim::diff_text(result.outcome, path, cli::wants_colour(STDOUT_FILENO));
  if (result.is_updated) std::cout << path << ": updated\n";
}

boost::json::object json_of(const std::string& path, const FileResult& result) {
  boost::json::array differences;
  for (const sim::CaseDiffBlock& block : result.outcome.differences) {
    boost::json::array expected, actual;
    for (const sim::CaseDiffLine& line : block.lines) {
      if (line.kind != sim::CaseDiffLine::Kind::kActual) expected.emplace_back(line.text);
      if (line.kind != sim::CaseDiffLine::Kind::kExpected) actual.emplace_back(line.text);
    }
    differences.push_back(boost::json::object{{"line", block.line},
                                              {"block", block.header},
                                              {"expected", std::move(expected)},
                                              {"actual", std::move(actual)}});
  }
  boost::json::object object{{"file", path},
                             {"asExpected", result.error.empty() && result.outcome.is_as_expected()},
                             {"updated", result.is_updated}};
  if (!result.error.empty()) object["error"] = result.error;
  object["differences"] = std::move(differences);
  return object;
}

void run_cases(const CaseOptions& options) {
  const bool is_json = options.output == "json";
  int worst = 0, good = 0;
  boost::json::array cases;
  for (const std::string& path : options.files) {
    const FileResult result = run_file(path, options.is_update);
    if (is_json)
      cases.push_back(json_of(path, result));
    else
      print_text(path, result);
    good += result.status == 0 ? 1 : 0;
    worst = std::max(worst, result.status);
  }
  if (is_json)
    std::cout << json_document("CaseReport",
                               {{"total", options.files.size()}, {"asExpected", good}, {"cases", std::move(cases)}});
  else
    std::cout << good << " of " << options.files.size() << " cases as expected\n";
  if (worst != 0) throw CLI::RuntimeError(worst);
}

}  // namespace

void add_case(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("case", "Run .case files through the engine and show where it deviates");
  auto options = std::make_shared<CaseOptions>();
  verb->add_option("FILE", options->files, "Files to run")->required()->type_name("")->check(any_file());
  verb->add_flag("--update", options->is_update,
                 "Write the observed results into the files; review the diff like code");
  add_format_option(*verb, options->output, {"text", "json"});
  verb->callback([options] { run_cases(*options); });
}

}  // namespace ashlar
