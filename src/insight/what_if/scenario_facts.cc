#include "insight/what_if/scenario_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::what_if {
namespace {

Money percent_of(Money money, std::uint32_t percent) {
  const bool negative = money.is_negative();
  const auto size = static_cast<UInt128>(negative ? -money.ticks() : money.ticks());
  const auto part = static_cast<Int128>(multiply_divide(size, percent, 100).quotient);
  return Money::from_ticks(negative ? -part : part, money.currency());
}

std::string in_words(const FleetChange& change) {
  std::string words = "nodes";
  if (!change.gpu_model.empty()) words += fmt::format(" with {}", change.gpu_model);
  if (!change.pool.empty()) words += fmt::format(" of pool {}", change.pool);
  return words;
}

class FleetChanger {
 public:
  FleetChanger(const ClusterMonth& month, const Scenario& scenario)
      : month_(month),
        scenario_(scenario),
        fleet_(month.nodes, month.gpus, month.catalog, month.join_rules) {
    facts_.nodes.assign(month.nodes.begin(), month.nodes.end());
    facts_.gpus.assign(month.gpus.begin(), month.gpus.end());
    facts_.holdings.assign(month.holdings.begin(), month.holdings.end());
  }

  Result<ScenarioFacts> make() {
    price_charges();
    for (std::size_t i = 0; i < scenario_.prices.size(); ++i) {
      if (used_prices_.contains(i)) continue;
      const std::string& model = scenario_.prices[i].gpu_model;
      return fail(ErrorCode::kConfig,
                  fmt::format("no charge of cluster {} is for nodes{}, so their price changes "
                              "nothing",
                              month_.cluster.text(), model.empty() ? "" : " with " + model));
    }
    for (std::size_t i = 0; i < month_.charges.size(); ++i) {
      const auto nodes = fleet_.nodes_of(month_.charges[i]);
      if (nodes.size() > 1) charged_together_.insert(nodes.begin(), nodes.end());
      if (nodes.size() == 1) charges_of_node_[nodes.front()].push_back(i);
    }
    for (const FleetChange& change : scenario_.fleet) TRY(apply(change));
    std::vector<Charge> kept;
    for (std::size_t i = 0; i < priced_.size(); ++i) {
      if (!dropped_charges_.contains(i)) kept.push_back(priced_[i]);
    }
    kept.insert(kept.end(), added_charges_.begin(), added_charges_.end());
    facts_.charges = std::move(kept);
    return std::move(facts_);
  }

 private:
  void price_charges() {
    priced_.assign(month_.charges.begin(), month_.charges.end());
    for (Charge& charge : priced_) {
      const auto nodes = fleet_.nodes_of(charge);
      if (nodes.empty()) continue;
      const NodeView& node = fleet_.nodes()[nodes.front()];
      for (std::size_t i = 0; i < scenario_.prices.size(); ++i) {
        const PriceChange& change = scenario_.prices[i];
        if (!change.gpu_model.empty() && find_gpu_model(change.gpu_model) != node.model) continue;
        used_prices_.insert(i);
        for (Money Costs::* cost :
             {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
          charge.costs.*cost = percent_of(charge.costs.*cost, change.percent);
        }
      }
    }
  }

  bool selects(const FleetChange& change, std::uint32_t index) const {
    const NodeView& view = fleet_.nodes()[index];
    if (!change.pool.empty() && view.facts.front()->pool.text() != change.pool) return false;
    return change.gpu_model.empty() ||
           (view.model != nullptr && find_gpu_model(change.gpu_model) == view.model);
  }

  Result<void> apply(const FleetChange& change) {
    std::vector<std::uint32_t> selected;
    for (std::uint32_t i = 0; i < fleet_.nodes().size(); ++i) {
      if (selects(change, i) && !removed_.contains(i)) selected.push_back(i);
    }
    const std::uint64_t wanted =
        change.nodes < 0 ? static_cast<std::uint64_t>(-change.nodes) : std::uint64_t{1};
    if (selected.size() < wanted) {
      return fail(ErrorCode::kConfig,
                  fmt::format("{} {} can't be removed or copied: cluster {} has {}", wanted,
                              in_words(change), month_.cluster.text(), selected.size()));
    }
    if (change.nodes < 0) {
      for (std::uint64_t n = 0; n < wanted; ++n) {
        TRY(remove(selected[selected.size() - 1 - n]));
      }
      return {};
    }
    for (std::int64_t n = 0; n < change.nodes; ++n) TRY(add_copy(selected.front()));
    return {};
  }

  Result<void> check_own_price(std::uint32_t index) const {
    if (!charged_together_.contains(index)) return {};
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("node {} is charged together with others as pool {}, so its own price "
                    "is not known; import a bill by node",
                    fleet_.any_fact(index).name.text(), fleet_.any_fact(index).pool.text()));
  }

  Result<void> remove(std::uint32_t index) {
    TRY(check_own_price(index));
    removed_.insert(index);
    const NodeId name = fleet_.any_fact(index).name;
    std::erase_if(facts_.nodes, [&](const Node& node) { return node.name == name; });
    std::erase_if(facts_.gpus, [&](const Gpu& gpu) { return gpu.node == name; });
    for (const std::size_t charge : charges_of_node_[index]) dropped_charges_.insert(charge);
    return {};
  }

