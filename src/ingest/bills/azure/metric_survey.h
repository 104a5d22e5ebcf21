// Finds out from the rows of an Azure cost export whether it is of actual or amortised cost, since
// neither its name nor its columns say so.
//
// Only an amortised export has unused commitments, and a cost on the usage that a commitment
// covers; only an actual one has the purchase or refund of a commitment. An export with none of
// these says the same under both, and is read as actual.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "ingest/bills/azure/date_survey.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::azure {

struct MetricEvidence {
  std::uint64_t unused = 0;     // unused reservations and savings plans
  std::uint64_t covered = 0;    // usage that a commitment covers, with a cost
  std::uint64_t purchases = 0;  // purchases and refunds of commitments, with a cost
};

// A reader that skips every row and adds up what it says, of its dates too. `evidence` and `dates`
// must outlive it.
bill::RowReaderFactory survey_rows(MetricEvidence& evidence, DateSurvey& dates);

// "actual" or "amortized", as the option azure_metric says it, with the reason in `remark`. An
// Error where the rows contradict each other.
struct InferredMetric {
  std::string value;
  std::string remark;
};
Result<InferredMetric> infer_metric(const MetricEvidence& evidence);

}  // namespace pennyweight::azure
