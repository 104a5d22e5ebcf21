// PackedTexts: a map of texts in one block of memory.
//
// A hundred thousand pods with twenty labels each would be two million small strings; packed, they
// are a hundred thousand. REQUIRES: texts without NUL, which no well-formed label or annotation
// contains (core/plain_text.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/schedulers/kubernetes/object.h"

namespace pennyweight::kubernetes {

class PackedTexts {
 public:
  PackedTexts() = default;
  explicit PackedTexts(const Texts& texts) {
    std::size_t size = 0;
    for (const auto& [key, value] : texts) size += key.size() + value.size() + 2;
    bytes_.reserve(size);
    for (const auto& [key, value] : texts) {
      bytes_.append(key).push_back('\0');
      bytes_.append(value).push_back('\0');
    }
  }

  bool empty() const { return bytes_.empty(); }

  // In the order of the keys.
  template <class Act>
  void each(Act act) const {
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      const std::string_view key = take(rest);
      const std::string_view value = take(rest);
      act(key, value);
    }
  }

  std::optional<std::string_view> find(std::string_view wanted) const {
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      const std::string_view key = take(rest);
      const std::string_view value = take(rest);
      if (key == wanted) return value;
    }
    return std::nullopt;
  }

  bool operator==(const PackedTexts&) const = default;

 private:
  static std::string_view take(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return part;
  }

  std::string bytes_;
};

}  // namespace pennyweight::kubernetes
