// live_setup: joins the configuration file, the decision log and the live scheduler: what config and store say, in the words of kube. Wiring only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/scheduler_config.h"
#include "live/lead/scheduler.h"
#include "store/file_writer.h"

namespace ashlar {

/// In JSON logs a line's object follows its message in the payload: kind, namespace and name, each after this mark, which no message holds.
inline constexpr char kLogFieldMark = '\x1f';

/// What writes the decision log, for as long as the process lives; null where none is wanted. Makes its folder; an Error where that cannot be used.
Result<std::shared_ptr<store::FileWriter>> log_writer(const config::DecisionLogConfig& log);

/// Options of the live scheduler as the settings say. Reads no file; credentials are in `access`.
kube::SchedulerOptions live_options(const config::SchedulerConfig& config, kube::Access access,
                                    const std::shared_ptr<store::FileWriter>& log = nullptr);

}  // namespace ashlar
