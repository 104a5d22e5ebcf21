// For tests: collects everything that an import hands over.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ingest/bills/import.h"

namespace pennyweight::bill {

class CollectingSink : public ImportSink {
 public:
  Result<void> charges(std::span<const Charge> batch) override {
    lines.insert(lines.end(), batch.begin(), batch.end());
    return {};
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    bad.insert(bad.end(), rows.begin(), rows.end());
    return {};
  }

  // The sums of the four cost columns, as texts: billed, effective, list, contracted.
  std::vector<std::string> totals() const {
    if (lines.empty()) return {};
    Costs sum = Costs::zero(lines.front().costs.currency());
    for (const Charge& charge : lines) sum += charge.costs;
    return {to_text(sum.billed.amount()), to_text(sum.effective.amount()),
            to_text(sum.list.amount()), to_text(sum.contracted.amount())};
  }

  std::vector<Charge> lines;
  std::vector<RejectedRow> bad;
};

}  // namespace pennyweight::bill
