// How many small units a large one has: memory, processors and time.
#pragma once

#include <cstdint>

namespace pennyweight {

inline constexpr std::uint64_t kBytesPerMib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kBytesPerGib = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMilliPerCpu = 1'000;  // thousandths of a core
inline constexpr std::uint64_t kMillisecondsPerHour = 3'600'000;

}  // namespace pennyweight
