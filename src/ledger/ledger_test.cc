// What makes two facts the same fact, and texts that parse back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/posting.h"
#include "ledger/store_rules.h"
#include "ledger/usage.h"

namespace pennyweight {
namespace {

const Interval kMarch{*parse_instant("2026-03-01"), *parse_instant("2026-04-01")};

Charge line(std::int64_t dollars) {
  Costs costs = Costs::zero(kUsd);
  costs.billed = Money::from_units(dollars, kUsd);
  Charge charge(kMarch, kMarch, costs);
  charge.resource_id = "i-1";
  return charge;
}

TEST(Charge, AmountsAreContentAndEverythingElseIsTheKey) {
  const Charge one = line(1);
  EXPECT_EQ(natural_key(one), natural_key(line(2)));
  EXPECT_NE(content_hash(one), content_hash(line(2)));
  EXPECT_EQ(difference(one, line(2)), "BilledCost 1 there, 2 here");

  Charge other = line(1);
  other.resource_id = "i-2";
  EXPECT_NE(natural_key(one), natural_key(other));
  other = line(1);
  ASSERT_TRUE(other.tags.set("team", "nlp"));
  EXPECT_NE(natural_key(one), natural_key(other));
}

TEST(Charge, OfTheOtherColumnsOnlyTheAmountsAreNotKey) {
  Charge one = line(1), two = line(1);
  one.other_columns = R"({"CommitmentDiscountQuantity":"1","x_Line":"a\"b"})";
  two.other_columns = R"({"CommitmentDiscountQuantity":"2","x_Line":"a\"b"})";
  EXPECT_EQ(natural_key(one), natural_key(two));
  EXPECT_NE(content_hash(one), content_hash(two));
  two.other_columns = R"({"CommitmentDiscountQuantity":"1","x_Line":"a\"c"})";
  EXPECT_NE(natural_key(one), natural_key(two));
}

TEST(Charge, SpellingsParseBackAndOthersDoNot) {
  for (const char* text : {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}) {
    EXPECT_EQ(to_text(*parse_charge_category(text)), text);
  }
  for (const char* text : {"Standard", "Dynamic", "Committed", "Other"}) {
    EXPECT_EQ(to_text(*parse_pricing_category(text)), text);
  }
  EXPECT_FALSE(parse_charge_category("usage"));
  EXPECT_FALSE(parse_charge_frequency(""));
  EXPECT_FALSE(parse_used_or_unused("Used "));
}

Holding job(bool ended, const char* end) {
  Holding holding(ClusterId("c"), WorkloadId("7"),
                  Interval(*parse_instant("2026-03-01"), *parse_instant(end)),
                  OnNodes{{{NodeId("n1"), 4}, {NodeId("n2"), 2}}});
  holding.ended = ended;
  return holding;
}

TEST(Holding, ReadingsOfARunningJobAreFactsOfTheirOwn) {
  EXPECT_NE(natural_key(job(false, "2026-03-02")), natural_key(job(false, "2026-03-03")));
  EXPECT_NE(natural_key(job(false, "2026-03-02")), natural_key(job(true, "2026-03-02")));
  EXPECT_EQ(natural_key(job(true, "2026-03-02")), natural_key(job(true, "2026-03-03")));
  EXPECT_EQ(difference(job(true, "2026-03-02"), job(true, "2026-03-03")),
            "end 2026-03-02T00:00:00Z there, 2026-03-03T00:00:00Z here");
  EXPECT_EQ(device_count(job(true, "2026-03-02")), 6u);
}

