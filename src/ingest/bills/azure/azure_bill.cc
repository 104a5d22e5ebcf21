#include "ingest/bills/azure/azure_bill.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "core/try.h"
#include "ingest/bills/azure/azure_row_reader.h"
#include "ingest/bills/azure/column.h"
#include "ingest/bills/azure/date_survey.h"
#include "ingest/bills/azure/metric_survey.h"

namespace pennyweight::azure {
namespace {

constexpr auto kMetrics = enum_names<CostMetric>({{CostMetric::kActual, "actual"},
                                                  {CostMetric::kAmortised, "amortized"},
                                                  {CostMetric::kActualPurchases, "purchases"}});

constexpr auto kDateOrders = enum_names<DateOrder>(
    {{DateOrder::kMonthFirst, "month-first"}, {DateOrder::kDayFirst, "day-first"}});

constexpr bill::BillOption kOptions[] = {
    {.key = "azure_metric",
     .flag = "--azure-metric",
     .choices = kMetrics.names(),
     .help = "Which of Azure's exports a file is: actual, amortized, or purchases (of the actual "
             "one only what the amortized lacks)"},
    {.key = "azure_dates",
     .flag = "--azure-dates",
     .choices = kDateOrders.names(),
     .help = "Which comes first in dates such as 05/03/2026: month-first, as Azure writes them, or "
             "day-first"},
};

class AzureSurvey : public bill::OptionSurvey {
 public:
  AzureSurvey(bool wants_metric, bool wants_dates)
      : wants_metric_(wants_metric), wants_dates_(wants_dates) {}

  bill::RowReaderFactory reader() override { return survey_rows(metric_, dates_); }
  Result<std::vector<bill::InferredOption>> infer() const override {
    std::vector<bill::InferredOption> found;
    if (wants_metric_) {
      auto metric = TRY(infer_metric(metric_));
      found.push_back({"azure_metric", std::move(metric.value), std::move(metric.remark)});
    }
    if (wants_dates_) {
      auto dates = TRY(dates_.infer());
      found.push_back(
          {"azure_dates", std::string(kDateOrders.name(dates.order)), std::move(dates.remark)});
    }
    return found;
  }

 private:
  bool wants_metric_, wants_dates_;
  MetricEvidence metric_;
  DateSurvey dates_;
};

}  // namespace

bill::RowReaderFactory azure_bill(AzureOptions options) {
  return [options](const csv::Header& header) {
    return bill::boxed(AzureRowReader::open(header, options));
  };
}

bool is_azure_header(std::span<const std::string> names) {
  if (std::ranges::find(names, "BilledCost") != names.end()) return false;  // FOCUS, of Azure
  const Columns columns = Columns::of(names);
  return columns.find(Column::kCost) && columns.find(Column::kDate) &&
         columns.find(Column::kSubscriptionId) &&
         (columns.find(Column::kMeterId) || columns.find(Column::kMeterCategory));
}

constinit const bill::BillFormat kAzureFormat = {
    .name = "azure",
    .title = "an Azure cost export",
    .in_parquet = true,
    .default_delivery = DeliveryStyle::kReplacement,
    .options = kOptions,
    .has_columns = is_azure_header,
    .open = [](const bill::BillSettings& settings) -> Result<bill::RowReaderFactory> {
      return azure_bill(
          {.metric = kMetrics.parse(settings.option("azure_metric")),
           .dates = kDateOrders.parse(settings.option("azure_dates")).value_or(DateOrder{})});
    },
    .open_survey = [](const bill::BillSettings& settings) -> std::unique_ptr<bill::OptionSurvey> {
      const bool wants_metric = settings.option("azure_metric").empty();
      const bool wants_dates = settings.option("azure_dates").empty();
      if (!wants_metric && !wants_dates) return nullptr;
      return std::make_unique<AzureSurvey>(wants_metric, wants_dates);
    },
};

}  // namespace pennyweight::azure
