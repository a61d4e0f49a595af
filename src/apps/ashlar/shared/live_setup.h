// live_setup: joins the configuration file, the decision log and the live scheduler: translates settings and log into
// the types of kube. Wiring only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/scheduler_config.h"
#include "live/lead/scheduler.h"
#include "store/file_writer.h"

namespace ashlar {

/// In JSON logs a line's object follows its message in the payload: kind, namespace and name, each after this mark,
/// which no message contains.
inline constexpr char kLogFieldMark = '\x1f';

/// The writer of the decision log, for as long as the process lives; null if no log is configured. Creates its folder;
/// an Error if that cannot be used.
Result<std::shared_ptr<store::FileWriter>> log_writer(const config::DecisionLogConfig& log);

/// Options of the live scheduler from the settings. Reads no file; credentials are in `access`.
kube::SchedulerOptions live_options(const config::SchedulerConfig& config, kube::Access access,
                                    const std::shared_ptr<store::FileWriter>& log = nullptr);

}  // namespace ashlar
