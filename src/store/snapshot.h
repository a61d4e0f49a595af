// Snapshot: state and engine memory as bytes and back, exactly: digest, turns, closed shapes and random draws included,
// so that an engine that reads a snapshot continues with the same decisions, byte for byte. 5,000 nodes with 50,000
// pods are some 4 MB and take about 6 ms to write.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "state/state.h"

namespace ashlar::store {

void append_snapshot(std::string& out, const State& state, const Engine& engine);
/// `engine` must be of the profile that wrote it. On failure both are unusable. Verified: bounds of every row, and a
/// full recount of the state.
Result<void> read_snapshot(std::string_view bytes, State& state, Engine& engine);

}  // namespace ashlar::store
