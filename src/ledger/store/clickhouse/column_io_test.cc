// Facts into a ClickHouse block and out of it again, without a server.
#include "ledger/store/clickhouse/column_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kSession = 0xfedc'ba98'7654'3210;

Instant at(std::int64_t ms) { return from_unix_ms(ms); }
Interval span(std::int64_t from, std::int64_t to) { return {at(from), at(to)}; }

Labels labels(const std::vector<Labels::Entry>& entries) {
  Labels made;
  for (const auto& [key, value] : entries) EXPECT_TRUE(made.set(key, value));
  return made;
}

clickhouse::Block sent(clickhouse::BlockWriter& writer) {
  clickhouse::BlockReader reader;
  reader.add(writer.take());
  clickhouse::Block block;
  const Result<bool> read = reader.next(block);
  EXPECT_TRUE(read && *read) << (read ? "" : read.error().message);
  return block;
}

// As a SELECT of these columns would return them.
clickhouse::Block selected(const clickhouse::Block& block, const std::string& columns) {
  clickhouse::Block chosen;
  chosen.rows = block.rows;
  for (std::size_t begin = 0; begin < columns.size();) {
    const std::size_t end = std::min(columns.find(", ", begin), columns.size());
    const std::string name = columns.substr(begin, end - begin);
    for (const clickhouse::Column& column : block.columns) {
      if (column.name() == name) chosen.columns.push_back(column);
    }
    begin = end + 2;
  }
  return chosen;
}

template <class Fact>
std::vector<Fact> sent_and_read(const std::vector<Fact>& facts, const ClickhouseFactKeys& key,
                                RowRange rows) {
  clickhouse::BlockWriter writer(clickhouse_fact_specs<Fact>());
  std::vector<const Fact*> pointers;
  for (const Fact& fact : facts) pointers.push_back(&fact);
  const std::vector<ClickhouseFactKeys> keys(facts.size(), key);
  EXPECT_TRUE(add_facts<Fact>(writer, kSession, pointers, keys));
  ImportNumbers numbers;
  for (std::uint64_t other = 1; other < 12; ++other) numbers.add(other);
  numbers.add(kSession);
  const auto read =
      facts_of<Fact>(selected(sent(writer), clickhouse_fact_columns<Fact>()), numbers, rows);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(std::vector<Fact>());
}

template <class Fact>
void expect_the_same(Fact full) {
  const Fact blank = Table<Fact>::blank();
  full.source.line = 77;
  const ClickhouseFactKeys key = {{1, 2}, {3, 4}};
  const auto both = sent_and_read<Fact>({blank, full}, key, {0, 2});
  ASSERT_EQ(both.size(), 2u);
  full.id = FactId{key.id};
  EXPECT_EQ(both[1], full);
  EXPECT_EQ(both[0].source.line, 0u);
  const auto second = sent_and_read<Fact>({blank, full}, key, {1, 1});
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0], full);
}

TEST(ClickhouseColumns, AChargeComesBack) {
  Charge full(span(0, 7'258'118'399'999), span(1, 2),
              Costs{Money::from_ticks(Decimal::kTicksMax, kEur),
                    Money::from_ticks(-Decimal::kTicksMax, kEur), Money::from_ticks(1, kEur),
                    Money::from_ticks(0, kEur)});
  full.resource_id = std::string("nul \0 and \xff", 11);
  full.tags = labels({{"a", ""}, {"z", "Zürich"}});
  full.pricing_category = PricingCategory::kDynamic;
  full.pricing_quantity = Decimal::from_ticks(-Decimal::kTicksMax);
  full.list_unit_price = Decimal();
  full.other_columns = R"({"x":"y"})";
  const ClickhouseFactKeys key = {{1, 2}, {3, 4}, {5, 6}, "1970-02", 9, Hash128{7, 8}};
  const auto read = sent_and_read<Charge>({full}, key, {0, 1});
  ASSERT_EQ(read.size(), 1u);
  full.id = FactId{{1, 2}};
  full.import_number = 12;
  full.booked_month = "1970-02";
  full.takes_back = FactId{{7, 8}};
  EXPECT_EQ(read[0], full);
}

