// Known: faults that oracles have found and that are not mended yet. What they concern is not drawn, or only counted; with the mend the line turns true.
#pragma once

namespace ashlar::oracle {

inline constexpr bool kWithinHoldsBesideWishes = true;   ///< gangs with `within` and `prefer` of different levels stay inside the hard domain
inline constexpr bool kEveryProfileKeepsQuotas = true;   ///< srtf and tiresias too
inline constexpr bool kPromisesAreKept = false;          ///< nobody with a promise is delayed; no promised time lies in the past
inline constexpr bool kHeadsAreJudgedAnew = true;        ///< a head that can never run any more since a node was lost blocks nobody

}  // namespace ashlar::oracle
