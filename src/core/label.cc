#include "core/label.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

auto position(auto& entries, std::string_view key) {
  return std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const Labels::Entry& entry, std::string_view k) { return entry.first < k; });
}

}  // namespace

Result<void> Labels::set(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > limits::kLabelKeyBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("a label key has 1 to {} bytes, this one {}",
                                               limits::kLabelKeyBytesMax, key.size()));
  }
  if (value.size() > limits::kLabelValueBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("the value of label '{}' has more than {} bytes",
                            printable_text(key, 80), limits::kLabelValueBytesMax));
  }
  const auto at = position(entries_, key);
  if (at != entries_.end() && at->first == key) {
    at->second = value;
    return {};
  }
  if (entries_.size() >= limits::kLabelsMax) {
    return fail(ErrorCode::kLimit, fmt::format("more than {} labels", limits::kLabelsMax));
  }
  entries_.emplace(at, key, value);
  return {};
}

std::optional<std::string_view> Labels::find(std::string_view key) const {
  const auto at = position(entries_, key);
  if (at == entries_.end() || at->first != key) return std::nullopt;
  return at->second;
}

}  // namespace pennyweight
