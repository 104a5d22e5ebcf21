#include "insight/queries/replayed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/card_share.h"
#include "core/instant.h"
#include "insight/what_if/figures.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

std::string milli_text(std::uint64_t milli) {
  return fmt::format("{}.{:03}", milli / 1000, milli % 1000);
}

// Thousandths of a GPU that one device is; a device of unknown share counts whole.
std::uint64_t milli_of_replayed(const Device& device) {
  const auto* fraction = std::get_if<CardFraction>(&device);
  if (fraction == nullptr) return 1000;
  const std::uint64_t units = std::max(fraction->compute, fraction->memory).units();
  return static_cast<std::uint64_t>(UInt128{units} * 1000 / CardShare::kUnitsPerCard);
}

}  // namespace

std::vector<NodeSpans> node_spans(const what_if::WhatIf& result, const std::string& by) {
  std::map<std::string, std::vector<NodeSpan>> by_node;
  for (const Holding& holding : result.month.holdings) {
    const auto* nodes = std::get_if<OnNodes>(&holding.placement);
    if (nodes == nullptr) continue;
    const auto owner = result.cost_would_be.owners.find(holding.workload);
    const auto name =
        owner == result.cost_would_be.owners.end() ? std::nullopt : owner->second.find(by);
    for (const OnNodes::NodeDevices& part : nodes->parts) {
      by_node[part.node.text()].push_back(
          {.held = holding.held,
           .workload = holding.workload.text(),
           .owner = std::string(name.value_or("")),
           .milli_gpus = std::uint64_t{part.devices} * milli_of_replayed(holding.device)});
    }
  }
  std::vector<NodeSpans> all;
  for (auto& [node, spans] : by_node) {
    std::ranges::stable_sort(spans, {}, [](const NodeSpan& span) {
      return std::pair(span.held.begin(), span.held.end());
    });
    all.push_back({.node = node, .spans = std::move(spans)});
  }
  return all;
}

Table gantt_table(const WhatIfQuery& query, const WhatIfMonth& month, const what_if::WhatIf& result,
                  std::size_t rows_max) {
  Table table;
  table.title =
      fmt::format("{} of cluster {}, what each node held", month.month, month.cluster.text());
  table.columns = {
      {"node", "node", ColumnKind::kId},       {"from", "from", ColumnKind::kText},
      {"to", "to", ColumnKind::kText},         {"workload", "workload", ColumnKind::kId},
      {query.by, query.by, ColumnKind::kText}, {"gpus", "GPUs", ColumnKind::kText}};
  const std::vector<NodeSpans> nodes = node_spans(result, query.by);
  std::size_t shown = 0;
  for (const NodeSpans& node : nodes) {
    if (shown > 0 && table.rows.size() + node.spans.size() > rows_max) break;
    ++shown;
    for (const NodeSpan& span : node.spans) {
      table.rows.push_back({node.node, to_text(span.held.begin()), to_text(span.held.end()),
                            span.workload, span.owner, milli_text(span.milli_gpus)});
    }
  }
  if (shown < nodes.size()) {
    table.notes.push_back(
        fmt::format("The first {} of {} nodes; `pennyweight replay --files` writes all.",
                    format_count(shown, Thousands::kSeparated),
                    format_count(nodes.size(), Thousands::kSeparated)));
  }
  return table;
}

Table workload_table(const WhatIfQuery& query, const WhatIfMonth& month,
                     const what_if::WhatIf& result) {
  Table table;
  table.title = fmt::format("{} of cluster {}, workloads", month.month, month.cluster.text());
  table.columns = {{"workload", "workload", ColumnKind::kId},
                   {query.by, query.by, ColumnKind::kText},
                   {"gpus", "GPUs", ColumnKind::kText},
                   {"submitted", "submitted", ColumnKind::kText},
                   {"started", "started", ColumnKind::kText},
                   {"ended", "ended", ColumnKind::kText},
                   {"wait_seconds", "wait, s", ColumnKind::kCount},
                   {"held_seconds", "held, s", ColumnKind::kCount},
                   {"interruptions", "interruptions", ColumnKind::kCount}};
  const auto at = [&](std::int64_t us) -> Cell {
    return to_text(month.period.begin() + std::chrono::milliseconds(us / 1000));
  };
  const auto seconds = [](std::int64_t us) -> Cell {
    return static_cast<std::uint64_t>(us / 1'000'000);
  };
  for (const what_if::JobTimes& job : result.times) {
    const bool started = job.start_us.has_value();
    table.rows.push_back({job.name, job.team, milli_text(job.milli_gpus), at(job.submit_us),
                          started ? at(*job.start_us) : Cell{}, started ? at(job.end_us) : Cell{},
                          started ? seconds(*job.start_us - job.submit_us) : Cell{},
                          seconds(job.held_us), std::uint64_t{job.interruptions}});
  }
  return table;
}

}  // namespace pennyweight
