// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted;
// with the mend the line turns true.
#pragma once

#include <cstdint>

namespace ashlar::oracle {

/// Published: tiresias may stop a job at each cadence for one that finds no place, for ever (history 2). Counted.
inline constexpr bool kTiresiasComesToRest = false;

/// Worlds in which a gang of unlike members, or of shares, waits though it has a place. Where a limit by device class
/// refuses a place the engine tries others, and does not go back on what it has placed:
/// docs/decisions/0011-shapes-and-speed.md. None is among the 1,000 that are always played.
inline constexpr std::uint64_t kTogetherBeyondSearch[] = {
    1145,   // two members of two GPUs must share the limit with two of one
    3387,   // two shares take what the limit leaves of the class, which the others need for its memory
    5730,   // one of three shares must leave the limited class, and all are moved
    13553,  // members of few cores take the nodes that those of many need
    18926,  // a whole GPU takes what the limit leaves, and the share accepts no other class; shares of other jobs are already counted
    21949,  // two that could leave the limited class take what its limit leaves to two that cannot
};

}  // namespace ashlar::oracle
