#include "app/daemon/day_settlement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/context/paths.h"
#include "app/context/price_files.h"
#include "app/daemon/live_file.h"
#include "app/run/allocate_month.h"
#include "app/run/price_month.h"
#include "core/billing_period.h"
#include "core/files/file.h"
#include "core/try.h"
#include "reporting/live/live_costs.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr const char* kLiveAccount = "estimates-live";
// A day is over once its late samples have come.
constexpr milliseconds kLateness{10 * 60'000};
constexpr milliseconds kRetryAfter{10 * 60'000};

// Late changes of a large month are settled so seldom that it takes a twentieth of the time at
// most.
constexpr int kChangesPause = 20;
// Changes of months before these are left to whoever made them.
constexpr std::chrono::days kChangesReach{70};
constexpr std::size_t kStateBytesMax = 1024;

Instant start_of_utc_day(Instant at) { return std::chrono::floor<std::chrono::days>(at); }
std::string utc_month(Instant at) { return to_text(at).substr(0, 7); }

// The instant behind a key of the state file.
std::optional<Instant> instant_after(std::string_view text, std::string_view key) {
  const std::size_t found = text.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  const std::size_t begin = found + key.size();
  const auto at = parse_instant(text.substr(begin, text.find('\n', begin) - begin));
  return at ? std::optional(*at) : std::nullopt;
}

constexpr std::string_view kSettledUntil = "settled_until ";
constexpr std::string_view kChangedSince = "changed_since ";

}  // namespace

DaySettlement::DaySettlement(const Config& config, const Catalog& catalog, const RateCard& card,
                             const LiveInventory& inventory, LedgerCounters& counters, Clock& clock,
                             Log& log)
    : config_(config),
      catalog_(catalog),
      card_(card),
      inventory_(inventory),
      counters_(counters),
      clock_(clock),
      log_(log),
      state_file_((std::filesystem::path(live_folder(config)) / "settlement").string()) {}

void DaySettlement::open() {
  const auto text = read_file(state_file_, kStateBytesMax);
  if (!text) return;  // there is none before the first day is settled
  settled_until_ = instant_after(*text, kSettledUntil);
  changed_since_ = instant_after(*text, kChangedSince);
}

void DaySettlement::save() {
  std::string text;
  if (settled_until_) text += fmt::format("{}{}\n", kSettledUntil, to_text(*settled_until_));
  if (changed_since_) text += fmt::format("{}{}\n", kChangedSince, to_text(*changed_since_));
  if (const auto saved = save_live_file(state_file_, text); !saved) {
    counters_.add_failure("settlement state", saved.error());
  }
}

void DaySettlement::note_change(Instant since) {
  if (!settled_until_ || since >= *settled_until_) return;
  if (changed_since_ && *changed_since_ <= since) return;
  changed_since_ = since;
  save();
}

std::set<std::string> DaySettlement::months_to_settle(Instant last_day) const {
  Instant first = last_day;
  if (settled_until_) first = std::min(first, *settled_until_);
  if (changed_since_) first = std::min(first, *changed_since_);
  first = std::max(first, last_day - kChangesReach);
  std::set<std::string> months;
  for (Instant day = first; day < last_day; day += std::chrono::days(1)) {
    months.insert(utc_month(day));
  }
  months.insert(utc_month(last_day));
  return months;
}

bool DaySettlement::is_due(Instant now) const {
  const Instant until = start_of_utc_day(now - kLateness);
  const bool is_over = !has_settled_ || !settled_until_ || *settled_until_ < until;
  const bool has_changed = changed_since_ && now >= settle_changes_at_;
  return (is_over || has_changed) && now >= retry_at_;
}

bool DaySettlement::settle(Store& store, Instant now) {
  if (!is_due(now)) return false;
  // Before the first source has reported, nothing could be priced and the day would count as done.
  if (inventory_.clusters().empty()) return false;
  const Instant until = start_of_utc_day(now - kLateness);
  const Instant day = until - std::chrono::days(1);
  const Instant begun = clock_.now();
  for (const std::string& month : months_to_settle(day)) {
    if (auto done = price_and_allocate(store, month, until, now); !done) {
      counters_.add_failure("settle", done.error());
      retry_at_ = now + kRetryAfter;
      return false;
    }
  }
  has_settled_ = true;
  settled_until_ = until;
  changed_since_.reset();
  save();
  const milliseconds took = std::max(milliseconds(0), clock_.now() - begun);
  settle_changes_at_ = now + std::max(kRetryAfter, kChangesPause * took);
  log_.info("settled",
            {{"day", to_text(day).substr(0, 10)}, {"took_ms", std::int64_t{took.count()}}});
  return true;
}

Result<void> DaySettlement::price_and_allocate(Store& store, const std::string& month,
                                               Instant until, Instant now) {
  const auto closings = TRY(store.closings());
  if (std::ranges::find(closings, month, &Closing::month) != closings.end()) return {};
  if (inventory_.clusters().empty()) return {};
  TRY(price(store, month, until, now));
  return config_.live.serve.leaves_to_workers ? Result<void>{} : allocate(store, month, now);
}

// Days up to `until`: one that waits for late samples is the live view's, which would count it
// twice.
Result<void> DaySettlement::price(Store& store, const std::string& month, Instant until,
                                  Instant now) {
  const auto priced = TRY(rated::priced_month(month, until));
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
  const auto work = TRY(store.work_records());
  auto loaded = TRY(LedgerMonth::load(store, month, config_.join_rules));
  const unsigned threads =
      config_.threads > 0 ? config_.threads : std::max(1U, std::thread::hardware_concurrency());
  const RunSettings rules{.policy = config_.policy,
                          .catalog = catalog_,
                          .threads = threads,
                          .join_rules = config_.join_rules,
                          .at = now,
                          .changed = {},
                          .imports_read = work.imports};
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
