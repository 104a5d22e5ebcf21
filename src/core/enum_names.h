// EnumNames: the names of an enumeration's values in one table, from which both ways are read.
//
//   constexpr auto kFrequencies = enum_names<ChargeFrequency>({
//       {ChargeFrequency::kOneTime, "One-Time"},
//       {ChargeFrequency::kRecurring, "Recurring"},
//   });
//   kFrequencies.name(frequency)   // "Recurring"
//   kFrequencies.parse(text)       // nothing for another text
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/check.h"

namespace pennyweight {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

template <class Enum, std::size_t N>
class EnumNames {
 public:
  // Does not compile where two entries have one name or one value.
  consteval explicit EnumNames(const EnumName<Enum> (&entries)[N]) {
    for (std::size_t i = 0; i < N; ++i) {
      entries_[i] = entries[i];
      names_[i] = entries[i].name;
      for (std::size_t other = 0; other < i; ++other) {
        CHECK(entries[i].name != entries[other].name, "a name has one value");
        CHECK(entries[i].value != entries[other].value, "a value has one name");
      }
    }
  }

  // REQUIRES: the table has the value.
  constexpr std::string_view name(Enum value) const {
    for (const EnumName<Enum>& entry : entries_) {
      if (entry.value == value) return entry.name;
    }
    CHECK(false, "every value of an enumeration has a name");
  }
  // The value of exactly this name; nothing for any other text.
  constexpr std::optional<Enum> parse(std::string_view name) const {
    for (const EnumName<Enum>& entry : entries_) {
      if (entry.name == name) return entry.value;
    }
    return std::nullopt;
  }
  // In the order of the table.
  constexpr const std::array<EnumName<Enum>, N>& entries() const { return entries_; }
  constexpr const std::array<std::string_view, N>& names() const { return names_; }

 private:
  std::array<EnumName<Enum>, N> entries_;
  std::array<std::string_view, N> names_;
};

template <class Enum, std::size_t N>
consteval EnumNames<Enum, N> enum_names(const EnumName<Enum> (&entries)[N]) {
  return EnumNames<Enum, N>(entries);
}

}  // namespace pennyweight
