// What every store of the ledger promises about facts (ledger/store.h), checked for each store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "core/limits.h"
#include "ledger/activity_scan.h"
#include "ledger/end_keys.h"
#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Counts = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

class StoreContract : public StoreTest {
 protected:
  static Counts tuple(const FactCounts& counts) {
    return {counts.created, counts.existing, counts.repeated, counts.conflicts};
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, every_store(), store_name);

TEST_P(StoreContract, AnEmptyStoreAnswersEverything) {
  EXPECT_THAT(charges_of(*store_), IsEmpty());
  EXPECT_THAT(holdings_of(*store_, march()), IsEmpty());
  EXPECT_THAT(must(store_->nodes()), IsEmpty());
  EXPECT_THAT(must(store_->gpus()), IsEmpty());
  EXPECT_THAT(usages_of(*store_, march()), IsEmpty());
  EXPECT_THAT(must(store_->outages(ClusterId("philly"), march())), IsEmpty());
  EXPECT_THAT(must(store_->corrections(ClusterId("philly"), march())), IsEmpty());
  EXPECT_THAT(must(store_->runs()), IsEmpty());
  EXPECT_THAT(must(store_->imports()), IsEmpty());
  EXPECT_THAT(must(store_->rejected_rows(10)), IsEmpty());
  EXPECT_THAT(must(store_->summarise({})), IsEmpty());
  EXPECT_THAT(totals_of(*store_), IsEmpty());
  EXPECT_FALSE(must(store_->find_charge({})).has_value());
  EXPECT_EQ(must(store_->overview()).charges, 0u);
}

// Every field comes back unchanged: extremes, absent and empty values, any Unicode.
TEST_P(StoreContract, EveryFieldOfAChargeComesBack) {
  const Money most = Money::from_ticks(Decimal::kTicksMax, kEur);
  Charge full(march(), Interval(at("2026-03-01T00:00:00.001Z"), at("2026-03-01T01:00:00Z")),
              Costs{most, -most, Money::from_ticks(1, kEur), Money::from_ticks(-1, kEur)});
  const std::string unicode =
      "Zürich 東京 🚀 \"sql_literal\" 'single' \\ \n\t" + std::string(300, 'x');
  full.billing_account_id = "1";
  full.billing_account_name = unicode;
  full.sub_account_id = "2";
  full.sub_account_name = "3";
  full.invoice_id = "4";
  full.invoice_issuer_name = "5";
  full.service_provider_name = "6";
  full.charge_category = ChargeCategory::kCredit;
  full.is_correction = true;
  full.charge_frequency = ChargeFrequency::kUsageBased;
  full.charge_description = "7";
  full.service_category = "8";
  full.service_subcategory = "9";
  full.service_name = "10";
  full.region_id = "11";
  full.availability_zone = "12";
  full.resource_id = "13";
  full.resource_name = "14";
  full.resource_type = "15";
  full.sku_id = "16";
  full.sku_meter = "17";
  full.sku_price_id = "18";
  full.sku_price_details = R"({"InstanceType":"p5"})";
  full.instance_type = "19";
  full.tags = labels({{"a", "x"}, {"team", ""}, {"z", unicode}});
  full.pricing_category = PricingCategory::kDynamic;
  full.pricing_quantity = Decimal::from_ticks(-Decimal::kTicksMax);
  full.pricing_unit = "20";
  full.list_unit_price = Decimal();
  full.contracted_unit_price = Decimal::from_ticks(1);
  full.consumed_quantity = Decimal::from_units(7);
  full.consumed_unit = "21";
  full.commitment_discount_id = "22";
  full.commitment_discount_category = "23";
  full.commitment_discount_type = "24";
  full.commitment_discount_status = UsedOrUnused::kUnused;
  full.capacity_reservation_id = "25";
  full.capacity_reservation_status = UsedOrUnused::kUsed;
  full.cluster = "26";
  full.pool = "27";
  full.other_columns = R"({"x_A":"b"})";
  full.source.line = 123'456'789;
  Charge bare(march(), march(), Costs::zero(kUsd));

  const ImportOutcome outcome = import_charges(*store_, {full, bare});
  EXPECT_EQ(tuple(outcome.charges), Counts(2, 0, 0, 0));
  full.id = FactId{content_hash(full)};
  bare.id = FactId{content_hash(bare)};
  full.import_number = bare.import_number = 1;
  full.booked_month = bare.booked_month = "2026-03";
  std::vector<Charge> want = {full, bare};
  std::ranges::sort(want, {}, &Charge::id);
  EXPECT_EQ(charges_of(*store_), want);
  EXPECT_EQ(must(store_->find_charge(full.id)), full);
  EXPECT_EQ(must(store_->find_charge(bare.id)), bare);
  EXPECT_FALSE(must(store_->find_charge(FactId{{1, 1}})).has_value());
}

TEST_P(StoreContract, EveryFieldOfTheOtherFactsComesBack) {
  Holding full = holding("ml/train-0", "2026-03-01", "2026-03-02");
  full.attempt = "2";
  full.suspended_ms = 77;
  full.device = CardFraction{*CardShare::of(1, 3), *CardShare::of(1, 4)};
  full.gpu_model = "a100";
  full.placement = OnNodes{{{NodeId("n,1"), 4}, {NodeId("n=2"), 0}}};
  full.cpu_milli = 0;
  full.memory_bytes = ~std::uint64_t{1};
  full.claim = "ml/shared, claim";
  full.gpu_group = "group-1";
  full.is_reservation = true;
  full.labels = labels({{"account", "ml"}, {"state", ""}});
  full.source.line = 9;
  const Holding bare = holding("2", "2026-03-03", "2026-03-04", false);
  Node node_open = node("n1"), node_closed = node("n2");
  node_closed.to = at("2026-02-01");
  node_closed.cpu_milli = {};
  node_closed.mps_count = 800;
  node_closed.sharing = GpuSharing::kTimeSlicing;
  node_closed.gpu_replicas = 10;
  node_closed.replicas_renamed = true;
  Gpu bare_gpu = gpu("GPU-2");
  bare_gpu.mig_instances.clear();
  bare_gpu.memory_bytes = {};
  bare_gpu.to = {};

  const auto session = must(store_->begin_import(source()));
  must(session->append_holdings(std::vector{full, bare}));
  must(session->append_nodes(std::vector{node_open, node_closed}));
  must(session->append_gpus(std::vector{gpu("GPU-1"), bare_gpu}));
  Usage seen = usage("GPU-1", "2026-03-05T00:00:01Z");
  seen.of_workload = true;
  must(session->append_usages(std::vector{seen}));
  Outage of_card = outage("n1", "2026-03-02", "2026-03-03");
  of_card.gpu = GpuId("GPU-1");
  of_card.source.line = 3;
  const Outage of_node = outage("n1", "2026-03-02", "2026-03-03T00:00:00.001Z");
  must(session->append_outages(std::vector{of_card, of_node}));
  Correction moved = correction("gpu day for nlp", -7);
  moved.from = labels({{"team", "ünit"}, {"user", ""}});
  moved.to = labels({{"team", "nlp"}});
  moved.author = "ann";
  moved.amount = Money::from_ticks(Decimal::kTicksMax, kUsd);
  const Correction other = correction("another", 1);
  must(session->append_corrections(std::vector{moved, other}));
  const ImportOutcome outcome = must(session->commit());
  EXPECT_EQ(tuple(outcome.holdings), Counts(2, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.nodes), Counts(2, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.gpus), Counts(2, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.usages), Counts(1, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.outages), Counts(2, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.corrections), Counts(2, 0, 0, 0));

  const auto with_id = [](auto fact) {
    using Fact = decltype(fact);
    if constexpr (has_end_key<Fact>) {
      fact.id = FactId{EndKeys<Fact>({}).key_of(fact)};
    } else {
      fact.id = FactId{natural_key(fact)};
    }
    return fact;
  };
  EXPECT_THAT(holdings_of(*store_, march()), ElementsAre(with_id(full), with_id(bare)));
  EXPECT_EQ(must(store_->find_holding(with_id(full).id)), with_id(full));
  EXPECT_THAT(must(store_->nodes()), ElementsAre(with_id(node_open), with_id(node_closed)));
  EXPECT_THAT(must(store_->gpus()), ElementsAre(with_id(gpu("GPU-1")), with_id(bare_gpu)));
  EXPECT_THAT(usages_of(*store_, march()), ElementsAre(seen));
  EXPECT_THAT(usages_of(*store_, march(), "other"), IsEmpty());
  const ClusterId philly("philly");
  EXPECT_THAT(must(store_->outages(philly, march())),
              ElementsAre(with_id(of_node), with_id(of_card)));
  EXPECT_THAT(must(store_->corrections(philly, march())),
              ElementsAre(with_id(other), with_id(moved)));

  const StoreOverview view = must(store_->overview());
  EXPECT_EQ(view.holdings, 2u);
  EXPECT_EQ(view.nodes, 2u);
  EXPECT_EQ(view.gpus, 2u);
  EXPECT_EQ(view.usages, 1u);
  EXPECT_EQ(view.outages, 2u);
  EXPECT_EQ(view.corrections, 2u);
  EXPECT_EQ(view.imports, 1u);
  EXPECT_EQ(must(store_->imports())[0].outages, 2u);
  EXPECT_EQ(must(store_->imports())[0].corrections, 2u);
  EXPECT_THAT(view.clusters, ElementsAre("philly"));
}

TEST_P(StoreContract, SpansOfOneTimeAreToldApartByTheirPart) {
  Usage first = usage("GPU-1", "2026-03-05");
  first.span_ms = 60'000;
  first.part = 1;
  first.tensor_active_ppm = 5;
  first.ecc_errors = 0;
  Usage late = first;
  late.part = 2;
  late.sm_active_ppm.reset();
  late.xid_errors = 1;
  late.last_xid = 79;
  const auto deliver = [&](const std::vector<Usage>& usages) {
    const auto session = must(store_->begin_import(source()));
    must(session->append_usages(usages));
    return must(session->commit());
  };
  EXPECT_EQ(tuple(deliver({late, first}).usages), Counts(2, 0, 0, 0));
  EXPECT_EQ(tuple(deliver({first, late}).usages), Counts(0, 2, 0, 0));
  EXPECT_THAT(usages_of(*store_, march()), ElementsAre(first, late));
  EXPECT_THAT(usages_of(*store_, march(), "philly", UsageDetail::kShares),
              ElementsAre(shares_of(first), shares_of(late)));
  Usage other = first;
  other.tensor_active_ppm = 6;
  const ImportOutcome outcome = deliver({other});
  EXPECT_EQ(tuple(outcome.usages), Counts(0, 0, 0, 1));
  EXPECT_THAT(outcome.conflict_rows[0].reason, HasSubstr("tensor active ppm 5 there, 6 here"));
}

// Of a collector's rows too the content decides, not which came first: nor does it matter that a
// row of another key came between them.
TEST_P(StoreContract, SpansOfOneKeyInAnyOrderGiveTheSameLedger) {
  std::vector<Usage> spans;
  for (std::uint64_t i = 0; i < 12; ++i) {
    Usage span = usage(i % 2 == 0 ? "GPU-1" : "GPU-2", "2026-03-05");
    span.span_ms = 60'000;
    span.part = 1 + i % 3;
    span.tensor_active_ppm = i / 6;
    spans.push_back(span);
  }
  spans.push_back(spans.front());
  const auto other = fresh("other.duckdb");
  const auto deliver = [&](Store& store) {
    const auto session = must(store.begin_import(source()));
    for (const Usage& span : spans) must(session->append_usages({&span, 1}));
    return must(session->commit());
  };
  const ImportOutcome first = deliver(*store_);
  std::ranges::reverse(spans);
  const ImportOutcome second = deliver(*other);
  EXPECT_EQ(std::get<0>(tuple(first.usages)), 6u);
  EXPECT_EQ(first.usages.created + first.usages.existing + first.usages.conflicts, spans.size());
  EXPECT_EQ(tuple(first.usages), tuple(second.usages));
  EXPECT_EQ(usages_of(*store_, march()), usages_of(*other, march()));
  EXPECT_EQ(must(store_->rejected_rows(1000)), must(other->rejected_rows(1000)));
  EXPECT_EQ(first.conflict_rows, second.conflict_rows);
}

TEST_P(StoreContract, OutcomesAreFoundByClusterAndBegin) {
  Outcome elsewhere = outcome("ml/chat-0", "2026-03-02", 1);
  elsewhere.cluster = ClusterId("earth");
  const std::vector<Outcome> all = {outcome("ml/chat-0", "2026-03-02T10:01:00Z", 3),
                                    outcome("ml/chat-0", "2026-03-02T10:00:00Z", 7),
                                    outcome("ml/chat-0", "2026-04-01", 9), elsewhere};
  const auto deliver = [&](const std::vector<Outcome>& outcomes) {
    const auto session = must(store_->begin_import(source()));
    must(session->append_outcomes(outcomes));
    return must(session->commit());
  };
  EXPECT_EQ(tuple(deliver(all).outcomes), Counts(4, 0, 0, 0));
  EXPECT_EQ(tuple(deliver(all).outcomes), Counts(0, 4, 0, 0));
  EXPECT_EQ(must(store_->overview()).outcomes, 4u);
  EXPECT_THAT(must(store_->overview()).clusters, ElementsAre("earth", "philly"));
  EXPECT_EQ(must(store_->imports())[0].outcomes, 4u);
  std::vector<std::uint64_t> counts;
  for (const Outcome& found : outcomes_of(*store_, march())) counts.push_back(found.count);
  EXPECT_THAT(counts, ElementsAre(7, 3));
  Outcome found = outcomes_of(*store_, march())[0];
  found.id = {};
  EXPECT_EQ(found, all[1]);
  const ImportOutcome conflict = deliver({outcome("ml/chat-0", "2026-03-02T10:00:00Z", 8)});
  EXPECT_EQ(tuple(conflict.outcomes), Counts(0, 0, 0, 1));
  EXPECT_THAT(conflict.conflict_rows[0].reason, HasSubstr("count 7 there, 8 here"));
}

TEST_P(StoreContract, TheSameBillTwiceIsOneBill) {
  const std::vector<Charge> bill = {charge("i-1", 1, 1), charge("i-2", 2, 2), charge("i-2", 2, 3)};
  EXPECT_EQ(tuple(import_charges(*store_, bill).charges), Counts(3, 0, 1, 0));
  const auto before = charges_of(*store_);
  EXPECT_EQ(before.size(), 3u);
  EXPECT_EQ(tuple(import_charges(*store_, bill).charges), Counts(0, 3, 1, 0));
  EXPECT_EQ(charges_of(*store_), before);
  EXPECT_EQ(must(store_->imports()).size(), 2u);
  EXPECT_THAT(must(store_->rejected_rows(10)), IsEmpty());
  // A third copy of the repeated line is one more line, not a conflict.
  std::vector<Charge> more = bill;
  more.push_back(charge("i-2", 2, 4));
  EXPECT_EQ(tuple(import_charges(*store_, more).charges), Counts(1, 3, 2, 0));
}

TEST_P(StoreContract, FewOfManyImportsAreFoundByNumberAndTime) {
  constexpr std::uint64_t kImports = 9;
  const Instant first = from_unix_ms(1'775'000'000'000);
  for (std::uint64_t i = 0; i < kImports; ++i) {
    // The clock of a program may go back between two imports.
    const auto minutes = std::chrono::minutes(i == 6 ? 2 : i);
    const auto session = must(store_->begin_import({.format = "focus",
                                                    .name = "bill-" + std::to_string(i + 1),
                                                    .file_hash = {},
                                                    .at = first + minutes}));
    must(session->append_charges(std::vector{charge("i-1", 1, i + 1)}));
    must(session->commit());
  }
  const std::vector<std::uint64_t> asked = {8, 0, 3, 8, 77};
  const auto found = must(store_->imports_numbered(asked));
  ASSERT_EQ(found.size(), 2u);
  const auto all = must(store_->imports());
  for (const auto& [got, number] : {std::pair(found[0], 3u), std::pair(found[1], 8u)}) {
    EXPECT_EQ(got.number, number);
    EXPECT_EQ(got.source.name, "bill-" + std::to_string(number));
    EXPECT_EQ(got.source.at, all[number - 1].source.at);
    EXPECT_EQ(got.charges, all[number - 1].charges);
  }
  EXPECT_THAT(must(store_->imports_numbered({})), IsEmpty());
  EXPECT_EQ(must(store_->last_import_until(first - std::chrono::milliseconds(1))), 0u);
  EXPECT_EQ(must(store_->last_import_until(first)), 1u);
  EXPECT_EQ(must(store_->last_import_until(first + std::chrono::minutes(1))), 2u);
  EXPECT_EQ(must(store_->last_import_until(first + std::chrono::minutes(2))), 7u);
  EXPECT_EQ(must(store_->last_import_until(first + std::chrono::hours(1))), kImports);
}

// Fingerprints of identical lines are numbered, also where the low half wraps.
TEST_P(StoreContract, RepeatedLinesHaveNumberedIds) {
  const Charge line = charge("i-1", 1);
  const std::vector<Charge> bill(5, line);
  EXPECT_EQ(tuple(import_charges(*store_, bill).charges), Counts(5, 0, 4, 0));
  std::vector<FactId> want;
  for (std::uint64_t i = 0; i < 5; ++i) want.push_back(numbered(content_hash(line), i));
  std::ranges::sort(want);
  std::vector<FactId> got;
  for (const Charge& kept : charges_of(*store_)) got.push_back(kept.id);
  EXPECT_EQ(got, want);
}

TEST_P(StoreContract, AConflictingLineIsSetAside) {
  import_charges(*store_, {charge("i-1", 1), charge("i-2", 2)});
  const ImportOutcome outcome = import_charges(
      *store_, {charge("i-1", 1, 5), charge("i-2", 20, 6), charge("i-3", 3, 7)}, "again.csv");
  EXPECT_EQ(tuple(outcome.charges), Counts(1, 1, 0, 1));
  EXPECT_EQ(outcome.rejected, 1u);
  ASSERT_EQ(outcome.conflict_rows.size(), 1u);
  const RejectedRow& row = outcome.conflict_rows[0];
  EXPECT_EQ(row.file, "again.csv");
  EXPECT_EQ(row.line, 6u);
  EXPECT_THAT(row.reason, HasSubstr("BilledCost 2 there, 20 here"));
  EXPECT_THAT(must(store_->rejected_rows(10)), ElementsAre(row));
  EXPECT_EQ(charges_of(*store_).size(), 3u);
  EXPECT_EQ(must(store_->imports())[1].rejected, 1u);
  EXPECT_EQ(must(store_->imports())[1].charges, 1u);
}

// The rule of ImportSession, case by case, as units billed under one natural key.
TEST_P(StoreContract, ConflictsByMultiset) {
  struct Case {
    std::vector<int> there, here;
    Counts want;
    std::size_t kept;
  };
  const Case cases[] = {
      {{1}, {1}, {0, 1, 0, 0}, 1},          {{1}, {2}, {0, 0, 0, 1}, 1},
      {{1}, {1, 2}, {1, 1, 0, 0}, 2},        // nothing left out
      {{1, 2}, {1}, {0, 1, 0, 0}, 2},        // nothing new
      {{1, 2}, {1, 3}, {0, 1, 0, 1}, 2},     // 3 for 2
      {{1, 1}, {1, 2}, {0, 1, 0, 1}, 2},     // 2 for the second 1
      {{1}, {1, 1, 2, 2}, {3, 1, 2, 0}, 4},  // more of everything
      {{1, 1}, {1}, {0, 1, 0, 0}, 2},        // a partial delivery
      {{1}, {2, 2, 3}, {0, 0, 1, 3}, 1},     // all of it beside the first
      {{}, {1, 2, 3}, {3, 0, 0, 0}, 3},      // several lines under one key
  };
  int number = 0;
  for (const Case& c : cases) {
    const std::string resource = "case-" + std::to_string(number++);
    const auto bill = [&](const std::vector<int>& units) {
      std::vector<Charge> lines;
      for (const int unit : units) lines.push_back(charge(resource, unit));
      return lines;
    };
    import_charges(*store_, bill(c.there));
    EXPECT_EQ(tuple(import_charges(*store_, bill(c.here)).charges), c.want) << resource;
    std::size_t kept = 0;
    for (const Charge& line : charges_of(*store_)) kept += line.resource_id == resource;
    EXPECT_EQ(kept, c.kept) << resource;
  }
}

TEST_P(StoreContract, RowsInAnyOrderGiveTheSameLedger) {
  std::vector<Charge> bill;
  for (int i = 0; i < 60; ++i) bill.push_back(charge("i-" + std::to_string(i % 20), i % 7));
  std::vector<Holding> jobs;
  for (int i = 0; i < 30; ++i) {
    Holding job = holding(std::to_string(i % 10), "2026-03-01", "2026-03-02");
    job.suspended_ms = static_cast<std::uint64_t>(i % 3);  // several contents under one key
    jobs.push_back(job);
  }
  import_charges(*store_, {charge("i-3", 100), charge("i-4", 1)});
  const auto other = fresh("other.duckdb");
  import_charges(*other, {charge("i-4", 1), charge("i-3", 100)});
  const auto deliver = [&](Store& store) {
    const auto session = must(store.begin_import(source()));
    for (const Charge& line : bill) must(session->append_charges({&line, 1}));
    must(session->append_holdings(jobs));
    return must(session->commit());
  };
  const ImportOutcome first = deliver(*store_);
  std::mt19937 random(7);
  std::ranges::shuffle(bill, random);
  std::ranges::shuffle(jobs, random);
  const ImportOutcome second = deliver(*other);
  EXPECT_EQ(tuple(first.charges), tuple(second.charges));
  EXPECT_EQ(tuple(first.holdings), tuple(second.holdings));
  EXPECT_EQ(std::get<0>(tuple(first.holdings)), 10u);
  EXPECT_GT(first.charges.conflicts, 0u);
  EXPECT_EQ(charges_of(*store_), charges_of(*other));
  EXPECT_EQ(holdings_of(*store_, march()), holdings_of(*other, march()));
  EXPECT_EQ(must(store_->rejected_rows(1000)), must(other->rejected_rows(1000)));
  EXPECT_EQ(first.conflict_rows, second.conflict_rows);
}

TEST_P(StoreContract, OtherFactsConflictByKey) {
  const auto import_nodes = [&](const std::vector<Node>& nodes) {
    const auto session = must(store_->begin_import(source("nodes.csv")));
    must(session->append_nodes(nodes));
    return must(session->commit());
  };
  EXPECT_EQ(tuple(import_nodes({node("n1"), node("n1"), node("n2")}).nodes), Counts(2, 1, 0, 0));
  const ImportOutcome outcome = import_nodes({node("n1", "g6.xlarge"), node("n2")});
  EXPECT_EQ(tuple(outcome.nodes), Counts(0, 1, 0, 1));
  ASSERT_EQ(outcome.conflict_rows.size(), 1u);
  EXPECT_THAT(outcome.conflict_rows[0].reason,
              HasSubstr("instance_type 'p5.48xlarge' there, 'g6.xlarge' here"));
  EXPECT_EQ(must(store_->nodes())[0].instance_type, "p5.48xlarge");
}

TEST_P(StoreContract, NodesAndGpusThatAreThereCanBeEnded) {
  const auto import = [&](const std::vector<Node>& nodes, const std::vector<Gpu>& cards) {
    const auto session = must(store_->begin_import(source()));
    must(session->append_nodes(nodes));
    must(session->append_gpus(cards));
    return must(session->commit());
  };
  const auto open_gpu = [&](const char* uuid) {
    Gpu one = gpu(uuid);
    one.to.reset();
    return one;
  };
  import({node("n1")}, {open_gpu("GPU-1")});
  Node ended = node("n1");
  ended.to = at("2026-03-05");
  Gpu removed = gpu("GPU-1");
  removed.to = at("2026-03-05");
  const ImportOutcome outcome = import({ended}, {removed});
  EXPECT_EQ(tuple(outcome.nodes), Counts(1, 0, 0, 0));
  EXPECT_EQ(tuple(outcome.gpus), Counts(1, 0, 0, 0));
  ASSERT_EQ(must(store_->nodes()).size(), 1u);
  EXPECT_EQ(must(store_->nodes())[0].to, ended.to);
  ASSERT_EQ(must(store_->gpus()).size(), 1u);
  EXPECT_EQ(must(store_->gpus())[0].to, removed.to);
  // Either again: nothing changes. With another end, or another size: a conflict.
  EXPECT_EQ(tuple(import({node("n1"), ended}, {open_gpu("GPU-1"), removed}).nodes),
            Counts(0, 2, 0, 0));
  Node later = ended;
  later.to = at("2026-03-06");
  EXPECT_EQ(tuple(import({later}, {}).nodes), Counts(0, 0, 0, 1));
  Node larger = ended;
  larger.gpu_count = 64;
  EXPECT_EQ(tuple(import({larger}, {}).nodes), Counts(0, 0, 0, 1));
  Node open_and_larger = node("n1");
  open_and_larger.gpu_count = 64;
  EXPECT_EQ(tuple(import({open_and_larger}, {}).nodes), Counts(0, 0, 0, 1));
  ASSERT_EQ(must(store_->nodes()).size(), 1u);
  EXPECT_EQ(must(store_->nodes())[0].to, at("2026-03-05"));

  // In either order, in one delivery too.
  Node second = node("n2");
  second.to = at("2026-03-05");
  EXPECT_EQ(tuple(import({second}, {}).nodes), Counts(1, 0, 0, 0));
  EXPECT_EQ(tuple(import({node("n2")}, {}).nodes), Counts(1, 0, 0, 0));
  Node third = node("n3");
  third.to = at("2026-03-05");
  EXPECT_EQ(tuple(import({third, node("n3")}, {}).nodes), Counts(2, 0, 0, 0));
  ASSERT_EQ(must(store_->nodes()).size(), 3u);
  for (const Node& one : must(store_->nodes())) EXPECT_EQ(one.to, at("2026-03-05"));
}

TEST_P(StoreContract, AnEndedHoldingReplacesItsReadings) {
  const auto deliver = [&](const Holding& job) {
    const auto session = must(store_->begin_import(source("sacct.txt")));
    must(session->append_holdings({&job, 1}));
    return must(session->commit());
  };
  const auto end_of_only = [&] {
    const auto found = holdings_of(*store_, march());
    return found.size() == 1 ? to_text(found[0].held.end()) : "not one";
  };
  deliver(holding("7", "2026-03-01", "2026-03-03", false));
  EXPECT_EQ(end_of_only(), "2026-03-03T00:00:00Z");
  deliver(holding("7", "2026-03-01", "2026-03-02", false));  // an earlier reading, come late
  EXPECT_EQ(end_of_only(), "2026-03-03T00:00:00Z");
  deliver(holding("7", "2026-03-01", "2026-03-02T12:00:00Z", true));
  EXPECT_EQ(end_of_only(), "2026-03-02T12:00:00Z");
  deliver(holding("7", "2026-03-01", "2026-03-09", false));
  EXPECT_EQ(end_of_only(), "2026-03-02T12:00:00Z");
  const ImportOutcome outcome = deliver(holding("7", "2026-03-01", "2026-03-04", true));
  EXPECT_EQ(tuple(outcome.holdings), Counts(0, 0, 0, 1));
  // After its end it holds nothing, whatever its readings said.
  EXPECT_THAT(holdings_of(*store_, Interval(at("2026-03-03"), at("2026-03-31"))), IsEmpty());
  EXPECT_EQ(must(store_->overview()).holdings, 4u);
}

TEST_P(StoreContract, AReadingAndTheEndMayComeTogether) {
  const auto session = must(store_->begin_import(source("sacct.txt")));
  for (const auto& [end, ended] :
       {std::pair{"2026-03-02", false}, {"2026-03-03", false}, {"2026-03-02T12:00:00Z", true}}) {
    const Holding job = holding("7", "2026-03-01", end, ended);
    must(session->append_holdings({&job, 1}));
  }
  EXPECT_EQ(tuple(must(session->commit()).holdings), Counts(3, 0, 0, 0));
  const auto found = holdings_of(*store_, march());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].ended);
  EXPECT_EQ(to_text(found[0].held.end()), "2026-03-02T12:00:00Z");
}

