#include "insight/queries/compliance_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "allocation/dimensions.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/pdf/invoice_pdf.h"
#include "reporting/pdf/table_pdf.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

using guardrails::ClientTerms;
using NodeKey = std::pair<std::string, std::string>;  // cluster, node

constexpr std::string_view kComplianceRuleWords[] = {"region", "account", "node pool",
                                                     "dedicated node", "shared GPU"};

// "acme (client acme): regions eu-*; accounts any; node pools acme-*; nodes of its own."
std::string terms_text(const ClientTerms& terms) {
  const auto listed = [](const std::vector<std::string>& patterns) {
    return patterns.empty() ? std::string("any") : fmt::format("{}", fmt::join(patterns, ", "));
  };
  return fmt::format(
      "{} ({} {}): regions {}; accounts {}; node pools {}; {}.", terms.name, terms.dimension,
      terms.values.empty() ? terms.name : fmt::format("{}", fmt::join(terms.values, ", ")),
      listed(terms.regions), listed(terms.accounts), listed(terms.node_pools),
      terms.dedicated_nodes ? "nodes of its own" : "nodes may be shared");
}

// A workload on a node, or on one GPU of it.
struct Stay {
  Interval held;
  std::string workload;
  std::string owner;  // the value of the client's dimension
};

// The report of one client may be handed to it, so it names neither its neighbours nor their work;
// whoever reads that of all clients sees both sides.
std::string neighbour_text(const Stay& neighbour, bool names_others) {
  if (!names_others) {
    return neighbour.owner.empty() ? "work of nobody known" : "work of somebody else";
  }
  return fmt::format("{} of {}", neighbour.workload,
                     neighbour.owner.empty() ? "nobody known" : neighbour.owner);
}

// What a finding collects while rows are read.
struct Found {
  std::string evidence;
  std::set<std::string> workloads;
  Money cost = Money::zero(kUsd);
};

class ClientCheck {
 public:
  ClientCheck(const ClientTerms& terms, const ComplianceQuery& query, const Policy& policy,
              Store& store)
      : terms_(terms), query_(query), policy_(policy), store_(store) {}

  Result<void> run(Compliance& out) {
    TRY(read_places());
    TRY(read_costs());
    TRY(read_stays());
    find_neighbours();
    for (auto& [key, charged] : charged_) out.clients.push_back(charged);
    if (charged_.empty()) out.without_cost.push_back(terms_.name);
    for (auto& [key, found] : found_) {
      const auto& [rule, where, currency] = key;
      out.findings.push_back({.client = terms_.name,
                              .rule = rule,
                              .where = where,
                              .evidence = found.evidence,
                              .workloads = found.workloads.size(),
                              .cost = found.cost});
    }
    return {};
  }

 private:
  using FoundKey = std::tuple<ComplianceRule, std::string, std::string>;  // rule, where, currency

  Result<void> read_places() {
    const auto nodes = TRY(store_.nodes());
    for (const Node& node : nodes) {
      const NodeKey key(node.cluster.text(), node.name.text());
      pools_[key] = node.pool.text();
      gpu_counts_[key] = node.gpu_count;
    }
    const auto gpus = TRY(store_.gpus());
    for (const Gpu& gpu : gpus) node_of_gpu_[gpu.uuid.text()] = gpu.node.text();
    return {};
  }

  void add_finding(ComplianceRule rule, const std::string& where, const std::string& evidence,
                   const std::string& workload, const Money& cost) {
    Found& found = found_[{rule, where, cost.currency().text()}];
    if (found.workloads.empty()) {
      found.evidence = evidence;
      found.cost = Money::zero(cost.currency());
    }
    found.workloads.insert(workload);
    found.cost += cost;
  }

