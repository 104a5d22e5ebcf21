#include "ingest/bills/rated/runpod.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "core/limits.h"
#include "core/units.h"
#include "ingest/bills/number.h"
#include "ingest/bills/rated/custom_columns.h"

namespace pennyweight::rated {
namespace {

constexpr std::string_view kProvider = "RunPod";
constexpr std::string_view kHours = "Hours";

bool is_null_cell(std::string_view text) {
  return text.empty() || text == "NULL" || text == "null";
}

Interval month_of(Instant at) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  const std::chrono::year_month month(day.year(), day.month());
  return Interval(std::chrono::sys_days(month / std::chrono::day(1)),
                  std::chrono::sys_days((month + std::chrono::months(1)) / std::chrono::day(1)));
}

// The bucket that begins at `at`; nothing if none does.
std::optional<Interval> bucket_at(Instant at, BucketSize size) {
  switch (size) {
    case BucketSize::kHour:
      if (std::chrono::floor<std::chrono::hours>(at) != at) return std::nullopt;
      return Interval(at, at + std::chrono::hours(1));
    case BucketSize::kDay:
      if (std::chrono::floor<std::chrono::days>(at) != at) return std::nullopt;
      return Interval(at, at + std::chrono::days(1));
    case BucketSize::kMonth: {
      const Interval month = month_of(at);
      if (month.begin() != at) return std::nullopt;
      return month;
    }
  }
  return std::nullopt;
}

constexpr auto kBucketSizes = enum_names<BucketSize>(
    {{BucketSize::kHour, "hour"}, {BucketSize::kDay, "day"}, {BucketSize::kMonth, "month"}});

class RunpodRowReader : public bill::RowReader {
 public:
  static Result<RunpodRowReader> open(const csv::Header& header, const RateCard& card,
                                      const RunpodOptions& options) {
    RunpodRowReader reader(card, options);
    reader.time_ = header.find("time");
    reader.amount_ = header.find("amount");
    reader.billed_ms_ = header.find("timeBilledMs");
    reader.pod_ = header.find("podId");
    reader.endpoint_ = header.find("endpointId");
    reader.gpu_type_ = header.find("gpuTypeId");
    reader.disk_ = header.find("diskSpaceBilledGb");
    if (!reader.time_ || (!reader.amount_ && !reader.billed_ms_)) {
      return fail(
          ErrorCode::kBadFile,
          "RunPod's billing records have 'time' and 'amount' or 'timeBilledMs'; export them "
          "from rest.runpod.io/v1/billing");
    }
    for (std::size_t i = 0; i < header.size(); ++i) {
      const bool read = i == reader.time_ || i == reader.amount_ || i == reader.billed_ms_ ||
                        i == reader.pod_ || i == reader.endpoint_ || i == reader.gpu_type_ ||
                        i == reader.disk_;
      if (!read) reader.others_.emplace_back(i, custom_name(header.names()[i]));
    }
    return reader;
  }

  bill::RowOutcome read(const bill::TextRow& row, bill::ChargeBuffer& charges) override {
    std::uint64_t rounded = 0;
    auto fault = fill(row, charges.add(), rounded);
    if (!fault) rounded_ += rounded;
    return {.fault = std::move(fault)};
  }

  void describe(bill::ImportSummary& summary) const override {
    summary.kind = fmt::format("RunPod billing by the {}", kBucketSizes.name(options_.bucket));
    summary.rounded_numbers = rounded_;
  }

 private:
  RunpodRowReader(const RateCard& card, RunpodOptions options)
      : card_(&card), options_(std::move(options)) {}

  std::string_view text(const bill::TextRow& row, std::optional<std::size_t> at) const {
    return at && !is_null_cell(row.fields[*at]) ? row.fields[*at] : std::string_view();
  }

  std::optional<bill::RowFault> fill(const bill::TextRow& row, Charge& charge,
                                     std::uint64_t& rounded) const {
    if (auto fault = fill_time(row, charge)) return fault;
    fill_names(row, charge);
    const std::string_view billed = text(row, billed_ms_);
    if (!billed.empty()) {
      const auto ms = bill::parse_printed_number(billed);
      if (!ms) return bill::RowFault{"timeBilledMs", ms.error().message};
      const ParsedDecimal hours = divided(ms->value, kMillisecondsPerHour);
      rounded += (ms->rounded ? 1u : 0u) + (hours.rounded ? 1u : 0u);
      charge.consumed_quantity = ms->value;
      charge.consumed_unit = "Milliseconds";
      charge.pricing_quantity = hours.value;
      charge.pricing_unit = kHours;
    }
    const std::string_view amount = text(row, amount_);
    if (amount.empty()) return fill_costs_from_card(charge, rounded);
    const auto parsed = bill::parse_printed_number(amount);
    if (!parsed) return bill::RowFault{"amount", parsed.error().message};
    rounded += parsed->rounded ? 1 : 0;
    const Money cost = Money::from_decimal(parsed->value, kUsd);
    charge.costs = {cost, cost, cost, cost};
    return std::nullopt;
  }