TEST_P(StoreContract, HoldingsComeByBeginAndOnlyWhereTheyOverlap) {
  const auto session = must(store_->begin_import(source()));
  Holding elsewhere = holding("0", "2026-03-02", "2026-03-03");
  elsewhere.cluster = ClusterId("other");
  must(session->append_holdings(std::vector{holding("b", "2026-03-02", "2026-03-03"),
                                            holding("a", "2026-03-02", "2026-03-04"),
                                            holding("z", "2026-03-01", "2026-03-02"),
                                            holding("y", "2026-03-04", "2026-03-05"), elsewhere}));
  must(session->commit());
  std::string seen;
  for (const Holding& job : holdings_of(*store_, Interval(at("2026-03-02"), at("2026-03-04")))) {
    seen += job.workload.text();
  }
  EXPECT_EQ(seen, "ab");
}

TEST_P(StoreContract, OutagesAndCorrectionsAreFoundByClusterAndTime) {
  Outage elsewhere = outage("n0", "2026-03-02", "2026-03-04");
  elsewhere.cluster = ClusterId("other");
  Correction other = correction("0", 1);
  other.cluster = ClusterId("other");
  const auto deliver = [&] {
    const auto session = must(store_->begin_import(source()));
    must(session->append_outages(std::vector{outage("n2", "2026-03-02", "2026-03-04"),
                                             outage("n1", "2026-03-03", "2026-03-05"),
                                             outage("n1", "2026-03-01", "2026-03-02"),
                                             outage("n3", "2026-03-04", "2026-03-05"), elsewhere}));
    must(session->append_corrections(std::vector{correction("b", 1), correction("a", 1), other}));
    return must(session->commit());
  };
  EXPECT_EQ(tuple(deliver().outages), Counts(5, 0, 0, 0));
  const ImportOutcome again = deliver();
  EXPECT_EQ(tuple(again.outages), Counts(0, 5, 0, 0));
  EXPECT_EQ(tuple(again.corrections), Counts(0, 3, 0, 0));
  const auto nodes_out = [&](const char* from, const char* to) {
    std::string text;
    for (const Outage& o : must(store_->outages(ClusterId("philly"), Interval(at(from), at(to))))) {
      text += o.node.text();
    }
    return text;
  };
  EXPECT_EQ(nodes_out("2026-03-02", "2026-03-04"), "n1n2");
  EXPECT_EQ(nodes_out("2026-03-04", "2026-03-09"), "n1n3");
  EXPECT_EQ(nodes_out("2026-04-04", "2026-04-09"), "");
  const auto named = [&](const char* from, const char* to) {
    std::string text;
    for (const Correction& c :
         must(store_->corrections(ClusterId("philly"), Interval(at(from), at(to))))) {
      text += c.name;
    }
    return text;
  };
  EXPECT_EQ(named("2026-03-04T23:00:00Z", "2026-03-07"), "ab");
  EXPECT_EQ(named("2026-03-05", "2026-03-07"), "");
}

