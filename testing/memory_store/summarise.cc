#include "testing/memory_store/summarise.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

std::string built_in(const StoredRun& kept, const Posting& posting, const Charge* charge,
                     std::string_view name) {
  if (name == "cluster") return kept.run.scope.cluster.text();
  if (name == "month") return kept.run.scope.month;
  if (name == "billing_month") {
    return charge == nullptr ? kept.run.scope.month : month_of(charge->billing_period.begin());
  }
  if (name == "kind") return std::string(to_text(posting.kind));
  if (name == "component") return std::string(to_text(posting.component));
  if (name == "node") return posting.node.text();
  if (name == "gpu") return posting.gpu.text();
  if (name == "workload") return posting.workload.text();
  if (name == "currency") return posting.costs.currency().text();
  if (name == "charge") return to_text(posting.charge);
  if (charge == nullptr) return {};
  if (name == "service") return charge->service_name;
  if (name == "category") return std::string(to_text(charge->charge_category));
  if (name == "pricing") {
    return charge->pricing_category ? std::string(to_text(*charge->pricing_category)) : "";
  }
  if (name == "price_tier") {
    for (const PriceTier& each : kPriceTiers) {
      if (charge->pricing_category == each.pricing) return each.tier;
    }
    return {};
  }
  if (name == "charge_class") return charge->is_correction ? "Correction" : "";
  if (is_tag_dimension(name)) return std::string(charge->tags.find(tag_key(name)).value_or(""));
  if (name == "instance_type") return charge->instance_type;
  if (name == "region") return charge->region_id;
  if (name == "account") return charge->billing_account_id;
  if (name == "sub_account") return charge->sub_account_id;
  CHECK(name == "resource", "every built-in dimension is listed");
  return charge->resource_id;
}

std::string dimension_of(const MemoryLedger& ledger, const StoredRun& kept, const Posting& posting,
                         const std::string& name) {
  if (is_built_in_dimension(name) || is_tag_dimension(name)) {
    const auto charge = ledger.charges.find(posting.charge);
    return built_in(kept, posting, charge == ledger.charges.end() ? nullptr : &charge->second,
                    name);
  }
  const auto workload = kept.dimensions.find(posting.workload);
  if (workload == kept.dimensions.end()) return {};
  return std::string(workload->second.find(name).value_or(""));
}

bool passes(const MemoryLedger& ledger, const StoredRun& kept, const Posting& posting,
            const SummaryQuery& query) {
  if (query.first_day && posting.day < *query.first_day) return false;
  if (query.last_day && posting.day > *query.last_day) return false;
  return std::ranges::all_of(query.filters, [&](const SummaryFilter& filter) {
    const std::string value = dimension_of(ledger, kept, posting, filter.dimension);
    const bool listed = std::ranges::find(filter.values, value) != filter.values.end();
    return listed != filter.negate;
  });
}

void add(SummaryRow& row, const Posting& posting) {
  row.costs += posting.costs;
  const bool device_time =
      posting.component == Component::kGpu || posting.component == Component::kWhole;
  const bool held =
      (posting.kind == PostingKind::kUsed || posting.kind == PostingKind::kHeldIdle) &&
      !posting.workload.empty();
  if (device_time) (held ? row.gpu_time : row.idle_time) += posting.gpu_time;
  if (device_time && held) row.observed_time += posting.observed_time;
  row.memory_time += posting.memory_time;
  ++row.postings;
}

}  // namespace

namespace {

// Whether a run was the current one of its scope at an instant.
bool was_current(const MemoryLedger& ledger, const Run& run, Instant at) {
  return run.at <= at && std::ranges::none_of(ledger.runs, [&](const StoredRun& other) {
           return other.run.scope == run.scope && other.run.number > run.number &&
                  other.run.at <= at;
         });
}

}  // namespace

void visit_postings(const MemoryLedger& ledger, const SummaryQuery& query,
                    const std::function<void(const StoredRun&, const Posting&)>& visit) {
  for (const StoredRun& kept : ledger.runs) {
    if (!(query.as_of ? was_current(ledger, kept.run, *query.as_of) : kept.run.current)) continue;
    for (const Posting& posting : kept.postings) {
      if (passes(ledger, kept, posting, query)) visit(kept, posting);
    }
  }
}

std::vector<SummaryRow> summarise(const MemoryLedger& ledger, const SummaryQuery& query) {
  using Key = std::tuple<std::optional<std::chrono::sys_days>, std::vector<std::string>, Currency>;
  std::map<Key, SummaryRow> rows;
  visit_postings(ledger, query, [&](const StoredRun& kept, const Posting& posting) {
    std::optional<std::chrono::sys_days> bucket;
    if (query.bucket != TimeBucket::kNone) bucket = bucket_of(posting.day, query.bucket);
    std::vector<std::string> keys;
    for (const std::string& name : query.group_by) {
      keys.push_back(dimension_of(ledger, kept, posting, name));
    }
    const Currency currency = posting.costs.currency();
    const auto [row, created] =
        rows.try_emplace(Key(bucket, keys, currency),
                         SummaryRow{bucket, keys, Costs::zero(currency), {}, {}, {}, {}, 0});
    add(row->second, posting);
  });
  std::vector<SummaryRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

}  // namespace pennyweight