TEST(ClickhouseColumns, TheOtherFactsComeBack) {
  Holding holding(ClusterId("c"), WorkloadId("ns/pod"), span(5, 6),
                  OnNodes{{{NodeId("n,1"), 4}, {NodeId("n=2"), 0}}});
  holding.ended = true;
  holding.suspended_ms = ~std::uint64_t{0};
  holding.cpu_milli = 0;
  holding.labels = labels({{"team", "nlp"}});
  expect_the_same(holding);
  Node node = Table<Node>::blank();
  node.gpu_count = ~std::uint32_t{0};
  node.to = at(3);
  expect_the_same(node);
  Gpu gpu = Table<Gpu>::blank();
  gpu.mig_instances = {{GpuId("MIG-b"), "3g.40gb"}, {GpuId("MIG-a"), ""}};
  expect_the_same(gpu);
  Usage usage = Table<Usage>::blank();
  usage.at = at(-1);
  usage.gpu_util_ppm = 0;
  usage.ecc_errors = ~std::uint64_t{0};
  usage.of_workload = true;
  expect_the_same(usage);
  Outcome outcome(ClusterId("c"), WorkloadId("w"), "requests", span(1, 2), 3);
  outcome.labels = labels({{"model", "m"}});
  expect_the_same(outcome);
  expect_the_same(Outage(ClusterId("c"), NodeId("n"), span(1, 2)));
  Correction correction(ClusterId("c"), "name", span(1, 2), Money::from_ticks(-1, kEur));
  correction.from = labels({{"team", "a"}});
  expect_the_same(correction);
}

TEST(ClickhouseColumns, APostingComesBack) {
  Posting full = Table<Posting>::blank();
  full.charge = FactId{{~std::uint64_t{0}, 1}};
  full.day = std::chrono::sys_days(std::chrono::days(-1));
  full.holding = FactId{{0, 1}};
  full.weight = static_cast<UInt128>(kInt128Max);
  full.memory_time = MemoryTime::of(static_cast<UInt128>(kInt128Max));
  const Posting blank = Table<Posting>::blank();
  clickhouse::BlockWriter writer(clickhouse_posting_specs());
  const std::vector<const Posting*> both = {&full, &blank};
  ASSERT_TRUE(add_postings(writer, kSession, both));
  const auto read = postings_of(selected(sent(writer), clickhouse_posting_columns()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (std::vector<Posting>{full, blank}));
}

TEST(ClickhouseColumns, NumbersBeyondTheColumnsAreRefusedAndNothingIsAdded) {
  Charge line = Table<Charge>::blank();
  line.costs.billed = Money::from_ticks(Decimal::kTicksMax + 1, kUsd);
  const Charge good = Table<Charge>::blank();
  const std::vector<const Charge*> lines = {&good, &line};
  const std::vector<ClickhouseFactKeys> keys(2);
  clickhouse::BlockWriter charges(clickhouse_fact_specs<Charge>());
  const auto refused = add_facts<Charge>(charges, kSession, lines, keys);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_EQ(refused.error().message,
            "a number for the table charges is beyond DECIMAL(38,18) or 127 bits");
  EXPECT_EQ(charges.rows(), 0u);

  Posting posting = Table<Posting>::blank();
  posting.gpu_time = GpuTime::of(UInt128{1} << 127);
  const std::vector<const Posting*> postings = {&posting};
  clickhouse::BlockWriter writer(clickhouse_posting_specs());
  const auto beyond = add_postings(writer, kSession, postings);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, StartsWith("a number for the table postings"));
}

// Rows that were edited by hand.
TEST(ClickhouseColumns, WhatNoVersionWroteIsAnError) {
  const std::string columns = clickhouse_posting_columns();
  clickhouse::BlockWriter writer(clickhouse_posting_specs());
  const Posting blank = Table<Posting>::blank();
  const std::vector<const Posting*> one = {&blank};
  ASSERT_TRUE(add_postings(writer, kSession, one));
  clickhouse::Block block = selected(sent(writer), columns);
  std::swap(block.columns[1], block.columns[2]);  // kind and component
  const auto read = postings_of(block);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kStore);
  EXPECT_THAT(read.error().message,
              HasSubstr("holds a value that no version of pennyweight wrote"));
}

}  // namespace
}  // namespace pennyweight
