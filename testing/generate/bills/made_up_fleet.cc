#include "testing/generate/bills/made_up_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "testing/generate/random.h"

namespace pennyweight::bills {
namespace {

constexpr std::size_t kTypesMax = 4;

std::string_view region_of(std::string_view provider) {
  if (provider == "aws") return "us-east-1";
  if (provider == "gcp") return "us-central1";
  if (provider == "azure") return "eastus";
  return "";
}

// Large machines first: those with eight GPUs, then four, and so on.
std::vector<std::string> types_of(const MadeUpFleet& fleet, const Catalog& catalog) {
  std::vector<std::pair<std::uint32_t, std::string>> found;
  for (const InstanceType& type : catalog.instance_types()) {
    if (type.provider != fleet.provider || type.gpu_count == 0) continue;
    const auto rate = catalog.find_rate({.instance_type = type.name,
                                         .region = std::string(region_of(fleet.provider)),
                                         .option = PurchaseOption::kOnDemand,
                                         .at = fleet.prices_at});
    if (rate) found.emplace_back(type.gpu_count, type.name);
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> types;
  for (const auto& [gpus, name] : found) {
    if (types.size() == kTypesMax) break;
    types.push_back(name);
  }
  return types;
}

std::string provider_id(const MadeUpFleet& fleet, std::string_view cluster, std::string_view name) {
  const std::string hash = pennyweight::to_text(
      Fingerprint().add(static_cast<std::int64_t>(fleet.seed)).add(cluster).add(name).hash());
  if (fleet.provider == "aws") {
    return fmt::format("aws:///us-east-1a/i-{}", hash.substr(0, 17));
  }
  if (fleet.provider == "gcp") {
    return fmt::format("gce://generated-{}/us-central1-a/{}", cluster, name);
  }
  if (fleet.provider == "azure") {
    return fmt::format(
        "azure:///subscriptions/{}-{}-{}-{}-{}/resourceGroups/rg-{}/providers/Microsoft.Compute/"
        "virtualMachines/{}",
        hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 4), hash.substr(16, 4),
        hash.substr(20), cluster, name);
  }
  if (fleet.provider == "oci") return fmt::format("ocid1.instance.oc1.iad.{}", hash);
  return "";
}

}  // namespace

Result<std::vector<Node>> made_up_fleet(const MadeUpFleet& fleet, const Catalog& catalog) {
  const std::vector<std::string> types = types_of(fleet, catalog);
  if (types.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no GPU machine of provider '{}' has a price at {}; take prices of a "
                            "later day",
                            fleet.provider, pennyweight::to_text(fleet.prices_at)));
  }
  std::vector<Node> nodes;
  nodes.reserve(fleet.nodes);
  const std::uint32_t clusters = std::max<std::uint32_t>(1, fleet.clusters);
  for (std::uint32_t i = 0; i < fleet.nodes; ++i) {
    const std::string cluster = fmt::format("cluster-{}", i % clusters + 1);
    const std::string name = fmt::format("node-{:06}", i + 1);
    Random random(fleet.seed, name);
    const std::string& type = types[random.between(0, types.size() - 1)];
    const InstanceType* known = catalog.find_instance_type(type);
    nodes.push_back({.cluster = ClusterId(cluster),
                     .name = NodeId(name),
                     .provider_id = provider_id(fleet, cluster, name),
                     .instance_type = type,
                     .region = std::string(region_of(fleet.provider)),
                     .pool = PoolId("gpu"),
                     .gpu_model = known->gpu_model,
                     .gpu_count = known->gpu_count,
                     .cpu_milli = known->cpu_milli,
                     .memory_bytes = known->memory_bytes,
                     .from = fleet.from,
                     .to = {},
                     .id = {},
                     .source = {}});
  }
  return nodes;
}

}  // namespace pennyweight::bills