  Result<void> add_copy(std::uint32_t index) {
    TRY(check_own_price(index));
    ++copies_;
    const Node& original = fleet_.any_fact(index);
    const std::string suffix = fmt::format("~{}", copies_);
    const auto renamed = [&](const std::string& text) {
      return text.empty() ? text : text + suffix;
    };
    for (const Node* fact : fleet_.nodes()[index].facts) {
      Node copy = *fact;
      copy.name = NodeId(fact->name.text() + suffix);
      copy.provider_id = renamed(fact->provider_id);
      copy.id = numbered(fact->id.hash, copies_);
      facts_.nodes.push_back(std::move(copy));
    }
    for (const Gpu& gpu : month_.gpus) {
      if (gpu.node != original.name) continue;
      Gpu copy = gpu;
      copy.node = NodeId(gpu.node.text() + suffix);
      copy.uuid = GpuId(gpu.uuid.text() + suffix);
      for (MigInstance& instance : copy.mig_instances) {
        instance.id = GpuId(instance.id.text() + suffix);
      }
      copy.id = numbered(gpu.id.hash, copies_);
      facts_.gpus.push_back(std::move(copy));
    }
    for (const std::size_t at : charges_of_node_[index]) {
      Charge copy = priced_[at];
      copy.resource_id = renamed(copy.resource_id);
      copy.resource_name = renamed(copy.resource_name);
      copy.id = numbered(copy.id.hash, copies_);
      added_charges_.push_back(std::move(copy));
    }
    return {};
  }

  const ClusterMonth& month_;
  const Scenario& scenario_;
  FleetView fleet_;
  std::set<std::size_t> used_prices_;
  std::set<std::uint32_t> charged_together_;
  std::map<std::uint32_t, std::vector<std::size_t>> charges_of_node_;
  std::set<std::uint32_t> removed_;
  std::set<std::size_t> dropped_charges_;
  std::vector<Charge> priced_;
  std::vector<Charge> added_charges_;
  std::uint64_t copies_ = 0;
  ScenarioFacts facts_;
};

}  // namespace

Result<ScenarioFacts> change_fleet(const ClusterMonth& month, const Scenario& scenario) {
  return FleetChanger(month, scenario).make();
}

void change_demand(ReplayWorld& world, const Scenario& scenario) {
  for (const DemandChange& change : scenario.demand) {
    std::vector<replay::Job> jobs;
    std::vector<JobOrigin> origins;
    std::uint32_t owed = 0;  // percent of a job
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      std::uint32_t copies = 1;
      if (change.team.empty() || world.jobs[i].team == change.team) {
        owed += change.percent;
        copies = owed / 100;
        owed %= 100;
      }
      for (std::uint32_t n = 0; n < copies; ++n) {
        replay::Job job = world.jobs[i];
        if (n > 0) job.name += fmt::format("~{}", n + 1);
        jobs.push_back(std::move(job));
        origins.push_back(world.origins[i]);
      }
    }
    world.jobs = std::move(jobs);
    world.origins = std::move(origins);
  }
}

namespace {

// The share of a profile on every model that the job may run on; nothing where one lacks it, or
// they differ.
std::optional<MigShare> slice_of(const replay::Job& job, const std::string& profile,
                                 const std::vector<const GpuModel*>& models) {
  std::optional<MigShare> share;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (job.request.models != 0 && ((job.request.models >> i) & 1) == 0) continue;
    if (models[i] == nullptr) return std::nullopt;
    const auto found = find_mig_share(*models[i], profile);
    if (!found) return std::nullopt;
    if (share && (share->compute != found->compute || share->memory != found->memory)) {
      return std::nullopt;
    }
    share = *found;
  }
  return share;
}

// Rounded down, so that seven sevenths fit one GPU.
std::uint32_t milli_of_slice(const MigShare& share) {
  const std::uint64_t units = std::max(share.compute, share.memory).units();
  return static_cast<std::uint32_t>(UInt128{units} * replay::kMilliPerGpu /
                                    CardShare::kUnitsPerCard);
}

}  // namespace

Result<std::vector<std::optional<MigShare>>> change_slices(ReplayWorld& world,
                                                           const FleetView& fleet,
                                                           const Scenario& scenario) {
  std::vector<std::optional<MigShare>> slices(world.jobs.size());
  std::vector<const GpuModel*> models;  // by the world's number
  for (std::size_t i = 0; i < world.machines.size(); ++i) {
    const std::uint32_t number = world.machines[i].model;
    if (models.size() <= number) models.resize(number + 1, nullptr);
    models[number] = fleet.nodes()[world.node_of_machine[i]].model;
  }
  for (const SliceChange& change : scenario.slices) {
    bool changes_any = false;
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      replay::Job& job = world.jobs[i];
      if (job.request.gpus != 1 || (!change.team.empty() && job.team != change.team)) continue;
      const auto share = slice_of(job, change.profile, models);
      if (!share || milli_of_slice(*share) >= replay::kMilliPerGpu) continue;
      slices[i] = share;
      job.request.gpus = 0;
      job.request.gpu_milli = milli_of_slice(*share);
      // Work of a month in microseconds times 10,000 % is far from the limit.
      job.work_us = job.work_us * change.time_percent / 100;
      changes_any = true;
    }
    if (changes_any) continue;
    return fail(ErrorCode::kConfig,
                fmt::format("no job{} holds one whole GPU of a model that can be cut into '{}', so "
                            "this slice changes nothing",
                            change.team.empty() ? "" : " of " + change.team, change.profile));
  }
  return slices;
}

}  // namespace pennyweight::what_if
