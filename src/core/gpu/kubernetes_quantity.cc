#include "core/gpu/kubernetes_quantity.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

struct Scale {
  std::uint64_t times;
  std::uint64_t divided_by;
};

struct Suffix {
  std::string_view text;
  Scale scale;
};

constexpr std::uint64_t kThousand = 1000;
constexpr std::uint64_t kMillion = kThousand * kThousand;
constexpr std::uint64_t kBillion = kThousand * kMillion;
constexpr Suffix kSuffixes[] = {
    {"", {1, 1}},
    {"n", {1, kBillion}},
    {"u", {1, kMillion}},
    {"m", {1, kThousand}},
    {"k", {kThousand, 1}},
    {"M", {kMillion, 1}},
    {"G", {kBillion, 1}},
    {"T", {kThousand * kBillion, 1}},
    {"P", {kMillion * kBillion, 1}},
    {"E", {kBillion * kBillion, 1}},
    {"Ki", {std::uint64_t{1} << 10, 1}},
    {"Mi", {std::uint64_t{1} << 20, 1}},
    {"Gi", {std::uint64_t{1} << 30, 1}},
    {"Ti", {std::uint64_t{1} << 40, 1}},
    {"Pi", {std::uint64_t{1} << 50, 1}},
    {"Ei", {std::uint64_t{1} << 60, 1}},
};

// The largest number times this still fits in 128 bits of 10^-18.
constexpr std::uint64_t kTimesMax = std::uint64_t{1} << 61;

// Whether the text is an exponent, "E3", "e-3" or "e+3", and not the suffix "E".
bool is_exponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  return ascii::is_digit(text[1]) || text[1] == '+' || text[1] == '-';
}

std::optional<Scale> find_suffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix.scale;
  }
  return std::nullopt;
}

// Kubernetes allows a '+' before the number and before the exponent; Decimal allows neither.
std::string without_plus(std::string_view text) {
  std::string result;
  char before = 'e';
  for (const char c : text) {
    const bool leads = before == 'e' || before == 'E';
    if (c != '+' || !leads) result += c;
    before = c;
  }
  return result;
}

}  // namespace

Result<std::uint64_t> parse_quantity(std::string_view text, std::uint64_t units) {
  const auto refuse = [&](std::string_view reason) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a quantity: {}", printable_text(text, 60), reason));
  };
  if (text.size() > limits::kNumberBytesMax) return refuse("too long");
  const std::size_t end = text.find_first_not_of("0123456789.+-");
  const std::size_t number_size = end == std::string_view::npos ? text.size() : end;
  const bool has_exponent = is_exponent(text.substr(number_size));

  const std::string number = without_plus(has_exponent ? text : text.substr(0, number_size));
  const auto scale = find_suffix(has_exponent ? "" : text.substr(number_size));
  if (!scale) return refuse("an unknown suffix");
  const auto value = parse_exact_decimal(number);
  if (!value) return refuse(value.error().message);
  if (value->is_negative()) return refuse("negative");

  std::uint64_t times{};
  if (__builtin_mul_overflow(scale->times, units, &times) || times > kTimesMax) {
    return refuse("too large");
  }
  const auto count = exact_count(*value, times);
  if (!count) return refuse(count.error().message);
  if (*count % scale->divided_by != 0) {
    return refuse(fmt::format("not a whole number of 1/{}", units));
  }
  return *count / scale->divided_by;
}

}  // namespace pennyweight
