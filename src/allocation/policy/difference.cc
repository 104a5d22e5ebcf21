#include "allocation/policy/difference.h"

#include <algorithm>
#include <cstdint>

#include "allocation/policy/in_words.h"

namespace pennyweight {
namespace {

// With more pairs of lines than this, the whole middle is reported as changed: correct, if not
// minimal.
constexpr std::size_t kPairsMax = 16'000'000;

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The length of the longest common subsequence of the rests after (i, j), row by row.
class CommonLengths {
 public:
  CommonLengths(std::span<const std::string> before, std::span<const std::string> after)
      : columns_(after.size() + 1), lengths_((before.size() + 1) * columns_, 0) {
    for (std::size_t i = before.size(); i-- > 0;) {
      for (std::size_t j = after.size(); j-- > 0;) {
        lengths_[i * columns_ + j] =
            before[i] == after[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace

std::vector<ChangedLine> diff_lines(std::span<const std::string> before,
                                    std::span<const std::string> after) {
  using Side = ChangedLine::Side;
  while (!before.empty() && !after.empty() && before.front() == after.front()) {
    before = before.subspan(1);
    after = after.subspan(1);
  }
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before = before.first(before.size() - 1);
    after = after.first(after.size() - 1);
  }
  std::vector<ChangedLine> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  if (before.size() <= kPairsMax / (after.size() + 1)) {
    const CommonLengths common(before, after);
    while (i < before.size() && j < after.size()) {
      if (before[i] == after[j]) {
        ++i;
        ++j;
      } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
        lines.push_back({Side::kBefore, before[i++]});
      } else {
        lines.push_back({Side::kAfter, after[j++]});
      }
    }
  }
  for (; i < before.size(); ++i) lines.push_back({Side::kBefore, before[i]});
  for (; j < after.size(); ++j) lines.push_back({Side::kAfter, after[j]});
  return lines;
}

PolicyDifference diff_policies(const Policy& before, const Policy& after) {
  PolicyDifference difference;
  const std::vector<PolicySection> old_sections = policy_in_words(before);
  const std::vector<PolicySection> new_sections = policy_in_words(after);
  for (std::size_t s = 0; s < old_sections.size(); ++s) {
    auto lines = diff_lines(old_sections[s].sentences, new_sections[s].sentences);
    if (!lines.empty()) difference.in_words.push_back({old_sections[s].title, std::move(lines)});
  }
  difference.text = diff_lines(split_lines(before.text()), split_lines(after.text()));
  return difference;
}

}  // namespace pennyweight
