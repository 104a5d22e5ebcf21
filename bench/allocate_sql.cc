#include "allocate_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "allocation/components.h"
#include "core/duckdb/appender.h"
#include "core/try.h"

namespace pennyweight::bench {
namespace {

// Rows arrive as whole numbers: cents, units of 1/72,072,000 of a GPU, thousandths of a device.
const char* const kStaging = R"(
  CREATE TABLE line_in (line BIGINT, node BIGINT, begin_ms BIGINT, end_ms BIGINT, cents BIGINT,
                        gpus BIGINT);
  CREATE TABLE holding_in (holder BIGINT, node BIGINT, device BIGINT, shared BIGINT,
                           begin_ms BIGINT, end_ms BIGINT, asked_compute BIGINT,
                           asked_memory BIGINT, device_compute BIGINT, device_memory BIGINT,
                           cpu_milli BIGINT, memory_mib BIGINT);
  CREATE TABLE usage_in (device BIGINT, pod BIGINT, begin_ms BIGINT, end_ms BIGINT,
                         compute BIGINT, memory BIGINT);
)";

const char* const kTables = R"(
  CREATE TABLE line AS
    SELECT line::INTEGER AS line, node::INTEGER AS node, begin_ms, end_ms, cents / 100.0 AS cost,
           {gpu}::DOUBLE AS gpu_part, {cpu}::DOUBLE AS cpu_part, {memory}::DOUBLE AS memory_part,
           gpus::DOUBLE AS gpus
    FROM line_in;
  CREATE TABLE holding AS
    SELECT holder::INTEGER AS holder, node::INTEGER AS node, device::INTEGER AS device,
           shared <> 0 AS shared, begin_ms, end_ms,
           asked_compute / 72072000.0 AS asked_compute, asked_memory / 72072000.0 AS asked_memory,
           device_compute / 72072000.0 AS device_compute,
           device_memory / 72072000.0 AS device_memory,
           cpu_milli / 192000.0 AS cpu_part, memory_mib / (2048 * 1024.0) AS memory_part
    FROM holding_in;
  CREATE TABLE usage AS
    SELECT device::INTEGER AS device, pod::INTEGER AS pod, begin_ms, end_ms,
           compute / 1000.0 AS compute, memory / 1000.0 AS memory
    FROM usage_in;
  DROP TABLE line_in;
  DROP TABLE holding_in;
  DROP TABLE usage_in;
)";

