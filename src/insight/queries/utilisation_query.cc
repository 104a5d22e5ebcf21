#include "insight/queries/utilisation_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "core/split.h"
#include "core/try.h"
#include "insight/advice/formulas/packing.h"
#include "insight/advice/gpu_use.h"
#include "insight/advice/node_bill.h"
#include "reporting/number_format.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {
namespace {

using advising::AdviceKind;
using advising::GpuUse;
using advising::Proposal;

constexpr std::uint64_t kLowPpm = 300'000;
constexpr std::uint64_t kWholeSharePpm = 1'000'000;
constexpr std::size_t kEasiest = 3;

// One row of the audit.
struct AuditedGpu {
  std::string cluster;
  std::string node;
  std::string model;
  std::string instance_type;
  GpuUse use;
  std::uint64_t period_ms = 0;
  std::optional<std::uint64_t> mean_ppm;
  std::string metric;
  Money cost = Money::zero(kUsd);
  bool has_cost = false;
  Money saves = Money::zero(kUsd);   // the most of its advice
  std::string stop, smaller, share;  // ids of advice, or with whom
};

bool is_low(const AuditedGpu& gpu) { return gpu.mean_ppm && *gpu.mean_ppm < kLowPpm; }

std::string gib(std::uint64_t bytes) {
  const std::uint64_t tenths = bytes * 10 / (std::uint64_t{1} << 30);
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

// The advice's expected saving in equal parts over the GPUs that it is about.
void add_advice(const Proposal& advice, std::vector<AuditedGpu>& gpus) {
  std::string AuditedGpu::* option = nullptr;
  const auto is_about = [&](const AuditedGpu& gpu) {
    if (gpu.cluster != advice.cluster.text()) return false;
    switch (advice.kind) {
      case AdviceKind::kUnneededNodes:
      case AdviceKind::kScaleDown:
      case AdviceKind::kMigLayout:
      case AdviceKind::kShare:
        return std::ranges::find(advice.nodes, gpu.node) != advice.nodes.end();
      case AdviceKind::kIdle:
      case AdviceKind::kZombie:
        return std::ranges::find(advice.gpus, gpu.use.gpu) != advice.gpus.end();
      case AdviceKind::kRightSize:
        return !gpu.use.gpu.empty() && advice.looked_for == "work " + gpu.use.main_work() &&
               advice.subject.ends_with(" on " + gpu.model);
      case AdviceKind::kCommitment:
      case AdviceKind::kUnusedCommitment:
      case AdviceKind::kSpot:
      case AdviceKind::kTimeLimit:
      case AdviceKind::kAutoscaling:
        return false;
    }
    return false;
  };
  option = advice.kind == AdviceKind::kRightSize ? &AuditedGpu::smaller : &AuditedGpu::stop;
  std::vector<AuditedGpu*> about;
  for (AuditedGpu& gpu : gpus) {
    if (is_about(gpu) && gpu.has_cost &&
        gpu.cost.currency() == advice.monthly.expected.currency()) {
      about.push_back(&gpu);
    }
  }
  if (about.empty()) return;
  const std::vector<Money> parts =
      split(advice.monthly.expected, std::vector<Weight>(about.size(), 1));
  for (std::size_t i = 0; i < about.size(); ++i) {
    std::string& said = (*about[i]).*option;
    said += (said.empty() ? "" : ", ") + advice.id;
    if (about[i]->saves.ticks() < parts[i].ticks()) about[i]->saves = parts[i];
  }
}

// Which whole GPUs of one model in one cluster could be one, by what they did.
void add_sharing(std::vector<AuditedGpu>& gpus) {
  std::map<std::pair<std::string, std::string>, std::vector<AuditedGpu*>> by_model;
  for (AuditedGpu& gpu : gpus) {
    const auto metric = gpu.use.seen.metric();
    const bool is_known =
        is_low(gpu) && gpu.use.mig_instance.empty() && !gpu.use.main_work().empty() && metric &&
        *metric != advising::ActivityMetric::kGpuUtil && gpu.use.memory_bytes > 0 &&
        gpu.use.seen.memory.total_ms() > 0 && gpu.use.seen.observed_ms * 5 >= gpu.period_ms * 4;
    if (is_known && gpu.stop.empty()) by_model[{gpu.cluster, gpu.model}].push_back(&gpu);
  }
  for (const auto& [model, alike] : by_model) {
    std::vector<advising::PackedLoad> loads;
    for (const AuditedGpu* gpu : alike) {
      const auto metric = static_cast<std::size_t>(*gpu->use.seen.metric());
      const std::uint64_t memory = gpu->use.seen.memory.quantile(990);
      loads.push_back(
          {gpu->use.seen.activity[metric].quantile(950),
           static_cast<std::uint64_t>(UInt128{memory} * kWholeSharePpm / gpu->use.memory_bytes)});
    }
    const std::vector<std::size_t> cards = advising::pack_on_cards(loads);
    std::map<std::size_t, std::size_t> members;
    for (const std::size_t card : cards) ++members[card];
    for (std::size_t i = 0; i < alike.size(); ++i) {
      const std::size_t others = members[cards[i]] - 1;
      if (others == 0) continue;
      alike[i]->share = fmt::format("with {} like it", others);
    }
  }
}

Result<std::vector<AuditedGpu>> audit_cluster(Store& store, const ClusterId& cluster,
                                              const ClusterFacts& facts, const Interval& period,
                                              const AdviceSettings& settings) {
  const ClusterMonth month{.cluster = cluster,
                           .charges = facts.charges,
                           .nodes = facts.nodes,
                           .gpus = facts.gpus,
                           .holdings = facts.holdings,
                           .catalog = settings.catalog,
                           .join_rules = settings.join_rules};
  const FleetView fleet(facts.nodes, facts.gpus, settings.catalog, settings.join_rules);
  const advising::NodeBill bill(facts.charges, fleet, &Costs::effective);
  advising::GpuUses uses(month, fleet, settings.policy.usage, period);
  const std::chrono::milliseconds before(
      std::max(settings.policy.usage.hold_ms(), kUsageSpanMaxMs));
  TRY(store.scan_usage(cluster, Interval(period.begin() - before, period.end()), UsageDetail::kAll,
                       [&](std::span<const Usage> batch) {
                         uses.add(batch);
                         return true;
                       }));
  std::vector<AuditedGpu> rows;
  for (GpuUse& use : uses.uses()) {
    const NodeView& view = fleet.nodes()[use.node];
    AuditedGpu row;
    row.cluster = cluster.text();
    row.node = fleet.any_fact(use.node).name.text();
    row.model = view.model == nullptr ? "" : view.model->name;
    row.instance_type = fleet.any_fact(use.node).instance_type;
    row.period_ms = period.length_ms();
    if (const auto metric = use.seen.metric()) {
      row.metric = advising::to_text(*metric);
      row.mean_ppm = use.seen.activity[static_cast<std::size_t>(*metric)].mean();
    }
    // A node billed in two currencies has no one cost.
    std::optional<Money> sum;
    bool is_one_currency = true;
    for (const Charge* line : bill.lines(use.node)) {
      if (!sum) sum = Money::zero(line->costs.currency());
      if (line->costs.currency() != sum->currency()) {
        is_one_currency = false;
        break;
      }
      *sum += line->costs.effective;
    }
    if (sum && is_one_currency && view.capacity.gpus > 0 && use.mig_instance.empty()) {
      row.cost = advising::scaled(*sum, use.more + 1, view.capacity.gpus);
      row.saves = Money::zero(row.cost.currency());
      row.has_cost = true;
    }
    row.use = std::move(use);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Column> gpu_columns() {
  return {{"node", "node", ColumnKind::kText},
          {"gpu", "GPU", ColumnKind::kText},
          {"instance", "MIG", ColumnKind::kText},
          {"model", "model", ColumnKind::kText},
          {"work", "work", ColumnKind::kText},
          {"type", "type of work", ColumnKind::kText},
          {"utilisation", "utilisation", ColumnKind::kPercent},
          {"metric", "metric", ColumnKind::kText},
          {"seen", "seen", ColumnKind::kPercent},
          {"memory_mean_gib", "memory GiB", ColumnKind::kText},
          {"memory_peak_gib", "peak GiB", ColumnKind::kText},
          {"cost", "cost", ColumnKind::kMoney},
          {"stop", "stop", ColumnKind::kText},
          {"smaller_card", "smaller card", ColumnKind::kText},
          {"share", "share", ColumnKind::kText},
          {"saves", "saves a month", ColumnKind::kMoney}};
}

Row gpu_row(const AuditedGpu& gpu) {
  const GpuUse& use = gpu.use;
  const std::string work = use.main_work();
  const bool has_memory = use.seen.memory.total_ms() > 0;
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return Ratio{static_cast<Int128>(part), static_cast<Int128>(whole)};
  };
  std::string name = use.gpu;
  if (name.empty()) name = use.more == 0 ? "not seen" : fmt::format("{} not seen", use.more + 1);
  return {gpu.node,
          name,
          use.mig_instance.empty() ? std::string() : use.mig_instance + " " + use.mig_profile,
          gpu.model,
          work,
          std::string(advising::type_of_work(work)),
          gpu.mean_ppm ? Cell(ratio(*gpu.mean_ppm, kWholeSharePpm)) : Cell(),
          gpu.metric,
          Cell(ratio(std::min(use.seen.observed_ms, gpu.period_ms), gpu.period_ms)),
          has_memory ? gib(use.seen.memory.mean()) : std::string(),
          has_memory ? gib(use.seen.memory.peak()) : std::string(),
          gpu.has_cost ? Cell(gpu.cost) : Cell(),
          gpu.stop,
          gpu.smaller,
          gpu.share,
          gpu.has_cost ? Cell(gpu.saves) : Cell()};
}

std::vector<Table> easiest_tables(const AdviceResult& advice) {
  const advising::Portfolio portfolio = open_portfolio(advice);
  std::map<Currency, std::vector<const Proposal*>> best;
  for (std::size_t i = 0; i < advice.proposals.size(); ++i) {
    const Proposal& each = advice.proposals[i];
    if (!portfolio.chosen[i] || each.monthly.expected.ticks() <= 0) continue;
    best[each.monthly.expected.currency()].push_back(&each);
  }
  std::vector<Table> tables;
  for (auto& [currency, proposals] : best) {
    std::ranges::stable_sort(proposals, {},
                             [](const Proposal* each) { return advising::effort_of(each->kind); });
    proposals.resize(std::min(proposals.size(), kEasiest));
    Table table;
    table.title = fmt::format("The easiest to save, {} a month", currency.text());
    table.currency = currency;
    table.columns = {{"id", "id", ColumnKind::kId},
                     {"change", "change", ColumnKind::kText},
                     {"subject", "what", ColumnKind::kText},
                     {"effort", "effort", ColumnKind::kText},
                     {"confidence", "confidence", ColumnKind::kText},
                     {"expected", "expected", ColumnKind::kMoney}};
    for (const Proposal* each : proposals) {
      table.rows.push_back({each->id, each->change, each->subject,
                            std::string(to_text(advising::effort_of(each->kind))),
                            std::string(to_text(each->confidence)), each->monthly.expected});
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

Result<std::vector<Table>> query_utilisation(Store& store, const UtilisationQuery& query,
                                             const AdviceSettings& settings) {
  const AdviceResult advice = TRY(query_advice(store,
                                               {.month = query.month,
                                                .cluster = query.cluster,
                                                .kinds = {},
                                                .prices_at = query.prices_at,
                                                .today = query.today},
                                               settings));
  auto month = TRY(LedgerMonth::load(store, advice.month, settings.join_rules));
  std::vector<AuditedGpu> gpus;
  for (const ClusterId& cluster : month.clusters()) {
    if (cluster.empty() || (!query.cluster.empty() && cluster.text() != query.cluster)) continue;
    const ClusterFacts facts = TRY(month.take_facts(store, cluster));
    const auto period = billed_span(facts.charges);
    if (!period) continue;
    auto rows = TRY(audit_cluster(store, cluster, facts, *period, settings));
    std::ranges::move(rows, std::back_inserter(gpus));
  }
  for (const Proposal& each : advice.proposals) add_advice(each, gpus);
  add_sharing(gpus);
  std::ranges::stable_sort(gpus, [](const AuditedGpu& a, const AuditedGpu& b) {
    const auto key = [](const AuditedGpu& gpu) {
      return std::tuple(is_low(gpu) ? 0 : gpu.mean_ppm ? 1 : 2, -gpu.cost.ticks());
    };
    return key(a) < key(b);
  });
  std::vector<Table> tables = easiest_tables(advice);
  std::map<Currency, std::size_t> at;
  for (const AuditedGpu& gpu : gpus) {
    const Currency currency = gpu.cost.currency();
    const auto [place, is_new] = at.try_emplace(currency, tables.size());
    if (is_new) {
      Table table;
      table.title = fmt::format("Utilisation of GPUs in {}, {}", advice.month, currency.text());
      table.currency = currency;
      table.columns = gpu_columns();
      tables.push_back(std::move(table));
    }
    tables[place->second].rows.push_back(gpu_row(gpu));
  }
  if (tables.empty())
    tables.push_back({.title = "Utilisation of GPUs in " + advice.month,
                      .currency = {},
                      .columns = {{"node", "node", ColumnKind::kText}},
                      .rows = {},
                      .total = {},
                      .notes = {"no GPU is known: import an inventory"}});
  const auto low = static_cast<std::uint64_t>(std::ranges::count_if(gpus, is_low));
  tables.back().notes.push_back(fmt::format(
      "{} of {} rows are under 30 %; utilisation is the mean of the metric named beside it while "
      "telemetry saw the GPU. Stop and smaller card name advice: 'pennyweight advise show ID'",
      low, gpus.size()));
  tables.back().notes.emplace_back(
      "share: GPUs under 30 % whose 95th percentile of activity is together at most 80 %, and "
      "whose "
      "memory at most 90 %, of one; it saves where whole nodes then go");
  for (const std::string& gap : advice.gaps) tables.back().notes.push_back(gap);
  return tables;
}

}  // namespace pennyweight
