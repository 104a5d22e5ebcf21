#include "testing/rollup_contract/made_ledger.h"

#include <set>

#include "core/check.h"
#include "ledger/store_rules.h"

namespace pennyweight::rollup {
namespace {

const std::vector<std::string> kClusters = {"philly", "openb", ""};
const std::vector<std::string> kMonths = {"2026-01", "2026-02", "2026-03", "2026-12"};
const std::vector<std::string> kWorkloads = {"", "a", "b", "train/é", "(team=x)"};
const std::vector<std::string> kValues = {"",
                                          "a",
                                          "b",
                                          "x",
                                          "y",
                                          "u",
                                          "EC2",
                                          "S3",
                                          "p5",
                                          "gpu",
                                          "EUR",
                                          "USD",
                                          "philly",
                                          "2026-02",
                                          "used",
                                          "unallocated",
                                          "n1",
                                          "i-2",
                                          "GPU-1",
                                          "Usage",
                                          "Dynamic",
                                          "eu",
                                          "(team=x)",
                                          "train/é",
                                          "nobody has this"};

const std::vector<std::string>& dimensions() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const char* name : kBuiltInDimensions) {
      if (is_in_rollup(name)) all.emplace_back(name);
    }
    // Labels more often than other dimensions.
    for (const char* name : {"team", "team", "user", "user", "project", "nonsense"}) {
      all.emplace_back(name);
    }
    return all;
  }();
  return kAll;
}

Interval month_interval(const std::string& month) {
  const Instant begin = must(parse_instant(month + "-01T00:00:00Z"));
  return {begin, must(parse_instant(month_after(month) + "-01T00:00:00Z"))};
}

}  // namespace

std::chrono::sys_days Made::any_day() {
  const std::chrono::sys_days middle(std::chrono::year(2026) / 2 / 1);
  return below(12) == 0 ? std::chrono::sys_days(std::chrono::year(2026) / 12 / (28 + below(4)))
                        : middle + std::chrono::days(below(80) - 40);
}

Money Made::any_money(Currency currency) {
  if (has_few_amounts_) return Money::from_ticks(below(4) - 1, currency);
  return Money::from_ticks(Int128{static_cast<std::int64_t>(random_())} * below(1000) * below(1000),
                           currency);
}

void Made::add_bill(Store& store) {
  std::vector<Charge> bill;
  const Interval period = month_interval(pick(kMonths));
  for (int i = below(12); i >= 0; --i) {
    const Currency currency = below(3) == 0 ? kEur : kUsd;
    Charge line(
        period, period,
        {any_money(currency), any_money(currency), any_money(currency), any_money(currency)});
    line.resource_id = pick({"", "i-1", "i-2"});
    line.service_name = pick({"", "EC2", "S3"});
    line.instance_type = pick({"", "p5"});
    line.region_id = pick({"", "eu"});
    line.billing_account_id = pick({"", "a"});
    line.sub_account_id = pick({"", "b"});
    if (below(4) == 0) line.charge_category = ChargeCategory::kTax;
    if (below(2) == 0) line.pricing_category = PricingCategory::kDynamic;
    line.charge_description = std::to_string(random_());
    charges_.push_back({content_hash(line)});
    bill.push_back(std::move(line));
  }
  const auto session = must(store.begin_import(
      {.format = "focus", .name = "bill.csv", .file_hash = {random_(), 1}, .at = Instant()}));
  must(session->append_charges(bill));
  must(session->commit());
}

Posting Made::any_posting() {
  const std::chrono::sys_days day = any_day();
  const Currency currency = below(3) == 0 ? kEur : kUsd;
  const Instant from = Instant(day) + std::chrono::hours(below(23));
  const auto time = [&] { return GpuTime::of(static_cast<UInt128>(below(1000)) << below(80)); };
  const Money effective = any_money(currency);
  const bool alike = below(2) == 0;
  const auto cost = [&] { return alike ? effective : any_money(currency); };
  return {.charge = below(5) == 0 || charges_.empty() ? FactId{{random_(), random_()}}
                                                      // a transfer
                                                      : charges_[random_() % charges_.size()],
          .kind = static_cast<PostingKind>(below(7)),
          .component = static_cast<Component>(below(4)),
          .interval = Interval(from, from + std::chrono::hours(1)),
          .day = day,
          .node = NodeId(pick({"", "n1", "n2"})),
          .gpu = GpuId(pick({"", "", "GPU-1", "GPU-2"})),
          .workload = WorkloadId(pick(kWorkloads)),
          .holding = {},
          .weight = 1,
          .costs = {cost(), effective, cost(), cost()},
          .gpu_time = time(),
          .memory_time = MemoryTime::of(static_cast<UInt128>(below(1000)) << below(90)),
          .observed_time = time()};
}

void Made::add_run(Store& store) {
  Run run{.scope = {ClusterId(pick(kClusters)), pick(kMonths)},
          .policy = "rules",
          .policy_version = {1, static_cast<std::uint64_t>(below(2))},
          .catalog_version = {3, 4},
          .time_zone = "UTC",
          .program_version = "0",
          .at = Instant() + std::chrono::hours(++runs_),
          .postings_digest = {}};
  std::vector<Posting> postings;
  for (int i = below(6) == 0 ? 0 : below(60); i > 0; --i) postings.push_back(any_posting());
  std::vector<WorkloadDimensions> owners;
  // Dimensions that only some runs have.
  const int known = below(4);
  for (const std::string& workload : kWorkloads) {
    if (below(4) == 0) continue;
    Labels labels;
    if (known > 0) must(labels.set("team", pick({"", "x", "y"})));
    if (known > 1 && below(3) > 0) must(labels.set("user", pick({"u", "a"})));
    if (known > 2) must(labels.set("project", pick({"x", "b"})));
    if (below(8) == 0) must(labels.set("region", "not the bill's"));
    owners.push_back({WorkloadId(workload), labels});
  }
  const auto session = must(store.begin_run(run));
  must(session->append_postings(postings));
  must(session->append_dimensions(owners));
  must(session->commit());
}

SummaryQuery Made::query() {
  SummaryQuery query;
  query.bucket = static_cast<TimeBucket>(below(4));
  if (below(3) == 0) query.first_day = any_day();
  if (below(3) == 0) query.last_day = any_day();
  if (below(4) == 0) {
    // A whole month, as in most queries.
    query.first_day = std::chrono::sys_days(std::chrono::year(2026) / (1 + below(3)) / 1);
    query.last_day =
        std::chrono::sys_days(std::chrono::year(2026) / (1 + below(3)) / std::chrono::last);
  }
  for (int i = below(4); i > 0; --i) query.group_by.push_back(pick(dimensions()));
  for (int i = below(3); i > 0; --i) {
    SummaryFilter filter{pick(dimensions()), {}, below(2) == 0};
    for (int v = below(4); v > 0; --v) filter.values.push_back(pick(kValues));
    query.filters.push_back(std::move(filter));
  }
  return query;
}

}  // namespace pennyweight::rollup
