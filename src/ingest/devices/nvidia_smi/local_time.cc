#include "ingest/devices/nvidia_smi/local_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight::nvidia_smi {
namespace {

constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Error bad_time(std::string_view text) {
  return Error{ErrorCode::kBadValue,
               fmt::format("'{}' is not a time as nvidia-smi prints it", text.substr(0, 60))};
}

}  // namespace

Result<Instant> parse_query_time(std::string_view text, const TimeZone& zone) {
  // YYYY/MM/DD hh:mm:ss.mmm
  constexpr std::size_t kSecondsBytes = 19;
  if (text.size() < kSecondsBytes || text[4] != '/' || text[7] != '/' || text[10] != ' ') {
    return std::unexpected(bad_time(text));
  }
  std::string iso(text.substr(0, kSecondsBytes));
  iso[4] = iso[7] = '-';
  iso[10] = 'T';
  std::string_view rest = text.substr(kSecondsBytes);
  std::chrono::milliseconds fraction{0};
  if (!rest.empty()) {
    const auto ms = parse_count(rest.substr(1), 999);
    if (rest.size() != 4 || rest[0] != '.' || !ms) return std::unexpected(bad_time(text));
    fraction = std::chrono::milliseconds(static_cast<std::int64_t>(*ms));
  }
  const auto at = TRY(parse_local_time(iso, zone, Ambiguous::kEarlier));
  return at + fraction;
}

Result<Instant> parse_table_time(std::string_view text, const TimeZone& zone) {
  const auto words = split_words(text);
  if (words.size() != 5 || std::ranges::find(kDays, words[0]) == std::end(kDays)) {
    return std::unexpected(bad_time(text));
  }
  const auto* const month = std::ranges::find(kMonths, words[1]);
  const auto day = parse_count(words[2], 31);
  const auto year = parse_count(words[4], 9999);
  if (month == std::end(kMonths) || !day || !year) return std::unexpected(bad_time(text));
  return parse_local_time(
      fmt::format("{:04}-{:02}-{:02}T{}", *year, month - std::begin(kMonths) + 1, *day, words[3]),
      zone, Ambiguous::kEarlier);
}

}  // namespace pennyweight::nvidia_smi
