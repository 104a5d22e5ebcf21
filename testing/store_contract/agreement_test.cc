// Two stores with the same random ledger give the same answers.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ledger/store_rules.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;

int below(int limit) { return *rc::gen::inRange(0, limit); }
std::string pick(std::vector<std::string> values) { return *rc::gen::elementOf(std::move(values)); }

Money any_money(Currency currency) {
  const Int128 ticks = Int128{*rc::gen::arbitrary<std::int64_t>()} * below(1000) * below(1000);
  return Money::from_ticks(ticks, currency);
}

std::vector<Charge> any_bill() {
  std::vector<Charge> bill;
  for (int i = below(30); i > 0; --i) {
    Charge line = charge("i-" + std::to_string(below(6)), below(3));
    line.service_name = pick({"", "EC2", "S3"});
    line.instance_type = pick({"", "p5"});
    if (below(2) == 0) line.pricing_category = PricingCategory::kDynamic;
    bill.push_back(std::move(line));
  }
  return bill;
}

Interval any_interval() {
  const Instant begin = at("2026-03-04") + std::chrono::hours(below(48));
  return {begin, begin + std::chrono::hours(1 + below(30))};
}

struct OtherFacts {
  std::vector<Outage> outages;
  std::vector<Correction> corrections;
  std::vector<Usage> usages;
  std::vector<Outcome> outcomes;
};

OtherFacts any_other_facts() {
  OtherFacts facts;
  for (int i = below(12); i > 0; --i) {
    Outage made(ClusterId("philly"), NodeId(pick({"n1", "n2"})), any_interval());
    made.gpu = GpuId(pick({"", "GPU-1"}));
    made.reason = pick({"", "drained"});
    facts.outages.push_back(std::move(made));
  }
  for (int i = below(6); i > 0; --i) {
    Correction made(ClusterId("philly"), pick({"a", "b", "c"}), any_interval(), any_money(kUsd));
    made.to = labels({{"team", pick({"x", "y"})}});
    facts.corrections.push_back(std::move(made));
  }
  for (int i = below(40); i > 0; --i) {
    Usage made = usage(pick({"GPU-1", "GPU-2"}), "2026-03-04");
    made.at += std::chrono::minutes(below(20));
    made.node = NodeId(pick({"n1", "n2"}));
    made.workload = WorkloadId(pick({"", "a", "b"}));
    made.sm_active_ppm = static_cast<std::uint64_t>(below(3));
    if (below(2) == 0) {
      made.span_ms = below(2) == 0 ? 30'000 : 60'000;
      made.part = static_cast<std::uint64_t>(below(3));
      made.throttled_ms = static_cast<std::uint64_t>(below(2));
    }
    facts.usages.push_back(std::move(made));
  }
  for (int i = below(10); i > 0; --i) {
    facts.outcomes.push_back(outcome(pick({"a", "b"}), below(2) == 0 ? "2026-03-04" : "2026-03-05",
                                     static_cast<std::uint64_t>(below(3))));
  }
  return facts;
}

ImportOutcome import_others(Store& store, const OtherFacts& facts) {
  const auto session = must(store.begin_import(source("others.csv")));
  must(session->append_outages(facts.outages));
  must(session->append_corrections(facts.corrections));
  must(session->append_usages(facts.usages));
  must(session->append_outcomes(facts.outcomes));
  return must(session->commit());
}

std::vector<Posting> any_postings(const std::vector<Charge>& charges) {
  std::vector<Posting> postings;
  for (int i = below(40); i > 0; --i) {
    const bool known = !charges.empty() && below(5) > 0;
    const FactId id =
        known ? charges[static_cast<std::size_t>(below(static_cast<int>(charges.size())))].id
              : FactId{{1, static_cast<std::uint64_t>(below(3))}};
    const Currency currency = below(5) == 0 ? kEur : kUsd;
    Posting made = posting(
        id, pick({"", "a", "b", "ü"}),
        {any_money(currency), any_money(currency), any_money(currency), any_money(currency)});
    made.day += std::chrono::days(below(60) - 30);
    made.kind = static_cast<PostingKind>(below(7));
    made.component = static_cast<Component>(below(4));
    made.gpu_time = GpuTime::of(static_cast<UInt128>(below(1000)) << 90);
    made.observed_time = GpuTime::of(static_cast<UInt128>(below(1000)));
    postings.push_back(std::move(made));
  }
  return postings;
}

std::vector<WorkloadDimensions> any_dimensions() {
  std::vector<WorkloadDimensions> workloads;
  for (const char* name : {"", "a", "b"}) {
    if (below(3) == 0) continue;
    workloads.push_back(
        {WorkloadId(name), labels({{"team", pick({"", "x", "y"})}, {"user", pick({"u", "v"})}})});
  }
  return workloads;
}

const std::vector<std::string>& dimensions() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all(std::begin(kBuiltInDimensions), std::end(kBuiltInDimensions));
    all.insert(all.end(), {"team", "user", "nonsense"});
    return all;
  }();
  return kAll;
}

SummaryQuery any_query() {
  SummaryQuery query;
  query.bucket = static_cast<TimeBucket>(below(4));
  const std::chrono::sys_days middle(std::chrono::year(2026) / 3 / 4);
  if (below(3) == 0) query.first_day = middle + std::chrono::days(below(40) - 20);
  if (below(3) == 0) query.last_day = middle + std::chrono::days(below(40) - 20);
  for (int i = below(4); i > 0; --i) query.group_by.push_back(pick(dimensions()));
  for (int i = below(3); i > 0; --i) {
    SummaryFilter filter{pick(dimensions()), {}, below(2) == 0};
    for (int v = below(4); v > 0; --v) {
      filter.values.push_back(
          pick({"", "a", "x", "u", "EC2", "p5", "used", "gpu", "philly", "USD"}));
    }
    query.filters.push_back(std::move(filter));
  }
  return query;
}

