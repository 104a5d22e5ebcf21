#include "insight/queries/similar_workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "allocation/dimensions.h"
#include "core/billing_period.h"
#include "core/gpu/gpu_model.h"
#include "core/try.h"
#include "insight/guardrails/charged_scope.h"
#include "insight/guardrails/findings.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

using guardrails::WorkloadEstimate;
using LedgerKey = std::pair<std::string, std::string>;  // cluster, workload

// A workload of the ledger.
struct PastWorkload {
  Money cost = Money::zero(kUsd);
  std::string owner;
  std::string name;  // "namespace/name"; of Slurm the job's name
  bool is_slurm = false;
  std::uint64_t gpus = 0;  // the most of an attempt
  const GpuModel* model = nullptr;
  std::uint64_t ran_ms = 0;
  std::map<std::string, std::uint64_t> gpus_of_attempt;
};

// What is known of a planned workload.
struct PlannedShape {
  std::string owner;
  std::string name;
  bool is_slurm = false;
  std::uint64_t gpus = 0;
  const GpuModel* model = nullptr;
};

PlannedShape shape_of(const WorkloadEstimate& planned, const std::string& by,
                      const Policy& policy) {
  const manifests::WorkloadRequest& workload = planned.workload;
  PlannedShape shape;
  shape.is_slurm = workload.kind == "Slurm job";
  shape.name =
      shape.is_slurm ? workload.name : fmt::format("{}/{}", workload.name_space, workload.name);
  for (const guardrails::PlannedGroup& group : guardrails::planned_groups(workload)) {
    const auto owner = guardrails::planned_dimensions(group.work, policy).known.find(by);
    if (owner && shape.owner.empty()) shape.owner = std::string(*owner);
  }
  for (const guardrails::GroupEstimate& group : planned.groups) {
    for (const RequestedDevice& device : group.group.gpus) {
      shape.gpus += device.count * group.group.replicas;
    }
    if (group.machine && shape.model == nullptr) {
      shape.model = find_gpu_model(group.machine->gpu_model);
    }
  }
  return shape;
}

bool is_like(const PlannedShape& planned, const PastWorkload& past, Likeness likeness) {
  if (planned.is_slurm != past.is_slurm) return false;
  const bool has_same_gpus =
      planned.gpus == past.gpus &&
      (planned.model == past.model || planned.model == nullptr || past.model == nullptr);
  switch (likeness) {
    case Likeness::kName:
      return !planned.name.empty() && planned.name == past.name;
    case Likeness::kOwnerAndGpus:
      return has_same_gpus && !planned.owner.empty() && planned.owner == past.owner;
    case Likeness::kGpus:
      return has_same_gpus;
    case Likeness::kNone:
      return false;
  }
  return false;
}

// The nearest rank of a percentile among `count` sorted values; REQUIRES count > 0.
std::size_t nearest_rank(std::size_t count, std::size_t percent) {
  return std::max<std::size_t>((count * percent + 99) / 100, 1) - 1;
}

class PastWorkloads {
 public:
  PastWorkloads(const SimilarQuery& query, Store& store) : query_(query), store_(store) {}

  Result<void> read() {
    SummaryQuery summary{.group_by = {"cluster", "workload", query_.by},
                         .filters = {{.dimension = "month", .values = query_.months}}};
    const auto rows = TRY(store_.summarise(summary));
    for (const SummaryRow& row : rows) {
      if (row.keys[1].empty() || row.costs.effective.currency() != query_.currency) continue;
      auto [at, is_new] = past_.try_emplace({row.keys[0], row.keys[1]});
      PastWorkload& past = at->second;
      if (is_new) past.cost = Money::zero(query_.currency);
      past.cost += row.costs.effective;
      if (!row.keys[2].empty()) past.owner = row.keys[2];
    }
    std::set<std::string> clusters;
    for (const auto& [key, past] : past_) clusters.insert(key.first);
    for (const std::string& month : query_.months) {
      const auto period = TRY(BillingPeriod::parse(month, TimeZone::utc()));
      for (const std::string& cluster : clusters) TRY(read_holdings(cluster, period.to_interval()));
    }
    for (auto& [key, past] : past_) {
      for (const auto& [attempt, gpus] : past.gpus_of_attempt)
        past.gpus = std::max(past.gpus, gpus);
    }
    return {};
  }

  SimilarWorkloads like(const PlannedShape& planned) const {
    SimilarWorkloads found{.owner = planned.owner, .gpus = planned.gpus};
    for (const Likeness likeness : {Likeness::kName, Likeness::kOwnerAndGpus, Likeness::kGpus}) {
      std::vector<const PastWorkload*> alike;
      for (const auto& [key, past] : past_) {
        if (is_like(planned, past, likeness)) alike.push_back(&past);
      }
      if (alike.empty()) continue;
      found.likeness = likeness;
      found.count = alike.size();
      std::ranges::sort(alike, {}, [](const PastWorkload* past) { return past->cost.ticks(); });
      found.cost_p50 = alike[nearest_rank(alike.size(), 50)]->cost;
      found.cost_p90 = alike[nearest_rank(alike.size(), 90)]->cost;
      std::ranges::sort(alike, {}, &PastWorkload::ran_ms);
      found.ran_ms_p50 = alike[nearest_rank(alike.size(), 50)]->ran_ms;
      return found;
    }
    return found;
  }

