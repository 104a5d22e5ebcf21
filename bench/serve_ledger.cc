// Writes a year of a large fleet as a ledger, for bench/serve.py: hourly bill lines of every node,
// and their postings.
//
//   bench_serve_ledger --ledger FILE [--nodes 1250] [--months 12] [--first 2025-01] [--hours 1]
//
// With --hours, a line covers that many hours (a divisor of a day), at the price and GPU time of
// one. Then there are fewer postings, but as many jobs and days, and nearly as many sums by day,
// which are what is queried.
//
// Nodes have eight GPUs; a tenth of them are in a second cluster that is billed in euro. A node has
// one to eight places, depending on its number. On each place, jobs of one to thirty days follow
// one another; a tenth of the time it is unallocated, and in three hours of ten a part of what is
// held is idle. A tenth of the nodes is split into GPU, CPU and memory. In addition there are
// shared network lines, and costs that are spread to teams each day. Jobs belong to 500 users of 40
// teams, who have projects and models.
//
// It is written in SQL, straight into the tables that the store created: the time of allocation is
// measured elsewhere. Every number is a product, so that postings add up to their lines exactly;
// bench_serve_direct reconciles a small ledger before it measures.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "core/duckdb/database.h"
#include "core/instant.h"
#include "core/try.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store_rules.h"

