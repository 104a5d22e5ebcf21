#include "app/daemon/unknown_ends.h"

#include <fmt/format.h>

#include "reporting/live/live_table.h"

namespace pennyweight {

RejectedRow unknown_end_row(const UnknownEnd& end, const std::optional<Money>& cost) {
  const Holding& holding = end.holding;
  const std::string amount =
      cost ? fmt::format("at most {} {}", to_text(cost->amount()), cost->currency().text())
           : "an amount that is unknown, since a node has no price,";
  return {.file = "serve",
          .line = 0,
          .column = "end",
          .reason = fmt::format(
              "{} of cluster {} was last seen at {} and was gone by {} ({} later): no source says "
              "when it ended. It is charged up to when it was last seen; {} is not charged to it. "
              "If its end is known, import it as a job",
              holding.workload.text(), holding.cluster.text(), to_text(holding.held.end()),
              to_text(end.gone_by), duration_text(end.gone_by - holding.held.end()), amount),
          .text = fmt::format("{} {} {} {}", holding.cluster.text(), holding.workload.text(),
                              holding.attempt, to_text(holding.placement))};
}

void UnknownEnds::add(const UnknownEnd& end, const std::optional<Money>& cost) {
  Sums& sums = by_cluster_[end.holding.cluster];
  ++sums.count;
  if (!cost) return;
  const auto [at, is_new] = sums.costs.try_emplace(cost->currency(), *cost);
  if (!is_new) at->second += *cost;
}

std::map<ClusterId, std::string> UnknownEnds::notes() const {
  std::map<ClusterId, std::string> notes;
  for (const auto& [cluster, sums] : by_cluster_) {
    std::string amounts;
    for (const auto& [currency, sum] : sums.costs) {
      amounts += fmt::format("{}{} {}", amounts.empty() ? "" : " and ", to_text(sum.amount()),
                             currency.text());
    }
    notes[cluster] = fmt::format(
        "{} ended while nobody watched: at most {} is not charged to {} (see reconcile)",
        sums.count == 1 ? "1 workload" : fmt::format("{} workloads", sums.count),
        amounts.empty() ? "an unknown amount" : amounts, sums.count == 1 ? "it" : "them");
  }
  return notes;
}

}  // namespace pennyweight
