// The case language: read, not played.
#include "sim/case/case_file.h"
#include "fuzz/fuzz.h"

namespace {

void run(std::string_view bytes) { static_cast<void>(ashlar::sim::read_case(bytes, "f.case").ok()); }

}  // namespace

ASHLAR_FUZZ_TARGET(case_file)
