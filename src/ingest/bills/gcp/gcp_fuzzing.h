// For the fuzzers: checks every charge, and that every row is accounted for.
#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/error.h"
#include "core/limits.h"
#include "ingest/bills/import.h"

namespace pennyweight::gcp {

class Count : public bill::ImportSink {
 public:
  Result<void> charges(std::span<const Charge> charges) override {
    for (const Charge& charge : charges) {
      CHECK(charge.other_columns.empty() ||
                (charge.other_columns.front() == '{' && charge.other_columns.back() == '}'),
            "other columns are an object or nothing");
      CHECK(charge.commitment_discount_id.empty() == charge.commitment_discount_type.empty(),
            "a commitment has an id and a type");
      CHECK(charge.pricing_unit.empty() == !charge.pricing_quantity, "a quantity has a unit");
    }
    lines += charges.size();
    return {};
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    for (const RejectedRow& row : rows) CHECK(!row.reason.empty(), "a rejected row says why");
    rejects += rows.size();
    return {};
  }

  void settle(const Result<bill::ImportSummary>& summary) const {
    if (!summary) {
      CHECK(!summary.error().message.empty(), "an error says why");
      return;
    }
    CHECK(summary->charges == lines && summary->rejected == rejects &&
              summary->rows == summary->imported + rejects && summary->imported <= lines,
          "every row is accounted for");
  }

  std::uint64_t lines = 0;
  std::uint64_t rejects = 0;
};

}  // namespace pennyweight::gcp