 private:
  Result<void> read_holdings(const std::string& cluster, Interval month) {
    const bool is_slurm = std::ranges::any_of(
        query_.slurm_clusters, [&](const ClusterId& id) { return id.text() == cluster; });
    return store_.scan_holdings(ClusterId(cluster), month, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) add_holding(holding, month, is_slurm);
      return true;
    });
  }

  void add_holding(const Holding& holding, Interval month, bool is_slurm) {
    const auto at = past_.find({holding.cluster.text(), holding.workload.text()});
    if (at == past_.end()) return;
    PastWorkload& past = at->second;
    past.is_slurm = is_slurm;
    if (past.name.empty()) {
      past.name = holding.workload.text();
      const auto job = holding.labels.find("job_name");
      if (is_slurm && job) past.name = std::string(*job);
    }
    // Of a run over the end of a month the part in each; of several kinds of devices, the first.
    const auto inside = holding.held.overlap(month);
    const std::string attempt(holding.attempt.substr(0, holding.attempt.find('/')));
    const std::string in_month = fmt::format("{} {}", to_text(month.begin()), attempt);
    const auto [run, is_new] = past.gpus_of_attempt.try_emplace(in_month, 0);
    if (is_new && inside) past.ran_ms += inside->length_ms();
    run->second += device_count(holding);
    if (!holding.gpu_model.empty()) past.model = find_gpu_model(holding.gpu_model);
  }

  const SimilarQuery& query_;
  Store& store_;
  std::map<LedgerKey, PastWorkload> past_;
};

std::string likeness_text(Likeness likeness, const std::string& by) {
  switch (likeness) {
    case Likeness::kName:
      return "same name";
    case Likeness::kOwnerAndGpus:
      return fmt::format("same {}, GPUs and model", by);
    case Likeness::kGpus:
      return "same GPUs and model";
    case Likeness::kNone:
      return "none";
  }
  return "";
}

}  // namespace

std::vector<std::string> last_months(std::span<const std::string> months, std::string_view month,
                                     std::size_t count) {
  std::vector<std::string> chosen;
  for (const std::string& one : months) {
    if (one <= month) chosen.push_back(one);
  }
  std::ranges::sort(chosen);
  if (chosen.size() > count) {
    chosen.erase(chosen.begin(), chosen.end() - static_cast<std::ptrdiff_t>(count));
  }
  return chosen;
}

Result<std::vector<SimilarWorkloads>> find_similar_workloads(
    std::span<const WorkloadEstimate> planned, const SimilarQuery& query, const Policy& policy,
    Store& store) {
  PastWorkloads past(query, store);
  if (!query.months.empty()) TRY(past.read());
  std::vector<SimilarWorkloads> found;
  for (const WorkloadEstimate& one : planned) {
    found.push_back(past.like(shape_of(one, query.by, policy)));
    found.back().workload = guardrails::workload_title(one.workload);
  }
  return found;
}

Table similar_table(std::span<const SimilarWorkloads> found, const SimilarQuery& query) {
  Table table;
  table.title = "What similar workloads really cost";
  table.currency = query.currency;
  table.columns = {
      {"workload", "workload", ColumnKind::kText},  {"owner", query.by, ColumnKind::kText},
      {"likeness", "alike by", ColumnKind::kText},  {"similar", "workloads", ColumnKind::kCount},
      {"cost_p50", "cost p50", ColumnKind::kMoney}, {"cost_p90", "cost p90", ColumnKind::kMoney},
      {"hours_p50", "hours p50", ColumnKind::kText}};
  for (const SimilarWorkloads& one : found) {
    const auto money = [](const std::optional<Money>& amount) {
      return amount ? Cell(*amount) : Cell();
    };
    // Hours with one digit, exact in integers.
    const std::uint64_t tenths = (one.ran_ms_p50 + 180'000) / 360'000;
    table.rows.push_back({one.workload, one.owner, likeness_text(one.likeness, query.by), one.count,
                          money(one.cost_p50), money(one.cost_p90),
                          one.count > 0 ? fmt::format("{}.{}", tenths / 10, tenths % 10) : ""});
  }
  if (query.months.empty()) {
    table.notes.emplace_back("the ledger has no month with costs");
  } else {
    table.notes.push_back(fmt::format(
        "costs of {} to {} in {}; each workload with all that it cost then, and none that is "
        "charged in another currency",
        query.months.front(), query.months.back(), query.currency.text()));
  }
  return table;
}

}  // namespace pennyweight
