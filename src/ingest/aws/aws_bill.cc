#include "ingest/aws/aws_bill.h"

#include <optional>
#include <utility>

#include "core/check.h"
#include "ingest/aws/report_reader.h"

namespace pennyweight::aws {
namespace {

class AwsBill : public bill::BillReader {
 public:
  explicit AwsBill(AwsOptions options) : options_(options) {}

  Result<void> header(const csv::Header& header) override {
    auto plan = HeaderPlan::of(header, options_.keep_line_item_ids);
    if (!plan) return std::unexpected(std::move(plan.error()));
    reader_.emplace(std::move(*plan));
    return {};
  }
  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(reader_.has_value(), "the header comes before the rows");
    return reader_->read(row, lines);
  }
  void describe(bill::ImportSummary& summary) const override {
    if (reader_) reader_->describe(summary);
  }

 private:
  AwsOptions options_;
  std::optional<ReportReader> reader_;
};

}  // namespace

std::unique_ptr<bill::BillReader> aws_bill(AwsOptions options) {
  return std::make_unique<AwsBill>(options);
}

}  // namespace pennyweight::aws
