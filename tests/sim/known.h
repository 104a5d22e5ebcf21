// What the engine is known not to keep yet. Each is a finding with its seed; once it is mended the
// constant becomes true, and then nothing is left of this file.
#pragma once

namespace pennyweight::sim {

// With AllocationInput::changed the GPU time of a holder in a pool is divided among fewer lines of
// a day, and may differ by a unit (share.cc, tell_pool_time). With it true: sim --seeds 1
// --from 563.
inline constexpr bool kChangedKeepsPoolTime = false;

}  // namespace pennyweight::sim
