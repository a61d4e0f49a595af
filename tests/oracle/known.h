// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted;
// with the mend the line turns true.
#pragma once

namespace ashlar::oracle {

/// Published: tiresias may stop a job at each cadence for one that finds no place, for ever (history 2). Counted.
inline constexpr bool kTiresiasComesToRest = false;

/// Of 1,000 worlds of holds, groups, levels, unlike devices, limits and failures together: a job waits under `skip`
/// though it has a place (seeds 705, 707), or those behind it start where it could (319, 343, 349). Whether the engine
/// or the oracle is wrong there is not known.
inline constexpr int kTogetherWaitForNothing = 2, kTogetherPassedOver = 3;

}  // namespace ashlar::oracle
