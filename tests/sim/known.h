// What the engine is known not to keep yet. Each is a finding with its seed; once it is mended the
// constant becomes true, and then nothing is left of this file.
#pragma once

namespace pennyweight::sim {

// Parts of a holder on one card and day that become one posting lose observed time (post.cc,
// merge). With it true: sim --seeds 1 --from 58.
inline constexpr bool kObservedTimeAddsUp = false;

// A holder that is alone on a seat, in a gap of its own series, is charged by the device's values
// (seat.h, SeatInput::device); by sums it is not (seat.cc, alone). With it true:
// sim --seeds 1 --from 2.
inline constexpr bool kDeviceFillsGaps = false;

}  // namespace pennyweight::sim
