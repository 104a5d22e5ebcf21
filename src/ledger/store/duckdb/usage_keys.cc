#include "ledger/store/duckdb/usage_keys.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

// At most 64 MiB. A day of 1,000 GPUs has three million; rows of so long a time are staged.
constexpr std::size_t kKeysKept = 2'000'000;
constexpr std::size_t kPlacesAtFirst = 4'096;

}  // namespace

Result<void> UsageKeys::read_times_of(duckdb::Database& database, std::span<const Usage> usages) {
  std::optional<Instant> first, last;
  for (const Usage& usage : usages) {
    if (!is_of_collector(usage)) continue;
    first = std::min(first.value_or(usage.at), usage.at);
    last = std::max(last.value_or(usage.at), usage.at);
  }
  if (!first || is_full_) return {};
  constexpr std::chrono::milliseconds kNext(1);
  if (!first_) {
    TRY(read(database, *first, *last));
    first_ = first;
    last_ = last;
    return {};
  }
  if (*first < *first_) {
    TRY(read(database, *first, *first_ - kNext));
    first_ = first;
  }
  if (*last_ < *last) {
    TRY(read(database, *last_ + kNext, *last));
    last_ = last;
  }
  return {};
}

Result<void> UsageKeys::read(duckdb::Database& database, Instant first, Instant last) {
  duckdb::Connection connection = TRY(database.connect());
  duckdb::Statement select = TRY(connection.prepare(
      "SELECT usage_id FROM usages WHERE observed_at >= $1 AND observed_at <= $2"));
  select.bind_timestamp_ms(1, first).bind_timestamp_ms(2, last);
  return each_chunk(select.query(), [&](const duckdb::Rows& chunk) -> Result<bool> {
    const duckdb::Column keys = chunk.column(0);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) insert(keys.uuid(row));
    is_full_ = count_ > kKeysKept;
    return !is_full_;
  });
}

bool UsageKeys::add_if_new(const Hash128& key) { return !is_full_ && insert(key); }

bool UsageKeys::insert(const Hash128& key) {
  if (key == Hash128{}) return false;
  if (2 * (count_ + 1) > places_.size()) grow();
  std::size_t at = key.low & (places_.size() - 1);
  for (; places_[at] != Hash128{}; at = (at + 1) & (places_.size() - 1)) {
    if (places_[at] == key) return false;
  }
  places_[at] = key;
  ++count_;
  return true;
}

void UsageKeys::grow() {
  std::vector<Hash128> before(std::max(kPlacesAtFirst, 2 * places_.size()));
  before.swap(places_);
  count_ = 0;
  for (const Hash128& key : before) {
    if (key != Hash128{}) insert(key);
  }
}

}  // namespace pennyweight
