#include "ingest/bills/azure/azure_bill.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/enum_names.h"
#include "ingest/bills/azure/azure_row_reader.h"
#include "ingest/bills/azure/column.h"
#include "ingest/bills/azure/metric_survey.h"

namespace pennyweight::azure {
namespace {

constexpr auto kMetrics = enum_names<CostMetric>({{CostMetric::kActual, "actual"},
                                                  {CostMetric::kAmortised, "amortized"},
                                                  {CostMetric::kActualPurchases, "purchases"}});

constexpr bill::BillOption kOptions[] = {
    {.key = "azure_metric",
     .flag = "--azure-metric",
     .choices = kMetrics.names(),
     .help = "Which of Azure's exports a file is: actual, amortized, or purchases (of the actual "
             "one only what the amortized lacks)"},
};

class MetricOptionSurvey : public bill::OptionSurvey {
 public:
  bill::RowReaderFactory reader() override { return survey_metric(evidence_); }
  Result<bill::InferredOption> infer() const override {
    auto found = infer_metric(evidence_);
    if (!found) return std::unexpected(std::move(found).error());
    return bill::InferredOption{"azure_metric", std::move(found->value), std::move(found->remark)};
  }

 private:
  MetricEvidence evidence_;
};

}  // namespace

bill::RowReaderFactory azure_bill(AzureOptions options) {
  return [options](const csv::Header& header) {
    return bill::boxed(AzureRowReader::open(header, options.metric));
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
      return azure_bill({kMetrics.parse(settings.option("azure_metric"))});
    },
    .open_survey = [](const bill::BillSettings& settings) -> std::unique_ptr<bill::OptionSurvey> {
      if (!settings.option("azure_metric").empty()) return nullptr;
      return std::make_unique<MetricOptionSurvey>();
    },
};

}  // namespace pennyweight::azure
