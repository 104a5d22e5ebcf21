#include "app/checkup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "allocate/allocate.h"
#include "app/price_files.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

std::string number(std::uint64_t count) { return format_count(count, Thousands::kSeparated); }

Finding facts_found(const StoreOverview& overview) {
  const bool empty = overview.charges + overview.holdings + overview.nodes == 0;
  return {empty ? Verdict::kNote : Verdict::kFine, "facts",
          fmt::format("{} bill lines, {} holdings, {} nodes, {} GPUs, {} usage samples, "
                      "{} outages, {} corrections, {} outcomes",
                      number(overview.charges), number(overview.holdings), number(overview.nodes),
                      number(overview.gpus), number(overview.usages), number(overview.outages),
                      number(overview.corrections), number(overview.outcomes)),
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
                            const std::vector<Run>& runs, const std::vector<ImportRecord>& imports,
                            const std::vector<Closing>& closings) {
  std::uint64_t lines = 0;
  std::set<ClusterId> clusters;
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> charges) {
    lines += charges.size();
    for (const ClusterId& cluster : cluster_of_charges(charges, nodes, config.join_rules)) {
      clusters.insert(cluster);
    }
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());

  // What comes later is booked in the next open month, so there is nothing to do for it.
  const auto closing = std::ranges::find(closings, month, &Closing::month);
  if (closing != closings.end()) {
    return Finding{Verdict::kFine, "month " + month,
                   fmt::format("{} bill lines, closed by {} on {}", number(lines), closing->by,
                               to_text(closing->at).substr(0, 10)),
                   ""};
  }

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

  const auto closings = store.closings();
  if (!closings) return std::unexpected(closings.error());

  std::vector<Finding> findings = {facts_found(*overview), imports_found(*imports)};
  for (Finding& finding : clusters_found(config, *overview, *nodes)) {
    findings.push_back(std::move(finding));
  }
  for (const std::string& month : overview->months) {
    auto finding = month_found(store, month, config, catalog, *nodes, *runs, *imports, *closings);
    if (!finding) return std::unexpected(finding.error());
    findings.push_back(std::move(*finding));
  }
  return findings;
}

std::vector<Finding> check_pricing(const Config& config) {
  std::vector<Finding> findings;
  const auto look = [&](const std::string& path, const char* key, auto load, auto tell) {
    if (path.empty()) return;
    const auto loaded = load(path);
    findings.push_back(loaded ? Finding{Verdict::kFine, key, path + ": " + tell(*loaded), ""}
                              : Finding{Verdict::kWrong, key, loaded.error().message,
                                        fmt::format("mend the file or {}", key)});
  };
  look(config.rate_card_file, "prices.rate_card", load_rate_card,
       [](const RateCard& card) { return fmt::format("{} prices", number(card.rates().size())); });
  look(config.owned_file, "prices.owned", load_owned_assets,
       [](const std::vector<OwnedAsset>& assets) {
         return fmt::format("{} machines", number(assets.size()));
       });
  look(config.energy_file, "prices.energy", load_energy, [](const EnergyByDay& energy) {
    return fmt::format("{} days of nodes", number(energy.size()));
  });
  look(config.currencies.rates_file, "currencies.rates", load_exchange_rates,
       [](const ExchangeRates& rates) {
         if (rates.rates().empty()) return std::string("no rate");
         const auto last = std::ranges::max(rates.rates(), {}, &ExchangeRate::date);
         return fmt::format("{} rates, the last of {}", number(rates.rates().size()),
                            to_text(last.date));
       });
  if (config.currencies.report && config.currencies.rates_file.empty()) {
    findings.push_back({Verdict::kNote, "currencies.report",
                        fmt::format("{}, and no exchange rates", config.currencies.report->text()),
                        "set currencies.rates"});
  }
  if (!config.join_rules.empty()) {
    findings.push_back(
        {Verdict::kFine, "join",
         fmt::format("{} rules find nodes in bills' own words", number(config.join_rules.size())),
         ""});
  }
  for (const BillConfig& bill : config.bills) {
    const auto delivery = bill.delivery.value_or(DeliveryStyle::kGuarded);
    std::string text = fmt::format("delivered as {}", to_text(delivery));
    if (!bill.azure_metric.empty()) text += ", metric " + bill.azure_metric;
    findings.push_back({Verdict::kFine, "bills of " + bill.format, text, ""});
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
