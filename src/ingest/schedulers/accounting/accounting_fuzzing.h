// Checks that must hold for any bytes as an accounting file; for the fuzzers of its formats.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::accounting {

inline Counts counts_of_bytes(ReadRecord read, IsSeparator is_separator, std::string_view text,
                              std::size_t chunk) {
  std::uint64_t held = 0, unheld = 0, refused = 0;
  RecordReader reader(
      read,
      {.file = "fuzz", .cluster = ClusterId("c"), .read_at = from_unix_seconds(2'000'000'000)},
      {.holdings = [&](std::span<const Holding> some) -> Result<void> {
         held += some.size();
         return {};
       },
       .outcomes = [&](std::span<const Outcome> some) -> Result<void> {
         for (const Outcome& one : some) {
           const bool is_job = is_measure_of_jobs_without_time(one.measure);
           CHECK(is_job != is_measure_of_host_usage(one.measure), "it is one of the two");
           unheld += is_job ? 1 : 0;
         }
         return {};
       },
       .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
         for (const RejectedRow& row : rows) {
           CHECK(row.line > 0 && !row.reason.empty(), "a refusal says where and why");
           CHECK(is_plain_text(row.text) && is_plain_text(row.reason), "what is kept is UTF-8");
         }
         refused += rows.size();
         return {};
       }},
      is_separator);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    CHECK(reader.feed(text.substr(at, chunk)), "only a sink can fail");
  }
  CHECK(reader.finish(), "only a sink can fail");
  const Counts& counts = reader.counts();
  CHECK(counts.holdings == held && counts.rejected == refused, "counts are of what was given");
  CHECK(unheld <= counts.never_started + counts.zero_length, "a job without time is counted");
  CHECK(counts.runs == counts.holdings + counts.never_started + counts.zero_length,
        "every run is one of three");
  CHECK(counts.used <= counts.holdings, "what held nothing used nothing");
  return counts;
}

inline void check_any_bytes(ReadRecord read, const std::uint8_t* data, std::size_t size,
                            IsSeparator is_separator = nullptr) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(counts_of_bytes(read, is_separator, text, 65'536) ==
            counts_of_bytes(read, is_separator, text, 7),
        "chunks do not matter");
}

}  // namespace pennyweight::accounting
