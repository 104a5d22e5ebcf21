#include "app/cli/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "allocation/allocate.h"
#include "app/context/price_files.h"
#include "app/daemon/serve_audit_log.h"
#include "core/try.h"
#include "ingest/bills/formats/bill_formats.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

std::string number(std::uint64_t count) { return format_count(count, Thousands::kSeparated); }

Finding describe_facts(const StoreOverview& overview) {
  const bool empty = overview.charges + overview.holdings + overview.nodes == 0;
  return {
      empty ? FindingLevel::kNote : FindingLevel::kOk, "facts",
      fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", counted(overview.charges, "bill line"),
                  counted(overview.holdings, "holding"), counted(overview.nodes, "node"),
                  counted(overview.gpus, "GPU"), counted(overview.usages, "usage sample"),
                  counted(overview.outages, "outage"), counted(overview.corrections, "correction"),
                  counted(overview.outcomes, "outcome")),
      empty ? "import a bill, an inventory and job or pod records" : ""};
}

Finding describe_imports(const std::vector<ImportRecord>& imports) {
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
    return {FindingLevel::kOk, "imports", number(imports.size()) + ", no row set aside", ""};
  return {FindingLevel::kNote, "imports",
          fmt::format("{}, {} set aside, most of {} ({})", number(imports.size()),
                      counted(rejected, "row"), worst, number(worst_count)),
          "'pennyweight reconcile' lists them with their reasons"};
}

// Checks that each cluster with holdings has nodes.
std::vector<Finding> check_clusters(const Config& config, const StoreOverview& overview,
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
      findings.push_back({FindingLevel::kNote, "cluster " + name,
                          "configured, but nothing is imported for it",
                          "import its records with --cluster " + name});
    } else if (count == 0) {
      findings.push_back({FindingLevel::kProblem, "cluster " + name, "holdings, but no nodes",
                          "import its inventory, so that bill lines can join its nodes"});
    } else {
      findings.push_back({FindingLevel::kOk, "cluster " + name, counted(count, "node"), ""});
    }
  }
  return findings;
}

Result<Finding> check_month_allocation(Store& store, const std::string& month, const Config& config,
                                       const Catalog& catalog, const std::vector<Node>& nodes,
                                       const std::vector<Run>& runs,
                                       const std::vector<ImportRecord>& imports,
                                       const std::vector<Closing>& closings) {
  std::uint64_t lines = 0;
  std::set<ClusterId> clusters;
  TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
    lines += charges.size();
    for (const ClusterId& cluster : assign_clusters(charges, nodes, config.join_rules)) {
      clusters.insert(cluster);
    }
    return true;
  }));

  // Later changes are booked in the next open month, so nothing is left to do for a closed one.
  const auto closing = std::ranges::find(closings, month, &Closing::month);
  if (closing != closings.end()) {
    return Finding{FindingLevel::kOk, "month " + month,
                   fmt::format("{}, closed by {} on {}", counted(lines, "bill line"), closing->by,
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
          FindingLevel::kProblem, "month " + month,
          fmt::format("{}, '{}' never allocated", counted(lines, "bill line"), cluster.text()),
          allocate};
    }
    other_rules = other_rules || run->policy_version != config.policy.version() ||
                  run->catalog_version != catalog.version();
    for (const ImportRecord& import : imports) {
      const bool brought = import.charges + import.holdings + import.nodes + import.gpus +
                               import.usages + import.outages + import.corrections >
                           0;
      // `serve` settles what it brings itself; most of it is of today, which is in no month yet.
      const bool is_live = import.source.format == kLiveFormat;
      stale = stale || (brought && !is_live && import.source.at > run->at);
    }
  }
  if (stale) {
    return Finding{FindingLevel::kNote, "month " + month,
                   counted(lines, "bill line") + ", facts imported since the allocation", allocate};
  }
  if (other_rules) {
    return Finding{
        FindingLevel::kNote, "month " + month,
        counted(lines, "bill line") + ", allocated by other rules or prices than today's",
        allocate};
  }
  return Finding{FindingLevel::kOk, "month " + month,
                 fmt::format("{}, allocated in {}", counted(lines, "bill line"),
                             counted(clusters.size(), "cluster")),
                 ""};
}

}  // namespace

