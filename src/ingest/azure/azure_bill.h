// An Azure cost export as a format of ingest/bill: actual or amortised, of an Enterprise Agreement
// (old and new columns), a Microsoft Customer or Partner Agreement, or pay-as-you-go, with headers
// of any language that carry the English name in brackets. docs/bills/azure.md maps it column by
// column.
//
// Azure bills one month as two datasets with the same columns: in the actual one a commitment is
// its purchase and what it covers costs 0; in the amortised one there is no purchase, and what was
// covered or left unused carries its share. The file does not say which it is.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ingest/bill/bill_reader.h"

namespace pennyweight::azure {

// Which ledger the cost column speaks for, and which rows become lines.
enum class CostMetric {
  // The actual export, alone. BilledCost is exact. EffectiveCost is the same: nothing is amortised,
  // and a warning says so where the file has commitments.
  kActual,
  // The amortised export. EffectiveCost is exact; BilledCost is 0 for what a commitment covered or
  // left unused, and the cost for all else.
  kAmortised,
  // Of the actual export only what the amortised one lacks: purchases and refunds of commitments,
  // with EffectiveCost 0. The rest is passed over. Together with kAmortised both ledgers are exact.
  kActualPurchases,
};

struct AzureOptions {
  // Nothing: read as kActual, with a warning that says how to tell.
  std::optional<CostMetric> metric;
};

std::unique_ptr<bill::BillReader> azure_bill(AzureOptions options);

// Whether these are the columns of an Azure cost export, in any of its spellings.
bool is_azure_header(std::span<const std::string> names);

}  // namespace pennyweight::azure
