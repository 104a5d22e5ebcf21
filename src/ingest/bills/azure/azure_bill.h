// Bills of Azure: cost exports, actual or amortised, of an Enterprise Agreement (old and new
// columns), a Microsoft Customer or Partner Agreement, or pay-as-you-go. Headers may be in any
// language if they carry the English name in brackets. docs/bills/azure.md maps them column by
// column.
//
// Azure exports a month as two datasets with the same columns. In the actual one a commitment is
// billed when it is bought, and the usage it covers costs 0. In the amortised one there is no
// purchase, and covered usage and unused commitments carry their share. The file does not say which
// of the two it is.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ingest/bills/azure/export_date.h"
#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::azure {

// Which cost the cost column holds, and which rows become charges.
enum class CostMetric {
  // The actual export on its own. BilledCost is exact. EffectiveCost equals it, since nothing is
  // amortised; a warning says so where the file has commitments.
  kActual,
  // The amortised export. EffectiveCost is exact. BilledCost is 0 for covered usage and unused
  // commitments, and the cost for everything else.
  kAmortised,
  // Those rows of the actual export that the amortised one lacks: purchases and refunds of
  // commitments, with EffectiveCost 0. The rest is skipped. Imported beside kAmortised, it makes
  // both costs exact.
  kActualPurchases,
};

struct AzureOptions {
  // Not given: the export is read as kActual, with a warning, and what would differ in the
  // amortised one is set aside. `import` finds out first (metric_survey.h).
  std::optional<CostMetric> metric;
  DateOrder dates = DateOrder::kMonthFirst;
};

bill::RowReaderFactory azure_bill(AzureOptions options);

// True for the columns of an Azure cost export, in any of their spellings.
bool is_azure_header(std::span<const std::string> names);

extern const bill::BillFormat kAzureFormat;

}  // namespace pennyweight::azure