// A part is one holder on one device for one bill line. At each moment it is charged by the larger
// of request and usage; if those add up to more than the device, each is divided by N.
const char* const kQuery = R"(
  WITH part AS MATERIALIZED (
    SELECT row_number() OVER () AS part, l.line, h.holder, h.device, h.shared,
           greatest(h.begin_ms, l.begin_ms) AS begin_ms, least(h.end_ms, l.end_ms) AS end_ms,
           h.asked_compute, h.asked_memory, h.device_compute, h.device_memory,
           h.cpu_part, h.memory_part
    FROM holding h JOIN line l
      ON l.node = h.node AND h.begin_ms < l.end_ms AND h.end_ms > l.begin_ms),
  part_hour AS MATERIALIZED (
    SELECT part, device, begin_ms, end_ms, asked_compute, asked_memory, device_compute,
           device_memory,
           unnest(range(greatest(begin_ms - 60000, 0) // 3600000, (end_ms - 1) // 3600000 + 1))
             AS hour
    FROM part WHERE NOT shared),
  alone AS (
    SELECT p.part,
           sum(length) AS seen_ms,
           sum(greatest(asked_compute, compute * device_compute) * length) AS given_compute,
           sum(greatest(asked_memory, memory * device_memory) * length) AS given_memory,
           sum(compute * device_compute * length) AS used_compute,
           sum(memory * device_memory * length) AS used_memory
    FROM (
      SELECT p.part, p.asked_compute, p.asked_memory, p.device_compute, p.device_memory,
             u.compute, u.memory,
             (least(u.end_ms, p.end_ms) - greatest(u.begin_ms, p.begin_ms))::DOUBLE AS length
      FROM usage u JOIN part_hour p
        ON p.device = u.device AND p.hour = u.begin_ms // 3600000
       AND u.begin_ms < p.end_ms AND u.end_ms > p.begin_ms
      WHERE u.pod IS NULL) p
    GROUP BY p.part),
  cut AS (
    SELECT device, begin_ms AS since FROM part WHERE shared
    UNION SELECT device, end_ms FROM part WHERE shared),
  stretch AS (
    SELECT device, since AS begin_ms,
           lead(since) OVER (PARTITION BY device ORDER BY since) AS end_ms
    FROM cut),
  held_hour AS MATERIALIZED (
    SELECT p.part, p.holder, s.device, s.begin_ms, s.end_ms, p.asked_compute, p.asked_memory,
           p.device_compute, p.device_memory,
           unnest(range(greatest(s.begin_ms - 60000, 0) // 3600000,
                        (s.end_ms - 1) // 3600000 + 1)) AS hour
    FROM stretch s JOIN part p
      ON p.device = s.device AND p.begin_ms <= s.begin_ms AND s.end_ms <= p.end_ms
    WHERE p.shared),
  moment AS MATERIALIZED (
    SELECT h.part, h.device, greatest(u.begin_ms, h.begin_ms) AS since,
           (least(u.end_ms, h.end_ms) - greatest(u.begin_ms, h.begin_ms))::DOUBLE AS length,
           greatest(h.asked_compute, u.compute * h.device_compute) AS x_compute,
           greatest(h.asked_memory, u.memory * h.device_memory) AS x_memory,
           u.compute * h.device_compute AS compute, u.memory * h.device_memory AS memory
    FROM usage u JOIN held_hour h
      ON h.holder = u.pod AND h.hour = u.begin_ms // 3600000
     AND u.begin_ms < h.end_ms AND u.end_ms > h.begin_ms
    WHERE u.pod IS NOT NULL),
  asked_of AS (
    SELECT device, since, greatest(1.0, sum(x_compute)) AS n_compute,
           greatest(1.0, sum(x_memory)) AS n_memory
    FROM moment GROUP BY device, since),
  together AS (
    SELECT m.part, sum(length) AS seen_ms,
           sum(x_compute / n_compute * length) AS given_compute,
           sum(x_memory / n_memory * length) AS given_memory,
           sum(compute / n_compute * length) AS used_compute,
           sum(memory / n_memory * length) AS used_memory
    FROM moment m JOIN asked_of n ON n.device = m.device AND n.since = m.since
    GROUP BY m.part),
  seen AS (SELECT * FROM alone UNION ALL SELECT * FROM together),
  amount AS MATERIALIZED (
    SELECT p.line, p.holder, l.cost,
           -- What was not seen counts as asked for, and as used.
           l.gpu_part * 0.5 * (coalesce(given_compute + given_memory, 0) +
             (p.end_ms - p.begin_ms - coalesce(seen_ms, 0)) * (asked_compute + asked_memory))
             / (l.gpus * (l.end_ms - l.begin_ms)) AS given,
           l.gpu_part * 0.5 * (coalesce(used_compute + used_memory, 0) +
             (p.end_ms - p.begin_ms - coalesce(seen_ms, 0)) * (asked_compute + asked_memory))
             / (l.gpus * (l.end_ms - l.begin_ms)) AS used,
           (l.cpu_part * p.cpu_part + l.memory_part * p.memory_part) * (p.end_ms - p.begin_ms)
             / (l.end_ms - l.begin_ms) AS host
    FROM part p JOIN line l ON l.line = p.line LEFT JOIN seen s ON s.part = p.part)
  SELECT line, holder, 'used' AS kind, sum(cost * (used + host))::DECIMAL(38,18)
  FROM amount GROUP BY line, holder
  UNION ALL
  SELECT line, holder, 'held_idle', sum(cost * (given - used))::DECIMAL(38,18)
  FROM amount GROUP BY line, holder
  UNION ALL
  SELECT l.line, -1, 'unallocated',
         (any_value(l.cost) * (1.0 - coalesce(sum(given + host), 0)))::DECIMAL(38,18)
  FROM line l LEFT JOIN amount a ON a.line = l.line GROUP BY l.line
)";

std::int64_t ms(Instant at, Instant from) { return (at - from).count(); }

// A time-sliced GPU is one device, and so is each GPU or instance.
std::int64_t device_of(std::uint32_t index, const SampledDevice& place) {
  return place.mode == Mode::kTimeSliced ? index - place.part : index;
}

// Rows into a table: `set(row, index)` fills one row of the appender's chunk.
template <class Set>
Result<void> append_rows(duckdb::Connection& connection, const std::string& table,
                         std::uint64_t rows, const Set& set) {
  auto appender = TRY(duckdb::Appender::open(connection, "", table));
  for (std::uint64_t done = 0; done < rows;) {
    const std::uint64_t batch = std::min(rows - done, duckdb::Appender::kChunkRows);
    std::vector<duckdb::ColumnWriter> columns;
    for (std::uint64_t c = 0; c < appender.column_count(); ++c) {
      columns.push_back(appender.column(c));
    }
    for (std::uint64_t row = 0; row < batch; ++row) set(columns, row, done + row);
    TRY(appender.append(batch));
    done += batch;
  }
  return appender.close();
}

// The components of the price, which are not compared.
std::string tables_sql(const World& world) {
  const auto split = compute_component_split(
      world.charges.front(), find_node_shape(world.nodes.front(), Catalog::built_in()),
      world.policy, Catalog::built_in());
  const auto all = static_cast<double>(split.gpu + split.cpu + split.memory);
  const auto part = [&](Weight weight) {
    return fmt::format("{:.17e}", static_cast<double>(weight) / all);
  };
  return fmt::format(fmt::runtime(kTables), fmt::arg("gpu", part(split.gpu)),
                     fmt::arg("cpu", part(split.cpu)), fmt::arg("memory", part(split.memory)));
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Result<SqlAllocation> SqlAllocation::load(const World& world, const ObservedUtilization& seen,
                                          std::uint32_t threads) {
  auto database = TRY(duckdb::Database::open({.memory_bytes_max = std::uint64_t{12} << 30,
                                              .threads = threads,
                                              .keeps_insertion_order = false}));
  auto connection = TRY(database.connect());
  SqlAllocation sql(std::move(database), std::move(connection));
  TRY(sql.connection_.execute(kStaging));
  TRY(sql.load_lines(world));
  TRY(sql.load_holdings(world));
  TRY(sql.load_usage(world, seen));
  TRY(sql.connection_.execute(tables_sql(world)));
  return sql;
}

Result<void> SqlAllocation::load_lines(const World& world) {
  const std::uint64_t per_node = world.charges.size() / world.node_count();
  return append_rows(connection_, "line_in", world.charges.size(),
                     [&](auto& columns, std::uint64_t row, std::uint64_t index) {
                       const Charge& charge = world.charges[index];
                       const std::uint64_t node = index / per_node;
                       const Instant from = world.during().begin();
                       const Int128 cents =
                           charge.costs.effective.ticks() / (Decimal::kTicksPerUnit / 100);
                       columns[0].set_int64(row, signed_of(index));
                       columns[1].set_int64(row, signed_of(node));
                       columns[2].set_int64(row, ms(charge.charge_period.begin(), from));
                       columns[3].set_int64(row, ms(charge.charge_period.end(), from));
                       columns[4].set_int64(row, static_cast<std::int64_t>(cents));
                       columns[5].set_int64(row, world.nodes[node].gpu_count);
                     });
}

Result<void> SqlAllocation::load_holdings(const World& world) {
  // One row for each place of a holding; its host request is on the first one.
  struct Row {
    std::uint32_t place;
    std::uint32_t holder;
    bool first;
  };
  std::vector<Row> rows;
  std::vector<bool> met(world.holdings.size());
  for (std::uint32_t place = 0; place < world.places.size(); ++place) {
    for (const std::uint32_t holder : world.holders[place]) {
      rows.push_back({place, holder, !met[holder]});
      met[holder] = true;
    }
  }
  // Sevenths and eighths for the instances of the layout, and fourths of a shared GPU.
  constexpr std::int64_t kCard = CardShare::kUnitsPerCard;
  constexpr std::int64_t kCompute[] = {kCard / 7 * 3, kCard / 7 * 2, kCard / 7, kCard / 7};
  constexpr std::int64_t kMemory[] = {kCard / 8 * 4, kCard / 8 * 2, kCard / 8, kCard / 8};
  return append_rows(
      connection_, "holding_in", rows.size(),
      [&](auto& columns, std::uint64_t row, std::uint64_t index) {
        const auto [p, holder, first] = rows[index];
        const SampledDevice& place = world.places[p];
        const Holding& holding = world.holdings[holder];
        const Instant from = world.during().begin();
        const bool mig = place.mode == Mode::kMig, shared = place.mode == Mode::kTimeSliced;
        const std::int64_t device_compute = mig ? kCompute[place.part] : kCard;
        const std::int64_t device_memory = mig ? kMemory[place.part] : kCard;
        columns[0].set_int64(row, holder);
        columns[1].set_int64(row, signed_of(place.gpu / 8));
        columns[2].set_int64(row, device_of(p, place));
        columns[3].set_int64(row, shared ? 1 : 0);
        columns[4].set_int64(row, ms(holding.held.begin(), from));
        columns[5].set_int64(row, ms(holding.held.end(), from));
        columns[6].set_int64(row, shared ? kCard / kPlacesPerCard : device_compute);
        columns[7].set_int64(row, shared ? kCard / kPlacesPerCard : device_memory);
        columns[8].set_int64(row, device_compute);
        columns[9].set_int64(row, device_memory);
        columns[10].set_int64(row, first ? signed_of(*holding.cpu_milli) : 0);
        columns[11].set_int64(row, first ? signed_of(*holding.memory_bytes >> 20) : 0);
      });
}

Result<void> SqlAllocation::load_usage(const World& world, const ObservedUtilization& seen) {
  std::map<GpuId, std::int64_t> devices;
  std::map<WorkloadId, std::int64_t> pods;
  for (std::uint32_t p = 0; p < world.places.size(); ++p) {
    const SampledDevice& place = world.places[p];
    const bool mig = place.mode == Mode::kMig;
    devices.emplace(mig ? instance_id(place.gpu, place.part) : gpu_id(place.gpu),
                    device_of(p, place));
  }
  for (std::uint32_t holder = 0; holder < world.holdings.size(); ++holder) {
    pods.emplace(world.holdings[holder].workload, holder);
  }
  for (const UtilizationSeries& series : seen.series) {
    const std::int64_t device = devices.at(series.device);
    const auto pod = pods.find(series.workload);
    const std::int64_t shift = ms(seen.during.begin(), world.during().begin());
    constexpr std::uint32_t kThousandth = CardShare::kUnitsPerCard / 1000;
    const auto ok = append_rows(connection_, "usage_in", series.intervals.size(),
                                [&](auto& columns, std::uint64_t row, std::uint64_t index) {
                                  const UtilizationInterval& sample = series.intervals[index];
                                  columns[0].set_int64(row, device);
                                  if (pod == pods.end()) {
                                    columns[1].set_null(row);
                                  } else {
                                    columns[1].set_int64(row, pod->second);
                                  }
                                  columns[2].set_int64(row, shift + sample.begin_ms);
                                  columns[3].set_int64(row, shift + sample.end_ms);
                                  columns[4].set_int64(row, sample.compute / kThousandth);
                                  columns[5].set_int64(row, sample.memory / kThousandth);
                                });
    if (!ok) return ok;
    usage_rows_ += series.intervals.size();
  }
  return {};
}

Result<std::vector<Amount>> SqlAllocation::run() {
  auto rows = TRY(connection_.query(kQuery));
  std::vector<Amount> amounts;
  while (true) {
    const auto more = rows.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return amounts;
    const auto line = rows.column(0), holder = rows.column(1), kind = rows.column(2),
               cost = rows.column(3);
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      amounts.push_back({line.int32(row), holder.int32(row), *parse_posting_kind(kind.text(row)),
                         static_cast<double>(cost.unscaled(row)) / Decimal::kTicksPerUnit});
    }
  }
}

}  // namespace pennyweight::bench
