#include "insight/queries/running_compliance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pennyweight {
namespace {

using guardrails::ClientTerms;
using RunningPlace = std::pair<ClusterId, std::string>;  // cluster; node or GPU

std::string_view owner_of_running(const ClientTerms& terms, const LiveRow& row) {
  return row.share().dimensions.find(terms.dimension).value_or("");
}

bool is_work_of(const ClientTerms& terms, const LiveRow& row) {
  return terms.is_theirs(owner_of_running(terms, row));
}

std::string running_name(const LiveRow& row) {
  return fmt::format("{}/{}", row.cluster.text(), row.share().workload.text());
}

bool is_mig(const LiveRow& row) { return row.share().device.starts_with("mig"); }

class RunningCheck {
 public:
  RunningCheck(const ComplianceQuery& query, const ViewRows& view, std::span<const Node> nodes)
      : query_(query) {
    for (const Node& node : nodes) {
      const Node*& latest = nodes_[{node.cluster, node.name.text()}];
      if (latest == nullptr || latest->from <= node.from) latest = &node;
    }
    for (const LiveRow& row : view.rows) {
      const auto cluster = view.view->clusters.find(row.cluster);
      const bool is_watched = cluster != view.view->clusters.end() && cluster->second.is_watched;
      if (row.is_unallocated || !row.runs || !is_watched) continue;
      running_.push_back(&row);
      for (const NodeId& node : row.share().nodes) {
        on_nodes_[{row.cluster, node.text()}].push_back(&row);
      }
      for (const GpuId& gpu : row.share().gpus) {
        on_gpus_[{row.cluster, gpu.text()}].push_back(&row);
      }
    }
  }

  void check(const ClientTerms& terms, std::vector<RunningFinding>& out) const {
    for (const LiveRow* row : running_) {
      if (!is_work_of(terms, *row)) continue;
      for (const NodeId& name : row->share().nodes) check_node(terms, *row, name.text(), out);
      for (const GpuId& gpu : row->share().gpus) {
        const LiveRow* const other = beside(terms, on_gpus_.at({row->cluster, gpu.text()}), *row);
        if (other != nullptr) {
          add(terms, ComplianceRule::kSharedGpu, gpu.text(), *row, beside_text(terms, *other), out);
        }
      }
    }
  }

 private:
  void check_node(const ClientTerms& terms, const LiveRow& row, const std::string& name,
                  std::vector<RunningFinding>& out) const {
    const auto at = nodes_.find({row.cluster, name});
    const std::string region = at == nodes_.end() ? "" : at->second->region;
    const std::string pool = at == nodes_.end() ? "" : std::string(at->second->pool.text());
    const auto add_place = [&](ComplianceRule rule, const std::string& where) {
      add(terms, rule, where.empty() ? "(not known)" : where, row, "on " + name, out);
    };
    if (!guardrails::is_permitted(terms.regions, region))
      add_place(ComplianceRule::kRegion, region);
    if (!guardrails::is_permitted(terms.node_pools, pool))
      add_place(ComplianceRule::kNodePool, pool);
    if (!terms.dedicated_nodes) return;
    for (const LiveRow* other : on_nodes_.at({row.cluster, name})) {
      if (is_work_of(terms, *other)) continue;
      return add(terms, ComplianceRule::kDedicatedNode, name, row, beside_text(terms, *other), out);
    }
  }

  // Somebody else on the same GPU, where one of them has no MIG instance of it.
  static const LiveRow* beside(const ClientTerms& terms, const std::vector<const LiveRow*>& there,
                               const LiveRow& row) {
    const auto at = std::ranges::find_if(there, [&](const LiveRow* other) {
      return !is_work_of(terms, *other) && !is_mig(*other) && !is_mig(row);
    });
    return at == there.end() ? nullptr : *at;
  }

  // The report of one client names nobody else.
  std::string beside_text(const ClientTerms& terms, const LiveRow& other) const {
    const std::string_view owner = owner_of_running(terms, other);
    if (!query_.client.empty()) {
      return owner.empty() ? "beside work of nobody known" : "beside work of somebody else";
    }
    return fmt::format("beside {} of {}", running_name(other),
                       owner.empty() ? std::string_view("nobody known") : owner);
  }

  static void add(const ClientTerms& terms, ComplianceRule rule, const std::string& where,
                  const LiveRow& row, const std::string& evidence,
                  std::vector<RunningFinding>& out) {
    out.push_back({.client = terms.name,
                   .rule = rule,
                   .where = where,
                   .workload = running_name(row),
                   .evidence = evidence});
  }

  const ComplianceQuery& query_;
  std::map<RunningPlace, const Node*> nodes_;
  std::vector<const LiveRow*> running_;
  std::map<RunningPlace, std::vector<const LiveRow*>> on_nodes_;
  std::map<RunningPlace, std::vector<const LiveRow*>> on_gpus_;
};

}  // namespace

std::vector<RunningFinding> find_running_violations(const ComplianceQuery& query,
                                                    const ViewRows& view,
                                                    std::span<const Node> nodes) {
  const RunningCheck check(query, view, nodes);
  std::vector<RunningFinding> out;
  for (const ClientTerms& terms : query.clients) {
    if (query.client.empty() || terms.name == query.client) check.check(terms, out);
  }
  const auto key = [](const RunningFinding& one) {
    return std::tie(one.client, one.rule, one.where, one.workload);
  };
  std::ranges::stable_sort(out, {}, key);
  const auto twice = std::ranges::unique(out, {}, key);
  out.erase(twice.begin(), twice.end());
  return out;
}

Table running_compliance_table(std::span<const RunningFinding> findings, Instant at) {
  Table table;
  table.title = "What runs now";
  table.columns = {{"client", "client"},
                   {"rule", "rule"},
                   {"where", "where"},
                   {"workload", "workload", ColumnKind::kId},
                   {"evidence", "evidence", ColumnKind::kId}};
  for (const RunningFinding& one : findings) {
    table.rows.push_back(
        {one.client, std::string(to_text(one.rule)), one.where, one.workload, one.evidence});
  }
  table.notes.push_back(
      fmt::format("At {}: {}. Accounts are known once the bill comes", pennyweight::to_text(at),
                  findings.empty() ? "nothing that runs breaks the terms of clients"
                                   : "this work is where, or beside whom, it may not be"));
  return table;
}

}  // namespace pennyweight
