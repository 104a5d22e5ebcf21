// The words used in policy files, each list in the order of its enum.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "allocation/policy/policy.h"

namespace pennyweight::words {

inline constexpr std::array<std::string_view, 4> kBasis = {"request", "usage", "max", "blend"};
inline constexpr std::array<std::string_view, 4> kNodeSplit = {"residual", "whole_node", "ratio",
                                                               "explicit"};
inline constexpr std::array<std::string_view, 3> kActivity = {"engine_active", "sm_active",
                                                              "gpu_util"};
inline constexpr std::array<std::string_view, 4> kSpread = {"keep", "proportional", "even",
                                                            "fixed"};
inline constexpr std::array<std::string_view, 3> kWithin = {"node", "pool", "cluster"};
inline constexpr std::array<std::string_view, 2> kOver = {"day", "month"};
inline constexpr std::array<std::string_view, 7> kMeasure = {
    "gpu_cost", "cost", "gpu_time", "memory_time", "cpu_cost", "component_cost", "named"};

inline std::string_view text(Basis::Kind value) { return kBasis[static_cast<std::size_t>(value)]; }
inline std::string_view text(NodeSplit value) {
  return kNodeSplit[static_cast<std::size_t>(value)];
}
inline std::string_view text(UsageRules::Activity value) {
  return kActivity[static_cast<std::size_t>(value)];
}
inline std::string_view text(Spread value) { return kSpread[static_cast<std::size_t>(value)]; }
inline std::string_view text(SpreadWithin value) {
  return kWithin[static_cast<std::size_t>(value)];
}
inline std::string_view text(SpreadOver value) { return kOver[static_cast<std::size_t>(value)]; }
inline std::string_view text(SpreadMeasure value) {
  return kMeasure[static_cast<std::size_t>(value)];
}

}  // namespace pennyweight::words
