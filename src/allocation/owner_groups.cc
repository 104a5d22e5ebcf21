#include "allocation/owner_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/check.h"

namespace pennyweight {
namespace {

bool is_by_parts(const SpreadRule& rule) {
  return rule.how == Spread::kFixed ||
         (rule.how == Spread::kProportional && rule.measure == SpreadMeasure::kNamed);
}

Labels alone(const SpreadRule& rule, const std::string& value) {
  Labels owner;
  const auto set = owner.set(rule.dimension, value);
  CHECK(set.has_value(), "the policy checked its dimensions and values");
  return owner;
}

UInt128 greatest_common_divisor(UInt128 a, UInt128 b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// Each value once, with the smallest whole numbers in the ratio of the parts: 60 and 40 become 3
// and 2. Parts that are not positive are left out.
std::map<std::string, Weight> weights_of(std::span<const FixedPart> parts) {
  std::map<std::string, Weight> weights;
  UInt128 divisor = 0;
  for (const FixedPart& part : parts) {
    if (part.part.ticks() <= 0) continue;
    const auto ticks = static_cast<UInt128>(part.part.ticks());
    weights[part.value] += ticks;  // parts are far below 2^127, and a policy has few for one value
    divisor = greatest_common_divisor(divisor, ticks);
  }
  for (auto& [value, weight] : weights) weight /= divisor;
  return weights;
}

}  // namespace

std::vector<Labels> stated_owners(const SpreadRule& rule) {
  std::vector<Labels> owners;
  if (!is_by_parts(rule)) return owners;
  for (const FixedPart& part : rule.parts) owners.push_back(alone(rule, part.value));
  return owners;
}

Spreader::Spreader(const SpreadRule& rule, const Owners& owners)
    : rule_(rule), owners_(owners), by_parts_(is_by_parts(rule)) {
  if (!by_parts_) return;
  for (const auto& [value, weight] : weights_of(rule.parts)) {
    parts_.push_back({value, weight, owners.number_of(alone(rule, value))});
  }
}

std::string_view Spreader::value_of(OwnerNumber owner) const {
  return owners_.labels(owner).find(rule_.dimension).value_or("");
}

std::vector<OwnerGroup> Spreader::groups(std::vector<OwnerWeight> members) const {
  std::vector<OwnerGroup> groups;
  if (!by_parts_ && rule_.how == Spread::kProportional) {
    if (!members.empty()) groups.push_back({1, std::move(members)});
    return groups;
  }
  if (!by_parts_ && rule_.dimension.empty()) {
    for (const OwnerWeight& member : members) groups.push_back({1, {member}});
    return groups;
  }
  std::map<std::string_view, std::vector<OwnerWeight>> by_value;
  for (const OwnerWeight& member : members) by_value[value_of(member.owner)].push_back(member);
  if (!by_parts_) {
    for (auto& [value, within] : by_value) groups.push_back({1, std::move(within)});
    return groups;
  }
  for (const FixedPart& part : parts_) {
    auto& within = by_value[part.value];
    if (within.empty()) within.push_back({part.alone, 1});
    groups.push_back({part.weight, std::move(within)});
  }
  return groups;
}

}  // namespace pennyweight
