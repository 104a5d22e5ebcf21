// Labels: what a workload says about itself, key to value, sorted by key.
//
// Kubernetes labels and annotations, Slurm's account, user, partition, QOS and comment, all end up
// here; rules turn them into dimensions. A key occurs once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace pennyweight {

class Labels {
 public:
  using Entry = std::pair<std::string, std::string>;

  Labels() = default;
  // Sets or replaces. An error past the limits of limits.h on count and length.
  Result<void> set(std::string_view key, std::string_view value);
  // Nothing when there is no such key; an empty value is a value.
  std::optional<std::string_view> find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace pennyweight
