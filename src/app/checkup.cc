#include "app/checkup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "allocate/allocate.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

std::string number(std::uint64_t count) { return format_count(count, Thousands::kSeparated); }

Finding facts_found(const StoreOverview& overview) {
  const bool empty = overview.charges + overview.holdings + overview.nodes == 0;
  return {empty ? Verdict::kNote : Verdict::kFine, "facts",
          fmt::format("{} bill lines, {} holdings, {} nodes, {} GPUs, {} usage samples, "
                      "{} outages, {} corrections",
                      number(overview.charges), number(overview.holdings), number(overview.nodes),
                      number(overview.gpus), number(overview.usages), number(overview.outages),
                      number(overview.corrections)),
          empty ? "import a bill, an inventory and job or pod records" : ""};
}

Finding imports_found(const std::vector<ImportRecord>& imports) {
  std::uint64_t rejected = 0;
  std::string worst;
  std::uint64_t worst_count = 0;
  for (const ImportRecord& import : imports) {
    rejected += import.rejected;
    if (import.rejected > worst_count) {
      worst_count = import.rejected;
      worst = import.source.name;
    }
  }
  if (rejected == 0)
    return {Verdict::kFine, "imports", number(imports.size()) + ", no row kept aside", ""};
  return {Verdict::kNote, "imports",
          fmt::format("{}, {} rows kept aside, most of {} ({})", number(imports.size()),
                      number(rejected), worst, number(worst_count)),
          "'pennyweight reconcile' lists them with their reasons"};
}

// Clusters whose jobs hold something that no inventory has.
std::vector<Finding> clusters_found(const Config& config, const StoreOverview& overview,
                                    const std::vector<Node>& nodes) {
  std::vector<Finding> findings;
  std::map<std::string, std::uint64_t> node_counts;
  for (const Node& node : nodes) ++node_counts[node.cluster.text()];
  std::set<std::string> names(overview.clusters.begin(), overview.clusters.end());
  for (const ClusterConfig& cluster : config.clusters) names.insert(cluster.name.text());
  for (const std::string& name : names) {
    const bool known = std::find(overview.clusters.begin(), overview.clusters.end(), name) !=
                       overview.clusters.end();
    const std::uint64_t count = node_counts[name];
    if (!known) {
      findings.push_back({Verdict::kNote, "cluster " + name,
                          "configured, and nothing imported of it",
                          "import its records with --cluster " + name});
    } else if (count == 0) {
      findings.push_back({Verdict::kWrong, "cluster " + name, "holdings and no nodes",
                          "import its inventory, so that bill lines find it"});
    } else {
      findings.push_back({Verdict::kFine, "cluster " + name, number(count) + " nodes", ""});
    }
  }
  return findings;
}

Result<Finding> month_found(Store& store, const std::string& month, const Config& config,
                            const Catalog& catalog, const std::vector<Node>& nodes,
                            const std::vector<Run>& runs,
                            const std::vector<ImportRecord>& imports) {
  std::uint64_t lines = 0;
  std::set<ClusterId> clusters;
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> charges) {
    lines += charges.size();
    for (const ClusterId& cluster : cluster_of_charges(charges, nodes)) clusters.insert(cluster);
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());

  const std::string allocate = "'pennyweight allocate --month " + month + "'";
  bool stale = false;
  bool other_rules = false;
  for (const ClusterId& cluster : clusters) {
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const Run& candidate) {
      return candidate.current && candidate.scope == Scope{cluster, month};
    });
    if (run == runs.end()) {
      return Finding{
          Verdict::kWrong, "month " + month,
          fmt::format("{} bill lines, '{}' never allocated", number(lines), cluster.text()),
          allocate};
    }
    other_rules = other_rules || run->policy_version != config.policy.version() ||
                  run->catalog_version != catalog.version();
    for (const ImportRecord& import : imports) {
      const bool brought = import.charges + import.holdings + import.nodes + import.gpus +
                               import.usages + import.outages + import.corrections >
                           0;
      stale = stale || (brought && import.source.at > run->at);
    }
  }
  if (stale) {
    return Finding{Verdict::kNote, "month " + month,
                   number(lines) + " bill lines, facts imported since the allocation", allocate};
  }
  if (other_rules) {
    return Finding{Verdict::kNote, "month " + month,
                   number(lines) + " bill lines, allocated by other rules or prices than today's",
                   allocate};
  }
  return Finding{Verdict::kFine, "month " + month,
                 fmt::format("{} bill lines, allocated in {} clusters", number(lines),
                             number(clusters.size())),
                 ""};
}

}  // namespace

Result<std::vector<Finding>> check_ledger(Store& store, const Config& config,
                                          const Catalog& catalog) {
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  const auto imports = store.imports();
  if (!imports) return std::unexpected(imports.error());
  const auto nodes = store.nodes();
  if (!nodes) return std::unexpected(nodes.error());
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());

  std::vector<Finding> findings = {facts_found(*overview), imports_found(*imports)};
  for (Finding& finding : clusters_found(config, *overview, *nodes)) {
    findings.push_back(std::move(finding));
  }
  for (const std::string& month : overview->months) {
    auto finding = month_found(store, month, config, catalog, *nodes, *runs, *imports);
    if (!finding) return std::unexpected(finding.error());
    findings.push_back(std::move(*finding));
  }
  return findings;
}

Finding check_catalog(const Catalog& catalog) {
  if (catalog.rates().empty()) {
    return {Verdict::kWrong, "prices", "no list price", "the program was built without its lists"};
  }
  Instant first = catalog.rates().front().from;
  Instant last = first;
  for (const Rate& rate : catalog.rates()) {
    first = std::min(first, rate.from);
    last = std::max(last, rate.from);
  }
  return {Verdict::kFine, "prices",
          fmt::format("{} list prices of {} instance types, {} to {}, version {}",
                      number(catalog.rates().size()), number(catalog.instance_types().size()),
                      to_text(first).substr(0, 10), to_text(last).substr(0, 10),
                      to_text(catalog.version()).substr(0, 12)),
          ""};
}

Finding check_time_zones(const Config& config) {
  // Any zone that moves its clocks shows whether the system's database can be read.
  const auto probe = TimeZone::parse("America/Los_Angeles");
  if (!probe) {
    return {Verdict::kWrong, "time zones", probe.error().message, "install the package tzdata"};
  }
  return {Verdict::kFine, "time zones", "days are cut in " + config.policy.time_zone.name(), ""};
}

}  // namespace pennyweight
