// The fingerprints of facts in existing ledgers. They are stored, so they must never change: a
// ledger written by any release opens, and recognises facts that are imported again.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/card_share.h"
#include "core/hash.h"
#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/end_keys.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/outcome.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "ledger/store_rules.h"
#include "ledger/task_count.h"
#include "ledger/usage.h"

namespace pennyweight {
namespace {

constexpr const char* kChargeColumns =
    R"({"x_Amount":"1","x_CreditCost":"-0.5","x_Line":"a\"b\\","x_PoolQuantity":"7",)"
    R"("x_TierUnitPrice":"0.25","x_UnitPrices":"3"})";

Instant at(const char* text) { return *parse_instant(text); }

Interval march_day() { return {at("2026-03-01"), at("2026-03-02")}; }

Charge full_charge() {
  Costs costs = Costs::zero(kUsd);
  costs.billed = Money::from_units(12, kUsd);
  costs.effective = Money::from_ticks(-1, kUsd);
  costs.list = Money::from_units(20, kUsd);
  costs.contracted = Money::from_units(15, kUsd);
  Charge charge({at("2026-03-01"), at("2026-04-01")}, march_day(), costs);
  charge.billing_account_id = "111122223333";
  charge.sub_account_name = "Research";
  charge.charge_category = ChargeCategory::kPurchase;
  charge.charge_frequency = ChargeFrequency::kUsageBased;
  charge.charge_description = "p5.48xlarge, \"spot\"";
  charge.resource_id = "i-0123456789abcdef0";
  charge.sku_price_details = R"({"InstanceType":"p5.48xlarge"})";
  charge.pricing_category = PricingCategory::kDynamic;
  charge.pricing_quantity = Decimal::from_units(24);
  charge.consumed_quantity = Decimal::from_ticks(5);
  charge.commitment_discount_status = UsedOrUnused::kUnused;
  charge.cluster = "train";
  charge.other_columns = kChargeColumns;
  EXPECT_TRUE(charge.tags.set("team", "nlp"));
  EXPECT_TRUE(charge.tags.set("project", "grün"));
  return charge;
}

struct Pinned {
  const char* natural_key;
  const char* content;
};

template <class Fact>
void expect_fingerprints(const Fact& fact, const Pinned& want) {
  EXPECT_EQ(to_text(natural_key(fact)), want.natural_key);
  EXPECT_EQ(to_text(content_hash(fact)), want.content);
}

TEST(Fingerprints, OfCharges) {
  expect_fingerprints(full_charge(),
                      {"e1f0852252751d6e4cf77585ee337a00", "30b3859aeddf5d1743c109712b5cbbc8"});
  Charge charge = full_charge();
  charge.charge_frequency.reset();
  charge.pricing_quantity.reset();
  charge.other_columns.clear();
  expect_fingerprints(charge,
                      {"354c7153d350dc2c7d72551b351f82ab", "ea9a2119d6eb384e65ce448ad8bc0daf"});
}

// Amounts among the other columns aren't part of the key. A flat object of texts enters the key by
// its columns; any other text as far as it can be parsed.
TEST(Fingerprints, OfChargesWithOddColumns) {
  const struct {
    const char* columns;
    Pinned want;
  } kCases[] = {
      {R"({"x_Cost":"1"})",
       {"c7c1ad4a3fde3fdf9c586ab42e13cadd", "ad9f3097bbb6049b130845c9c1076cae"}},
      {R"({"x_Cost":"\"}","y":""})",
       {"0e407b575bcb7d6eb76d6b6ddbac1f2a", "3ad972d30d1e36c36e7c6d168364d746"}},
      {R"({"y":"1","x_Cost":"2","z":"3"})",
       {"b488a456222e8232231a649771ce5ae0", "500671f964d7dd0512431a6f9a6d6c4b"}},
      {R"({"y": "1", "z" : "3"})",
       {"502639edf43df53fca6d4e1925f7b9e4", "6d7c611a3e82e53a4d1e8f35c1c375bd"}},
      {R"({"y":1,"z":"3"})",
       {"4fbd6640a84ccedb8dd461f02b610723", "d62bb0ecae17c859e0fc283ca5915aa0"}},
      {R"({"y":"cut)", {"c7c1ad4a3fde3fdf9c586ab42e13cadd", "c5eb565e3774fc3ae86beaac43b2a47d"}},
      {R"({"y":"1","cut)",
       {"6662e9679a0cc1ed94e6349ee07e3fe1", "103ae9ab2138c6748019240a571bbc7b"}},
      {"no object", {"c7c1ad4a3fde3fdf9c586ab42e13cadd", "c1b0ac11b79086fe78ce47e88b9dbd92"}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.columns);
    Charge charge = full_charge();
    charge.other_columns = c.columns;
    expect_fingerprints(charge, c.want);
  }
}