TEST_P(StoreContract, OutagesAndCorrectionsConflictByKey) {
  const auto deliver = [&](const Outage& out, const Correction& moved) {
    const auto session = must(store_->begin_import(source("corrections.csv")));
    must(session->append_outages({&out, 1}));
    must(session->append_corrections({&moved, 1}));
    return must(session->commit());
  };
  deliver(outage("n1", "2026-03-02", "2026-03-04"), correction("a", 1));
  const ImportOutcome outcome =
      deliver(outage("n1", "2026-03-02", "2026-03-05"), correction("a", 2));
  EXPECT_EQ(tuple(outcome.outages), Counts(0, 0, 0, 1));
  EXPECT_EQ(tuple(outcome.corrections), Counts(0, 0, 0, 1));
  ASSERT_EQ(outcome.conflict_rows.size(), 2u);
  EXPECT_THAT(outcome.conflict_rows[0].reason,
              HasSubstr("outage is already known with other content (end 2026-03-04T00:00:00Z"));
  EXPECT_THAT(outcome.conflict_rows[1].reason, HasSubstr("amount 'EUR 1' there, 'EUR 2' here"));
  EXPECT_EQ(must(store_->corrections(ClusterId("philly"), march()))[0].amount,
            Money::from_units(1, kEur));
}

