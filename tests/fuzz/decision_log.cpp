// A decision log, replayed as far as it goes: as it is, and with its version and checks put right, without which no
// changed record would be read.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "store/codec.h"
#include "store/log_format.h"
#include "store/replay.h"

namespace {

using namespace ashlar::store;

/// The records as they are, up to the first that is none, behind this build's version and with checks that hold.
std::string sealed(std::string_view bytes) {
  std::string out(kMagic);
  ByteWriter(out).fixed32(kFormatVersion);
  ByteReader in(bytes.substr(std::min(bytes.size(), out.size())));
  for (std::uint64_t number = 0; in.left() > 0; ++number) {
    const auto kind = static_cast<RecordKind>(in.byte());
    const std::string_view payload = in.text();
    in.fixed32();
    if (in.has_failed()) break;
    append_record(out, kind, payload, number);
  }
  return out;
}

void replay(std::string_view bytes) {
  const ashlar::fuzz::File file(bytes);
  static_cast<void>(replay_file(file.path()).ok());
}

void run(std::string_view bytes) {
  replay(bytes);
  replay(sealed(bytes));
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
