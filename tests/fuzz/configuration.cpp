// ashlar.yaml, profiles and pod lists.
#include "config/profile_file.h"
#include "config/scheduler_config.h"
#include "fuzz/fuzz.h"

namespace {

void run(std::string_view bytes) {
  static_cast<void>(ashlar::config::parse_config(bytes, "f.yaml").ok());
  static_cast<void>(ashlar::config::parse_profile(bytes, "f.yaml").ok());
  static_cast<void>(ashlar::config::parse_pod_list(bytes, "f.csv").ok());
  static_cast<void>(ashlar::config::parse_listen(bytes).ok());
  static const ashlar::config::SchedulerConfig kConfig = ashlar::config::default_config();
  static_cast<void>(ashlar::config::read_queue_object("q", bytes, kConfig).ok());
}

}  // namespace

ASHLAR_FUZZ_TARGET(configuration)