TEST(Fingerprints, OfHoldings) {
  Holding holding(ClusterId("train"), WorkloadId("ns/pod"), march_day(),
                  OnNodes{{{NodeId("n1"), 4}, {NodeId("n 2,x"), 0}}});
  holding.device = CardFraction{CardShare::from_units(36'036'000), CardShare::whole()};
  holding.attempt = "2";
  holding.suspended_ms = 5;
  holding.gpu_model = "a100";
  holding.cpu_milli = 4000;
  ASSERT_TRUE(holding.labels.set("account", "nlp"));
  expect_fingerprints(holding,
                      {"bc2253de545190e924804f0fdd6cfcf6", "f9fd896e87a0a230f5537a463ab66a57"});
  // What an older reading of the same job may lack.
  ASSERT_TRUE(holding.labels.set(kSubmitTimeLabel, "2026-02-28T23:00:00Z"));
  ASSERT_TRUE(holding.labels.set(kExitCodeLabel, "1:0"));
  ASSERT_TRUE(holding.labels.set(kTasksLabel, "8"));
  expect_fingerprints(holding,
                      {"bc2253de545190e924804f0fdd6cfcf6", "f9fd896e87a0a230f5537a463ab66a57"});
  holding.ended = false;
  holding.device = VirtualGpu{.cores_percent = 30, .memory_bytes = 1u << 30, .memory_percent = {}};
  holding.placement = InPool{{PoolId("a"), PoolId("b")}, 8};
  holding.claim = "ns/claim";
  holding.gpu_group = "g1";
  holding.is_reservation = true;
  expect_fingerprints(holding,
                      {"4b2adc3343d28dcd196a3af37fcb3107", "6d1e98abfcc1467f4e38e14fa1602b77"});
}

TEST(Fingerprints, OfMachines) {
  Node node{.cluster = ClusterId("train"),
            .name = NodeId("n1"),
            .provider_id = "i-1",
            .instance_type = "p5.48xlarge",
            .region = "us-east-1",
            .pool = PoolId("gpu"),
            .gpu_model = "H100",
            .gpu_count = 8,
            .shard_count = 16,
            .mps_count = 800,
            .sharing = GpuSharing::kMps,
            .gpu_replicas = 4,
            .replicas_renamed = true,
            .cpu_milli = 192'000,
            .memory_bytes = {},
            .from = at("2026-03-01"),
            .to = at("2026-03-05"),
            .id = {},
            .source = {}};
  expect_fingerprints(node,
                      {"0c4c1a1e7a89905421d56a1a57501cbd", "3dc8a2c235ddd07a76271a068d4fd5bd"});
  node.to.reset();
  expect_fingerprints(node,
                      {"0c4c1a1e7a89905421d56a1a57501cbd", "d031fe34e8ce8ac9c29031dece7ff503"});
  Gpu gpu{.cluster = ClusterId("train"),
          .node = NodeId("n1"),
          .uuid = GpuId("GPU-1"),
          .index = 3,
          .model = "NVIDIA H100",
          .memory_bytes = 80ull << 30,
          .mig_instances = {{GpuId("MIG-1"), "3g.40gb"}},
          .from = at("2026-03-01"),
          .to = {},
          .id = {},
          .source = {}};
  expect_fingerprints(gpu,
                      {"2ed5641052af69babb0e11712b9a7388", "665c87544b4c1724ecd4e3cab9be075e"});
}

TEST(Fingerprints, OfUsage) {
  Usage usage{.cluster = ClusterId("train"),
              .node = NodeId("n1"),
              .gpu = GpuId("GPU-1"),
              .mig_instance = "7",
              .mig_profile = "1g.10gb",
              .model = "H100",
              .at = at("2026-03-01"),
              .gpu_util_ppm = 500'000,
              .engine_active_ppm = {},
              .sm_active_ppm = 250'000,
              .memory_used_bytes = 1u << 30,
              .memory_total_bytes = {},
              .power_milliwatts = 400'000,
              .energy_millijoules = {},
              .workload = WorkloadId("ns/pod"),
              .id = {},
              .source = {}};
  expect_fingerprints(usage,
                      {"7e6a6a71be646fbb0ec34b43c65085b7", "f6a5aa5292686a054e002671f146515a"});
  usage.of_workload = true;
  usage.span_ms = 60'000;
  usage.part = 3;
  usage.tensor_active_ppm = 1;
  usage.dram_active_ppm = 2;
  usage.memory_reserved_bytes = 3;
  usage.temperature_celsius = 4;
  usage.sm_clock_mhz = 5;
  usage.pcie_bytes_per_second = 6;
  usage.nvlink_bytes_per_second = 7;
  usage.energy_used_millijoules = 8;
  usage.activity_max_ppm = 9;
  usage.memory_used_max_bytes = 10;
  usage.power_max_milliwatts = 11;
  usage.throttled_ms = 12;
  usage.xid_errors = 13;
  usage.last_xid = 14;
  usage.ecc_errors = 15;
  expect_fingerprints(usage,
                      {"040a539d62f6e44c0071083ea17eb669", "5b85811ebf23dcb150f9e6971f4c57ef"});
}

