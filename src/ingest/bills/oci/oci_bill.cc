#include "ingest/bills/oci/oci_bill.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/billing_period.h"
#include "core/json_text.h"
#include "core/try.h"
#include "ingest/bills/cell_text.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/number.h"
#include "ingest/bills/oci/columns.h"
#include "ingest/bills/oci/service_category.h"

namespace pennyweight::oci {
namespace {

using bill::RowFault;

constexpr std::string_view kOracle = "Oracle";

bool contains_word(std::string_view text, std::string_view word) {
  return !std::ranges::search(text, word, [](char a, char b) {
            return ascii::to_lower(a) == b;
          }).empty();
}

std::optional<bool> parse_flag(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), ascii::to_lower);
  if (word.empty() || word == "false" || word == "n" || word == "no") return false;
  if (word == "true" || word == "y" || word == "yes") return true;
  return std::nullopt;
}

// "instance" for ocid1.instance.oc1.us-sanjose-1.anzw…; empty for other ids.
std::string_view resource_type(std::string_view id) {
  constexpr std::string_view kPrefix = "ocid1.";
  if (!id.starts_with(kPrefix)) return {};
  const std::size_t end = id.find('.', kPrefix.size());
  if (end == std::string_view::npos) return {};
  return id.substr(kPrefix.size(), end - kPrefix.size());
}

class OciRowReader : public bill::RowReader {
 public:
  OciRowReader(Columns columns, std::vector<std::string> names)
      : columns_(std::move(columns)), names_(std::move(names)) {}

  bill::RowOutcome read(const bill::TextRow& row, bill::ChargeBuffer& charges) override {
    row_ = row;
    rounded_ = 0;
    Charge& charge = charges.add();
    if (auto fault = read_charge(charge)) return {.fault = std::move(fault)};
    read_tags(charge);
    keep_others(charge);
    rounded_numbers_ += rounded_;
    return {};
  }

  void describe(bill::ImportSummary& summary) const override {
    summary.kind = "Oracle Cloud cost report";
    summary.rounded_numbers = rounded_numbers_;
    summary.unread_json = unread_tags_;
  }

 private:
  std::string_view text(std::size_t at) const {
    return bill::text_or_null(row_.fields[at], row_.quoted[at] != 0);
  }
  std::string_view text(Column column) const {
    const auto at = columns_.at(column);
    return at ? text(*at) : std::string_view{};
  }
  RowFault fault(Column column, std::string_view reason) const {
    const std::string& name = names_[*columns_.at(column)];
    return {name, fmt::format("{} {}", name, reason)};
  }

  Result<std::optional<Decimal>> number(Column column) {
    const std::string_view value = text(column);
    if (bill::is_null(value)) return std::nullopt;
    const auto parsed = TRY(bill::parse_printed_number(value));
    rounded_ += parsed.rounded ? 1 : 0;
    return parsed.value;
  }

  std::optional<RowFault> read_charge(Charge& charge) {
    if (auto fault = read_money(charge)) return fault;
    if (auto fault = read_period(charge)) return fault;
    const auto is_correction = parse_flag(text(Column::kIsCorrection));
    if (!is_correction) return fault(Column::kIsCorrection, "is neither true nor false");
    charge.is_correction = *is_correction;
    read_texts(charge);
    return std::nullopt;
  }

