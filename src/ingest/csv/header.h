// Header: the names of a table's columns and their positions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"

namespace pennyweight::csv {

class Header {
 public:
  // An Error for a name that occurs twice or is empty. Spaces around a name are not part of it.
  static Result<Header> of(std::span<const std::string_view> names);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  // Nothing if there is no such column. Names are compared exactly.
  std::optional<std::size_t> find(std::string_view name) const;
  // The positions of required columns, in the given order. The Error lists those that are missing
  // and those that were found, and points out a name that differs only in letter case.
  Result<std::vector<std::size_t>> require(std::span<const std::string_view> names) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
};

}  // namespace pennyweight::csv
