// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted;
// with the mend the line turns true.
#pragma once

namespace ashlar::oracle {

/// Published: tiresias may stop a job at each cadence for one that finds no place, for ever (history 2). Counted.
inline constexpr bool kTiresiasComesToRest = false;
/// A share that names memory and is reported or nominated without devices, on a node whose device memory is not known,
/// is counted on no device: the node owes an idle device instead. With the mend, recorded logs decide otherwise.
inline constexpr bool kSharesAreSeatedWhereMemoryIsNotKnown = false;

/// Of a thousand histories with gangs of groups, one under EASY (seed 470) starts another job than who looks at all does:
/// the cause is not known.
inline constexpr int kGroupsThatSleepUnderEasy = 1;

}  // namespace ashlar::oracle