TEST(Holding, DevicesParseBack) {
  for (const Device& device :
       {Device(WholeGpu{}), Device(Shard{}), Device(MigSlice{"3g.20gb"}),
        Device(CardFraction{*CardShare::of(1, 3), *CardShare::of(1, 4)}), Device(MpsUnit{}),
        Device(Replica{}), Device(VirtualGpu{}),
        Device(
            VirtualGpu{.cores_percent = 30, .memory_bytes = 4ull << 30, .memory_percent = {}})}) {
    EXPECT_EQ(parse_device(to_text(device)), device);
  }
  EXPECT_EQ(to_text(Device(VirtualGpu{30, 4ull << 30, {}})), "vgpu cores=30 memory=4294967296");
  EXPECT_EQ(to_text(Device(VirtualGpu{{}, {}, 50})), "vgpu memory_percent=50");
  for (const char* bad :
       {"", "gpus", "mig ", "fraction 1", "fraction 1/", "fraction -1/2", "mps 1", "replicas",
        "vgpus", "vgpu cores", "vgpu cores=", "vgpu cores=x", "vgpu cores=-1", "vgpu colour=1",
        "vgpu cores=1 cores=2", "vgpu cores=1,memory=2", "vgpu memory=99999999999999999999"}) {
    EXPECT_FALSE(parse_device(bad)) << bad;
  }
}

RC_GTEST_PROP(Holding, VirtualGpusParseBack,
              (std::uint32_t cores, std::uint64_t bytes, std::uint32_t percent)) {
  VirtualGpu part;
  if (*rc::gen::arbitrary<bool>()) part.cores_percent = cores;
  if (*rc::gen::arbitrary<bool>()) part.memory_bytes = bytes;
  if (*rc::gen::arbitrary<bool>()) part.memory_percent = percent;
  const Device device = part;
  RC_ASSERT(parse_device(to_text(device)) == device);
}

RC_GTEST_PROP(Holding, DeviceTextsAreRefusedOrParseBack, (const std::string& tail)) {
  for (const std::string& head : {std::string("vgpu "), std::string("fraction "), std::string()}) {
    if (const auto device = parse_device(head + tail)) {
      RC_ASSERT(parse_device(to_text(*device)) == device);
    }
  }
}

TEST(Holding, ClaimAndGroupAreContent) {
  const Holding plain = job(true, "2026-03-02");
  Holding other = plain;
  other.claim = "ml/claim";
  EXPECT_NE(content_hash(plain), content_hash(other));
  EXPECT_EQ(difference(plain, other), "claim  there, ml/claim here");
  other = plain;
  other.gpu_group = "g";
  EXPECT_NE(content_hash(plain), content_hash(other));
  other = plain;
  other.is_reservation = true;
  EXPECT_NE(content_hash(plain), content_hash(other));
  EXPECT_EQ(natural_key(plain), natural_key(other));
}

TEST(Node, SharingParsesBackAndIsContent) {
  for (int i = 0; i < 3; ++i) {
    const auto sharing = static_cast<GpuSharing>(i);
    EXPECT_EQ(parse_gpu_sharing(to_text(sharing)), sharing);
  }
  EXPECT_FALSE(parse_gpu_sharing("MPS"));
  EXPECT_FALSE(parse_gpu_sharing(""));
}

TEST(Outage, EndAndReasonAreContentAndTheRestIsTheKey) {
  const Outage one(ClusterId("c"), NodeId("n"), kMarch);
  Outage other(ClusterId("c"), NodeId("n"), Interval(kMarch.begin(), *parse_instant("2026-03-02")));
  EXPECT_EQ(natural_key(one), natural_key(other));
  EXPECT_NE(content_hash(one), content_hash(other));
  EXPECT_EQ(difference(one, other), "end 2026-04-01T00:00:00Z there, 2026-03-02T00:00:00Z here");
  other = one;
  other.reason = "Xid 79";
  EXPECT_NE(content_hash(one), content_hash(other));
  EXPECT_EQ(difference(one, other), "reason '' there, 'Xid 79' here");
  other = one;
  other.gpu = GpuId("GPU-1");
  EXPECT_NE(natural_key(one), natural_key(other));
}

