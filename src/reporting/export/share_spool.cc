#include "reporting/export/share_spool.h"

#include <utility>

#include "core/check.h"
#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kSpoolMemoryBytesMax = std::uint64_t{512} << 20;

constexpr const char* kTable =
    "CREATE TABLE shares (charge UUID, scope UINTEGER, owner_id VARCHAR, owner_name VARCHAR, "
    "owner_tags VARCHAR, kinds UINTEGER, currency VARCHAR, billed DECIMAL(38,18), "
    "effective DECIMAL(38,18), list DECIMAL(38,18), contracted DECIMAL(38,18), "
    "idle_billed DECIMAL(38,18), idle_effective DECIMAL(38,18), gpu_time HUGEINT, weight HUGEINT, "
    "begin_at TIMESTAMP_MS, end_at TIMESTAMP_MS)";

}  // namespace

struct ShareSpool::State {
  duckdb::Database database;
  duckdb::Connection connection;
  std::optional<duckdb::Appender> appender;
  std::uint64_t filling = 0;
  std::optional<duckdb::Rows> rows;
  std::uint64_t row = 0;
  bool at_end = false;
  std::optional<ChargeShare> ahead;

  Result<std::optional<ChargeShare>> read();
};

ShareSpool::ShareSpool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShareSpool::ShareSpool(ShareSpool&&) noexcept = default;
ShareSpool& ShareSpool::operator=(ShareSpool&&) noexcept = default;
ShareSpool::~ShareSpool() = default;

Result<ShareSpool> ShareSpool::create(const std::string& temp_directory) {
  auto database = TRY(duckdb::Database::open({.path = "",
                                              .read_only = false,
                                              .memory_bytes_max = kSpoolMemoryBytesMax,
                                              .threads = 1,
                                              .temp_directory = temp_directory,
                                              .keeps_insertion_order = true}));
  auto connection = TRY(database.connect());
  TRY(connection.execute(kTable));
  auto state = std::make_unique<State>(State{.database = std::move(database),
                                             .connection = std::move(connection),
                                             .appender = std::nullopt,
                                             .filling = 0,
                                             .rows = std::nullopt,
                                             .row = 0,
                                             .at_end = false,
                                             .ahead = std::nullopt});
  auto appender = TRY(duckdb::Appender::open(state->connection, "", "shares"));
  state->appender.emplace(std::move(appender));
  return ShareSpool(std::move(state));
}

Result<void> ShareSpool::append(const ChargeShare& share) {
  CHECK(state_->appender.has_value(), "shares are appended before they are sorted");
  duckdb::Appender& to = *state_->appender;
  const std::uint64_t at = state_->filling;
  to.column(0).set_uuid(at, share.charge.hash);
  to.column(1).set_uint32(at, share.scope);
  to.column(2).set_text(at, share.owner.id);
  to.column(3).set_text(at, share.owner.name);
  to.column(4).set_text(at, share.owner.tags);
  to.column(5).set_uint32(at, share.kinds);
  to.column(6).set_text(at, share.costs.currency().text());
  std::uint64_t column = 7;
  for (const Money& money :
       {share.costs.billed, share.costs.effective, share.costs.list, share.costs.contracted,
        share.held_idle_billed, share.held_idle_effective}) {
    to.column(column++).set_decimal(at, money.ticks());
  }
  to.column(13).set_hugeint(at, static_cast<Int128>(share.gpu_time.count()));
  to.column(14).set_hugeint(at, static_cast<Int128>(share.weight));
  to.column(15).set_timestamp_ms(at, share.interval.begin());
  to.column(16).set_timestamp_ms(at, share.interval.end());
  if (++state_->filling < duckdb::Appender::kChunkRows) return {};
  return to.append(std::exchange(state_->filling, 0));
}

Result<void> ShareSpool::sort() {
  CHECK(state_->appender.has_value(), "shares are sorted once");
  TRY(state_->appender->append(std::exchange(state_->filling, 0)));
  TRY(state_->appender->close());
  state_->appender.reset();
  auto rows =
      TRY(state_->connection.query("SELECT * FROM shares ORDER BY charge, scope, owner_id"));
  state_->rows.emplace(std::move(rows));
  auto first = TRY(state_->read());
  state_->ahead = std::move(first);
  return {};
}

Result<std::optional<ChargeShare>> ShareSpool::State::read() {
  if (at_end) return std::nullopt;
  if (rows->size() == row) {
    const auto more = rows->next();
    if (!more) return std::unexpected(more.error());
    row = 0;
    at_end = !*more;
    if (at_end) return std::nullopt;
  }
  const std::uint64_t at = row++;
  const auto currency = TRY(Currency::parse(rows->column(6).text(at)));
  const auto money = [&](std::uint64_t column) {
    return Money::from_ticks(rows->column(column).unscaled(at), currency);
  };
  return ChargeShare{
      .charge = {rows->column(0).uuid(at)},
      .scope = rows->column(1).uint32(at),
      .owner = {.id = std::string(rows->column(2).text(at)),
                .name = std::string(rows->column(3).text(at)),
                .tags = std::string(rows->column(4).text(at))},
      .kinds = rows->column(5).uint32(at),
      .costs = {money(7), money(8), money(9), money(10)},
      .held_idle_billed = money(11),
      .held_idle_effective = money(12),
      .gpu_time = GpuTime::of(static_cast<UInt128>(rows->column(13).hugeint(at))),
      .weight = static_cast<Weight>(rows->column(14).hugeint(at)),
      .interval = Interval(rows->column(15).timestamp_ms(at), rows->column(16).timestamp_ms(at))};
}

Result<std::vector<ChargeShare>> ShareSpool::next() {
  CHECK(state_->rows.has_value(), "shares are sorted before they are read");
  std::vector<ChargeShare> shares;
  while (state_->ahead && (shares.empty() || shares.front().charge == state_->ahead->charge)) {
    shares.push_back(std::move(*state_->ahead));
    auto following = TRY(state_->read());
    state_->ahead = std::move(following);
  }
  return shares;
}

}  // namespace pennyweight
