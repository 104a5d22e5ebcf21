#include "ingest/devices/dcgm/exposition.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight::dcgm {
namespace {

bool is_letter(char c) { return ascii::is_letter(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

Error bad_line(std::string_view why) {
  return Error{ErrorCode::kBadValue, fmt::format("not a Prometheus sample: {}", why)};
}

// Takes tokens off the front of a line.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_(line) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // [a-zA-Z_][a-zA-Z0-9_]*, for a metric with ':' as well. Empty when there is none.
  std::string_view name(bool colons) {
    std::size_t i = 0;
    while (i < rest_.size() && (is_letter(rest_[i]) || (colons && rest_[i] == ':') ||
                                (i > 0 && ascii::is_digit(rest_[i])))) {
      ++i;
    }
    return cut(i);
  }
  std::string_view word() {
    std::size_t i = 0;
    while (i < rest_.size() && !is_blank(rest_[i])) ++i;
    return cut(i);
  }
  // The text up to the closing quote, unescaped. The opening quote was read already.
  Result<std::string> quoted() {
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c != '\\') {
        text.push_back(c);
        continue;
      }
      if (take('\\')) {
        text.push_back('\\');
      } else if (take('"')) {
        text.push_back('"');
      } else if (take('n')) {
        text.push_back('\n');
      } else {
        return std::unexpected(bad_line("a '\\' in a label value that escapes nothing"));
      }
    }
    return std::unexpected(bad_line("a label value without a closing '\"': the line is cut off"));
  }

 private:
  std::string_view cut(std::size_t length) {
    const std::string_view token = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return token;
  }
  std::string_view rest_;
};

Result<std::vector<Sample::Label>> read_labels(Scanner& in) {
  std::vector<Sample::Label> labels;
  while (true) {
    in.skip_blanks();
    if (in.take('}')) return labels;
    const std::string_view name = in.name(/*colons=*/false);
    if (name.empty()) return std::unexpected(bad_line("a label name is missing"));
    in.skip_blanks();
    if (!in.take('=')) return std::unexpected(bad_line("'=' is missing after a label name"));
    in.skip_blanks();
    if (!in.take('"')) return std::unexpected(bad_line("a label value is not in quotes"));
    auto value = TRY(in.quoted());
    if (labels.size() == limits::kLabelsMax) {
      return std::unexpected(bad_line(fmt::format("more than {} labels", limits::kLabelsMax)));
    }
    if (std::ranges::any_of(labels, [&](const auto& label) { return label.name == name; })) {
      return std::unexpected(bad_line(fmt::format("label '{}' stands twice", name)));
    }
    labels.push_back({name, std::move(value)});
    in.skip_blanks();
    if (in.take('}')) return labels;
    if (!in.take(',')) return std::unexpected(bad_line("',' or '}' is missing after a label"));
  }
}

bool is_not_finite(std::string_view text) {
  std::string lower = ascii::lower_case(text.substr(0, 10));
  if (lower.starts_with('+') || lower.starts_with('-')) lower.erase(0, 1);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// Go writes 2.7e+07 and may write +1; our decimals know no plus sign.
Result<Decimal> read_number(std::string_view text) {
  if (text.size() > limits::kNumberBytesMax) {
    return fail(ErrorCode::kBadValue, "a number of too many digits");
  }
  std::string plain(text);
  if (plain.starts_with('+') && plain.size() > 1 && plain[1] != '-') plain.erase(0, 1);
  const std::size_t exponent = plain.find_first_of("eE");
  if (exponent != std::string::npos && exponent + 2 < plain.size() && plain[exponent + 1] == '+' &&
      plain[exponent + 2] != '-') {
    plain.erase(exponent + 1, 1);
  }
  const auto parsed = TRY(parse_decimal(plain));
  return parsed.value;  // what was rounded lies beyond 10^-18, below any unit of ours
}

// The years that core/instant.h knows: up to 2199.
constexpr std::uint64_t kLastUnixMs = 7'258'118'399'999;

Result<Instant> read_timestamp(std::string_view text, Dialect dialect) {
  const auto number = TRY(read_number(text));
  const auto ms =
      TRY(dialect == Dialect::kOpenMetrics ? nearest_count(number, 1000) : exact_count(number, 1));
  if (ms > kLastUnixMs) {
    return fail(ErrorCode::kBadValue, fmt::format("timestamp '{}' lies after the year 2199", text));
  }
  return from_unix_ms(static_cast<std::int64_t>(ms));
}

}  // namespace

std::string_view Sample::label(std::string_view name) const {
  const auto found = std::ranges::find(labels, name, &Label::name);
  return found == labels.end() ? std::string_view{} : std::string_view(found->value);
}

Dialect detect_dialect(std::string_view document) {
  while (!document.empty() &&
         (is_blank(document.back()) || document.back() == '\n' || document.back() == '\r')) {
    document.remove_suffix(1);
  }
  const bool eof = document.ends_with("# EOF") &&
                   (document.size() == 5 || document[document.size() - 6] == '\n');
  return eof ? Dialect::kOpenMetrics : Dialect::kPrometheus;
}

Result<std::optional<Sample>> parse_sample(std::string_view line, Dialect dialect) {
  Scanner in(line);
  in.skip_blanks();
  if (in.done() || in.rest().starts_with('#')) return std::nullopt;

  Sample sample;
  sample.metric = in.name(/*colons=*/true);
  if (sample.metric.empty()) {
    return std::unexpected(bad_line("a line begins with a metric's name or with '#'"));
  }
  const bool blank = !in.done() && is_blank(in.rest()[0]);
  in.skip_blanks();
  if (in.take('{')) {
    auto labels = TRY(read_labels(in));
    sample.labels = std::move(labels);
  } else if (!blank) {
    return std::unexpected(bad_line("the metric's name holds a character that names do not have"));
  }
  in.skip_blanks();
  sample.value = in.word();
  if (sample.value.empty()) {
    return std::unexpected(bad_line("the value is missing: the line is cut off"));
  }
  in.skip_blanks();
  const bool exemplar = dialect == Dialect::kOpenMetrics && in.rest().starts_with('#');
  if (in.done() || exemplar) return sample;
  const auto at = read_timestamp(in.word(), dialect);
  if (!at) return std::unexpected(at.error().during("the timestamp"));
  sample.at = *at;
  in.skip_blanks();
  if (!in.done() && !(dialect == Dialect::kOpenMetrics && in.rest().starts_with('#'))) {
    return std::unexpected(bad_line("something follows the timestamp"));
  }
  return sample;
}

Result<std::optional<Decimal>> parse_value(std::string_view text) {
  if (is_not_finite(text)) return std::nullopt;
  const auto number = TRY(read_number(text));
  return number;
}

}  // namespace pennyweight::dcgm
