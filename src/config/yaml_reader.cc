#include "config/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "allocation/policy/yaml_text.h"
#include "config/nearest.h"
#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::size_t kShownBytesMax = 80;  // of a value in a message

template <class Integer>
std::optional<Integer> whole_number(std::string_view text) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  for (const auto& [unit, milliseconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto count = whole_number<std::int64_t>(text.substr(0, text.size() - unit.size()));
    std::int64_t product = 0;
    if (!count || __builtin_mul_overflow(*count, milliseconds, &product)) continue;
    return product;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> first_error(std::span<const Problem> problems) {
  for (const Problem& problem : problems) {
    if (!problem.is_warning) return Error{ErrorCode::kConfig, problem.message};
  }
  return std::nullopt;
}

std::string alternatives(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

void YamlReader::add_problem(int line, int column, bool is_warning, std::string_view why) {
  // Mistakes and warnings have separate limits, so that warnings can't hide a mistake.
  std::size_t& count = is_warning ? warnings_ : errors_;
  if (++count > limits::kProblemsMax) return;
  problems_.push_back(
      {line, column, is_warning,
       fmt::format("{}:{}:{}: {}{}", name_, line, column, is_warning ? "warning: " : "", why)});
}

std::vector<Problem> YamlReader::problems() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return sorted;
}

bool YamlReader::is(const YamlNode& node, YamlNode::Kind kind, std::string_view what) {
  if (node.kind == kind) return true;
  refuse(node, fmt::format("{} must be {}, not {}", what, describe(kind), describe(node.kind)));
  return false;
}

void YamlReader::mapping(const YamlNode& node, const std::string& what, const Readers& readers) {
  auto& known = known_keys_[what];
  if (known.empty()) {
    for (const auto& reader : readers) known.push_back(reader.first);
  }
  if (node.kind == YamlNode::Kind::kNull) return;
  if (!is(node, YamlNode::Kind::kMapping, what)) return;
  for (const YamlNode::Entry& entry : node.entries) {
    const auto reader = std::find_if(readers.begin(), readers.end(),
                                     [&](const auto& each) { return each.first == entry.key; });
    if (reader != readers.end()) {
      reader->second(entry.value);
      continue;
    }
    refuse(entry.line, entry.column,
           fmt::format("{} has no key '{}'{}", what, printable_text(entry.key, kShownBytesMax),
                       suggestion(entry.key, known)));
  }
}

void YamlReader::sequence(const YamlNode& node, std::string_view what, std::size_t items_max,
                          const Reader& read) {
  if (node.kind == YamlNode::Kind::kNull) return;
  if (!is(node, YamlNode::Kind::kSequence, what)) return;
  if (node.items.size() > items_max) {
    return refuse(
        node, fmt::format("{} has {} items; {} is the most", what, node.items.size(), items_max));
  }
  for (const YamlNode& item : node.items) read(item);
}

std::optional<std::string> YamlReader::any_text(const YamlNode& node, std::string_view what) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  if (node.scalar.size() > limits::kLabelValueBytesMax) {
    refuse(node, fmt::format("{} has {} bytes; {} is the most", what, node.scalar.size(),
                             limits::kLabelValueBytesMax));
    return std::nullopt;
  }
  if (!is_plain_text(node.scalar)) {
    refuse(node, fmt::format("{} is not plain text: it holds NUL or broken UTF-8", what));
    return std::nullopt;
  }
  return node.scalar;
}

std::optional<std::string> YamlReader::text(const YamlNode& node, std::string_view what) {
  auto text = any_text(node, what);
  if (text && text->empty()) {
    refuse(node, fmt::format("{} is empty", what));
    return std::nullopt;
  }
  return text;
}

std::vector<std::string> YamlReader::texts(const YamlNode& node, std::string_view what,
                                           std::size_t items_max) {
  std::vector<std::string> list;
  sequence(node, what, items_max, [&](const YamlNode& item) {
    if (auto text = this->text(item, fmt::format("an item of {}", what))) {
      list.push_back(std::move(*text));
    }
  });
  return list;
}

std::optional<std::int64_t> YamlReader::integer(const YamlNode& node, std::string_view what,
                                                std::int64_t min, std::int64_t max) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  const auto value = whole_number<std::int64_t>(node.scalar);
  if (value && *value >= min && *value <= max) return value;
  refuse(node, fmt::format("{} must be a whole number from {} to {}, not '{}'", what, min, max,
                           printable_text(node.scalar, kShownBytesMax)));
  return std::nullopt;
}

