#include "reporting/queries/ledger_month.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "allocation/allocate.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// From the first begin to the last end of the charges.
std::optional<Interval> charged_interval(const std::vector<Charge>& charges) {
  if (charges.empty()) return std::nullopt;
  Instant begin = charges.front().charge_period.begin();
  Instant end = charges.front().charge_period.end();
  for (const Charge& charge : charges) {
    begin = std::min(begin, charge.charge_period.begin());
    end = std::max(end, charge.charge_period.end());
  }
  return Interval(begin, end);
}

template <class Fact>
std::vector<Fact> copy_cluster(const std::vector<Fact>& all, const ClusterId& cluster) {
  std::vector<Fact> facts;
  for (const Fact& fact : all) {
    if (fact.cluster == cluster) facts.push_back(fact);
  }
  return facts;
}

// What allocation never reads of a charge, and what most of a bill's bytes are.
void shed_unread(Charge& charge) {
  for (std::string* text :
       {&charge.other_columns, &charge.charge_description, &charge.sku_price_details,
        &charge.sku_id, &charge.sku_meter, &charge.sku_price_id, &charge.billing_account_name,
        &charge.sub_account_name, &charge.invoice_id, &charge.invoice_issuer_name,
        &charge.availability_zone, &charge.resource_type, &charge.service_subcategory}) {
    std::string().swap(*text);
  }
}

// The charges of a month by cluster, collected in pieces: a vector that grows has its charges
// twice, and a charge is 1.5 KB.
class ChargePieces {
 public:
  ChargePieces(std::span<const Node> nodes, std::span<const JoinRule> rules)
      : nodes_(nodes), rules_(rules) {}

  void add(std::span<const Charge> batch) {
    for (const Charge& charge : batch) {
      if (piece_.empty()) piece_.reserve(kPieceCharges);
      piece_.push_back(charge);
      shed_unread(piece_.back());
      if (piece_.size() == kPieceCharges) assign();
    }
  }

  std::map<ClusterId, std::vector<Charge>> take() {
    assign();
    std::map<ClusterId, std::vector<Charge>> all;
    for (auto& [cluster, pieces] : by_cluster_) {
      std::size_t count = 0;
      for (const auto& piece : pieces) count += piece.size();
      std::vector<Charge>& charges = all[cluster];
      charges.reserve(count);
      for (auto& piece : pieces) {
        std::ranges::move(piece, std::back_inserter(charges));
        std::vector<Charge>().swap(piece);
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t kPieceCharges = 16'384;

  void assign() {
    if (piece_.empty()) return;
    const std::vector<ClusterId> clusters = assign_clusters(piece_, nodes_, rules_);
    std::map<ClusterId, std::vector<Charge>> parts;
    for (std::size_t i = 0; i < piece_.size(); ++i) {
      parts[clusters[i]].push_back(std::move(piece_[i]));
    }
    for (auto& [cluster, part] : parts) {
      part.shrink_to_fit();
      by_cluster_[cluster].push_back(std::move(part));
    }
    piece_.clear();
  }

  std::span<const Node> nodes_;
  std::span<const JoinRule> rules_;
  std::vector<Charge> piece_;
  std::map<ClusterId, std::vector<std::vector<Charge>>> by_cluster_;
};

}  // namespace

Result<LedgerMonth> LedgerMonth::load(Store& store, const std::string& month,
                                      std::span<const JoinRule> join_rules) {
  LedgerMonth loaded(month);
  auto nodes = TRY(store.nodes());
  loaded.nodes_ = std::move(nodes);
  auto gpus = TRY(store.gpus());
  loaded.gpus_ = std::move(gpus);
  const auto runs = TRY(store.runs());
  for (const Run& run : runs) {
    if (run.current && run.scope.month == month) loaded.runs_.emplace(run.scope, run);
  }

  ChargePieces pieces(loaded.nodes_, join_rules);
  TRY(store.scan_charges(month, [&](std::span<const Charge> batch) {
    pieces.add(batch);
    return true;
  }));
  loaded.charges_ = pieces.take();
  return loaded;
}

std::vector<ClusterId> LedgerMonth::clusters() const {
  std::set<ClusterId> clusters;
  for (const auto& [cluster, charges] : charges_) clusters.insert(cluster);
  for (const auto& [scope, run] : runs_) clusters.insert(scope.cluster);
  return {clusters.begin(), clusters.end()};
}

const Run* LedgerMonth::current_run(const Scope& scope) const {
  const auto run = runs_.find(scope);
  return run == runs_.end() ? nullptr : &run->second;
}

std::vector<PlannedScope> LedgerMonth::planned() const {
  std::vector<PlannedScope> scopes;
  for (const auto& [cluster, charges] : charges_) {
    if (charges.empty()) continue;
    SetDigest lines;
    for (const Charge& charge : charges) lines.add(charge.id.hash);
    scopes.push_back({cluster, charges.size(), lines.digest(), charged_interval(charges)});
  }
  return scopes;
}

std::span<const Charge> LedgerMonth::charges(const ClusterId& cluster) const {
  const auto charges = charges_.find(cluster);
  return charges == charges_.end() ? std::span<const Charge>() : charges->second;
}

Result<ClusterFacts> LedgerMonth::take_facts(Store& store, const ClusterId& cluster) {
  ClusterFacts facts;
  if (const auto charges = charges_.find(cluster); charges != charges_.end()) {
    facts.charges = std::move(charges->second);
  }
  facts.nodes = copy_cluster(nodes_, cluster);
  facts.gpus = copy_cluster(gpus_, cluster);
  // The month in any time zone: the policy's zone decides on which day a correction is booked.
  const auto month = TRY(BillingPeriod::parse(name_, TimeZone::utc()));
  const Interval around(month.to_interval().begin() - std::chrono::days(1),
                        month.to_interval().end() + std::chrono::days(1));
  auto corrections = TRY(store.corrections(cluster, around));
  facts.corrections = std::move(corrections);
  const auto span = charged_interval(facts.charges);
  if (cluster.empty() || !span) return facts;
  TRY(store.scan_holdings(cluster, *span, [&](std::span<const Holding> batch) {
    facts.holdings.insert(facts.holdings.end(), batch.begin(), batch.end());
    return true;
  }));
  auto outages = TRY(store.outages(cluster, *span));
  facts.outages = std::move(outages);
  return facts;
}

}  // namespace pennyweight
