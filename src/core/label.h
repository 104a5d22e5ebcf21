// Labels: the keys and values that a workload carries, sorted by key.
//
// Kubernetes labels and annotations, and Slurm's account, user, partition, QOS and comment, all
// become labels; rules turn them into dimensions. A key occurs once.
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
  // Sets or replaces a label. An Error where the limits of limits.h on count or length are
  // exceeded.
  Result<void> set(std::string_view key, std::string_view value);
  // Nothing when there is no such key. An empty value is a value.
  std::optional<std::string_view> find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace pennyweight
