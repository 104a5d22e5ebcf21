// For any bytes as an Azure export, read by each of the three metrics: no crash, every row is
// accounted for, and billed and effective cost are the cost of the row or 0.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/limits.h"
#include "ingest/bills/azure/azure_bill.h"
#include "ingest/bills/csv_import.h"

namespace {

using namespace pennyweight;

class Count : public bill::ImportSink {
 public:
  Result<void> charges(std::span<const Charge> charges) override {
    CHECK(charges.size() <= limits::kBatchRows, "batches are limited");
    for (const Charge& charge : charges) {
      CHECK(charge.other_columns.front() == '{' && charge.other_columns.back() == '}',
            "other columns are an object");
      CHECK(charge.costs.billed == charge.costs.effective || charge.costs.billed.is_zero() ||
                charge.costs.effective.is_zero(),
            "both costs are the one of the row");
      CHECK(charge.pricing_quantity.has_value() == !charge.pricing_unit.empty(),
            "a quantity has a unit, and a unit has a quantity");
      CHECK(charge.consumed_quantity.has_value() == !charge.consumed_unit.empty(),
            "a quantity has a unit, and a unit has a quantity");
    }
    taken += charges.size();
    return {};
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    for (const RejectedRow& row : rows) CHECK(!row.reason.empty(), "a rejected row says why");
    rejects += rows.size();
    return {};
  }
  std::uint64_t taken = 0;
  std::uint64_t rejects = 0;
};

// Every second input is rows only, under a valid header.
constexpr std::string_view kHeader =
    "CostInBillingCurrency,BillingCurrencyCode,Date,ChargeType,PricingModel,Quantity,UnitOfMeasure,"
    "UnitPrice,PayGPrice,ReservationId,MeterId,ResourceId,AdditionalInfo,Tags\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string text =
      data[0] % 2 == 0 ? std::string(bytes) : std::string(kHeader).append(bytes);
  for (const auto metric : {azure::CostMetric::kActual, azure::CostMetric::kAmortised,
                            azure::CostMetric::kActualPurchases}) {
    Count count;
    const auto summary =
        bill::import_csv(text, "azure.csv", azure::azure_bill({.metric = metric}), count);
    if (!summary) {
      CHECK(!summary.error().message.empty(), "an error says why");
      continue;
    }
    std::uint64_t skipped = 0;
    for (const auto& [reason, rows] : summary->skipped) skipped += rows;
    CHECK(summary->imported == count.taken && summary->rejected == count.rejects &&
              summary->rows == count.taken + count.rejects + skipped,
          "every row is accounted for");
  }
  return 0;
}
