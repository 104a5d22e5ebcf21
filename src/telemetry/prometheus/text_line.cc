#include "telemetry/prometheus/text_line.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/ascii.h"
#include "telemetry/prometheus/encoded_label.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pennyweight::prometheus {
namespace {

// Whether a byte may be in a metric's name, and in a label's name.
enum : std::uint8_t { kOfMetric = 1, kOfLabel = 2 };
constexpr std::array<std::uint8_t, 256> kNameBytes = [] {
  std::array<std::uint8_t, 256> bytes{};
  for (unsigned c = 'a'; c <= 'z'; ++c) bytes[c] = bytes[c - 'a' + 'A'] = kOfMetric | kOfLabel;
  for (unsigned c = '0'; c <= '9'; ++c) bytes[c] = kOfMetric | kOfLabel;
  bytes['_'] = kOfMetric | kOfLabel;
  bytes[':'] = kOfMetric;
  return bytes;
}();

bool is_of(std::uint8_t kind, char c) {
  return (kNameBytes[static_cast<unsigned char>(c)] & kind) != 0;
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }
const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}
bool ends_token(char c) { return is_blank(c) || c == '\n' || c == '\r'; }

// The first '"', '\\' or '\n' from `at` on; there is a '\n'.
const char* find_special(const char* at, const char* readable_end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i newline = _mm_set1_epi8('\n');
  while (readable_end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i found =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                     _mm_cmpeq_epi8(bytes, newline));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found));
    if (mask != 0) return at + std::countr_zero(mask);
    at += 16;
  }
#endif
  static_cast<void>(readable_end);
  while (*at != '"' && *at != '\\' && *at != '\n') ++at;
  return at;
}

// From after the opening quote to the closing one; nullptr where there is none, or where a
// backslash precedes anything but \, " and n.
const char* find_quote(const char* at, const char* readable_end) {
  while (true) {
    at = find_special(at, readable_end);
    if (*at == '"') return at;
    if (*at == '\n') return nullptr;
    if (at[1] != '\\' && at[1] != '"' && at[1] != 'n') return nullptr;
    at += 2;
  }
}

constexpr const char* kNoText = "a text in quotes does not end, or holds a wrong escape";
constexpr const char* kNoName = "no metric name";
constexpr const char* kNoLabelName = "no label name";
constexpr const char* kNoEquals = "no '=' after a label's name";
constexpr const char* kNoOpenQuote = "a label's value is not in quotes";
constexpr const char* kNoComma = "neither ',' nor '}' after a label's value";
constexpr const char* kNoValue = "no blank before the value";
constexpr const char* kBadNumber = "the value is not a number";
constexpr const char* kBadTime = "the timestamp is not a number";
constexpr const char* kJunk = "something follows the value and its timestamp";

// Calls name(text, is_quoted) for the metric's name and label(name, quoted, value) for each label,
// the texts still escaped. Returns what is wrong, and moves `at` behind the braces.
template <class NameSink, class LabelSink>
const char* walk_series(const char*& at, const char* readable_end, NameSink&& name,
                        LabelSink&& label) {
  const auto between = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  const char* begin = at;
  while (is_of(kOfMetric, *at)) ++at;
  bool has_name = at != begin;
  if (has_name) {
    if (ascii::is_digit(*begin)) return kNoName;
    name(between(begin, at), false);
  }
  // There may be blanks between the name and the brace; without a brace they end the series.
  const char* const brace = skip_blanks(at);
  if (*brace != '{') return has_name ? nullptr : kNoName;
  at = brace + 1;
  while (true) {
    at = skip_blanks(at);
    if (*at == '}') break;
    begin = at;
    std::string_view label_name;
    bool quoted = false;
    if (*at == '"') {
      const char* const close = find_quote(++at, readable_end);
      if (close == nullptr) return kNoText;
      label_name = between(at, close);
      quoted = true;
      at = skip_blanks(close + 1);
      if (*at != '=') {
        if (has_name || label_name.empty()) return kNoEquals;
        has_name = true;
        name(label_name, true);
        if (*at == '}') break;
        if (*at != ',') return kNoComma;
        ++at;
        continue;
      }
    } else {
      while (is_of(kOfLabel, *at)) ++at;
      if (at == begin || ascii::is_digit(*begin)) return kNoLabelName;
      label_name = between(begin, at);
      if (*at != '=') {
        at = skip_blanks(at);
        if (*at != '=') return kNoEquals;
      }
    }
    ++at;
    if (*at != '"') {
      at = skip_blanks(at);
      if (*at != '"') return kNoOpenQuote;
    }
    const char* const close = find_quote(++at, readable_end);
    if (close == nullptr) return kNoText;
    label(label_name, quoted, between(at, close));
    at = close + 1;
    if (*at == ',') {
      ++at;
      continue;
    }
    at = skip_blanks(at);
    if (*at == '}') break;
    if (*at != ',') return kNoComma;
    ++at;
  }
  ++at;
  return has_name ? nullptr : kNoName;
}

