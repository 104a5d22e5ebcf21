#include "app/daemon/day_settlement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "app/context/price_files.h"
#include "app/run/allocate_month.h"
#include "app/run/price_month.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/live/live_costs.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr const char* kLiveAccount = "estimates-live";
// A day is over once its late samples have come.
constexpr milliseconds kLateness{10 * 60'000};
constexpr milliseconds kRetryAfter{10 * 60'000};

}  // namespace

bool DaySettlement::settle(Store& store, Instant now) {
  const Instant yesterday = now - kLateness - std::chrono::days(1);
  const std::string day = to_text(yesterday).substr(0, 10);
  if (day <= last_settled_day_ || now < retry_at_) return false;
  const auto begun = clock_.now();
  if (auto done = price_and_allocate(store, day.substr(0, 7), now); !done) {
    counters_.add_failure("settle", done.error());
    retry_at_ = now + kRetryAfter;
    return false;
  }
  last_settled_day_ = day;
  log_.info("settled", {{"day", day}, {"took_ms", std::int64_t{(clock_.now() - begun).count()}}});
  return true;
}

Result<void> DaySettlement::price_and_allocate(Store& store, const std::string& month,
                                               Instant now) {
  const auto closings = TRY(store.closings());
  if (std::ranges::find(closings, month, &Closing::month) != closings.end()) return {};
  if (inventory_.clusters().empty()) return {};
  TRY(price(store, month, now));
  return config_.live.serve.leaves_to_workers ? Result<void>{} : allocate(store, month, now);
}

Result<void> DaySettlement::price(Store& store, const std::string& month, Instant now) {
  const auto priced = TRY(rated::priced_month(month, now));
  PriceInputs inputs;
  PricingRequest order{.name = "serve",
                       .reason = "",
                       .organisation = config_.organisation,
                       .owned = !config_.owned_file.empty(),
                       .estimates = true,
                       .clusters = {}};
  const std::vector<ClusterId> clusters = inventory_.clusters();
  // At a rate card's prices this replaces what the verb `price` writes. Without one, only the nodes
  // that run now get list prices: nobody asked for prices of nodes that an inventory left behind.
  if (config_.rate_card_file.empty()) {
    order.clusters.insert(clusters.begin(), clusters.end());
    order.account = kLiveAccount;
  }
  if (order.owned) {
    auto assets = TRY(load_owned_assets(config_.owned_file));
    inputs.assets = std::move(assets);
    if (!config_.energy_file.empty()) {
      auto energy = TRY(load_energy(config_.energy_file));
      inputs.energy = std::move(energy);
    }
  }
  inputs.card = card_;
  if (config_.rate_card_file.empty()) {
    std::vector<Node> nodes;
    for (const ClusterId& cluster : order.clusters) {
      for (Node& node : inventory_.nodes(cluster)) nodes.push_back(std::move(node));
    }
    inputs.card = list_price_card(nodes, catalog_, priced.billing.begin());
  }
  const auto lines = price_charges(store, inputs, order, priced, config_.join_rules);
  if (!lines) return std::unexpected(lines.error());
  for (const std::string& note : lines->notes) {
    if (logged_notes_.insert(note).second) log_.warn("price", {{"note", note}});
  }
  if (!lines->charges.empty()) {
    const auto kept = TRY(store_priced_charges(store, lines->charges, order, now));
    counters_.add("estimates", kept.charges.created);
    if (auto change = pricing_event(month, order.name, kept); change && audit_log_ != nullptr) {
      audit_log_->add_event(*std::move(change));
    }
  }
  return {};
}

Result<void> DaySettlement::allocate(Store& store, const std::string& month, Instant now) {
  auto loaded = TRY(LedgerMonth::load(store, month, config_.join_rules));
  const unsigned threads =
      config_.threads > 0 ? config_.threads : std::max(1U, std::thread::hardware_concurrency());
  const RunSettings rules{.policy = config_.policy,
                          .catalog = catalog_,
                          .threads = threads,
                          .join_rules = config_.join_rules,
                          .at = now,
                          .changed = {}};
  const auto scopes = allocate_whole_month(store, loaded, rules);
  // Also after a failure at one run scope: those before it were allocated.
  TRY(record_runs(store, month, now));
  if (!scopes) return std::unexpected(scopes.error());
  counters_.add("runs", scopes->size());
  return {};
}

Result<void> DaySettlement::record_runs(Store& store, const std::string& month, Instant at) {
  if (audit_log_ == nullptr) return {};
  const auto runs = TRY(store.runs());
  for (const Run& run : runs) {
    if (run.scope.month == month && run.at == at) audit_log_->add_event(allocation_event(run));
  }
  return {};
}

}  // namespace pennyweight
