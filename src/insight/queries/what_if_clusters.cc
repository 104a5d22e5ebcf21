#include "insight/queries/what_if_clusters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/ascii.h"
#include "core/try.h"

namespace pennyweight {
namespace {

// Each name is of one cluster.
class ClusterNames {
 public:
  explicit ClusterNames(std::string_view what) : what_(what) {}

  Result<void> add(const std::string& name, const ClusterId& cluster) {
    const auto [owner, is_new] = clusters_.try_emplace(name, cluster);
    if (owner->second == cluster) return {};
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} {} is in clusters {} and {}, so which of them a job ran on is not "
                            "known; give one of them another name in its inventory, or name other "
                            "clusters with --cluster",
                            what_, name, owner->second.text(), cluster.text()));
  }

 private:
  std::string_view what_;
  std::map<std::string, ClusterId, std::less<>> clusters_;
};

// Names of workloads that several clusters have.
std::set<std::string> shared_workloads(const std::vector<ClusterFacts>& facts) {
  std::map<std::string, ClusterId> first;
  std::set<std::string> shared;
  for (const ClusterFacts& of : facts) {
    for (const Holding& holding : of.holdings) {
      const auto [owner, is_new] = first.try_emplace(holding.workload.text(), holding.cluster);
      if (owner->second != holding.cluster) shared.insert(holding.workload.text());
    }
  }
  return shared;
}

std::set<std::string> workload_names(const std::vector<ClusterFacts>& facts) {
  std::set<std::string> names;
  for (const ClusterFacts& of : facts) {
    for (const Holding& holding : of.holdings) names.insert(holding.workload.text());
  }
  return names;
}

// "east/train", or with a further "east/" in front where a workload is called that already. Names
// that begin with different clusters, or are longer by as much, stay apart.
std::string name_in_cluster(const ClusterId& cluster, const std::string& workload,
                            const std::set<std::string>& taken) {
  std::string name = workload;
  do {
    name = fmt::format("{}/{}", cluster.text(), name);
  } while (taken.contains(name));
  return name;
}

template <class Fact>
void move_all(std::vector<Fact>& from, std::vector<Fact>& to) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

Result<std::vector<ClusterId>> choose_replayed_clusters(const std::string& wanted,
                                                        const LedgerMonth& month) {
  std::set<ClusterId> there;
  std::vector<std::string> names;
  for (const ClusterId& id : month.clusters()) {
    if (id.empty() || month.charges(id).empty()) continue;
    there.insert(id);
    names.push_back(id.text());
  }
  std::set<ClusterId> chosen;
  std::string_view rest = wanted;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const ClusterId cluster{std::string(ascii::trim(rest.substr(0, comma)))};
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    if (!there.contains(cluster)) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("there is no cluster '{}'; the clusters of {} are {}", cluster.text(),
                              month.name(), fmt::join(names, ", ")));
    }
    chosen.insert(cluster);
  }
  if (wanted.empty()) chosen = there;
  if (chosen.size() == 1 && there.size() > 1) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("'{}' is one cluster, and jobs spill over from one to another; name two "
                    "or more of {}, or none for all of them",
                    wanted, fmt::join(names, ", ")));
  }
  if (chosen.size() > 1) return std::vector<ClusterId>(chosen.begin(), chosen.end());
  return fail(ErrorCode::kConfig,
              fmt::format("{} has charges of one cluster{}, so spilling over to another changes "
                          "nothing",
                          month.name(), names.empty() ? "" : ", " + names.front()));
}

Result<ClusterFacts> merge_clusters(const std::vector<ClusterId>& clusters,
                                    std::vector<ClusterFacts> facts) {
  ClusterNames nodes("node");
  ClusterNames gpus("GPU");
  const std::set<std::string> shared = shared_workloads(facts);
  const std::set<std::string> taken = workload_names(facts);
  ClusterFacts all;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    ClusterFacts& of = facts[i];
    for (const Node& node : of.nodes) TRY(nodes.add(node.name.text(), clusters[i]));
    for (const Gpu& gpu : of.gpus) TRY(gpus.add(gpu.uuid.text(), clusters[i]));
    for (Holding& holding : of.holdings) {
      if (!shared.contains(holding.workload.text())) continue;
      holding.workload = WorkloadId(name_in_cluster(clusters[i], holding.workload.text(), taken));
    }
    move_all(of.charges, all.charges);
    move_all(of.nodes, all.nodes);
    move_all(of.gpus, all.gpus);
    move_all(of.holdings, all.holdings);
    move_all(of.outages, all.outages);
    move_all(of.corrections, all.corrections);
  }
  return all;
}

}  // namespace pennyweight