  std::optional<bill::RowFault> fill_time(const bill::TextRow& row, Charge& charge) const {
    const auto at = parse_instant(text(row, time_));
    if (!at) return bill::RowFault{"time", at.error().message};
    const auto bucket = bucket_at(*at, options_.bucket);
    if (!bucket || bucket->end() > kInstantMax) {
      return bill::RowFault{
          "time",
          fmt::format("{} is not the beginning of a bucket of one {}; is that the bucketSize "
                      "of the query?",
                      to_text(*at), kBucketSizes.name(options_.bucket))};
    }
    charge.billing_period = month_of(*at);
    charge.charge_period = *bucket;
    return std::nullopt;
  }

  void fill_names(const bill::TextRow& row, Charge& charge) const {
    const std::string_view pod = text(row, pod_);
    const std::string_view endpoint = text(row, endpoint_);
    const std::string_view gpu_type = text(row, gpu_type_);
    const bool is_storage = pod.empty() && endpoint.empty() && gpu_type.empty();
    charge.billing_account_id = options_.account;
    charge.invoice_issuer_name = kProvider;
    charge.service_provider_name = kProvider;
    charge.charge_category = ChargeCategory::kUsage;
    charge.charge_frequency = ChargeFrequency::kUsageBased;
    charge.pricing_category = PricingCategory::kStandard;
    charge.service_category = is_storage ? "Storage" : "Compute";
    charge.service_name = is_storage ? "Network volumes" : endpoint.empty() ? "Pods" : "Serverless";
    charge.resource_id = pod.empty() ? endpoint : pod;
    if (!charge.resource_id.empty()) charge.resource_type = pod.empty() ? "Endpoint" : "Pod";
    charge.sku_id = gpu_type;
    OtherColumns others;
    if (!pod.empty()) others["x_EndpointId"] = endpoint;
    others["x_DiskSpaceBilledQuantity"] = text(row, disk_);
    for (const auto& [at, name] : others_) others[name] = text(row, at);
    charge.other_columns = to_json(others);
  }

  std::optional<bill::RowFault> fill_costs_from_card(Charge& charge, std::uint64_t& rounded) const {
    if (!charge.consumed_quantity) {
      return bill::RowFault{"amount", "the record has neither an amount nor timeBilledMs"};
    }
    const auto rate = card_->find({.provider = charge.service_provider_name,
                                   .skus = {charge.sku_id, "", ""},
                                   .service = charge.service_name,
                                   .gpu_model = charge.sku_id,
                                   .instance_type = "",
                                   .region = "",
                                   .unit = kHours,
                                   .currency = std::nullopt,
                                   .during = charge.charge_period});
    if (!rate) return bill::RowFault{"amount", rate.error().message};
    const auto amounts = amounts_of(**rate, *charge.consumed_quantity, kMillisecondsPerHour);
    if (!amounts) return bill::RowFault{"timeBilledMs", amounts.error().message};
    rounded += amounts->rounded ? 1 : 0;
    charge.costs = {amounts->cost, amounts->cost, amounts->list, amounts->cost};
    charge.list_unit_price = (*rate)->list_price;
    charge.contracted_unit_price = (*rate)->price;
    return std::nullopt;
  }

  const RateCard* card_;
  RunpodOptions options_;
  std::optional<std::size_t> time_, amount_, billed_ms_, pod_, endpoint_, gpu_type_, disk_;
  std::vector<std::pair<std::size_t, std::string>> others_;
  std::uint64_t rounded_ = 0;
};

constexpr bill::BillOption kRunpodOptions[] = {
    {.key = "bucket",
     .flag = "--bucket",
     .choices = kBucketSizes.names(),
     .help = "How long the time buckets of RunPod's records are, as they were asked for",
     .in_configuration = false},
};

// True for the names of RunPod's records. They are few and plain, so two of them must be there.
template <class HasName>
bool are_runpod_names(const HasName& has) {
  const bool has_resource = has("podId") || has("endpointId") || has("diskSpaceBilledGb");
  return has("time") && (has("timeBilledMs") || (has("amount") && has_resource));
}

}  // namespace

std::optional<BucketSize> parse_bucket_size(std::string_view text) {
  return kBucketSizes.parse(text);
}

bill::RowReaderFactory runpod_bill(const RateCard& card, RunpodOptions options) {
  return [&card, options = std::move(options)](const csv::Header& header) {
    return bill::boxed(RunpodRowReader::open(header, card, options));
  };
}

constinit const bill::BillFormat kRunpodFormat = {
    .name = "runpod",
    .title = "RunPod's billing history",
    .in_json = true,
    .uses_rate_card = true,
    .options = kRunpodOptions,
    .has_columns =
        [](std::span<const std::string> names) {
          return are_runpod_names(
              [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); });
        },
    .has_records =
        [](std::string_view beginning) {
          return are_runpod_names(
              [&](std::string_view name) { return bill::has_json_name(beginning, name); });
        },
    .open = [](const bill::BillSettings& settings) -> Result<bill::RowReaderFactory> {
      static const RateCard kNoPrices;
      const auto bucket = parse_bucket_size(settings.option("bucket"));
      if (!bucket) {
        return fail(
            ErrorCode::kConfig,
            "RunPod's records do not say how long their time buckets are; give --bucket hour, day "
            "or month, the bucketSize of the query (RunPod's own default is day)");
      }
      const RateCard& card = settings.rate_card == nullptr ? kNoPrices : *settings.rate_card;
      return runpod_bill(card, {.bucket = *bucket, .account = {}});
    },
};

}  // namespace pennyweight::rated
