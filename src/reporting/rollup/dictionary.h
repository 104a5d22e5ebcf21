// Dictionary: small numbers for the texts of postings and for combinations of them.
//
// A facet is a combination of dimensions with few values (cluster, kind, service, …). A place is a
// node, card and resource. A set is the dimensions that label rules gave to a workload. Numbers are
// never removed, and 0 is the empty text, place or set.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pennyweight::rollup {

using Number = std::uint32_t;

// The first kLeanDimensions are lean. Grains by team or user leave out the others, which would
// multiply their rows.
inline constexpr std::array kFacetDimensions = {
    "cluster",  "month",   "billing_month", "kind",   "component", "currency",    "service",
    "category", "pricing", "instance_type", "region", "account",   "sub_account", "price_tier"};
inline constexpr std::size_t kLeanDimensions = 6;
inline constexpr std::size_t kCurrency = 5;
inline constexpr std::array kPlaceDimensions = {"node", "gpu", "resource"};

using Facet = std::array<Number, kFacetDimensions.size()>;     // texts
using Location = std::array<Number, kPlaceDimensions.size()>;  // texts
using LabelSet = std::vector<std::pair<Number, Number>>;       // dimension, value: texts; sorted

// The facet with only its lean dimensions; the others are "".
Facet lean(Facet facet);
// The value of a dimension in a set; 0 if it has none.
Number value_in(const LabelSet& set, Number dimension);

// Numbers things in the order of their first appearance.
template <class Thing, class Hash, class Equal = std::equal_to<>>
class InternTable {
 public:
  template <class Key>
  Number number_of(const Key& key) {
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    const auto number = static_cast<Number>(all_.size());
    numbers_.emplace(Thing(key), number);
    all_.emplace_back(key);
    return number;
  }
  template <class Key>
  std::optional<Number> find(const Key& key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::vector<Thing>& all() const { return all_; }

 private:
  std::unordered_map<Thing, Number, Hash, Equal> numbers_;
  std::vector<Thing> all_;
};

struct HashText {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
struct HashNumbers {
  static void add(std::size_t& hash, Number number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  template <std::size_t N>
  std::size_t operator()(const std::array<Number, N>& numbers) const {
    std::size_t hash = N;
    for (const Number number : numbers) add(hash, number);
    return hash;
  }
  std::size_t operator()(const std::vector<Number>& numbers) const {
    std::size_t hash = numbers.size();
    for (const Number number : numbers) add(hash, number);
    return hash;
  }
  std::size_t operator()(const LabelSet& set) const {
    std::size_t hash = set.size();
    for (const auto& [dimension, value] : set) add(hash, dimension), add(hash, value);
    return hash;
  }
};

struct Dictionary {
  InternTable<std::string, HashText> texts;
  InternTable<Facet, HashNumbers> facets;
  InternTable<Location, HashNumbers> places;
  InternTable<LabelSet, HashNumbers> sets;
  std::vector<Number> dimensions;  // that sets have, as texts

  Dictionary();
  const std::string& text(Number number) const { return texts.all()[number]; }
};

}  // namespace pennyweight::rollup
