#include "ingest/schedulers/grid_engine/qacct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/billing_period.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/schedulers/grid_engine/record_fields.h"

namespace pennyweight::grid_engine {
namespace {

using accounting::mistake;
using accounting::Options;
using accounting::Read;

using Values = std::map<std::string_view, std::string_view>;

// "qname        gen3.q" a line; a name that is there twice is what it was first.
Values values_of(std::string_view record) {
  Values values;
  while (!record.empty()) {
    const std::size_t end = std::min(record.find('\n'), record.size());
    const std::string_view line = ascii::trim(record.substr(0, end));
    record.remove_prefix(std::min(end + 1, record.size()));
    const std::size_t blank = std::min(line.find(' '), line.size());
    values.try_emplace(line.substr(0, blank), ascii::trim(line.substr(blank)));
  }
  return values;
}

std::string_view value_of(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string_view() : found->second;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = ascii::trim(text)).empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// "Fri Mar 27 22:06:57 2020" and "06/11/2020 13:22:37.680" as "2020-03-27T22:06:57"; empty for
// anything else.
std::string iso_of(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto words = words_of(text);
  if (words.size() == 5) {
    const auto* const month = std::ranges::find(kMonths, words[1]);
    const auto day = accounting::whole_number(words[2]);
    if (month == kMonths.end() || !day || *day > 31 || words[4].size() != 4) return "";
    return fmt::format("{}-{:02}-{:02}T{}", words[4], month - kMonths.begin() + 1, *day, words[3]);
  }
  if (words.size() != 2 || words[0].size() != 10 || words[0][2] != '/' || words[0][5] != '/') {
    return "";
  }
  return fmt::format("{}-{}-{}T{}", words[0].substr(6), words[0].substr(0, 2),
                     words[0].substr(3, 2), words[1].substr(0, words[1].find('.')));
}

// The milliseconds of "03/27/2020 22:06:57.680", as Univa prints times.
std::uint64_t milliseconds_of(std::string_view text) {
  const std::size_t point = text.rfind('.');
  if (point == std::string_view::npos || text.size() != point + 4) return 0;
  return accounting::whole_number(text.substr(point + 1)).value_or(0);
}

// Unix time as the accounting file has it, so that both are one job: in seconds, of Univa in
// milliseconds; "0" where there is none ("-/-").
Read<std::string> time_of_value(const Values& values, std::string_view name,
                                const Options& options) {
  const std::string_view text = value_of(values, name);
  if (text == "-/-" || text == "undefined") return std::string("0");
  const std::string iso = iso_of(text);
  const auto earlier = parse_local_time(iso, options.zone, Ambiguous::kEarlier);
  if (iso.empty() || !earlier) {
    return mistake(name, fmt::format("'{}' is not a time such as Fri Mar 27 22:06:57 2020",
                                     printable_text(text, 60)));
  }
  const auto later = parse_local_time(iso, options.zone, Ambiguous::kLater);
  if (!later || *later != *earlier) {
    return mistake(name,
                   fmt::format("'{}' is in the hour that {} has twice, and nothing says which "
                               "of the two; import the accounting file",
                               printable_text(text, 60), options.zone.name()));
  }
  if (text.find('.') == std::string_view::npos) return std::to_string(unix_ms(*earlier) / 1000);
  return std::to_string(unix_ms(*earlier) + static_cast<std::int64_t>(milliseconds_of(text)));
}

// "7.582s" is 7.582; "15  : in epilog" and "137  (Killed)" are 15 and 137.
std::string_view number_in(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789."));
}

// "1.573G", "6.105MB", "0.000": bytes.
std::string bytes_in(std::string_view text) {
  const std::string_view number = number_in(text);
  const std::string_view unit = text.substr(number.size());
  constexpr std::string_view kUnits = "BKMGT";
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit.front());
  const auto thousandths = accounting::seconds_as_ms(number);
  if (!thousandths || power == std::string_view::npos ||
      *thousandths > (std::uint64_t{1} << 62) >> (10 * power)) {
    return "0";
  }
  return std::to_string((*thousandths << (10 * power)) / 1000);
}

}  // namespace

bool is_qacct_separator(std::string_view line) {
  constexpr std::size_t kLeast = 20;
  return line.size() >= kLeast && line.find_first_not_of('=') == std::string_view::npos;
}

bool is_qacct(std::string_view beginning) {
  const std::size_t end = std::min(beginning.find('\n'), beginning.size());
  std::string_view line = beginning.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view rest = beginning.substr(std::min(end + 1, beginning.size()));
  return is_qacct_separator(line) && rest.starts_with("qname");
}

Read<std::optional<accounting::Run>> read_qacct_record(std::string_view record,
                                                       const Options& options) {
  const Values values = values_of(record);
  // After its last record qacct draws a line under the titles of the totals, which are numbers.
  const auto begin = record.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos &&
      record.find_first_not_of(" \t\r\n0123456789.") == std::string_view::npos) {
    return std::optional<accounting::Run>();
  }
  if (!values.contains("jobnumber") || !values.contains("qname")) {
    return mistake("", "it has no qname or jobnumber: it is cut off, or no record of qacct -j");
  }
  if (!values.contains("category")) {
    return mistake("category",
                   "this version of qacct does not print what was requested, so GPUs are not "
                   "known; import the accounting file that it reads");
  }
  const auto submitted = TRY(time_of_value(values, "qsub_time", options));
  const auto start = TRY(time_of_value(values, "start_time", options));
  const auto end = TRY(time_of_value(values, "end_time", options));
  const std::string bytes = bytes_in(value_of(values, "maxvmem"));
  const auto text = [&](std::string_view name) { return value_of(values, name); };
  const std::string_view task = text("taskid");
  std::vector<std::string_view> fields(kFieldsMin);
  fields[kQueue] = text("qname");
  fields[kHost] = text("hostname");
  fields[kGroup] = text("group");
  fields[kOwner] = text("owner");
  fields[kJobName] = text("jobname");
  fields[kJobNumber] = text("jobnumber");
  fields[kAccount] = text("account");
  fields[kSubmission] = submitted;
  fields[kStart] = start;
  fields[kEnd] = end;
  fields[kFailed] = number_in(text("failed"));
  fields[kExitStatus] = number_in(text("exit_status"));
  fields[kProject] = text("project");
  fields[kSlots] = text("slots");
  fields[kTask] = task == "undefined" ? "0" : task;
  fields[kCpu] = number_in(text("cpu"));
  fields[kCategory] = text("category");
  fields[kPeTask] = text("pe_taskid");
  fields[kMaxVmem] = bytes;
  return run_of_fields(fields, options);
}

}  // namespace pennyweight::grid_engine