std::vector<SummaryRow> scanned(Store& store, const SummaryQuery& query) {
  std::vector<SummaryRow> rows;
  must(store.scan_summary(query, [&](std::span<const SummaryRow> some) {
    rows.insert(rows.end(), some.begin(), some.end());
    return true;
  }));
  std::ranges::sort(rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return rows;
}

void expect_agreement(Store& a, Store& b) {
  RC_ASSERT(charges_of(a) == charges_of(b));
  RC_ASSERT(must(a.rejected_rows(1000)) == must(b.rejected_rows(1000)));
  const Interval during = any_interval();
  RC_ASSERT(usages_of(a, during) == usages_of(b, during));
  RC_ASSERT(usages_of(a, during, "philly", UsageDetail::kShares) ==
            usages_of(b, during, "philly", UsageDetail::kShares));
  RC_ASSERT(outcomes_of(a, during) == outcomes_of(b, during));
  const ClusterId philly("philly");
  RC_ASSERT(must(a.outages(philly, during)) == must(b.outages(philly, during)));
  RC_ASSERT(must(a.corrections(philly, during)) == must(b.corrections(philly, during)));
  for (int i = 0; i < 4; ++i) {
    SummaryQuery query = any_query();
    RC_ASSERT(must(a.summarise(query)) == must(b.summarise(query)));
    RC_ASSERT(must(a.largest_postings(query, 5)) == must(b.largest_postings(query, 5)));
    RC_ASSERT(must(a.largest_postings(query, 5, 3)) == must(b.largest_postings(query, 5, 3)));
    for (Store* store : {&a, &b}) {
      RC_ASSERT(scanned(*store, query) == must(store->summarise(query)));
      query.group_by.assign(dimensions().begin(), dimensions().end() - 1);
      RC_ASSERT(scanned(*store, query) == must(store->summarise(query)));
    }
  }
  for (const char* cluster : {"philly", "openb"}) {
    const Scope scope = run(cluster).scope;
    RC_ASSERT(postings_in(a, scope) == postings_in(b, scope));
    RC_ASSERT(must(a.dimensions_of(scope)) == must(b.dimensions_of(scope)));
  }
  const auto lines_a = lines_of(a), lines_b = lines_of(b);
  RC_ASSERT(lines_a.size() == lines_b.size());
  for (std::size_t i = 0; i < lines_a.size(); ++i) {
    RC_ASSERT(lines_a[i].charge == lines_b[i].charge);
    RC_ASSERT(lines_a[i].posted == lines_b[i].posted);
    RC_ASSERT(lines_a[i].postings == lines_b[i].postings);
    if (i >= 3) continue;  // each is a query
    const FactId id = lines_a[i].charge.id;
    RC_ASSERT(must(a.postings_of(id)) == must(b.postings_of(id)));
  }
  const auto totals_a = totals_of(a), totals_b = totals_of(b);
  RC_ASSERT(totals_a.size() == totals_b.size());
  for (std::size_t i = 0; i < totals_a.size(); ++i) {
    RC_ASSERT(totals_a[i].billed_lines == totals_b[i].billed_lines);
    RC_ASSERT(totals_a[i].posted == totals_b[i].posted);
    RC_ASSERT(totals_a[i].lines == totals_b[i].lines);
    RC_ASSERT(totals_a[i].lines_off == totals_b[i].lines_off);
    RC_ASSERT(totals_a[i].lines_unposted == totals_b[i].lines_unposted);
    RC_ASSERT(totals_a[i].transfers == totals_b[i].transfers);
    RC_ASSERT(totals_a[i].transfers_off == totals_b[i].transfers_off);
  }
}

class Agreement : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Stores, Agreement, ::testing::ValuesIn(persistent_stores()), store_name);

TEST_P(Agreement, OnRandomLedgers) {
  const bool agreed = rc::check("both every_store give every answer alike", [] {
    Ledgers ledgers(GetParam());
    const auto memory = make_memory_store();
    const auto file = ledgers.fresh("ledger.duckdb");
    for (int i = 1 + below(3); i > 0; --i) {
      const std::vector<Charge> bill = any_bill();
      const ImportOutcome a = import_charges(*memory, bill), b = import_charges(*file, bill);
      RC_ASSERT(a.charges.created == b.charges.created);
      RC_ASSERT(a.charges.existing == b.charges.existing);
      RC_ASSERT(a.charges.repeated == b.charges.repeated);
      RC_ASSERT(a.charges.conflicts == b.charges.conflicts);
      RC_ASSERT(a.conflict_rows == b.conflict_rows);
    }
    for (int i = below(3); i > 0; --i) {
      const OtherFacts facts = any_other_facts();
      const ImportOutcome a = import_others(*memory, facts), b = import_others(*file, facts);
      RC_ASSERT(a.conflict_rows == b.conflict_rows);
      RC_ASSERT(a.rejected == b.rejected);
    }
    for (int i = below(4); i > 0; --i) {
      const pennyweight::Run made = run(pick({"philly", "openb"}), pick({"p", "q"}));
      const auto postings = any_postings(charges_of(*memory));
      const auto workloads = any_dimensions();
      const pennyweight::Run a = keep_run(*memory, made, postings, workloads);
      const pennyweight::Run b = keep_run(*file, made, postings, workloads);
      RC_ASSERT(a.number == b.number);
      RC_ASSERT(a.postings_digest == b.postings_digest);
    }
    expect_agreement(*memory, *file);
  });
  EXPECT_TRUE(agreed);
}

}  // namespace
}  // namespace pennyweight