namespace pennyweight::bench {
namespace {

struct Options {
  std::string ledger;
  std::uint64_t nodes = 1250;
  std::uint64_t months = 12;
  std::string first = "2025-01";
  std::uint64_t hours = 1;  // of a line
};

struct Cluster {
  const char* name;
  const char* currency;
  const char* nodes;  // a condition on n
};
constexpr Cluster kClusters[] = {{"prod", "USD", "n % 10 < 9"}, {"research", "EUR", "n % 10 = 9"}};

// The owner of a job, and the properties of a node and its places.
constexpr const char* kNodes = R"sql(
CREATE TEMP TABLE machines AS SELECT n::INTEGER AS n, printf('gpu-node-%05d', n) AS node,
  printf('arn:aws:ec2:eu-west-1:1:instance/i-%012x', n) AS resource,
  ['p5.48xlarge', 'p5en.48xlarge', 'p4d.24xlarge', 'p5.48xlarge'][n % 4 + 1] AS instance_type,
  ['us-east-1', 'us-west-2', 'eu-west-1'][(n // 7) % 3 + 1] AS region,
  printf('acct-%02d', (n // 20) % 6) AS sub_account,
  ['Standard', 'Committed', 'Committed', 'Dynamic'][(n // 3) % 4 + 1] AS pricing,
  CAST([55.041234567, 63.296700013, 21.957642191, 55.041234567][n % 4 + 1] AS DECIMAL(20,9))
    AS price,
  CAST([98.320000000, 104.410000007, 32.772600000, 98.320000000][n % 4 + 1] AS DECIMAL(20,9))
    AS list_price,
  [1, 2, 2, 4, 4, 8, 1, 2][(n // 2) % 8 + 1]::INTEGER AS places,
  n % 10 IN (4, 9) AND n % 20 < 10 AS is_split
  FROM range($NODES) t(n);
CREATE TEMP TABLE places AS SELECT n, s::INTEGER AS s, 8 // places AS cards,
  [24, 48, 96, 168, 336, 720][(hash(n, s) % 6 + 1)::INTEGER]::INTEGER AS hours_long,
  (hash(s, n) % 720)::INTEGER AS phase,
  CASE WHEN places = 8 THEN printf('GPU-%08d-5a0c-4c1e-9d2b-%012d', n, s) ELSE '' END AS gpu
  FROM machines, range(8) t(s) WHERE s < places;
)sql";

// One month of one cluster. $RUN, $MONTH, $CLUSTER, $CURRENCY, $WHERE.
constexpr const char* kMonth = R"sql(
CREATE OR REPLACE TEMP TABLE lines AS SELECT n, h AS hour,
  md5(concat('$CLUSTER', n, 'at', epoch_ms(h)))::UUID AS charge_id
  FROM machines, range(TIMESTAMP '$MONTH-01', TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH,
                       INTERVAL $HOURS HOUR) t(h) WHERE $WHERE ORDER BY hour, n;
INSERT INTO charges BY NAME SELECT l.charge_id, l.charge_id AS natural_key, 1::UBIGINT
  AS import_number, 0::UBIGINT AS source_line, '$MONTH' AS billing_month, '$MONTH' AS booked_month,
  l.charge_id AS content, 0::UBIGINT AS ordinal, 'acct-main' AS billing_account_id,
  sub_account AS sub_account_id, TIMESTAMP '$MONTH-01' AS billing_period_start,
  TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH AS billing_period_end, hour AS charge_period_start,
  hour + INTERVAL $HOURS HOUR AS charge_period_end, 'Usage' AS charge_category,
  false AS is_correction,
  'Compute' AS service_category, 'Amazon Elastic Compute Cloud' AS service_name,
  region AS region_id, resource AS resource_id, instance_type, '$CURRENCY' AS currency,
  price AS billed_cost, price AS effective_cost, list_price AS list_cost, price AS contracted_cost,
  pricing AS pricing_category, '$CLUSTER' AS cluster FROM lines l JOIN machines USING (n);
CREATE OR REPLACE TEMP TABLE parts AS SELECT l.*, p.* EXCLUDE (n), m.* EXCLUDE (n),
  (epoch(hour)::BIGINT // 3600 + phase) // hours_long AS job FROM lines l JOIN places p USING (n)
  JOIN machines m USING (n);
CREATE OR REPLACE TEMP TABLE jobs AS SELECT n, s, job,
  CASE WHEN hash(n, s, job) % 10 = 0 THEN '' ELSE
    printf('user-%03d/run-%05d-%d-%06d', (hash(n, s, job, 1) % 500)::INTEGER, n, s, job) END
    AS workload FROM parts GROUP BY ALL;
INSERT INTO postings BY NAME SELECT $RUN::UBIGINT AS run_id, charge_id,
  CASE WHEN workload = '' THEN 'unallocated' WHEN idle THEN 'held_idle' ELSE 'used' END AS kind,
  component, hour AS posted_from, hour + INTERVAL $HOURS HOUR AS posted_to, hour::DATE AS day, node,
  gpu, workload, NULL::UUID AS holding_id, weight::HUGEINT AS weight, '$CURRENCY' AS currency,
  price * share AS billed_cost, price * share AS effective_cost, list_price * share AS list_cost,
  price * share AS contracted_cost,
  CASE WHEN c = 85 OR c = 100 THEN (cards * kept)::HUGEINT * 259459200000 ELSE 0::HUGEINT END
    AS gpu_time,
  CASE WHEN c = 85 OR c = 100 THEN (cards * kept)::HUGEINT * 309237645312000 ELSE 0::HUGEINT END
    AS memory_time,
  CASE WHEN workload <> '' AND (c = 85 OR c = 100)
    THEN (cards * kept)::HUGEINT * 246486240000 ELSE 0::HUGEINT END AS observed_time
  FROM (SELECT *, cards * 125 * kept * c AS weight,
          CAST((cards * 125 * kept * c) AS DECIMAL(9,0)) * 0.00000001 AS share
        FROM (SELECT *, CASE WHEN idle THEN 1000 - busy ELSE busy END AS kept
              FROM (SELECT t.*, j.workload, i.idle, k.c, k.component,
                      CASE WHEN j.workload <> '' AND hash(t.n, t.s, t.hour) % 10 < 3
                        THEN 100 + hash(t.hour, t.n) % 800 ELSE 1000 END::INTEGER AS busy
                    FROM parts t JOIN jobs j USING (n, s, job),
                      (VALUES (false), (true)) i(idle),
                      (VALUES (85, 'gpu', true), (10, 'cpu', true), (5, 'memory', true),
                              (100, 'gpu', false)) k(c, component, of_split)
                    WHERE k.of_split = t.is_split)
              WHERE NOT idle OR busy < 1000));
INSERT INTO run_dimensions SELECT $RUN::UBIGINT, workload, unnest(['team', 'user', 'project',
  'model', 'cost_center']) AS dimension, unnest([printf('team-%02d', u % 40),
  printf('user-%03d', u), printf('project-%03d', (u % 40) * 3 + p),
  printf('model-%02d', ((u % 40) * 3 + p) % 24), printf('CC-%d', 1000 + u % 40 % 9)])
  FROM (SELECT DISTINCT workload, substr(workload, 6, 3)::INTEGER AS u,
          (hash(n, s, job, 2) % 3)::INTEGER AS p FROM jobs WHERE workload <> '');
)sql";

// Costs without a node: network by region and day, and what is spread to teams.
constexpr const char* kShared = R"sql(
CREATE OR REPLACE TEMP TABLE network AS SELECT d, region,
  md5(concat('$CLUSTER', 'network', d, region))::UUID AS charge_id,
  CAST(120.5 + dayofyear(d) AS DECIMAL(20,9)) AS price
  FROM range(TIMESTAMP '$MONTH-01', TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH, INTERVAL 1 DAY) t(d),
    (SELECT DISTINCT region FROM machines);
INSERT INTO charges BY NAME SELECT charge_id, charge_id AS natural_key, 1::UBIGINT
  AS import_number, 0::UBIGINT AS source_line, '$MONTH' AS billing_month, '$MONTH' AS booked_month,
  charge_id AS content, 0::UBIGINT AS ordinal, 'acct-main' AS billing_account_id,
  'acct-00' AS sub_account_id, TIMESTAMP '$MONTH-01' AS billing_period_start,
  TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH AS billing_period_end, d AS charge_period_start,
  d + INTERVAL 1 DAY AS charge_period_end, 'Usage' AS charge_category, false AS is_correction,
  'Networking' AS service_category, 'AWS Data Transfer' AS service_name, region AS region_id,
  'Standard' AS pricing_category, '$CURRENCY' AS currency, price AS billed_cost,
  price AS effective_cost, price AS list_cost, price AS contracted_cost, '$CLUSTER' AS cluster
  FROM network;
INSERT INTO postings BY NAME SELECT $RUN::UBIGINT AS run_id, charge_id, 'shared' AS kind,
  'whole' AS component, d AS posted_from, d + INTERVAL 1 DAY AS posted_to, d::DATE AS day,
  '' AS node, '' AS gpu, '' AS workload, NULL::UUID AS holding_id, 1::HUGEINT AS weight,
  '$CURRENCY' AS currency, price AS billed_cost, price AS effective_cost, price AS list_cost,
  price AS contracted_cost, 0::HUGEINT AS gpu_time, 0::HUGEINT AS memory_time,
  0::HUGEINT AS observed_time FROM network;
CREATE OR REPLACE TEMP TABLE moved AS SELECT d, team, printf('(team=team-%02d)', team) AS owner,
  md5(concat('$CLUSTER', 'spread', d, team))::UUID AS charge_id,
  CAST((team + 1) * 3.141592653 AS DECIMAL(38,18)) AS amount
  FROM range(TIMESTAMP '$MONTH-01', TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH, INTERVAL 1 DAY) t(d),
    range(40) t2(team);
INSERT INTO postings BY NAME SELECT $RUN::UBIGINT AS run_id, charge_id, 'unallocated' AS kind,
  'whole' AS component, d AS posted_from, d + INTERVAL 1 DAY AS posted_to, d::DATE AS day,
  '' AS node, '' AS gpu, CASE WHEN part = 1 THEN owner ELSE '' END AS workload,
  NULL::UUID AS holding_id, 1::HUGEINT AS weight, '$CURRENCY' AS currency,
  a AS billed_cost, a AS effective_cost, a AS list_cost, a AS contracted_cost,
  0::HUGEINT AS gpu_time, 0::HUGEINT AS memory_time, 0::HUGEINT AS observed_time
  FROM (SELECT m.*, part, CASE WHEN part = 1 THEN amount ELSE -amount END AS a
        FROM moved m, range(2) p(part));
INSERT INTO run_dimensions SELECT DISTINCT $RUN::UBIGINT, owner, 'team',
  printf('team-%02d', team) FROM moved;
INSERT INTO runs SELECT $RUN::UBIGINT, '$CLUSTER', '$MONTH', 1::UBIGINT, true, 'name: bench',
  md5('policy')::UUID, md5('catalog')::UUID, 'UTC', 'bench',
  (TIMESTAMP '$MONTH-01' + INTERVAL 1 MONTH)::TIMESTAMP_MS, count(*)::UBIGINT,
  md5('$RUN')::UUID, md5('dimensions')::UUID, md5('sum')::UUID
  FROM postings WHERE run_id = $RUN;
)sql";

std::string filled(std::string sql, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = sql.find(name, at)) != std::string::npos; at += value.size()) {
    sql.replace(at, name.size(), value);
  }
  return sql;
}

// A text that a bill does not state is empty, never null, except for columns with fixed values.
Result<void> give_defaults(duckdb::Connection& connection) {
  auto rows = TRY(connection.query(
      "SELECT column_name FROM duckdb_columns() WHERE table_name = 'charges' AND data_type = "
      "'VARCHAR' AND NOT contains(column_name, '_status') AND column_name NOT IN "
      "('charge_frequency', 'pricing_category')"));
  std::string sql = "ALTER TABLE charges ALTER tags SET DEFAULT MAP {}::MAP(VARCHAR, VARCHAR);";
  while (true) {
    const auto more = rows.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      sql +=
          "ALTER TABLE charges ALTER " + std::string(rows.column(0).text(row)) + " SET DEFAULT '';";
    }
  }
  return connection.execute(sql);
}

Result<void> make(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::filesystem::remove(options.ledger);
  std::ignore = TRY(open_duckdb_store({.path = options.ledger}));
  auto database = TRY(duckdb::Database::open({.path = options.ledger,
                                              .memory_bytes_max = std::uint64_t{3} << 30,
                                              .threads = 2,
                                              .temp_directory = options.ledger + ".tmp",
                                              .keeps_insertion_order = false}));
  auto connection = TRY(database.connect());
  TRY(connection.execute(filled(kNodes, "$NODES", std::to_string(options.nodes))));
  TRY(give_defaults(connection));
  std::string month = options.first;
  std::uint64_t run = 0;
  for (std::uint64_t i = 0; i < options.months; ++i, month = month_after(month)) {
    for (const Cluster& cluster : kClusters) {
      std::string sql = std::string("BEGIN;") + kMonth + kShared + "COMMIT";
      sql = filled(sql, "$RUN", std::to_string(++run));
      sql = filled(sql, "$HOURS", std::to_string(options.hours));
      sql = filled(sql, "$MONTH", month);
      sql = filled(sql, "$CLUSTER", cluster.name);
      sql = filled(sql, "$CURRENCY", cluster.currency);
      sql = filled(sql, "$WHERE", cluster.nodes);
      TRY(connection.execute(sql));
    }
    std::fprintf(stderr, "%s %.0f s\n", month.c_str(),
                 std::chrono::duration<double>(Clock::now() - begin).count());
  }
  // One import, which the lines name.
  TRY(connection.execute(
      "INSERT INTO imports BY NAME SELECT 1::UBIGINT AS number, 'focus' AS format, 'bench' AS "
      "name, md5('bench')::UUID AS file_hash, TIMESTAMP '2025-01-01' AS imported_at, "
      "count(*)::UBIGINT AS charges, 0 AS holdings, 0 AS nodes, 0 AS gpus, 0 AS usages, 0 AS "
      "outages, 0 AS corrections, 0 AS rejected, 'guarded' AS style, '' AS reason, 0 AS "
      "removed, 0 AS reversed, 0 AS late, 0 AS outcomes FROM charges; CHECKPOINT"));
  auto rows = TRY(connection.query(
      "SELECT (SELECT count(*) FROM charges)::UBIGINT, (SELECT count(*) FROM postings)::UBIGINT, "
      "(SELECT count(DISTINCT workload) FROM run_dimensions)::UBIGINT"));
  std::ignore = TRY(rows.next());
  std::printf(
      "{\"charges\": %llu, \"postings\": %llu, \"workloads\": %llu, \"bytes\": %llu, "
      "\"seconds\": %.1f}\n",
      static_cast<unsigned long long>(rows.column(0).uint64(0)),
      static_cast<unsigned long long>(rows.column(1).uint64(0)),
      static_cast<unsigned long long>(rows.column(2).uint64(0)),
      static_cast<unsigned long long>(std::filesystem::file_size(options.ledger)),
      std::chrono::duration<double>(Clock::now() - begin).count());
  return {};
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  pennyweight::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--ledger") options.ledger = value;
    if (name == "--nodes") options.nodes = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--months") options.months = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--first") options.first = value;
    if (name == "--hours") options.hours = std::strtoull(value.c_str(), nullptr, 10);
  }
  if (options.ledger.empty() || options.nodes == 0 || options.months == 0 || options.hours == 0 ||
      24 % options.hours != 0) {
    std::fprintf(stderr,
                 "bench_serve_ledger --ledger FILE [--nodes N] [--months N] [--first M] "
                 "[--hours 1|2|3|4|6|8|12|24]\n");
    return 2;
  }
  const auto made = pennyweight::bench::make(options);
  if (made) return 0;
  std::fprintf(stderr, "%s\n", made.error().message.c_str());
  return 1;
}
