#include "ingest/oci/oci_bill.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/billing_period.h"
#include "core/check.h"
#include "ingest/bill/currency_code.h"
#include "ingest/bill/json_column.h"
#include "ingest/bill/number.h"
#include "ingest/oci/columns.h"
#include "ingest/oci/service_category.h"

namespace pennyweight::oci {
namespace {

using bill::Fault;

constexpr std::string_view kOracle = "Oracle";

std::string shown(std::string_view text) { return std::string(text.substr(0, 60)); }

bool is_null(std::string_view text) {
  return text.empty() || text == "NULL" || text == "null" || text == "\\N";
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool contains_word(std::string_view text, std::string_view word) {
  return !std::ranges::search(text, word, [](char a, char b) { return lower(a) == b; }).empty();
}

std::optional<bool> parse_flag(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), lower);
  if (word.empty() || word == "false" || word == "n" || word == "no") return false;
  if (word == "true" || word == "y" || word == "yes") return true;
  return std::nullopt;
}

// "instance" of ocid1.instance.oc1.us-sanjose-1.anzw…; nothing of other ids.
std::string_view type_of_ocid(std::string_view id) {
  constexpr std::string_view kPrefix = "ocid1.";
  if (!id.starts_with(kPrefix)) return {};
  const std::size_t end = id.find('.', kPrefix.size());
  if (end == std::string_view::npos) return {};
  return id.substr(kPrefix.size(), end - kPrefix.size());
}

class OciBill : public bill::BillReader {
 public:
  Result<void> header(const csv::Header& header) override {
    auto columns = Columns::of(header);
    if (!columns) return std::unexpected(std::move(columns.error()));
    names_ = header.names();
    columns_.emplace(std::move(*columns));
    return {};
  }

  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(columns_.has_value(), "the header comes before the rows");
    row_ = row;
    rounded_ = 0;
    Charge& charge = lines.add();
    if (auto fault = read_line(charge)) return {.fault = std::move(fault), .passed_over = {}};
    read_tags(charge);
    keep_others(charge);
    rounded_numbers_ += rounded_;
    return {};
  }

  void describe(bill::ImportSummary& summary) const override {
    if (!columns_) return;
    summary.kind = "Oracle Cloud cost report";
    summary.rounded_numbers = rounded_numbers_;
    summary.unread_json = unread_tags_;
  }

 private:
  std::string_view text(std::size_t at) const {
    const std::string_view value = row_.fields[at];
    return row_.quoted[at] == 0 && is_null(value) ? std::string_view{} : value;
  }
  std::string_view text(Column column) const {
    const auto at = columns_->at(column);
    return at ? text(*at) : std::string_view{};
  }
  Fault fault(Column column, std::string_view reason) const {
    const std::string& name = names_[*columns_->at(column)];
    return {name, fmt::format("{} {}", name, reason)};
  }

  Result<std::optional<Decimal>> number(Column column) {
    const std::string_view value = text(column);
    if (is_null(value)) return std::nullopt;
    const auto parsed = bill::parse_printed_number(value);
    if (!parsed) return std::unexpected(parsed.error());
    rounded_ += parsed->rounded ? 1 : 0;
    return parsed->value;
  }

  std::optional<Fault> read_line(Charge& charge) {
    if (auto fault = read_money(charge)) return fault;
    if (auto fault = read_period(charge)) return fault;
    const auto is_correction = parse_flag(text(Column::kIsCorrection));
    if (!is_correction) return fault(Column::kIsCorrection, "is neither true nor false");
    charge.is_correction = *is_correction;
    read_texts(charge);
    return std::nullopt;
  }

  std::optional<Fault> read_money(Charge& charge) {
    const std::string_view code = text(Column::kCurrency);
    const auto currency = Currency::parse(code);
    if (!currency || !bill::is_iso_currency(code)) {
      return fault(Column::kCurrency,
                   fmt::format("'{}' is not a currency of ISO 4217, such as USD", shown(code)));
    }
    const auto bad_number = [&](Column column, const Error& error) {
      return fault(column, fmt::format("{}; write digits with a point", error.message));
    };
    const auto cost = number(Column::kMyCost);
    if (!cost) return bad_number(Column::kMyCost, cost.error());
    if (!*cost) {
      return fault(Column::kMyCost, "is empty; Oracle writes an amount in every row");
    }
    const auto quantity = number(Column::kBilledQuantity);
    if (!quantity) return bad_number(Column::kBilledQuantity, quantity.error());
    const auto price = number(Column::kUnitPrice);
    if (!price) return bad_number(Column::kUnitPrice, price.error());

    // The report has no list price; what FOCUS wants in its place is what is billed.
    const Money amount = Money::from_decimal(**cost, *currency);
    charge.costs = {.billed = amount, .effective = amount, .list = amount, .contracted = amount};
    std::string_view unit = text(Column::kSkuUnit);
    if (unit.empty()) unit = text(Column::kBillingUnit);
    if (*quantity && !unit.empty()) {
      charge.pricing_quantity = *quantity;
      charge.pricing_unit = unit;
      charge.consumed_quantity = *quantity;
      charge.consumed_unit = unit;
    }
    if (*price && !(*price)->is_negative()) charge.contracted_unit_price = *price;
    // What has no place on the line is not lost.
    quantity_unplaced_ = *quantity && unit.empty();
    price_unplaced_ = *price && (*price)->is_negative();
    return std::nullopt;
  }