Result<std::vector<Finding>> check_ledger(Store& store, const Config& config,
                                          const Catalog& catalog) {
  const auto overview = TRY(store.overview());
  const auto imports = TRY(store.imports());
  const auto nodes = TRY(store.nodes());
  const auto runs = TRY(store.runs());

  const auto closings = TRY(store.closings());

  std::vector<Finding> findings = {describe_facts(overview), describe_imports(imports)};
  for (Finding& finding : check_clusters(config, overview, nodes)) {
    findings.push_back(std::move(finding));
  }
  for (const std::string& month : overview.months) {
    auto finding =
        TRY(check_month_allocation(store, month, config, catalog, nodes, runs, imports, closings));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> check_pricing(const Config& config) {
  std::vector<Finding> findings;
  const auto check_file = [&](const std::string& path, const char* key, auto load, auto describe) {
    if (path.empty()) return;
    const auto loaded = load(path);
    findings.push_back(loaded ? Finding{FindingLevel::kOk, key, path + ": " + describe(*loaded), ""}
                              : Finding{FindingLevel::kProblem, key, loaded.error().message,
                                        fmt::format("correct the file or {}", key)});
  };
  check_file(config.rate_card_file, "prices.rate_card", load_rate_card,
             [](const RateCard& card) { return counted(card.rates().size(), "price"); });
  check_file(
      config.owned_file, "prices.owned", load_owned_assets,
      [](const std::vector<OwnedAsset>& assets) { return counted(assets.size(), "machine"); });
  check_file(config.energy_file, "prices.energy", load_energy,
             [](const EnergyByDay& energy) { return counted(energy.size(), "node day"); });
  check_file(config.currencies.rates_file, "currencies.rates", load_exchange_rates,
             [](const ExchangeRates& rates) {
               if (rates.rates().empty()) return std::string("no rate");
               const auto last = std::ranges::max(rates.rates(), {}, &ExchangeRate::date);
               return fmt::format("{}, the last of {}", counted(rates.rates().size(), "rate"),
                                  to_text(last.date));
             });
  if (config.currencies.report && config.currencies.rates_file.empty()) {
    findings.push_back({FindingLevel::kNote, "currencies.report",
                        fmt::format("{}, but no exchange rates", config.currencies.report->text()),
                        "set currencies.rates"});
  }
  if (!config.join_rules.empty()) {
    findings.push_back(
        {FindingLevel::kOk, "join",
         counted(config.join_rules.size(), "rule") + " to find nodes by labels of the bill", ""});
  }
  for (const BillConfig& bill : config.bills) {
    const bill::BillFormat* format = bill::find_bill_format(bill.format);
    const auto delivery = bill.delivery.value_or(format->default_delivery);
    std::string text = fmt::format("delivered as {}", to_text(delivery));
    for (const auto& [key, value] : bill.options) text += fmt::format(", {} {}", key, value);
    findings.push_back({FindingLevel::kOk, "bills of " + bill.format, text, ""});
  }
  return findings;
}

Finding check_catalog(const Catalog& catalog) {
  if (catalog.rates().empty()) {
    return {FindingLevel::kProblem, "prices", "no list price",
            "the program was built without its lists"};
  }
  Instant first = catalog.rates().front().from;
  Instant last = first;
  for (const Rate& rate : catalog.rates()) {
    first = std::min(first, rate.from);
    last = std::max(last, rate.from);
  }
  return {
      FindingLevel::kOk, "prices",
      fmt::format("{} of {}, {} to {}, version {}", counted(catalog.rates().size(), "list price"),
                  counted(catalog.instance_types().size(), "instance type"),
                  to_text(first).substr(0, 10), to_text(last).substr(0, 10),
                  to_text(catalog.version()).substr(0, 12)),
      ""};
}

Finding check_time_zones(const Config& config) {
  // Any zone with daylight saving shows whether the system's time zone database is readable.
  const auto probe = TimeZone::parse("America/Los_Angeles");
  if (!probe) {
    return {FindingLevel::kProblem, "time zones", probe.error().message,
            "install the package tzdata"};
  }
  return {FindingLevel::kOk, "time zones", "days are in " + config.policy.time_zone.name(), ""};
}

}  // namespace pennyweight