TEST(Fingerprints, OfOutagesOutcomesAndCorrections) {
  Outage outage(ClusterId("train"), NodeId("n1"), march_day());
  outage.gpu = GpuId("GPU-1");
  outage.reason = "Xid 79";
  expect_fingerprints(outage,
                      {"ba1244a0df235edf8ed94cafa1468bd1", "d2e490414f98540e08fa5b1fa8d37dba"});
  Outcome outcome(ClusterId("train"), WorkloadId("ns/pod"), "requests", march_day(), 12'345);
  outcome.part = 2;
  ASSERT_TRUE(outcome.labels.set("model", "llama"));
  expect_fingerprints(outcome,
                      {"0c2feca0d73bdd0ba2d8b0135a8e3cf8", "443a4f21228476a1682d08136c4efa26"});
  Correction correction(ClusterId("train"), "gpu day", march_day(), Money::from_units(5, kEur));
  ASSERT_TRUE(correction.from.set("team", "nlp"));
  correction.reason = "agreed";
  correction.author = "fin";
  expect_fingerprints(correction,
                      {"7efc667ed124805bd8584979c3198fd4", "ef2706fa69010c36484f46cc67821d2b"});
}

TEST(Fingerprints, OfResults) {
  Posting posting{.charge = FactId{{1, 2}},
                  .kind = PostingKind::kHeldIdle,
                  .component = Component::kMemory,
                  .interval = march_day(),
                  .day = std::chrono::sys_days(std::chrono::days(20'000)),
                  .node = NodeId("n1"),
                  .gpu = GpuId("GPU-1"),
                  .workload = WorkloadId("ns/pod"),
                  .holding = FactId{{3, 4}},
                  .weight = Weight{77},
                  .costs = full_charge().costs,
                  .gpu_time = kGpuHour,
                  .memory_time = MemoryTime::of(9),
                  .observed_time = {}};
  EXPECT_EQ(to_text(content_hash(posting)), "f1c3b2ea64fbd57395b69635ce87a024");
  posting.holding.reset();
  EXPECT_EQ(to_text(content_hash(posting)), "ed2933479fa647cef531d26d48759163");
  WorkloadDimensions workload{.workload = WorkloadId("ns/pod"), .dimensions = {}};
  ASSERT_TRUE(workload.dimensions.set("team", "nlp"));
  EXPECT_EQ(to_text(content_hash(workload)), "8d3dd7b50eed01556e9ee79a60da899f");
  const RejectedRow row{
      .file = "bill.csv", .line = 7, .column = "BilledCost", .reason = "not a number", .text = "x"};
  EXPECT_EQ(to_text(content_hash(row)), "d274781031434205c011f7302f3a6d12");
  SetDigest digest;
  digest.add(content_hash(posting));
  digest.add(content_hash(row));
  EXPECT_EQ(to_text(digest.digest()), "de83b1e1a52adc19c8b69c493c22b54d");
  EXPECT_EQ(to_text(closing_member(FactId{{5, 6}})), "36bb4528b17bf12dc8289acd660d1245");
}

Node named_node() {
  return {.cluster = ClusterId("train"),
          .name = NodeId("n1"),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId(""),
          .gpu_model = {},
          .gpu_count = 4,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = at("2026-03-01"),
          .to = at("2026-03-02"),
          .id = {},
          .source = {}};
}

// Of facts with an end that came to a ledger of this version.
TEST(Fingerprints, OfNodesAndGpusWithAnEnd) {
  EXPECT_EQ(to_text(EndKeys<Node>({}).key_of(named_node())), "933b5c7e4b5a6dda1229e2740c011aab");
  const Gpu gpu{.cluster = ClusterId("train"),
                .node = NodeId("n1"),
                .uuid = GpuId("GPU-1"),
                .index = 0,
                .model = {},
                .memory_bytes = {},
                .mig_instances = {},
                .from = at("2026-03-01"),
                .to = at("2026-03-02"),
                .id = {},
                .source = {}};
  EXPECT_EQ(to_text(EndKeys<Gpu>({}).key_of(gpu)), "0bbf191d6f4c5ac24043a7664a2988ee");
}

// A ledger of an earlier version has facts with an end under their natural keys.
TEST(EndKeys, RecogniseWhatEarlierVersionsStored) {
  Node ended = named_node();
  ended.id = FactId{natural_key(ended)};
  EndKeys<Node> keys(std::span<const Node>(&ended, 1));
  EXPECT_EQ(keys.key_of(ended), natural_key(ended)) << "it is there already";
  Node later = ended;
  later.to = at("2026-03-03");
  EXPECT_EQ(keys.key_of(later), natural_key(ended)) << "a conflict";
  Node open = ended;
  open.to.reset();
  EXPECT_NE(keys.key_of(open), natural_key(ended)) << "beside it";
  Node larger = open;
  larger.gpu_count = 8;
  EXPECT_EQ(keys.key_of(larger), natural_key(ended)) << "a conflict";
}

}  // namespace
}  // namespace pennyweight