// In the order of device and time, for any order of import; also if a GPU was moved to another node
// meanwhile, and in batches after which a sink may stop.
TEST_P(StoreContract, UsageComesInAStreamByDeviceAndTime) {
  std::vector<Usage> samples;
  for (int minute = 0; minute < 900; ++minute) {
    for (const char* card : {"GPU-2", "GPU-1", "GPU-10"}) {
      for (const char* instance : {"", "7"}) {
        Usage sample = usage(card, "2026-03-01");
        sample.at += std::chrono::minutes(minute);
        sample.mig_instance = instance;
        if (minute % 2 == 0) sample.node = NodeId("n2");
        if (minute % 3 == 0) sample.workload = WorkloadId("");
        if (minute % 7 == 0) sample.gpu_util_ppm = {};
        sample.memory_used_bytes = static_cast<std::uint64_t>(minute);
        samples.push_back(std::move(sample));
      }
    }
  }
  std::vector<Usage> want = samples;
  std::ranges::sort(
      want, {}, [](const Usage& u) { return std::tie(u.gpu, u.mig_instance, u.workload, u.at); });
  std::ranges::shuffle(samples, std::mt19937(5));
  const auto session = must(store_->begin_import(source()));
  must(session->append_usages(samples));
  must(session->commit());
  EXPECT_EQ(usages_of(*store_, march()), want);

  const Interval hour(at("2026-03-01T01:00:00Z"), at("2026-03-01T02:00:00Z"));
  std::erase_if(want, [&](const Usage& u) { return !hour.contains(u.at); });
  EXPECT_EQ(want.size(), 360u);
  EXPECT_EQ(usages_of(*store_, hour), want);

  std::set<std::string> cards;
  must(store_->scan_usage(
      ClusterId("philly"), march(), UsageDetail::kAll, [&](std::span<const Usage> some) {
        std::set<std::string> here;
        for (const Usage& sample : some) here.insert(sample.gpu.text());
        for (const std::string& card : here) {
          EXPECT_TRUE(cards.insert(card).second) << card << " is in two batches";
        }
        return true;
      }));
  EXPECT_EQ(cards.size(), 3u);
  int batches = 0;
  must(store_->scan_usage(ClusterId("philly"), march(), UsageDetail::kAll,
                          [&](std::span<const Usage> some) {
                            EXPECT_FALSE(some.empty());
                            return ++batches < 1;
                          }));
  EXPECT_EQ(batches, 1);
}

