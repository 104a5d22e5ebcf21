#include "ledger/store/duckdb/fact_table.h"

#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

Result<void> append_chunk(duckdb::Appender& appender, std::uint64_t rows, bool in_range,
                          const char* table) {
  // A chunk that was partly filled must be discarded, or its rows would become part of the next.
  Result<void> appended = appender.append(in_range ? rows : 0);
  if (appended && !in_range) {
    return fail(ErrorCode::kLimit, std::string("a number for the table ") + table +
                                       " is beyond DECIMAL(38,18) or 127 bits");
  }
  return appended;
}

template <class Fact>
Result<void> append(duckdb::Appender& appender, std::span<const Fact* const> facts,
                    std::span<const FactKeys> keys, std::uint64_t import) {
  CHECK(facts.size() == keys.size(), "every fact has its keys");
  duckdb_io::ColumnFiller<Fact> filler(appender, facts);
  filler.each([&](auto& writer, auto row, const Fact&) { writer.set_uuid(row, keys[row].id); });
  filler.each([&](auto& writer, auto row, const Fact&) { writer.set_uuid(row, keys[row].second); });
  filler.each([&](auto& writer, auto row, const Fact&) { writer.set_uint64(row, import); });
  filler.each(
      [&](auto& writer, auto row, const Fact& fact) { writer.set_uint64(row, fact.source.line); });
  if constexpr (std::is_same_v<Fact, Charge>) {
    std::optional<Instant> begin;  // of the previous line
    std::string month;
    filler.each([&](auto& writer, auto row, const Charge& charge) {
      if (begin != charge.billing_period.begin()) {
        begin = charge.billing_period.begin();
        month = month_of(*begin);
      }
      writer.set_text(row, month);
    });
    filler.each([&](auto& writer, auto row, const Charge&) {
      writer.set_text(row, keys[row].booked_month);
    });
    filler.each(
        [&](auto& writer, auto row, const Charge&) { writer.set_uuid(row, keys[row].content); });
    filler.each([&](auto& writer, auto row, const Charge&) { writer.set_uint64(row, 0u); });
    filler.each([&](auto& writer, auto row, const Charge&) {
      keys[row].takes_back ? writer.set_uuid(row, *keys[row].takes_back) : writer.set_null(row);
    });
  }
  Table<Fact>::list(filler);
  return append_chunk(appender, facts.size(), filler.in_range(), Table<Fact>::kName);
}

}  // namespace

Result<void> append_facts(duckdb::Appender& appender, std::span<const Charge* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Holding* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Node* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Gpu* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Usage* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Outage* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}
Result<void> append_facts(duckdb::Appender& appender, std::span<const Correction* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}

Result<void> append_facts(duckdb::Appender& appender, std::span<const Outcome* const> facts,
                          std::span<const FactKeys> keys, std::uint64_t import) {
  return append(appender, facts, keys, import);
}

Result<void> append_postings(duckdb::Appender& appender, std::span<const Posting* const> postings,
                             std::uint64_t run_id) {
  duckdb_io::ColumnFiller<Posting> filler(appender, postings);
  filler.each([&](auto& writer, auto row, const Posting&) { writer.set_uint64(row, run_id); });
  Table<Posting>::list(filler);
  return append_chunk(appender, postings.size(), filler.in_range(), Table<Posting>::kName);
}

Result<std::vector<Posting>> postings_of_chunk(const duckdb::Rows& chunk) {
  return records_of<Posting>(chunk);
}

Result<std::vector<Posting>> all_postings(Result<duckdb::Rows> rows) {
  std::vector<Posting> postings;
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    Result<std::vector<Posting>> some = postings_of_chunk(chunk);
    if (!some) return std::unexpected(std::move(some.error()));
    std::ranges::move(*some, std::back_inserter(postings));
    return true;
  }));
  return postings;
}

}  // namespace pennyweight
