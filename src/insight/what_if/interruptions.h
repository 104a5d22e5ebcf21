// Interruptions: which nodes a provider took back and when, from a trace instead of a rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

constexpr std::uint64_t kInterruptionBytesMax = std::uint64_t{64} << 20;
constexpr std::size_t kInterruptionsMax = 1'000'000;

// A table with a header "node,from,to"; times in UTC or with their offset. Errors are kBadValue and
// name `name` and the line: a time that is none, an end that is not after its begin, over
// kInterruptionsMax lines, no line at all.
Result<std::vector<NodeInterruption>> parse_interruptions(std::string_view text,
                                                          const std::string& name);

}  // namespace pennyweight::what_if
