// FactTable: what the tables of this module share: it checks the header, turns rows into facts or
// rejected rows, and hands both over in batches.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/csv/cells.h"
#include "ingest/csv/columns.h"
#include "ingest/csv/reader.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

template <class Fact>
class FactTable : public csv::Sink {
 public:
  // Nothing for a bad row; the cells then have a refusal.
  using ReadRow = std::function<std::optional<Fact>(const csv::Header&, csv::Cells&)>;

  FactTable(std::string file, csv::Columns columns, ReadRow read, FactSink<Fact> facts,
            FactSink<RejectedRow> rejected)
      : file_(std::move(file)),
        columns_(columns),
        read_(std::move(read)),
        facts_(std::move(facts)),
        rejected_(std::move(rejected)),
        reader_({.trim_spaces = true}, *this) {}

  Result<void> feed(std::string_view chunk) { return named(reader_.feed(chunk)); }
  Result<void> finish() {
    auto done = reader_.finish();
    if (done) done = facts_.flush();
    if (done) done = rejected_.flush();
    return named(std::move(done));
  }
  const TableCounts& counts() const { return counts_; }

  Result<void> header(const csv::Header& header) override {
    header_ = header;
    return csv::check_columns(header_, columns_);
  }

  Result<void> row(const csv::Row& row) override {
    csv::Cells cells(header_, row);
    std::optional<Fact> fact = read_(header_, cells);
    if (cells.refusal()) return reject(row.line, *cells.refusal(), row.text);
    CHECK(fact, "a row without a fact has a refusal");
    fact->source = {row.line};
    ++counts_.facts;
    return facts_.add(*std::move(fact));
  }

  Result<void> bad_row(const csv::BadRow& row) override {
    return reject(row.line, {"", row.reason}, row.text);
  }

 private:
  Result<void> reject(std::uint64_t line, const csv::Refusal& refusal, std::string_view text) {
    ++counts_.rejected;
    return rejected_.add({.file = file_,
                          .line = line,
                          .column = refusal.column,
                          .reason = refusal.reason,
                          .text = printable_text(text, limits::kRejectedTextBytesMax)});
  }

  Result<void> named(Result<void> done) const {
    if (!done) return std::unexpected(done.error().during(file_));
    return done;
  }

  const std::string file_;
  const csv::Columns columns_;
  const ReadRow read_;
  FactBatch<Fact> facts_;
  FactBatch<RejectedRow> rejected_;
  csv::Reader reader_;
  csv::Header header_;
  TableCounts counts_;
};

// The cluster of a row: its own, else that of the options.
inline ClusterId read_cluster(csv::Cells& cells, const ClusterId& otherwise) {
  const std::string_view named = cells.optional_name("cluster");
  if (!named.empty()) return ClusterId(std::string(named));
  if (otherwise.empty()) {
    cells.refuse("cluster", "no cluster is named; fill in the column, or name one for the import");
  }
  return otherwise;
}

// "yes" or "no"; empty is "no".
inline bool read_flag(csv::Cells& cells, std::string_view column) {
  const std::string_view text = cells.text(column);
  if (text == "yes" || text == "true") return true;
  if (!text.empty() && text != "no" && text != "false") {
    cells.refuse(column, "is neither yes nor no; write one of the two, or leave it empty for no");
  }
  return false;
}

// From `begin` to `end`, which are both required.
inline std::optional<Interval> read_interval(csv::Cells& cells) {
  const Instant begin = cells.instant("begin");
  const Instant end = cells.instant("end");
  if (cells.refusal()) return std::nullopt;
  const auto span = Interval::of(begin, end);
  if (!span) {
    cells.refuse(
        "end", fmt::format("ends at {}, not after it begins at {}", to_text(end), to_text(begin)));
  }
  return span;
}

// The end of something that is there from `from` to `to`: nothing while it is still there.
inline std::optional<Instant> read_end(csv::Cells& cells, Instant from) {
  const auto to = cells.optional_instant("to");
  if (to && *to <= from) {
    cells.refuse("to",
                 fmt::format("ends at {}, not after it begins at {}", to_text(*to), to_text(from)));
  }
  return to;
}

}  // namespace pennyweight::inventory
