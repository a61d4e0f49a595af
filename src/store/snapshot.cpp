#include "store/snapshot.h"

#include "engine/engine_fields.h"
#include "state/state_fields.h"
#include "store/codec.h"
#include "store/fields.h"

namespace ashlar::store {

void append_snapshot(std::string& out, const State& state, const Engine& engine) {
  ByteWriter writer(out);
  const auto write = [&](const auto& column) { encode(writer, column); };
  StateFields::each(state, write);
  EngineFields::each(engine, write);
}

Result<void> read_snapshot(std::string_view bytes, State& state, Engine& engine) {
  ByteReader in(bytes);
  const auto read = [&](auto& column) { decode(in, column); };
  StateFields::each(state, read);
  EngineFields::each(engine, read);
  if (!in.has_failed() && in.left() > 0) in.fail("there are bytes left over");
  if (in.has_failed()) return fault_of(in);
  const auto contradiction = [] { return invalid("the snapshot's columns contradict each other"); };
  if (!StateFields::are_sound(state)) return contradiction();
  StateFields::forget_caches(state);  // counts again by rows that sound columns have
  if (!StateFields::are_capacities_counted(state) || !state.is_consistent()) return contradiction();
  if (!EngineFields::is_sound(engine, state)) return invalid("the snapshot's waiting jobs contradict its columns");
  EngineFields::rebuild(engine);
  return {};
}

}  // namespace ashlar::store
