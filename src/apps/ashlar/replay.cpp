// `ashlar replay LOG`: decides a recorded run again and reports whether every plan is the same; with --policy, where
// another profile would have decided differently. LOG is a file or a folder of the decision log. Exit status 0
// identical, 1 not, 2 for a log or profile that cannot be read.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "config/profile_file.h"
#include "store/replay.h"

namespace ashlar {
namespace {

struct ReplayVerbOptions {
  std::string log, policy, output = "text";
  std::uint64_t from = 0;
};

[[noreturn]] void refuse(const std::string& message) {
  std::cerr << "ashlar replay: " << message << '\n';
  throw CLI::RuntimeError(kBadInput);
}

/// A profile's models are those that the log names, or that its device classes list; a model that the log never names
/// is one that no node has.
Profile resolved_by(const config::ProfileSpec& spec, const store::NameTable& names) {
  std::uint32_t unheard_of = 0;
  return config::resolved(spec, [&](std::string_view model) {
    const DeviceClassId known = names.class_called(model);
    if (!known.is_none()) return known;
    return DeviceClassId(names.row_of(store::NameKind::kModel, model) + unheard_of++);
  });
}

void run_replay(const ReplayVerbOptions& options) {
  store::ReplayOptions replay;
  replay.from = options.from;
  if (!options.policy.empty()) {
    Result<config::ProfileSpec> spec = config::find_whole_profile(options.policy);
    if (!spec) refuse("--policy: " + spec.error().message);
    replay.other = [spec = std::move(spec).value()](const store::NameTable& names) { return resolved_by(spec, names); };
  }
  const Result<store::ReplayReport> report = store::replay_file(options.log, replay);
  if (!report) refuse(report.error().message);
  std::cout << (options.output == "json" ? store::report_json(*report) : store::report_text(*report)) << std::flush;
  if (!report->is_identical()) throw CLI::RuntimeError(kFailed);
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayVerbOptions>();
  CLI::App* verb = app.add_subcommand("replay", "Replay a recorded run and compare every plan");
  verb->add_option("LOG", options->log, "Decision log: one file, or the folder")
      ->required()
      ->type_name("")
      ->check(any_file());
  verb->add_option("--policy", options->policy, "Show where this profile would have decided differently")
      ->type_name("NAME|FILE")
      ->check(profile_or_file());
  verb->add_option("--from", options->from, "Compare from this revision on")
      ->type_name("REVISION")
      ->check(whole_number(0));
  add_format_option(*verb, options->output, {"text", "json"});
  verb->callback([options] { run_replay(*options); });
}

}  // namespace ashlar