  Result<void> read_costs() {
    SummaryQuery summary{
        .group_by = {"cluster", "workload", "node", "region", "sub_account", "gpu"},
        .filters = {{.dimension = "month", .values = {query_.month}},
                    {.dimension = terms_.dimension,
                     .values = terms_.values.empty() ? std::vector{terms_.name} : terms_.values}}};
    const auto rows = TRY(store_.summarise(summary));
    std::set<std::string> workloads;
    for (const SummaryRow& row : rows) {
      const auto& [cluster, workload, node] = std::tie(row.keys[0], row.keys[1], row.keys[2]);
      if (workload.empty() || node.empty()) continue;  // shared costs ran nowhere
      const Money& cost = row.costs.effective;
      ClientCompliance& charged = charged_[cost.currency().text()];
      if (charged.client.empty()) {
        charged.client = terms_.name;
        charged.charged = Money::zero(cost.currency());
      }
      charged.charged += cost;
      if (workloads.insert(cluster + "\n" + workload).second) ++charged.workloads;
      clusters_.insert(cluster);
      costs_.push_back({{cluster, node}, row.keys[5], workload, cost});
      const std::string evidence = fmt::format("{} on {}", workload, node);
      if (!guardrails::is_permitted(terms_.regions, row.keys[3])) {
        add_finding(ComplianceRule::kRegion, row.keys[3].empty() ? "(not known)" : row.keys[3],
                    evidence, workload, cost);
      }
      if (!guardrails::is_permitted(terms_.accounts, row.keys[4])) {
        add_finding(ComplianceRule::kAccount, row.keys[4].empty() ? "(not known)" : row.keys[4],
                    evidence, workload, cost);
      }
      const auto pool = pools_.find({cluster, node});
      const std::string name = pool == pools_.end() ? "" : pool->second;
      if (!guardrails::is_permitted(terms_.node_pools, name)) {
        add_finding(ComplianceRule::kNodePool, name.empty() ? "(not known)" : name, evidence,
                    workload, cost);
      }
    }
    return {};
  }

  Result<void> read_stays() {
    const auto month = TRY(BillingPeriod::parse(query_.month, TimeZone::utc()));
    for (const std::string& cluster : clusters_) {
      TRY(store_.scan_holdings(ClusterId(cluster), month.to_interval(),
                               [&](std::span<const Holding> batch) {
                                 for (const Holding& holding : batch) add_stay(holding);
                                 return true;
                               }));
    }
    return {};
  }

  void add_stay(const Holding& holding) {
    if (holding.is_reservation) return;  // the scheduler's own
    const Labels resolved =
        resolve_dimensions(holding.cluster, holding.workload, holding.labels, policy_);
    const Stay stay{.held = holding.held,
                    .workload = holding.workload.text(),
                    .owner = std::string(resolved.find(terms_.dimension).value_or(""))};
    const std::string cluster = holding.cluster.text();
    const bool is_instance = std::holds_alternative<MigSlice>(holding.device);
    const bool is_part = !is_instance && !std::holds_alternative<WholeGpu>(holding.device);
    if (const auto* on = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on->gpus) {
        const auto node = node_of_gpu_.find(gpu.text());
        if (node != node_of_gpu_.end()) on_nodes_[{cluster, node->second}].push_back(stay);
        if (!is_instance) on_gpus_[{cluster, gpu.text()}].push_back(stay);
      }
    } else if (const auto* nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : nodes->parts) {
        const NodeKey key(cluster, part.node.text());
        on_nodes_[key].push_back(stay);
        // Parts of a GPU on a node that has one are on that one.
        const auto count = gpu_counts_.find(key);
        const bool is_only = count != gpu_counts_.end() && count->second == 1;
        if (is_part && is_only && part.devices > 0) {
          on_gpus_[{cluster, "the GPU of " + part.node.text()}].push_back(stay);
        }
      }
    } else if (terms_.is_theirs(stay.owner)) {
      for (auto& [currency, charged] : charged_) ++charged.not_placed;
    }
  }

  void find_neighbours() {
    if (terms_.dedicated_nodes) {
      for (auto& [key, stays] : on_nodes_) {
        check_stays(ComplianceRule::kDedicatedNode, key, key.second, stays);
      }
    }
    for (auto& [key, stays] : on_gpus_) {
      check_stays(ComplianceRule::kSharedGpu, key, key.second, stays);
    }
  }

  // The first of others that was there at the same time; then what the client paid there.
  void check_stays(ComplianceRule rule, const NodeKey& key, const std::string& where,
                   std::vector<Stay>& stays) {
    std::ranges::stable_sort(stays, {}, [](const Stay& stay) { return stay.held.begin(); });
    // Of each side the one that stays longest so far; intervals are in the order of their begin.
    const Stay* own = nullptr;
    const Stay* other = nullptr;
    for (const Stay& stay : stays) {
      const bool is_own = terms_.is_theirs(stay.owner);
      const Stay* const beside = is_own ? other : own;
      if (beside != nullptr && beside->held.end() > stay.held.begin()) {
        const Stay& client = is_own ? stay : *beside;
        const Stay& neighbour = is_own ? *beside : stay;
        return add_neighbour(rule, key, where, client, neighbour, stay.held.begin());
      }
      const Stay*& last = is_own ? own : other;
      if (last == nullptr || last->held.end() < stay.held.end()) last = &stay;
    }
  }

  void add_neighbour(ComplianceRule rule, const NodeKey& key, const std::string& where,
                     const Stay& client, const Stay& neighbour, Instant from) {
    const Instant until = std::min(client.held.end(), neighbour.held.end());
    const std::string evidence = fmt::format("{} beside {}, {} to {}", client.workload,
                                             neighbour_text(neighbour, query_.client.empty()),
                                             to_text(from), to_text(until));
    bool has_cost = false;
    for (const PlacedCost& cost : costs_) {
      const bool is_there = cost.node.first == key.first &&
                            (cost.node.second == key.second || cost.gpu == key.second ||
                             "the GPU of " + cost.node.second == key.second);
      if (!is_there) continue;
      add_finding(rule, where, evidence, cost.workload, cost.cost);
      has_cost = true;
    }
    if (!has_cost && !charged_.empty()) {
      add_finding(rule, where, evidence, client.workload,
                  Money::zero(charged_.begin()->second.charged.currency()));
    }
  }

  struct PlacedCost {
    NodeKey node;
    std::string gpu;
    std::string workload;
    Money cost;
  };

  const ClientTerms& terms_;
  const ComplianceQuery& query_;
  const Policy& policy_;
  Store& store_;
  std::map<NodeKey, std::string> pools_;
  std::map<NodeKey, std::uint32_t> gpu_counts_;
  std::map<std::string, std::string> node_of_gpu_;
  std::set<std::string> clusters_;
  std::vector<PlacedCost> costs_;
  std::map<std::string, ClientCompliance> charged_;  // by currency
  std::map<NodeKey, std::vector<Stay>> on_nodes_;
  std::map<NodeKey, std::vector<Stay>> on_gpus_;
  std::map<FoundKey, Found> found_;
};

}  // namespace

