// Figures of a replay in words: times, GPU time, shares.
#pragma once

#include <cstdint>
#include <string>

#include "core/int128.h"

namespace pennyweight {

// Times in microseconds, cut to what people read: "5 s", "5 min 00 s", "5 h 00 min".
std::string replayed_duration_text(std::int64_t us);
// To the second, rounded up: what is longer than a limit never reads like the limit.
std::string exact_duration_text(std::int64_t us);
// By how much two times differ: "+5 min 00 s".
std::string difference_text(std::int64_t was, std::int64_t is);

// Thousandths of a GPU times microseconds, as GPU-hours.
std::string replayed_hours_text(Int128 milli_gpu_us);
// Hundredths of a percent as "97.35 %"; "-" of nothing.
std::string replayed_share_text(Int128 part, Int128 whole);

// "24,134".
std::string replayed_count_text(std::uint64_t count);
std::string millionths_text(std::uint64_t millionths);
std::string thousandths_text(std::uint64_t thousandths);

}  // namespace pennyweight
