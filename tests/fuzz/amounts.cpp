// Small texts: quantities, durations of both grammars, URLs and percent signs.
#include "fuzz/fuzz.h"
#include "http/server.h"
#include "http/url.h"
#include "sim/replay/job_replay.h"
#include "sim/scenario/units.h"
#include "text/duration_text.h"
#include "text/quantity_text.h"

namespace {

void run(std::string_view bytes) {
  for (const std::int64_t units : {1, 1000}) static_cast<void>(ashlar::parse_quantity(bytes, units).ok());
  static_cast<void>(ashlar::parse_duration(bytes).ok());
  static_cast<void>(ashlar::sim::parse_rate_per_hour(bytes).has_value());
  static_cast<void>(ashlar::sim::parse_restart_overhead(bytes).ok());
  static_cast<void>(ashlar::http::parse_url(bytes).ok());
  static_cast<void>(ashlar::http::percent_decode(ashlar::http::percent_encode(bytes)));
  static_cast<void>(ashlar::http::percent_decode(bytes));
  ashlar::http::ServerRequest request;
  request.query = bytes;
  static_cast<void>(request.query_value("name"));
}

}  // namespace

ASHLAR_FUZZ_TARGET(amounts)
