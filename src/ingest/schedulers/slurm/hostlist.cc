#include "ingest/schedulers/slurm/hostlist.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <unordered_set>

#include "core/ascii.h"
#include "core/try.h"

namespace pennyweight::slurm {
namespace {

constexpr std::size_t kDigitsMax = 18;  // so that every number fits 64 bits

// Slurm takes letters, digits, '-', '_' and '.' in NodeName.
bool is_name_byte(char c) {
  return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t parse_digits(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::unexpected<Error> bad_list(std::string_view list, std::string_view why) {
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a list of nodes such as node[01-04],login1: {}",
                          list.substr(0, 60), why));
}

// "001-003" or "7", appended to `numbers` as text.
Result<void> append_range(std::string_view list, std::string_view range,
                          std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  if (!is_number(first) || !is_number(last)) {
    return bad_list(list, fmt::format("'{}' is not a number or range", range.substr(0, 40)));
  }
  const std::uint64_t low = parse_digits(first);
  const std::uint64_t high = parse_digits(last);
  if (high < low) return bad_list(list, fmt::format("the range {} runs backwards", range));
  if (high - low >= kHostsMax - numbers.size()) {
    return bad_list(list, fmt::format("it names more than {} nodes", kHostsMax));
  }
  for (std::uint64_t n = low; n <= high; ++n) {
    numbers.push_back(fmt::format("{:0{}}", n, first.size()));
  }
  return {};
}

// The numbers between two brackets.
Result<std::vector<std::string>> expand_numbers(std::string_view list, std::string_view ranges) {
  std::vector<std::string> numbers;
  while (true) {
    const std::size_t comma = ranges.find(',');
    TRY(append_range(list, ranges.substr(0, comma), numbers));
    if (comma == std::string_view::npos) return numbers;
    ranges.remove_prefix(comma + 1);
  }
}

// Every stem followed by every ending. The last bracket varies fastest, as in Slurm.
Result<std::vector<std::string>> product(std::string_view list,
                                         const std::vector<std::string>& stems,
                                         const std::vector<std::string>& endings) {
  if (stems.size() * endings.size() > kHostsMax) {  // both are at most kHostsMax: no overflow
    return bad_list(list, fmt::format("it names more than {} nodes", kHostsMax));
  }
  std::vector<std::string> names;
  names.reserve(stems.size() * endings.size());
  for (const std::string& stem : stems) {
    for (const std::string& ending : endings) {
      if (stem.size() + ending.size() > kHostNameBytesMax) {
        return bad_list(list, fmt::format("a name has more than {} bytes", kHostNameBytesMax));
      }
      names.push_back(stem + ending);
    }
  }
  return names;
}

// The names of one item, up to a comma outside of brackets; takes it off the front of `rest`.
Result<std::vector<std::string>> take_item(std::string_view list, std::string_view& rest) {
  std::vector<std::string> names{""};
  while (!rest.empty() && rest[0] != ',') {
    std::vector<std::string> endings;
    if (rest[0] == '[') {
      const std::size_t close = rest.find(']');
      if (close == std::string_view::npos) return bad_list(list, "a bracket is not closed");
      auto numbers = expand_numbers(list, rest.substr(1, close - 1));
      if (!numbers) return numbers;
      endings = std::move(*numbers);
      rest.remove_prefix(close + 1);
    } else {
      std::size_t size = 0;
      while (size < rest.size() && is_name_byte(rest[size])) ++size;
      if (size == 0) return bad_list(list, "a byte in it is not part of a node's name");
      endings.emplace_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    auto longer = product(list, names, endings);
    if (!longer) return longer;
    names = std::move(*longer);
  }
  if (names.front().empty()) return bad_list(list, "a name in it is empty");
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  std::vector<std::string> hosts;
  std::unordered_set<std::string> seen;
  std::string_view rest = text;
  while (true) {
    auto names = take_item(text, rest);
    if (!names) return names;
    for (std::string& name : *names) {
      if (!seen.insert(name).second) continue;
      if (hosts.size() == kHostsMax) {
        return bad_list(text, fmt::format("it names more than {} nodes", kHostsMax));
      }
      hosts.push_back(std::move(name));
    }
    if (rest.empty()) return hosts;
    rest.remove_prefix(1);  // the comma
  }
}

}  // namespace pennyweight::slurm
