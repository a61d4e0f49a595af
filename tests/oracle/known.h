// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted;
// with the mend the line turns true.
#pragma once

namespace ashlar::oracle {

/// Published: tiresias may stop a job at each cadence for one that finds no place, for ever (history 2). Counted.
inline constexpr bool kTiresiasComesToRest = false;

}  // namespace ashlar::oracle