  std::optional<RowFault> read_money(Charge& charge) {
    const std::string_view code = text(Column::kCurrency);
    const auto currency = currency_parser_.parse(code);
    if (!currency) {
      return fault(Column::kCurrency, fmt::format("'{}' is not a currency of ISO 4217, such as USD",
                                                  bill::excerpt(code)));
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

    // The report has no list price; FOCUS wants the billed amount in its place.
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
    // The charge has no place for these; other_columns takes them.
    keeps_quantity_ = *quantity && unit.empty();
    keeps_price_ = *price && (*price)->is_negative();
    return std::nullopt;
  }

  std::optional<RowFault> read_period(Charge& charge) const {
    const auto begin = parse_instant(text(Column::kUsageStart));
    if (!begin) return fault(Column::kUsageStart, begin.error().message);
    const auto end = parse_instant(text(Column::kUsageEnd));
    if (!end) return fault(Column::kUsageEnd, end.error().message);
    const auto period = Interval::of(*begin, *end);
    if (!period) {
      return fault(Column::kUsageEnd, fmt::format("{} is not after the start {}",
                                                  bill::excerpt(text(Column::kUsageEnd)),
                                                  bill::excerpt(text(Column::kUsageStart))));
    }
    charge.charge_period = *period;
    // As in Oracle's FOCUS report: the calendar month of the usage, in UTC.
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
    const bill::ServiceCategory category = service_category(charge.service_name);
    charge.service_category = category.category;
    charge.service_subcategory = category.subcategory;
    charge.region_id = text(Column::kRegion);
    charge.availability_zone = text(Column::kAvailabilityDomain);
    charge.resource_id = text(Column::kResourceId);
    if (!charge.resource_id.empty()) {
      charge.resource_type = resource_type(charge.resource_id);
      if (charge.resource_type.empty()) charge.resource_type = charge.service_name;
      if (charge.resource_type.empty()) charge.resource_type = "resource";
    }
    charge.sku_id = text(Column::kProductSku);
    if (!charge.sku_id.empty()) {
      charge.sku_meter = charge.charge_description;
      // A SKU has one price, and another for usage beyond the commitment.
      charge.sku_price_id = charge.sku_id;
      if (parse_flag(text(Column::kOverageFlag)) == true) charge.sku_price_id += "/overage";
    }
    charge.pricing_category = contains_word(charge.charge_description, "preemptible")
                                  ? PricingCategory::kDynamic
                                  : PricingCategory::kStandard;
  }

  // A tag beyond a limit is stored as text, under the name of its column.
  void read_tags(Charge& charge) {
    unread_.clear();
    for (const Columns::NamedColumn& tag : columns_.tags) {
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
    for (const Columns::NamedColumn& column : columns_.kept) keep(column.name, text(column.at));
    for (const Columns::NamedColumn& tag : unread_) keep(tag.name, text(tag.at));
    if (keeps_quantity_) keep("x_BilledQuantity", text(Column::kBilledQuantity));
    if (keeps_price_) keep("x_UnitPrice", text(Column::kUnitPrice));
    std::ranges::sort(kept);
    std::string& out = charge.other_columns;
    std::string unique;
    std::string_view last;
    for (const auto& [name, value] : kept) {
      unique.assign(name);
      // A column of the file has the name under which another is stored.
      if (name == last) unique += '_';
      last = name;
      out += out.empty() ? '{' : ',';
      append_stored_json_string(out, unique);
      out += ':';
      append_stored_json_string(out, value);
    }
    if (!out.empty()) out += '}';
  }

  Columns columns_;
  std::vector<std::string> names_;
  bill::TextRow row_;
  bill::CurrencyParser currency_parser_;
  std::uint64_t rounded_ = 0;  // of the row being read
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_tags_ = 0;
  std::vector<Columns::NamedColumn> unread_;
  bool keeps_quantity_ = false;
  bool keeps_price_ = false;
};

}  // namespace

bill::RowReaderFactory oci_bill() {
  return [](const csv::Header& header) -> Result<std::unique_ptr<bill::RowReader>> {
    auto columns = TRY(Columns::of(header));
    return std::make_unique<OciRowReader>(std::move(columns), header.names());
  };
}

bool is_oci_header(std::span<const std::string> names) { return has_needed_columns(names); }

constinit const bill::BillFormat kOciFormat = {
    .name = "oci",
    .title = "an Oracle Cloud cost report",
    .default_delivery = DeliveryStyle::kReplacement,
    .has_columns = is_oci_header,
    .open = [](const bill::BillSettings&) -> Result<bill::RowReaderFactory> { return oci_bill(); },
};

}  // namespace pennyweight::oci