TEST(Correction, TheNameIsTheKeyAndEveryOtherFieldIsContent) {
  const Correction one(ClusterId("c"), "a", kMarch, Money::from_units(1, kUsd));
  const auto changed = [&](auto change) {
    Correction other = one;
    change(other);
    EXPECT_EQ(natural_key(one), natural_key(other));
    EXPECT_NE(content_hash(one), content_hash(other));
    return difference(one, other);
  };
  EXPECT_EQ(changed([](Correction& c) { c.amount = Money::from_units(2, kUsd); }),
            "amount 'USD 1' there, 'USD 2' here");
  EXPECT_EQ(changed([](Correction& c) { c.amount = Money::from_units(1, kEur); }),
            "amount 'USD 1' there, 'EUR 1' here");
  EXPECT_EQ(changed([](Correction& c) { ASSERT_TRUE(c.from.set("team", "nlp")); }),
            "from '' there, 'team=nlp' here");
  EXPECT_EQ(changed([](Correction& c) { ASSERT_TRUE(c.to.set("team", "nlp")); }),
            "to '' there, 'team=nlp' here");
  EXPECT_EQ(changed([](Correction& c) { c.reason = "r"; }), "reason '' there, 'r' here");
  EXPECT_EQ(changed([](Correction& c) { c.author = "ann"; }), "author '' there, 'ann' here");
  Correction other = one;
  other.name = "b";
  EXPECT_NE(natural_key(one), natural_key(other));
}

RC_GTEST_PROP(Holding, PlacementsParseBack, (const std::vector<std::string>& names)) {
  OnNodes nodes;
  OnGpus gpus;
  InPool pool{.pools = {}, .devices = 3};
  for (const std::string& name : names) {
    if (name.empty()) continue;
    nodes.parts.push_back({NodeId(name), static_cast<std::uint32_t>(name.size())});
    gpus.gpus.emplace_back(name);
    pool.pools.emplace_back(name);
  }
  RC_ASSERT(parse_placement(to_text(Placement(nodes))) == Placement(nodes));
  RC_ASSERT(parse_placement(to_text(Placement(gpus))) == Placement(gpus));
  RC_ASSERT(parse_placement(to_text(Placement(pool))) == Placement(pool));
}

TEST(Holding, OtherPlacementsAreRefused) {
  for (const char* bad : {"", "nodes n1", "nodes n1=x", "nodes n1=1,", "pool", "pool x", "gpus a,",
                          "nodes n1=-1", "pool 1 %zz", "pool 1 a,,b"}) {
    EXPECT_FALSE(parse_placement(bad)) << bad;
  }
}

TEST(Posting, KindsAndComponentsParseBack) {
  for (int i = 0; i < 7; ++i) {
    const auto kind = static_cast<PostingKind>(i);
    EXPECT_EQ(parse_posting_kind(to_text(kind)), kind);
  }
  for (int i = 0; i < 4; ++i) {
    const auto component = static_cast<Component>(i);
    EXPECT_EQ(parse_component(to_text(component)), component);
  }
  EXPECT_FALSE(parse_posting_kind("Used"));
}

TEST(Usage, TheKeyIsDeviceInstanceHolderAndTime) {
  Usage usage{.cluster = ClusterId("c"),
              .node = NodeId("n"),
              .gpu = GpuId("GPU-1"),
              .mig_instance = "7",
              .mig_profile = "1g.5gb",
              .model = "A100",
              .at = {},
              .gpu_util_ppm = {},
              .engine_active_ppm = 500'000,
              .sm_active_ppm = {},
              .memory_used_bytes = {},
              .memory_total_bytes = {},
              .power_milliwatts = {},
              .energy_millijoules = {},
              .workload = WorkloadId(""),
              .id = {},
              .source = {}};
  Usage other = usage;
  other.engine_active_ppm = 0;
  EXPECT_EQ(natural_key(usage), natural_key(other));
  EXPECT_NE(content_hash(usage), content_hash(other));
  EXPECT_EQ(difference(usage, other), "engine active ppm 500000 there, 0 here");
  // An earlier version imported the sample without a number that no share depends on.
  other = usage;
  other.dram_active_ppm = 250'000;
  EXPECT_EQ(difference(usage, other),
            "DRAM active ppm absent there, 250000 here; no cost is divided by what is added, so "
            "every cost stays right");
  EXPECT_EQ(difference(other, usage), "DRAM active ppm 250000 there, absent here");
  other.sm_active_ppm = 250'000;
  EXPECT_EQ(difference(usage, other),
            "SM active ppm absent there, 250000 here; DRAM active ppm absent there, 250000 here");
  other = usage;
  other.mig_instance = "8";
  EXPECT_NE(natural_key(usage), natural_key(other));
}

}  // namespace
}  // namespace pennyweight
