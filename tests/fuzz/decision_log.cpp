// A decision log, replayed as far as it goes. Its checks stop most bytes at once; the codec of steps is reached by seeds that a test wrote.
#include "fuzz/fuzz.h"
#include "store/codec.h"
#include "store/replay.h"

namespace {

using namespace ashlar::store;

void run(std::string_view bytes) {
  const ashlar::fuzz::File file(bytes);
  static_cast<void>(replay_file(file.path()).ok());
  ByteReader in(bytes);
  ashlar::Event event;
  for (int i = 0; i < 1000 && !in.has_failed() && in.left() > 0; ++i) decode_event(in, event);
  ByteReader plan_in(bytes);
  ashlar::Plan plan;
  decode_plan(plan_in, plan);
  static_cast<void>(profile_of(bytes).ok());
}

}  // namespace

ASHLAR_FUZZ_TARGET(decision_log)