// scan_activity() hands over the same samples as scan_usage(), whatever their order.
TEST_P(StoreContract, ActivityIsThatOfTheUsage) {
  std::vector<Usage> samples;
  for (int minute = 0; minute < 300; ++minute) {
    for (const std::string gpu : {"GPU-1", "GPU-2"}) {
      Usage sample = usage(gpu, "2026-03-01");
      sample.at += std::chrono::minutes(minute);
      sample.mig_instance = {};
      if (minute % 3 == 0) sample.workload = WorkloadId("team/pod");
      if (minute % 4 == 0) sample.mig_instance = "7";
      if (minute % 5 == 0) sample.node = NodeId("n2");
      if (minute % 6 == 0) sample.of_workload = true;
      sample.sm_active_ppm = static_cast<std::uint64_t>(minute) * 5000;  // in the end over 100 %
      if (minute % 2 == 0) sample.dram_active_ppm = 400'000;
      if (minute % 7 == 0) sample.gpu_util_ppm = {};
      sample.memory_used_bytes = 1000;
      sample.memory_total_bytes = minute == 8 ? 999 : 2000;
      if (minute % 9 == 0) sample.memory_used_max_bytes = 1500;
      samples.push_back(std::move(sample));
    }
  }
  const auto session = must(store_->begin_import(source()));
  must(session->append_usages(samples));
  const ImportOutcome outcome = must(session->commit());

  const Interval part(at("2026-03-01T01:00:00Z"), at("2026-03-01T04:00:00Z"));
  using Row = std::tuple<std::string, std::string, std::string, std::string, bool, Instant,
                         std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                         std::uint32_t, std::uint32_t, bool, bool>;
  const auto row_of = [](const ActivitySeries& series, const ActivitySample& sample) {
    // Of an impossible sample nothing else is said.
    if (sample.is_impossible) {
      return Row(series.gpu.text(), series.mig_instance, series.workload.text(), series.node.text(),
                 series.of_workload, sample.at, 0, 0, 0, 0, 0, 0, 0, false, true);
    }
    return Row(series.gpu.text(), series.mig_instance, series.workload.text(), series.node.text(),
               series.of_workload, sample.at, sample.span_ms, sample.part, sample.memory_bytes,
               sample.sm_ppm, sample.engine_ppm, sample.util_ppm, sample.dram_ppm, sample.has_power,
               false);
  };
  std::vector<Row> want;
  for (const Usage& each : usages_of(*store_, part)) {
    const ActivitySeries series{each.gpu, each.mig_instance, each.workload, each.node,
                                each.of_workload};
    want.push_back(row_of(series, to_activity_sample(each, 0)));
  }
  EXPECT_EQ(want.size(), 360u);
  std::vector<Row> found;
  must(scan_activity(
      *store_, ClusterId("philly"), part,
      [&](std::span<const ActivitySeries> series, std::span<const ActivitySample> some) {
        for (const ActivitySample& each : some) {
          found.push_back(row_of(series[each.series], each));
        }
        return true;
      }));
  std::ranges::sort(want);
  std::ranges::sort(found);
  EXPECT_EQ(found, want);
  EXPECT_TRUE(std::ranges::any_of(found, [](const Row& row) { return std::get<14>(row); }));

  EXPECT_TRUE(must(has_usage_after(*store_, ClusterId("philly"), part, outcome.number - 1)));
  EXPECT_FALSE(must(has_usage_after(*store_, ClusterId("philly"), part, outcome.number)));
}