  std::optional<Fault> read_period(Charge& charge) const {
    const auto begin = parse_instant(text(Column::kUsageStart));
    if (!begin) return fault(Column::kUsageStart, begin.error().message);
    const auto end = parse_instant(text(Column::kUsageEnd));
    if (!end) return fault(Column::kUsageEnd, end.error().message);
    const auto period = Interval::of(*begin, *end);
    if (!period) {
      return fault(Column::kUsageEnd,
                   fmt::format("{} is not after the start {}", shown(text(Column::kUsageEnd)),
                               shown(text(Column::kUsageStart))));
    }
    charge.charge_period = *period;
    // Oracle's FOCUS report has the calendar month of the usage, in UTC, and so does this.
    charge.billing_period = BillingPeriod::containing(*begin, TimeZone::utc()).to_interval();
    return std::nullopt;
  }

  void read_texts(Charge& charge) const {
    charge.charge_category = ChargeCategory::kUsage;
    charge.charge_frequency = ChargeFrequency::kUsageBased;
    charge.sub_account_id = text(Column::kTenantId);
    charge.billing_account_id = text(Column::kSubscriptionId);
    if (charge.billing_account_id.empty()) charge.billing_account_id = charge.sub_account_id;
    charge.invoice_issuer_name = kOracle;
    charge.service_provider_name = kOracle;
    charge.charge_description = text(Column::kDescription);
    charge.service_name = text(Column::kService);
    const ServiceCategory category = service_category(charge.service_name);
    charge.service_category = category.category;
    charge.service_subcategory = category.subcategory;
    charge.region_id = text(Column::kRegion);
    charge.availability_zone = text(Column::kAvailabilityDomain);
    charge.resource_id = text(Column::kResourceId);
    if (!charge.resource_id.empty()) {
      charge.resource_type = type_of_ocid(charge.resource_id);
      if (charge.resource_type.empty()) charge.resource_type = charge.service_name;
      if (charge.resource_type.empty()) charge.resource_type = "resource";
    }
    charge.sku_id = text(Column::kProductSku);
    if (!charge.sku_id.empty()) {
      charge.sku_meter = charge.charge_description;
      // A SKU has one price, and another beyond what was committed to.
      charge.sku_price_id = charge.sku_id;
      if (parse_flag(text(Column::kOverageFlag)) == true) charge.sku_price_id += "/overage";
    }
    charge.pricing_category = contains_word(charge.charge_description, "preemptible")
                                  ? PricingCategory::kDynamic
                                  : PricingCategory::kStandard;
  }

  // A tag that is past a limit is kept as text, under the name of its column.
  void read_tags(Charge& charge) {
    unread_.clear();
    for (const Columns::Named& tag : columns_->tags) {
      const std::string_view value = text(tag.at);
      if (value.empty() || charge.tags.set(tag.name, value)) continue;
      unread_.push_back({names_[tag.at], tag.at});
    }
    unread_tags_ += unread_.empty() ? 0 : 1;
  }

  void keep_others(Charge& charge) const {
    std::vector<std::pair<std::string_view, std::string_view>> kept;
    const auto keep = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) kept.emplace_back(name, value);
    };
    for (const Columns::Named& column : columns_->kept) keep(column.name, text(column.at));
    for (const Columns::Named& tag : unread_) keep(tag.name, text(tag.at));
    if (quantity_unplaced_) keep("x_BilledQuantity", text(Column::kBilledQuantity));
    if (price_unplaced_) keep("x_UnitPrice", text(Column::kUnitPrice));
    std::ranges::sort(kept);
    std::string& out = charge.other_columns;
    std::string unique;
    std::string_view last;
    for (const auto& [name, value] : kept) {
      unique.assign(name);
      // A column of the file that has the name under which another is kept.
      if (name == last) unique += '_';
      last = name;
      out += out.empty() ? '{' : ',';
      bill::append_json_string(out, unique);
      out += ':';
      bill::append_json_string(out, value);
    }
    if (!out.empty()) out += '}';
  }

  std::optional<Columns> columns_;
  std::vector<std::string> names_;
  bill::TextRow row_;
  std::uint64_t rounded_ = 0;  // of the row at hand
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_tags_ = 0;
  std::vector<Columns::Named> unread_;
  bool quantity_unplaced_ = false;
  bool price_unplaced_ = false;
};

}  // namespace

std::unique_ptr<bill::BillReader> oci_bill() { return std::make_unique<OciBill>(); }

bool is_oci_header(std::span<const std::string> names) { return has_needed_columns(names); }

}  // namespace pennyweight::oci