std::string_view to_text(ComplianceRule rule) {
  return kComplianceRuleWords[static_cast<std::size_t>(rule)];
}

Result<Compliance> query_compliance(const ComplianceQuery& query, const Policy& policy,
                                    Store& store) {
  Compliance compliance{.month = query.month};
  const auto overview = TRY(store.overview());
  if (std::ranges::find(overview.months, query.month) == overview.months.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("there are no bill lines of {}", query.month));
  }
  bool is_known = query.client.empty();
  for (const ClientTerms& terms : query.clients) {
    if (!query.client.empty() && terms.name != query.client) continue;
    is_known = true;
    const auto checked = parse_dimensions({terms.dimension}, policy);
    if (!checked) {
      return std::unexpected(checked.error().during(fmt::format("client '{}'", terms.name)));
    }
    // Who was beside whom is known of holdings, which have the policy's dimensions only.
    if (std::ranges::find(policy.dimensions, terms.dimension, &DimensionRule::dimension) ==
        policy.dimensions.end()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("client '{}': '{}' is no dimension of the policy, and holdings have "
                              "no other",
                              terms.name, terms.dimension));
    }
    TRY(ClientCheck(terms, query, policy, store).run(compliance));
  }
  if (is_known) return compliance;
  return fail(ErrorCode::kNotFound,
              fmt::format("guardrails.clients has no client '{}'", query.client));
}

namespace {

std::string residency_title(const std::string& month) {
  return fmt::format("Residency and isolation, {}", month_label(month));
}

}  // namespace

namespace {

void add_access_tables(const Compliance& compliance, std::vector<Table>& tables) {
  if (compliance.has_access) {
    Table table;
    table.title = "Who sees what they are charged";
    table.columns = {{"client", "client"}, {"who", "who"}, {"role", "role"}, {"sees", "sees"}};
    for (const ComplianceAccess& one : compliance.access) {
      table.rows.push_back({one.client, one.who, one.role, one.sees});
    }
    table.notes.emplace_back(
        "Accounts as they are now, and tokens that work; changes of them are below");
    tables.push_back(std::move(table));
  }
  if (compliance.has_changes) {
    Table table;
    table.title = fmt::format("Who changed what, {}", month_label(compliance.month));
    table.columns = {{"at", "at"}, {"who", "who"}, {"action", "action"}, {"subject", "what"}};
    for (const ComplianceChange& one : compliance.changes) {
      table.rows.push_back({one.at, one.who, one.action, one.subject});
    }
    if (compliance.changes_in_month > compliance.changes.size()) {
      table.notes.push_back(fmt::format("The last {} of {} changes; 'pennyweight audit' has all",
                                        compliance.changes.size(), compliance.changes_in_month));
    }
    table.notes.emplace_back(compliance.has_all_changes
                                 ? "Of all clients, by the audit log; sign-ins are left out"
                                 : "By the audit log: what was done to accounts that see the "
                                   "client, and to the month; sign-ins are left out");
    tables.push_back(std::move(table));
  }
}

}  // namespace