std::optional<bool> YamlReader::yes_or_no(const YamlNode& node, std::string_view what) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  if (node.scalar == "true") return true;
  if (node.scalar == "false") return false;
  refuse(node, fmt::format("{} must be true or false, not '{}'", what,
                           printable_text(node.scalar, kShownBytesMax)));
  return std::nullopt;
}

std::optional<Decimal> YamlReader::decimal(const YamlNode& node, std::string_view what, Decimal min,
                                           Decimal max) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  const auto value = parse_exact_decimal(node.scalar);
  if (!value) {
    refuse(node, fmt::format("{}: {}", what, value.error().message));
    return std::nullopt;
  }
  if (*value >= min && *value <= max) return *value;
  refuse(node, fmt::format("{} must be from {} to {}, not {}", what, to_text(min), to_text(max),
                           to_text(*value)));
  return std::nullopt;
}

std::optional<std::uint32_t> YamlReader::permille(const YamlNode& node, std::string_view what,
                                                  std::uint32_t min, std::uint32_t max) {
  constexpr std::int64_t kTicks = Decimal::kTicksPerUnit / 1000;
  const auto value = decimal(node, what, Decimal::from_ticks(Int128{min} * kTicks),
                             Decimal::from_ticks(Int128{max} * kTicks));
  if (!value) return std::nullopt;
  if (value->ticks() % kTicks == 0) return static_cast<std::uint32_t>(value->ticks() / kTicks);
  refuse(node, fmt::format("{} has at most three digits after the point, such as 0.125", what));
  return std::nullopt;
}

std::optional<std::uint32_t> YamlReader::percent(const YamlNode& node, std::string_view what,
                                                 std::uint32_t percent_max) {
  const auto written = any_text(node, what);
  if (!written) return std::nullopt;
  std::string_view digits = *written;
  if (digits.ends_with('%')) {
    digits.remove_suffix(1);
    const auto number = parse_count(ascii::trim(digits, ascii::kWhitespace), percent_max);
    if (number) return static_cast<std::uint32_t>(*number * 10);
  }
  refuse(node, fmt::format("{} is a percentage from 0% to {}%, such as 90%, not '{}'", what,
                           percent_max, printable_text(*written, kShownBytesMax)));
  return std::nullopt;
}

std::optional<std::int64_t> YamlReader::duration(const YamlNode& node, std::string_view what,
                                                 std::int64_t min_ms, std::int64_t max_ms) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  const auto value = parse_duration(node.scalar);
  if (value && *value >= min_ms && *value <= max_ms) return value;
  refuse(node, fmt::format("{} must be a time from {} to {}, written as 250ms, 60s, 5m or 1h, "
                           "not '{}'",
                           what, duration_text(min_ms), duration_text(max_ms),
                           printable_text(node.scalar, kShownBytesMax)));
  return std::nullopt;
}

std::optional<std::size_t> YamlReader::choice(const YamlNode& node, std::string_view what,
                                              std::span<const std::string_view> words) {
  if (!is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
  const auto word = std::find(words.begin(), words.end(), node.scalar);
  if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  const std::vector<std::string> known(words.begin(), words.end());
  refuse(node,
         fmt::format("{} is {}, not '{}'{}", what, alternatives(words),
                     printable_text(node.scalar, kShownBytesMax), suggestion(node.scalar, known)));
  return std::nullopt;
}

}  // namespace pennyweight
