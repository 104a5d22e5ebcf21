#include "ingest/azure/azure_bill.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ingest/azure/charge_reader.h"
#include "ingest/azure/column.h"

namespace pennyweight::azure {
namespace {

std::string kind_of(CostMetric metric, Agreement agreement) {
  std::string kind = "Azure ";
  switch (metric) {
    case CostMetric::kActual:
      kind += "actual cost";
      break;
    case CostMetric::kAmortised:
      kind += "amortised cost";
      break;
    case CostMetric::kActualPurchases:
      kind += "purchases of commitments";
      break;
  }
  switch (agreement) {
    case Agreement::kEnterprise:
      return kind + ", Enterprise Agreement";
    case Agreement::kCustomer:
      return kind + ", Customer Agreement";
    case Agreement::kPayAsYouGo:
      return kind + ", pay-as-you-go";
  }
  return kind;
}

class AzureBill : public bill::BillReader {
 public:
  explicit AzureBill(AzureOptions options) : options_(options) {}

  Result<void> header(const csv::Header& header) override {
    const Columns columns = Columns::of(header.names());
    std::vector<std::string_view> missing;
    for (const Column needed : {Column::kCost, Column::kCurrency, Column::kDate}) {
      if (!columns.find(needed)) missing.push_back(name_of(needed));
    }
    if (!missing.empty()) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("an Azure cost export has columns that this file lacks: {}; export "
                              "the actual or amortised cost with all columns",
                              fmt::join(missing, ", ")));
    }
    reader_ = std::make_unique<ChargeReader>(header.names(), metric());
    return {};
  }

  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(reader_ != nullptr, "the header comes before the rows");
    return reader_->read(row.fields, lines);
  }

  void describe(bill::ImportSummary& summary) const override {
    if (reader_ == nullptr) return;
    const Counts& counts = reader_->counts();
    summary.kind = kind_of(metric(), reader_->agreement());
    summary.rounded_numbers = counts.rounded_numbers;
    summary.unread_json = counts.unread_json;
    if (!options_.metric) {
      summary.warnings.emplace_back(
          "an Azure export does not say whether it is of actual or amortised cost; it was read as "
          "actual");
    }
    if (metric() == CostMetric::kActual && counts.commitment_lines > 0) {
      summary.warnings.push_back(fmt::format(
          "{} lines are of reservations or savings plans, which an actual export does not "
          "amortise: "
          "EffectiveCost is what was billed; for both ledgers import the amortised export, and of "
          "this one only the purchases",
          counts.commitment_lines));
    }
    if (counts.days_first > 0) {
      summary.warnings.push_back(fmt::format(
          "{} dates have the day first, such as 31/03/2026; Azure writes the month first, so the "
          "others of this file may have been read wrong (05/03/2026 as 3 May): import it again "
          "with dates such as 2026-03-05",
          counts.days_first));
    }
    if (counts.months_from_dates > 0) {
      summary.warnings.push_back(
          fmt::format("{} lines name no billing period and were put into the calendar month (UTC) "
                      "of their date",
                      counts.months_from_dates));
    }
  }

 private:
  CostMetric metric() const { return options_.metric.value_or(CostMetric::kActual); }

  AzureOptions options_;
  std::unique_ptr<ChargeReader> reader_;
};

}  // namespace

std::unique_ptr<bill::BillReader> azure_bill(AzureOptions options) {
  return std::make_unique<AzureBill>(options);
}

bool is_azure_header(std::span<const std::string> names) {
  if (std::ranges::find(names, "BilledCost") != names.end()) return false;  // FOCUS, of Azure
  const Columns columns = Columns::of(names);
  return columns.find(Column::kCost) && columns.find(Column::kDate) &&
         columns.find(Column::kSubscriptionId) &&
         (columns.find(Column::kMeterId) || columns.find(Column::kMeterCategory));
}

}  // namespace pennyweight::azure