// A number as Go's strconv.ParseFloat reads it, but for hexadecimal ones and '_'.
bool slow_number(const char* begin, const char* end, double& value) {
  const char* at = begin;
  const bool signed_plus = at < end && *at == '+';
  if (signed_plus) ++at;
  if (at == end || (signed_plus && *at == '-')) return false;
  for (const char* c = at; c < end; ++c) {
    if (*c == '(') return false;  // from_chars would take nan(…)
  }
  const auto [past, error] = std::from_chars(at, end, value);
  if (past != end) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small is 0; too large is not a number.
    const std::string_view text(at, static_cast<std::size_t>(end - at));
    const std::size_t exponent = text.find_first_of("eE");
    const bool is_small = exponent != std::string_view::npos && exponent + 1 < text.size()
                              ? text[exponent + 1] == '-'
                              : text.find('.') != std::string_view::npos;
    value = 0;
    return is_small;
  }
  return error == std::errc{};
}

constexpr std::array<double, 20> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                          1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                          1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

// Reads the token at `at` and moves behind it.
bool read_number(const char*& at, double& value) {
  // Plain decimals of less than 2^53: digits and powers of ten are exact, so is their quotient's
  // rounding.
  const char* c = at;
  const bool negative = *c == '-';
  if (negative) ++c;
  std::uint64_t digits = 0;
  const char* const begin = c;
  while (ascii::is_digit(*c)) digits = digits * 10 + static_cast<std::uint64_t>(*c++ - '0');
  std::size_t count = static_cast<std::size_t>(c - begin);
  std::size_t decimals = 0;
  if (*c == '.') {
    const char* const point = c++;
    while (ascii::is_digit(*c)) digits = digits * 10 + static_cast<std::uint64_t>(*c++ - '0');
    decimals = static_cast<std::size_t>(c - point) - 1;
    count += decimals;
  }
  constexpr std::size_t kDigitsMax = 19;  // in 64 bits without overflow
  if (count > 0 && count <= kDigitsMax && digits <= (std::uint64_t{1} << 53) && ends_token(*c)) {
    value = static_cast<double>(digits);
    if (decimals > 0) value /= kTens[decimals];
    if (negative) value = -value;
    at = c;
    return true;
  }
  c = at;
  while (!ends_token(*c)) ++c;
  const bool is_number = slow_number(at, c, value);
  at = c;
  return is_number;
}

bool read_time(const char*& at, TextDialect dialect, std::int64_t& at_ms) {
  if (dialect == TextDialect::kOpenMetrics) {
    double seconds = 0;
    if (!read_number(at, seconds) || !std::isfinite(seconds)) return false;
    constexpr double kSecondsMax = 9e15;  // past any calendar, within 64 bits of milliseconds
    at_ms = std::abs(seconds) > kSecondsMax ? std::numeric_limits<std::int64_t>::min()
                                            : std::llround(seconds * 1000);
    return true;
  }
  const char* end = at;
  while (!ends_token(*end)) ++end;
  const auto [past, error] = std::from_chars(at, end, at_ms);
  const bool is_time = error == std::errc{} && past == end;
  at = end;
  return is_time;
}

void unescape(std::string& text) {
  std::size_t to = text.find('\\');
  if (to == std::string::npos) return;
  for (std::size_t from = to; from < text.size(); ++from) {
    char c = text[from];
    if (c == '\\' && from + 1 < text.size()) {
      c = text[++from];
      if (c == 'n') c = '\n';
    }
    text[to++] = c;
  }
  text.resize(to);
}

}  // namespace

const char* parse_text_sample(const char* line, const char* readable_end, TextDialect dialect,
                              TextSample& sample) {
  const char* at = line;
  const char* const wrong = walk_series(
      at, readable_end, [](std::string_view, bool) {},
      [](std::string_view, bool, std::string_view) {});
  if (wrong != nullptr) return wrong;
  sample.series = std::string_view(line, static_cast<std::size_t>(at - line));
  if (!is_blank(*at) && at[-1] != '}') return kNoValue;
  at = skip_blanks(at);
  if (!read_number(at, sample.value)) return kBadNumber;
  at = skip_blanks(at);
  sample.has_time = false;
  sample.has_exemplar = false;
  if (*at != '\n') {
    if (*at != '\r' && *at != '#') {
      if (!read_time(at, dialect, sample.at_ms)) return kBadTime;
      sample.has_time = true;
      at = skip_blanks(at);
    }
    if (*at == '#' && dialect == TextDialect::kOpenMetrics) {
      sample.has_exemplar = true;
      while (*at != '\n') ++at;
    }
    if (*at == '\r') ++at;
    if (*at != '\n') return kJunk;
  }
  sample.line_end = at;
  return nullptr;
}

const char* decode_text_series(std::string_view series, const LabelLimits& limits,
                               std::vector<Label>& labels) {
  // A brace or a blank follows every series, so its end is within reach.
  std::string line(series);
  line += " \n";
  const char* at = line.data();
  std::size_t used = 0;
  bool fits = true;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!fits) return;
    fits = add_label(labels, used, limits, name, value);
    if (fits) unescape(labels[used - 1].value);
  };
  const char* const wrong = walk_series(
      at, line.data() + line.size(), [&](std::string_view name, bool) { add("__name__", name); },
      [&](std::string_view name, bool quoted, std::string_view value) {
        add(name, value);
        if (quoted && fits) unescape(labels[used - 1].name);
      });
  labels.resize(used);
  if (wrong != nullptr) return wrong;
  return fits ? nullptr : "too many labels";
}

}  // namespace pennyweight::prometheus
