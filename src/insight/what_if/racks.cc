#include "insight/what_if/racks.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pennyweight::what_if {

bool is_before_by_number(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // The number at the front, without zeros that lead; numbers of more digits are larger.
  const auto take_number = [&](std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(number.size());
    while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
    return number;
  };
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a);
      const std::string_view right = take_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

void set_racks(ReplayWorld& world, std::uint32_t rack_nodes) {
  if (rack_nodes == 0) return;
  std::vector<std::uint32_t> order(world.machines.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return is_before_by_number(world.machines[a].name, world.machines[b].name);
  });
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    world.machines[order[i]].rack = i / rack_nodes;
  }
}

}  // namespace pennyweight::what_if