std::vector<Table> compliance_tables(const Compliance& compliance) {
  // A table never mixes currencies.
  std::set<std::string> currencies;
  for (const ClientCompliance& client : compliance.clients) {
    currencies.insert(client.charged.currency().text());
  }
  std::vector<Table> tables;
  for (const std::string& code : currencies) {
    Table clients;
    clients.title = residency_title(compliance.month);
    clients.columns = {{"client", "client"},
                       {"charged", "charged", ColumnKind::kMoney},
                       {"workloads", "workloads", ColumnKind::kCount},
                       {"findings", "findings", ColumnKind::kCount},
                       {"not_placed", "not placed", ColumnKind::kCount}};
    for (const ClientCompliance& client : compliance.clients) {
      if (client.charged.currency().text() != code) continue;
      clients.currency = client.charged.currency();
      const auto count =
          std::ranges::count_if(compliance.findings, [&](const ComplianceFinding& finding) {
            return finding.client == client.client && finding.cost.currency().text() == code;
          });
      clients.rows.push_back({client.client, client.charged, client.workloads,
                              static_cast<std::uint64_t>(count), client.not_placed});
    }
    clients.notes.emplace_back(
        "Not placed: work of which nobody recorded on which node it was; it is not judged beside "
        "others");
    Table findings;
    findings.title = kFindingsTitle;
    findings.currency = clients.currency;
    findings.columns = {{"client", "client"},
                        {"rule", "rule"},
                        {"where", "where"},
                        {"workloads", "workloads", ColumnKind::kCount},
                        {"cost", "cost", ColumnKind::kMoney},
                        {"evidence", "evidence", ColumnKind::kId}};
    for (const ComplianceFinding& finding : compliance.findings) {
      if (finding.cost.currency().text() != code) continue;
      findings.rows.push_back({finding.client, std::string(to_text(finding.rule)), finding.where,
                               finding.workloads, finding.cost, finding.evidence});
    }
    tables.push_back(std::move(clients));
    if (!findings.rows.empty()) tables.push_back(std::move(findings));
  }
  if (!compliance.without_cost.empty()) {
    if (tables.empty()) {
      tables.push_back({});
      tables.front().title = residency_title(compliance.month);
      tables.front().columns = {{"client", "client"},
                                {"workloads", "workloads", ColumnKind::kCount}};
      for (const std::string& client : compliance.without_cost) {
        tables.front().rows.push_back({client, std::uint64_t{0}});
      }
    }
    tables.front().notes.push_back(
        fmt::format("No work of {} was charged to {}, so nothing was checked: are the names those "
                    "of the ledger?",
                    month_label(compliance.month), fmt::join(compliance.without_cost, ", ")));
  }
  add_access_tables(compliance, tables);
  return tables;
}

Result<std::string> render_compliance_pdf(const ComplianceQuery& query,
                                          const Compliance& compliance, const Config& config) {
  TableDocument document{
      .title = query.client.empty()
                   ? fmt::format("Residency and isolation: {}", month_label(compliance.month))
                   : fmt::format("Residency and isolation of {}: {}", query.client,
                                 month_label(compliance.month)),
      .lead = {"Whether work ran only where, and beside whom, it may: the charges and facts of the "
               "month, held to these terms. The cost of a finding is what was charged there."},
      .tables = compliance_tables(compliance)};
  for (const ClientTerms& terms : query.clients) {
    if (query.client.empty() || terms.name == query.client) {
      document.lead.push_back(terms_text(terms));
    }
  }
  return render_tables_pdf(document, config.invoice.font.empty() ? kPdfFont : config.invoice.font);
}

}  // namespace pennyweight
