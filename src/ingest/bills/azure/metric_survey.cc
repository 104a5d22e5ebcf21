#include "ingest/bills/azure/metric_survey.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "ingest/bills/azure/azure_text.h"
#include "ingest/bills/azure/column.h"
#include "ingest/bills/number.h"

namespace pennyweight::azure {
namespace {

class RowSurvey : public bill::RowReader {
 public:
  RowSurvey(const csv::Header& header, MetricEvidence& evidence, DateSurvey& dates)
      : columns_(Columns::of(header.names())), evidence_(evidence), dates_(dates) {}

  bill::RowOutcome read(const bill::TextRow& row, bill::ChargeBuffer&) override {
    look_at(row);
    dates_.look_at(text(row, Column::kDate), text(row, Column::kBillingPeriodStart),
                   text(row, Column::kBillingPeriodEnd));
    return {.skipped = bill::SkippedRow{"is only looked at"}};
  }
  void describe(bill::ImportSummary&) const override {}

 private:
  std::string_view text(const bill::TextRow& row, Column column) const {
    const auto at = columns_.find(column);
    return at ? row.fields[*at] : std::string_view();
  }

  void look_at(const bill::TextRow& row) {
    const std::string_view type = text(row, Column::kChargeType);
    const auto is = [&](std::string_view word) {
      return equal_ignoring_case_and_spaces(type, word);
    };
    if (is("UnusedReservation") || is("UnusedSavingsPlan")) {
      ++evidence_.unused;
      return;
    }
    const std::string_view model = text(row, Column::kPricingModel);
    const bool of_commitment = equal_ignoring_case_and_spaces(model, "Reservation") ||
                               equal_ignoring_case_and_spaces(model, "SavingsPlan") ||
                               !text(row, Column::kReservationId).empty() ||
                               !text(row, Column::kBenefitId).empty();
    if (!of_commitment) return;
    const auto cost = bill::parse_printed_number(text(row, Column::kCost));
    if (!cost || cost->value == Decimal()) return;
    if (is("Purchase") || is("Refund")) ++evidence_.purchases;
    if (is("Usage") || !columns_.find(Column::kChargeType)) ++evidence_.covered;
  }

  Columns columns_;
  MetricEvidence& evidence_;
  DateSurvey& dates_;
};

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

bill::RowReaderFactory survey_rows(MetricEvidence& evidence, DateSurvey& dates) {
  return [&](const csv::Header& header) -> Result<std::unique_ptr<bill::RowReader>> {
    return std::make_unique<RowSurvey>(header, evidence, dates);
  };
}

Result<InferredMetric> infer_metric(const MetricEvidence& evidence) {
  const std::string unused = counted(evidence.unused, "unused commitment", "unused commitments");
  const std::string purchases =
      counted(evidence.purchases, "purchase of a commitment", "purchases of commitments");
  if (evidence.unused > 0 && evidence.purchases > 0) {
    return fail(ErrorCode::kBadFile,
                fmt::format("it has {}, which only an amortised export has, and {}, which only an "
                            "actual one has; import the two exports separately, with "
                            "--azure-metric amortized and --azure-metric purchases",
                            unused, purchases));
  }
  if (evidence.unused > 0) {
    return InferredMetric{"amortized",
                          fmt::format("read as amortised cost, since it has {}; --azure-metric "
                                      "states it",
                                      unused)};
  }
  if (evidence.purchases > 0) {
    return InferredMetric{
        "actual",
        fmt::format("read as actual cost, since it has {}; --azure-metric states it", purchases)};
  }
  if (evidence.covered > 0) {
    return InferredMetric{
        "amortized",
        fmt::format("read as amortised cost, since {} that a commitment covers a cost; "
                    "--azure-metric states it",
                    evidence.covered == 1
                        ? "it gives 1 line of usage"
                        : fmt::format("it gives {} lines of usage", evidence.covered))};
  }
  return InferredMetric{"actual",
                        "read as actual cost: it has no cost of a commitment, so the amortised "
                        "export would say the same"};
}

}  // namespace pennyweight::azure
