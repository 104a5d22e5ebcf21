// RecordReader: accounting files whose records are lines (PBS, LSF, Grid Engine), as holdings.
//
// A format states how one record is read. What all of them share is here: lines of any length in
// chunks of any length, records that are set aside with a reason, jobs that held nothing, what jobs
// used of their hosts, and how many there were of each.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/lines/line_feeder.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/host_usage.h"
#include "ledger/job_without_time.h"
#include "ledger/outcome.h"
#include "ledger/rejected_row.h"

namespace pennyweight::accounting {

struct Options {
  std::string file;  // for messages
  ClusterId cluster;
  Instant read_at;                  // nothing in the file may be after that
  TimeZone zone = TimeZone::utc();  // of local times, where a format has them
};

// Every record is exactly one of runs, others and rejected.
struct Counts {
  std::uint64_t runs = 0;           // records of jobs that can be read
  std::uint64_t holdings = 0;       // of these
  std::uint64_t never_started = 0;  // of these: without a start
  std::uint64_t zero_length = 0;    // of these: ended in the second in which they began
  std::uint64_t used = 0;           // of the holdings: whose used processor time or memory is known
  std::uint64_t others = 0;         // records of other kinds, which hold nothing
  std::uint64_t rejected = 0;
  // Of the others: what they state of jobs that is not taken into account, and how many do.
  std::map<std::string_view, std::uint64_t> disregarded = {};
  bool operator==(const Counts&) const = default;
};

struct Mistake {
  std::string field;
  std::string reason;
};

template <class Value>
using Read = std::expected<Value, Mistake>;

std::unexpected<Mistake> mistake(std::string_view field, std::string reason);

// The whole text as a number without a sign; nothing for anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);
// Seconds with or without a fraction, "1234.567", as milliseconds; nothing for anything else, and
// beyond a few thousand years.
std::optional<std::uint64_t> seconds_as_ms(std::string_view text);

inline constexpr std::uint64_t kSecondsMax = 7'258'118'399;  // the year 2199

// A run of a job: it held something, or had no time. Of one that held nothing and whose end is not
// known there is neither. A record that is none may state what is not taken into account.
struct Run {
  std::optional<Holding> holding = {};
  std::optional<Outcome> without_time = {};
  HostUsage used = {};
  std::string_view disregarded = {};
};

// When a job began and ended, as far as its record says.
struct RunTime {
  std::optional<Instant> begin;
  std::optional<Instant> end;
};
// The run that a job had over [begin, end], or that it never began, at the instant of its end.
// An Error of the field `end_field` for times that can't be.
Read<std::optional<Interval>> run_interval(const RunTime& time, const Options& options,
                                           std::string_view end_field);

// Nothing for a record that holds nothing. Of plain text without a line end.
using ReadRecord = Read<std::optional<Run>> (*)(std::string_view record, const Options& options);

struct Sinks {
  FactSink<Holding> holdings;
  // Jobs that held nothing (ledger/job_without_time.h), and what jobs used (ledger/host_usage.h).
  FactSink<Outcome> outcomes;
  FactSink<RejectedRow> rejected;
};

// Of a format whose records are several lines: whether a line comes before a record.
using IsSeparator = bool (*)(std::string_view line);

class RecordReader {
 public:
  // Without `is_separator` a record is a line.
  RecordReader(ReadRecord read, Options options, Sinks sinks, IsSeparator is_separator = nullptr);

  // Bytes in chunks of any length. An Error is the sink's; a record with a mistake goes to
  // `rejected`. Nothing may be fed after an Error. Lines that begin with '#' are comments.
  Result<void> feed(std::string_view chunk) { return lines_.feed(chunk); }
  Result<void> finish();
  const Counts& counts() const { return counts_; }

 private:
  Result<void> read_line(const FedLine& line);
  Result<void> end_record();
  Result<void> read_record(const FedLine& record);
  Result<void> take(Run run, std::uint64_t line);

  const ReadRecord read_;
  const IsSeparator is_separator_;
  const Options options_;
  FactBatch<Holding> holdings_;
  FactBatch<Outcome> outcomes_;
  FactBatch<RejectedRow> rejected_;
  Counts counts_;
  // The lines since the last separator.
  std::optional<FedLine> record_ = {};
  std::string record_text_;
  LineFeeder lines_;
};

// The beginning of a file without the comments before its first record.
std::string_view without_comments(std::string_view beginning);

}  // namespace pennyweight::accounting
