#include "app/live_ledger.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "app/allocate_month.h"
#include "app/price_files.h"
#include "app/price_month.h"
#include "app/verb.h"
#include "core/billing_period.h"
#include "core/limits.h"
#include "questions/telemetry.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr const char* kLiveAccount = "estimates-live";
// Over which what an hour costs is averaged.
constexpr milliseconds kWindow{5 * 60'000};
// A holding that was read so long ago may have ended since.
constexpr milliseconds kTrust{3 * 60'000};
// A day is over when what is late of it has come.
constexpr milliseconds kLateness{10 * 60'000};
// Today is divided so seldom that it takes a tenth of the time at most.
constexpr int kDividingShare = 10;
// What failed to be settled is tried again.
constexpr milliseconds kSettleAgain{10 * 60'000};
constexpr std::size_t kProblemsToldMax = 10'000;
constexpr std::uint64_t kRowsOfALargeFlush = 10'000;

std::string utc_day(Instant at) { return to_text(at).substr(0, 10); }
std::string month_of(Instant at) { return to_text(at).substr(0, 7); }

// On-demand list prices of the types of some nodes, as a rate card.
RateCard card_of(const Catalog& catalog, const std::vector<Node>& nodes, Instant at) {
  std::string csv = "instance_type,region,unit,price,currency\n";
  std::set<std::pair<std::string, std::string>> types;
  for (const Node& node : nodes) {
    if (node.instance_type.empty()) continue;
    if (!types.emplace(node.instance_type, node.region).second) continue;
    const auto rate = list_rate(node, catalog, at);
    if (!rate) continue;  // priced_lines() says that it has no price
    csv += fmt::format("\"{}\",\"{}\",Hours,{},{}\n", node.instance_type, node.region,
                       to_text(rate->per_hour), rate->currency.text());
  }
  auto card = RateCard::parse(csv, "the catalog");
  return card ? *std::move(card) : RateCard();
}

// The engine tells the ledger of a card when it has seen it for some minutes. A node that has just
// come up shows what its cards do before that.
void add_new_cards(const std::vector<Usage>& usages, std::vector<Gpu>& gpus) {
  std::set<GpuId> known;
  for (const Gpu& gpu : gpus) known.insert(gpu.uuid);
  std::map<GpuId, Gpu> fresh;
  for (const Usage& usage : usages) {
    if (usage.gpu.empty() || usage.node.empty() || !usage.mig_instance.empty()) continue;
    if (known.contains(usage.gpu)) continue;
    const auto [at, is_new] = fresh.try_emplace(usage.gpu, Gpu{.cluster = usage.cluster,
                                                               .node = usage.node,
                                                               .uuid = usage.gpu,
                                                               .index = 0,
                                                               .model = usage.model,
                                                               .memory_bytes = {},
                                                               .mig_instances = {},
                                                               .from = usage.at,
                                                               .to = {},
                                                               .id = {},
                                                               .source = {}});
    at->second.from = std::min(at->second.from, usage.at);
  }
  for (auto& [uuid, gpu] : fresh) gpus.push_back(std::move(gpu));
}

// A card was in its node before it was first seen: which workload is on which card is worked out
// for a stretch in which it is there as a whole.
void reach_back(std::vector<Gpu>& gpus, Instant begin) {
  std::map<GpuId, Gpu*> first;
  for (Gpu& gpu : gpus) {
    Gpu*& known = first[gpu.uuid];
    if (known == nullptr || gpu.from < known->from) known = &gpu;
  }
  for (const auto& [uuid, gpu] : first) gpu->from = std::min(gpu->from, begin);
}

}  // namespace

LiveLedger::LiveLedger(const Config& config, const Catalog& catalog, const RateCard& card,
                       SharedLedger& shared, Clock& clock, Log& log)
    : config_(config),
      catalog_(catalog),
      card_(card),
      shared_(shared),
      clock_(clock),
      log_(log),
      book_(milliseconds(config.live.serve.reading_ms)) {}

Result<void> LiveLedger::open() {
  const Instant now = clock_.now();
  // Pods that ended within the last days may still be listed.
  const auto loaded =
      shared_.with([&](Store& store) { return book_.load(store, now - std::chrono::days(7)); });
  if (!loaded) return loaded;
  known_.update(book_);
  flushed_at_ = now;
  return {};
}

void LiveLedger::begin(live::Engine& engine, StateMetricsSource& state_metrics,
                       std::vector<LiveSource*> sources, rollup::Rollup* rollup,
                       ServeTrail* trail) {
  engine_ = &engine;
  state_metrics_ = &state_metrics;
  sources_ = std::move(sources);
  rollup_ = rollup;
  trail_ = trail;
}

void LiveLedger::count(const std::string& name, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[name] += by;
}

void LiveLedger::failed(std::string_view doing, const Error& error) {
  count("failures");
  log_.error("ledger", {{"doing", std::string(doing)}, {"why", error.message}});
}

bool LiveLedger::flush_is_due(Instant now) const {
  return rows_wait_ || engine_->wants_flush() || now - flushed_at_ >= flush_every(config_) ||
         now < flushed_at_;
}

bool LiveLedger::news_is_due(Instant now) const {
  return !told_news_at_ || now - *told_news_at_ >= news_every(config_) || now < *told_news_at_;
}

void LiveLedger::collect() {
  const auto take = [&](Collected seen, LiveSource* from, std::string_view kind) {
    for (const std::string& problem : seen.problems) {
      if (told_problems_.size() >= kProblemsToldMax) told_problems_.clear();
      if (!told_problems_.insert(problem).second) continue;
      log_.warn("source", {{"kind", std::string(kind)}, {"problem", problem}});
    }
    Collected facts = book_.take(std::move(seen));
    if (!facts.empty()) unwritten_.facts.push_back(std::move(facts));
    if (from != nullptr) unwritten_.of.push_back(from);
  };
  std::map<ClusterId, bool> is_ready;
  for (LiveSource* source : sources_) {
    const auto [at, is_new] = is_ready.try_emplace(source->cluster(), true);
    at->second = source->is_ready() && at->second;
    take(source->collect(), source, source->kind());
  }
  for (const auto& [cluster, ready] : is_ready) {
    if (ready) book_.told_all(cluster);
  }
  take(state_metrics_->collect(), nullptr, "kube-state-metrics");
}

void LiveLedger::cycle() {
  const Instant now = clock_.now();
  collect();
  const bool flush = flush_is_due(now), has_news = !unwritten_.facts.empty();
  if (flush || (has_news && news_is_due(now))) {
    const auto done = write(flush);
    if (!done) failed("write", done.error());
    const std::lock_guard lock(mutex_);
    is_writing_ = done.has_value();
  } else if (!has_news) {
    // Nothing was news, and all that was told before is in the ledger.
    for (LiveSource* source : std::exchange(unwritten_.of, {})) source->kept();
  }
  keep_up();
  tell(now, false);
  look(now);
}

void LiveLedger::tell(Instant now, bool all) {
  if (trail_ == nullptr) return;
  if (const auto told = trail_->tell(now, all); !told) failed("audit log", told.error());
}

void LiveLedger::imported(const ImportOutcome& outcome) {
  if (trail_ != nullptr) trail_->imported(outcome, clock_.now());
}

// Our own writes change the file too, and then there is nothing to copy.
void LiveLedger::keep_up() {
  if (rollup_ == nullptr || shared_.mark() == kept_up_) return;
  const auto done = shared_.with([&](Store& store) -> Result<void> {
    const auto changed = rollup_->refresh(store);
    if (!changed) return std::unexpected(changed.error());
    if (*changed) count("rollups");
    if (*changed && config_.live.serve.leaves_to_workers) {
      if (auto read = read_earlier(store, clock_.now()); !read) return read;
    }
    return look_at_workers(store);
  });
  if (!done) return failed("rollup", done.error());
  kept_up_ = shared_.mark();
}

Result<void> LiveLedger::look_at_workers(Store& store) {
  if (auto looked = look_at_work(store, work_look_); !looked) return looked;
  if (work_look_.book.plans.empty() && !config_.live.serve.leaves_to_workers) return {};
  const WorkRules rules = work_rules(config_.policy, catalog_, config_.join_rules);
  std::vector<WorkItem> items = work_items(work_look_, rules);
  if (auto found = find_behind_since(store, rules, items); !found) return found;
  WorkProgress progress;
  for (const WorkItem& item : items) {
    ++progress.items[item.state];
    if (!item.behind_since) continue;
    progress.behind_since =
        std::min(progress.behind_since.value_or(*item.behind_since), *item.behind_since);
  }
  const std::lock_guard lock(mutex_);
  work_ = std::move(progress);
  return {};
}

std::optional<WorkProgress> LiveLedger::work() const {
  const std::lock_guard lock(mutex_);
  return work_;
}

void LiveLedger::last_cycle() {
  collect();
  if (const auto done = write(true, true); !done) failed("write", done.error());
  tell(clock_.now(), true);
}

Result<void> LiveLedger::write(bool flush, bool ending) {
  return shared_.with([&](Store& store) { return write_into(store, flush, ending); });
}

Result<void> LiveLedger::write_into(Store& store, bool flush, bool ending) {
  const Instant now = clock_.now();
  if (auto done = write_facts(store); !done) return done;
  if (flush) {
    if (auto done = write_rows(store); !done) return done;
    flushed_at_ = now;
  }
  if (auto done = tell_nodes_of_telemetry(store); !done) return done;
  known_.update(book_);
  if (!flush || ending) return {};
  if (auto done = settle_days(store, now); !done) return done;
  return divide_today(store, now);
}

Result<void> LiveLedger::write_facts(Store& store) {
  if (!unwritten_.facts.empty()) {
    auto session = store.begin_import({.format = std::string(kLiveFormat),
                                       .name = "records",
                                       .file_hash = {},
                                       .at = clock_.now()});
    if (!session) return std::unexpected(session.error());
    Result<void> done;
    for (const Collected& facts : unwritten_.facts) {
      if (done) done = (*session)->append_holdings(facts.holdings);
      if (done) done = (*session)->append_nodes(facts.nodes);
      if (done) done = (*session)->append_gpus(facts.gpus);
      if (done) done = (*session)->append_outages(facts.outages);
      if (done) done = (*session)->append_rejected(facts.rejected);
    }
    if (!done) return done;
    const auto outcome = (*session)->commit();
    if (!outcome) return std::unexpected(outcome.error());
    imported(*outcome);
    count("holdings", outcome->holdings.created);
    count("nodes", outcome->nodes.created);
    count("rejected", outcome->rejected);
    for (const RejectedRow& row : outcome->conflict_rows) {
      log_.warn("conflict", {{"reason", row.reason}, {"row", row.text}});
    }
    unwritten_.facts.clear();
    told_news_at_ = clock_.now();
  }
  for (LiveSource* source : std::exchange(unwritten_.of, {})) source->kept();
  return {};
}

Result<void> LiveLedger::import_rows(Store& store, const live::Rows& rows) {
  if (rows.empty()) return {};
  auto session = store.begin_import({.format = std::string(kLiveFormat),
                                     .name = fmt::format("telemetry {}", rows.flush),
                                     .file_hash = {},
                                     .at = clock_.now()});
  if (!session) return std::unexpected(session.error());
  Collected cards;
  const auto read = rows.read(
      {.usages = [&](std::span<const Usage> some) { return (*session)->append_usages(some); },
       .gpus =
           [&](std::span<const Gpu> some) {
             cards.gpus.insert(cards.gpus.end(), some.begin(), some.end());
             return (*session)->append_gpus(some);
           },
       .outcomes =
           [&](std::span<const Outcome> some) { return (*session)->append_outcomes(some); }});
  if (!read) return read;
  const auto outcome = (*session)->commit();
  if (!outcome) return std::unexpected(outcome.error());
  imported(*outcome);
  book_.take(std::move(cards));
  count("usages", outcome->usages.created);
  count("outcomes", outcome->outcomes.created);
  count("rows_conflicting", outcome->rejected);
  for (const RejectedRow& row : outcome->conflict_rows) {
    log_.error("conflict", {{"reason", row.reason}, {"row", row.text}});
  }
  return {};
}

Result<void> LiveLedger::write_rows(Store& store) {
  const auto flushed =
      engine_->flush([&](const live::Rows& rows) { return import_rows(store, rows); });
  if (!flushed) return std::unexpected(flushed.error());
  rows_wait_ = flushed->more;
  count("flushes");
  // What importing took is of no use until the next one.
  if (flushed->usages > kRowsOfALargeFlush) ::malloc_trim(0);
  if (flushed->usages + flushed->outcomes > 0) {
    log_.info("flush", {{"number", flushed->number},
                        {"usages", flushed->usages},
                        {"gpus", flushed->gpus},
                        {"outcomes", flushed->outcomes}});
  }
  return {};
}

Result<void> LiveLedger::tell_nodes_of_telemetry(Store& store) {
  std::set<ClusterId> told_by_others;
  for (const LiveSource* source : sources_) told_by_others.insert(source->cluster());
  std::vector<Node> nodes = book_.nodes_of_telemetry(told_by_others);
  if (nodes.empty()) return {};
  auto session = store.begin_import({.format = std::string(kLiveFormat),
                                     .name = "nodes of telemetry",
                                     .file_hash = {},
                                     .at = clock_.now()});
  if (!session) return std::unexpected(session.error());
  if (auto done = (*session)->append_nodes(nodes); !done) return done;
  const auto outcome = (*session)->commit();
  if (!outcome) return std::unexpected(outcome.error());
  imported(*outcome);
  count("nodes", outcome->nodes.created);
  book_.take({.holdings = {},
              .nodes = std::move(nodes),
              .gpus = {},
              .outages = {},
              .rejected = {},
              .problems = {}});
  return {};
}

// The day before is over: what nobody bills of it is priced, and its month divided.
Result<void> LiveLedger::settle_days(Store& store, Instant now) {
  const Instant yesterday = now - kLateness - std::chrono::days(1);
  const std::string day = utc_day(yesterday);
  if (day <= settled_day_ || now < settle_again_at_) return {};
  const auto begun = clock_.now();
  if (auto done = price_and_allocate(store, month_of(yesterday), now); !done) {
    // A price file may be missing, say: the view goes on without it.
    failed("settle", done.error());
    settle_again_at_ = now + kSettleAgain;
    return {};
  }
  settled_day_ = day;
  book_.forget_before(now - std::chrono::days(7));
  log_.info("settled", {{"day", day}, {"took_ms", std::int64_t{(clock_.now() - begun).count()}}});
  return read_earlier(store, now);
}

Result<void> LiveLedger::price_and_allocate(Store& store, const std::string& month, Instant now) {
  const auto closings = store.closings();
  if (!closings) return std::unexpected(closings.error());
  if (std::ranges::find(*closings, month, &Closing::month) != closings->end()) return {};
  const auto priced = rated::priced_month(month, now);
  if (!priced) return std::unexpected(priced.error());
  PriceInputs inputs;
  PriceOrder order{.name = "serve",
                   .reason = "",
                   .organisation = config_.organisation,
                   .owned = !config_.owned_file.empty(),
                   .estimates = true,
                   .clusters = {}};
  const std::vector<ClusterId> clusters = book_.clusters();
  if (clusters.empty()) return {};
  // At a rate card's prices it is what the verb `price` does, and takes its place. Nobody asked for
  // list prices of nodes that an inventory may have left behind: those are of what is live.
  if (config_.rate_card_file.empty()) {
    order.clusters.insert(clusters.begin(), clusters.end());
    order.account = kLiveAccount;
  }
  if (order.owned) {
    auto assets = load_owned_assets(config_.owned_file);
    if (!assets) return std::unexpected(assets.error());
    inputs.assets = *std::move(assets);
    if (!config_.energy_file.empty()) {
      auto energy = load_energy(config_.energy_file);
      if (!energy) return std::unexpected(energy.error());
      inputs.energy = *std::move(energy);
    }
  }
  inputs.card = card_;
  if (config_.rate_card_file.empty()) {
    std::vector<Node> nodes;
    for (const ClusterId& cluster : order.clusters) {
      for (Node& node : book_.nodes(cluster)) nodes.push_back(std::move(node));
    }
    inputs.card = card_of(catalog_, nodes, priced->billing.begin());
  }
  const auto lines = priced_lines(store, inputs, order, *priced, config_.join_rules);
  if (!lines) return std::unexpected(lines.error());
  for (const std::string& note : lines->notes) {
    if (told_problems_.insert(note).second) log_.warn("price", {{"note", note}});
  }
  if (!lines->charges.empty()) {
    const auto kept = keep_priced_lines(store, lines->charges, order, now);
    if (!kept) return std::unexpected(kept.error());
    count("estimates", kept->charges.created);
    if (auto change = priced_change(month, order.name, *kept); change && trail_ != nullptr) {
      trail_->changed(*std::move(change));
    }
  }
  if (config_.live.serve.leaves_to_workers) return {};
  auto loaded = LedgerMonth::load(store, month, config_.join_rules);
  if (!loaded) return std::unexpected(loaded.error());
  const unsigned threads =
      config_.threads > 0 ? config_.threads : std::max(1U, std::thread::hardware_concurrency());
  const ScopeRules rules{.policy = config_.policy,
                         .catalog = catalog_,
                         .threads = threads,
                         .join_rules = config_.join_rules,
                         .at = now,
                         .changed = {}};
  const auto scopes = allocate_whole_month(store, *loaded, rules);
  // Also where it failed at one scope: what was divided before it is.
  if (auto told = tell_runs(store, month, now); !told) return told;
  if (!scopes) return std::unexpected(scopes.error());
  count("runs", scopes->size());
  return {};
}

Result<void> LiveLedger::tell_runs(Store& store, const std::string& month, Instant at) {
  if (trail_ == nullptr) return {};
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const Run& run : *runs) {
    if (run.scope.month == month && run.at == at) trail_->changed(allocated_change(run));
  }
  return {};
}

// What workloads cost this month before today.
Result<void> LiveLedger::read_earlier(Store& store, Instant now) {
  const TimeZone& zone = config_.policy.time_zone;
  const Instant midnight = start_of_day(now, zone);
  const auto today =
      std::chrono::floor<std::chrono::days>(*parse_instant(local_date(midnight, zone)));
  const auto rows =
      store.summarise({.last_day = today - std::chrono::days(1),
                       .group_by = {"cluster", "workload"},
                       .filters = {{"month", {month_of(now)}, false}, {"workload", {""}, true}}});
  if (!rows) return std::unexpected(rows.error());
  earlier_.clear();
  for (const SummaryRow& row : *rows) {
    auto& of_cluster = earlier_[ClusterId(row.keys[0])];
    const auto [at, is_new] = of_cluster.try_emplace(WorkloadId(row.keys[1]), row.costs.effective);
    if (!is_new && at->second.currency() == row.costs.currency()) at->second += row.costs.effective;
  }
  return {};
}

SeenSource LiveLedger::seen_in(std::vector<Usage> usages, std::vector<Gpu> gpus) const {
  return [this, usages = std::move(usages),
          gpus = std::move(gpus)](const Interval& during) -> Result<SeenUsage> {
    return see(usages, gpus, config_.policy.usage, during);
  };
}

Result<LiveCosts> LiveLedger::divide_recent(const ClusterId& cluster,
                                            const Interval& window) const {
  std::vector<Usage> usages = engine_->recent(cluster);
  std::vector<Gpu> gpus = book_.gpus(cluster);
  add_new_cards(usages, gpus);
  reach_back(gpus, window.begin());
  SeenSource seen = seen_in(std::move(usages), gpus);
  return divide(cluster, window, gpus, std::move(seen));
}

Result<LiveCosts> LiveLedger::divide(const ClusterId& cluster, const Interval& window,
                                     const std::vector<Gpu>& gpus, SeenSource seen) const {
  const std::vector<Node> nodes = book_.nodes(cluster);
  const std::vector<Holding> holdings = book_.holdings(cluster, window, kTrust);
  return live_costs({.cluster = cluster,
                     .window = window,
                     .nodes = nodes,
                     .gpus = gpus,
                     .holdings = holdings,
                     .outages = {},
                     .policy = config_.policy,
                     .catalog = catalog_,
                     .card = card_,
                     .organisation = config_.organisation,
                     .seen = std::move(seen)});
}

Result<void> LiveLedger::divide_today(Store& store, Instant now) {
  const milliseconds between = std::max<milliseconds>(milliseconds(config_.live.serve.allocate_ms),
                                                      kDividingShare * dividing_took_);
  if (now >= divided_at_ && now - divided_at_ < between) return {};
  const TimeZone& zone = config_.policy.time_zone;
  const auto today = Interval::of(start_of_day(now, zone), now);
  if (!today) return {};
  for (const ClusterId& cluster : book_.clusters()) {
    const std::vector<Gpu> gpus = book_.gpus(cluster);
    auto costs =
        divide(cluster, *today, gpus, telemetry_of(store, cluster, gpus, config_.policy.usage));
    if (!costs) {
      failed("divide today", costs.error());
      continue;
    }
    today_.insert_or_assign(cluster, *std::move(costs));
  }
  divided_at_ = now;
  dividing_took_ = std::max(milliseconds(0), clock_.now() - now);
  return {};
}

void LiveLedger::look(Instant now) {
  const TimeZone& zone = config_.policy.time_zone;
  const auto window = Interval::of(std::max(now - kWindow, start_of_day(now, zone)), now);
  if (!window) return;
  const auto view = std::make_shared<LiveView>();
  view->at = now;
  for (const ClusterId& cluster : book_.clusters()) {
    auto recent = divide_recent(cluster, *window);
    if (!recent) {
      failed("divide the last minutes", recent.error());
      continue;
    }
    const auto today = today_.find(cluster);
    view->clusters.emplace(
        cluster,
        LiveCluster{.cluster = cluster,
                    .recent = *std::move(recent),
                    .today = today == today_.end() ? std::nullopt : std::optional(today->second),
                    .earlier = earlier_[cluster]});
  }
  const std::lock_guard lock(mutex_);
  view_ = view;
}

std::shared_ptr<const LiveView> LiveLedger::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::map<std::string, std::uint64_t> LiveLedger::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool LiveLedger::is_writing() const {
  const std::lock_guard lock(mutex_);
  return is_writing_;
}

}  // namespace pennyweight
