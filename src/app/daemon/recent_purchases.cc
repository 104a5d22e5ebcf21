#include "app/daemon/recent_purchases.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "app/daemon/charge_changes.h"
#include "app/daemon/shared_ledger.h"
#include "core/billing_period.h"
#include "core/try.h"

namespace pennyweight {
namespace {

std::array<std::string, 2> last_months(Instant now) {
  const Instant before = start_of_month(now, TimeZone::utc()) - std::chrono::milliseconds(1);
  return {local_date(before, TimeZone::utc()).substr(0, 7),
          local_date(now, TimeZone::utc()).substr(0, 7)};
}

void forget_others(auto& kept, const std::array<std::string, 2>& months) {
  std::erase_if(
      kept, [&](const auto& one) { return std::ranges::find(months, one.first) == months.end(); });
}

Hash128 hash_nodes(std::span<const Node> nodes) {
  Fingerprint print;
  for (const Node& node : nodes) {
    const Hash128 one = content_hash(node);
    print.add(node.cluster.text()).add(node.name.text());
    print.add(static_cast<std::int64_t>(one.high)).add(static_cast<std::int64_t>(one.low));
  }
  return print.hash();
}

}  // namespace

Result<std::vector<CommitmentUse>> RecentPurchases::month_commitments(Store& store,
                                                                      const std::string& month,
                                                                      Instant now) {
  // One of a clock that is ahead is read again the next time.
  const std::uint64_t imports = TRY(store.last_import_until(now));
  if (const auto known = commitments_.find(month); known != commitments_.end()) {
    const bool has_changed = TRY(charges_changed(store, month, known->second.imports));
    if (!has_changed) {
      known->second.imports = imports;
      return known->second.uses;
    }
  }
  ++months_read_;
  KeptCommitments next{.imports = imports};
  next.uses = TRY(query_commitment_use(store, month));
  return commitments_.insert_or_assign(month, std::move(next)).first->second.uses;
}

Result<std::set<SpotNodeName>> RecentPurchases::month_spot_nodes(Store& store,
                                                                 std::span<const Node> nodes,
                                                                 const std::string& month,
                                                                 Instant now) {
  const std::uint64_t imports = TRY(store.last_import_until(now));
  const Hash128 hash = hash_nodes(nodes);
  const auto known = spot_nodes_.find(month);
  if (known != spot_nodes_.end() && known->second.nodes == hash) {
    const bool has_changed = TRY(charges_changed(store, month, known->second.imports));
    if (!has_changed) {
      known->second.imports = imports;
      return known->second.names;
    }
  }
  ++months_read_;
  KeptSpotNodes next{.imports = imports, .nodes = hash};
  next.names = TRY(find_billed_spot_nodes(store, nodes, join_rules_, month));
  return spot_nodes_.insert_or_assign(month, std::move(next)).first->second.names;
}

Result<std::vector<CommitmentUse>> RecentPurchases::commitments(SharedLedger& ledger, Instant now) {
  const auto months = last_months(now);
  forget_others(commitments_, months);
  std::vector<CommitmentUse> both;
  for (const std::string& month : months) {
    TRY(ledger.with([&](Store& store) -> Result<void> {
      auto uses = TRY(month_commitments(store, month, now));
      std::ranges::move(uses, std::back_inserter(both));
      return {};
    }));
  }
  return both;
}

Result<std::vector<SpotUse>> RecentPurchases::spot(SharedLedger& ledger,
                                                   const std::set<SpotNodeName>& labelled,
                                                   Instant now) {
  const auto months = last_months(now);
  forget_others(spot_nodes_, months);
  std::set<SpotNodeName> names = labelled;
  for (const std::string& month : months) {
    TRY(ledger.with([&](Store& store) -> Result<void> {
      const std::vector<Node> nodes = TRY(store.nodes());
      const auto billed = TRY(month_spot_nodes(store, nodes, month, now));
      names.insert(billed.begin(), billed.end());
      return {};
    }));
  }
  std::vector<SpotUse> uses;
  TRY(ledger.with([&](Store& store) -> Result<void> {
    const std::vector<Node> nodes = TRY(store.nodes());
    uses = TRY(query_spot_use(store, nodes, names, now));
    return {};
  }));
  return uses;
}

}  // namespace pennyweight
