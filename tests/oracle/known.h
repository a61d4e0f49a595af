// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted; with the mend the line turns true.
#pragma once

namespace ashlar::oracle {

inline constexpr bool kTiresiasComesToRest =
    false;  ///< published: it may stop a job each beat for one that finds no place, for ever (history 2); counted
/// A promise's room of a resource that its job does not ask for is kPlenty = 2^60, and what ends until then is added: the snapshot is written with a number
/// beyond 2^60, which the reader refuses (history 1055); counted.
inline constexpr bool kSnapshotsOfPromisesCanBeRead = false;

}  // namespace ashlar::oracle