TEST_P(StoreContract, ChargesAreFoundByMonth) {
  Charge april(Interval(at("2026-04-01"), at("2026-05-01")), march(), costs(1));
  import_charges(*store_, {charge("i-1", 1), april});
  EXPECT_EQ(charges_of(*store_, "2026-03").size(), 1u);
  EXPECT_EQ(charges_of(*store_, "2026-04").size(), 1u);
  EXPECT_EQ(charges_of(*store_, "2026-05").size(), 0u);
  EXPECT_EQ(charges_of(*store_, "' OR 1=1 --").size(), 0u);
  EXPECT_THAT(must(store_->overview()).months, ElementsAre("2026-03", "2026-04"));
}

TEST_P(StoreContract, ASinkMayStopAndMayAskForMore) {
  std::vector<Charge> bill;
  for (int i = 0; i < 20'000; ++i) bill.push_back(charge("i-" + std::to_string(i), i));
  import_charges(*store_, bill);
  std::size_t calls = 0;
  must(store_->scan_charges("", [&](std::span<const Charge> some) {
    EXPECT_TRUE(must(store_->find_charge(some[0].id)).has_value());
    return ++calls < 2;
  }));
  EXPECT_EQ(calls, 2u);
  EXPECT_TRUE(std::ranges::is_sorted(charges_of(*store_), {}, &Charge::id));
}

TEST_P(StoreContract, RejectedRowsAreKeptOnceAndCounted) {
  const RejectedRow row = {.file = "bill.csv",
                           .line = 7,
                           .column = "BilledCost",
                           .reason = "not a number",
                           .text = "a,b"};
  for (int twice = 0; twice < 2; ++twice) {
    const auto session = must(store_->begin_import(source()));
    must(session->append_rejected(std::vector{row, row}));
    EXPECT_EQ(must(session->commit()).rejected, 2u);
  }
  EXPECT_THAT(must(store_->rejected_rows(10)), ElementsAre(row, row));
  EXPECT_EQ(must(store_->rejected_rows(1)).size(), 1u);
  EXPECT_EQ(must(store_->overview()).rejected, 2u);
  EXPECT_EQ(must(store_->imports())[1].rejected, 2u);
}

TEST_P(StoreContract, AnAbandonedSessionLeavesNothing) {
  import_charges(*store_, {charge("i-1", 1)});
  {
    const auto session = must(store_->begin_import(source()));
    const std::vector<Charge> more(50'000, charge("i-2", 2));
    must(session->append_charges(more));
    must(session->append_charges(std::vector{charge("i-3", 2)}));
    EXPECT_FALSE(store_->begin_import(source()).has_value());  // one at a time
    EXPECT_FALSE(store_->begin_run(run()).has_value());
  }
  {
    const auto session = must(store_->begin_run(run()));
    must(session->append_postings(std::vector{posting({}, "w", costs(1))}));
  }
  EXPECT_EQ(charges_of(*store_).size(), 1u);
  EXPECT_EQ(must(store_->imports()).size(), 1u);
  EXPECT_THAT(must(store_->runs()), IsEmpty());
  EXPECT_EQ(import_charges(*store_, {charge("i-2", 2)}).number, 2u);
}

}  // namespace
}  // namespace pennyweight
