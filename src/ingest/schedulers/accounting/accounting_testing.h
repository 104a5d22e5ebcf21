// What the tests of accounting formats share: a reader that shows everything as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::accounting {

struct AccountingReading {
  std::vector<Holding> holdings;
  std::vector<Outcome> outcomes;
  std::vector<RejectedRow> rejected;
  Counts counts;
};

inline AccountingReading read_all(ReadRecord read_record, std::string_view text,
                                  std::size_t chunk = 65'536, IsSeparator is_separator = nullptr,
                                  const TimeZone& zone = TimeZone::utc()) {
  AccountingReading read;
  const auto into = [](auto& facts) {
    return [&facts](const auto& some) -> Result<void> {
      facts.insert(facts.end(), some.begin(), some.end());
      return {};
    };
  };
  RecordReader reader(read_record,
                      {.file = "f",
                       .cluster = ClusterId("c"),
                       .read_at = parse_instant("2026-03-01").value(),
                       .zone = zone},
                      {.holdings = into(read.holdings),
                       .outcomes = into(read.outcomes),
                       .rejected = into(read.rejected)},
                      is_separator);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    EXPECT_TRUE(reader.feed(text.substr(at, chunk)));
  }
  EXPECT_TRUE(reader.finish());
  read.counts = reader.counts();
  return read;
}

// Holdings, then jobs without time, then what is set aside, a line each; and how many others there
// were. Without what jobs used.
inline std::string shown(const AccountingReading& read) {
  std::string out;
  for (const Holding& one : read.holdings) {
    out += fmt::format("{} {} {} cpu={}", one.workload.text(), to_text(one.placement),
                       to_text(one.held), one.cpu_milli.value_or(0));
    for (const auto& [key, value] : one.labels.entries()) out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  for (const Outcome& one : read.outcomes) {
    if (is_measure_of_host_usage(one.measure)) continue;
    out += one.workload.text() + " " + one.measure + "\n";
  }
  for (const RejectedRow& row : read.rejected) {
    out += fmt::format("{} {}: {}\n", row.line, row.column, row.reason);
  }
  if (read.counts.others > 0) out += fmt::format("{} others\n", read.counts.others);
  return out;
}

inline std::string shown(ReadRecord read_record, std::string_view text) {
  return shown(read_all(read_record, text));
}

// "cpu_used_core_ms=3600 memory_peak_kib=1024".
inline std::string shown_usage(ReadRecord read_record, std::string_view text) {
  std::string out;
  for (const Outcome& one : read_all(read_record, text).outcomes) {
    if (!is_measure_of_host_usage(one.measure)) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", one.measure, one.count);
  }
  return out;
}

}  // namespace pennyweight::accounting
