// A scenario of the simulator.
#include "sim/scenario/scenario.h"
#include "fuzz/fuzz.h"

namespace {

void run(std::string_view bytes) { static_cast<void>(ashlar::sim::parse_scenario(std::string(bytes), "f.yaml").ok()); }

}  // namespace

ASHLAR_FUZZ_TARGET(scenario)
