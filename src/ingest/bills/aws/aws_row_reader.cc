#include "ingest/bills/aws/aws_row_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/json_text.h"
#include "ingest/bills/aws/aws_names.h"
#include "ingest/bills/aws/service_category.h"
#include "ingest/bills/number.h"

namespace pennyweight::aws {
namespace {

constexpr std::string_view kSplitRow = "repeats the cost of its instance";
constexpr std::string_view kPlanRefund = "Refund for one-time fee for Savings Plan ID";
constexpr std::string_view kOffsetText =
    "On-demand cost of usage under a Savings Plan, which its negation takes back";

// Source: AWS Data Exports user guide, "Understanding split cost allocation data".
bool repeats_an_instance(std::string_view operation) {
  return operation == "EKSPod-EC2" || operation == "ECSTask-EC2";
}

bool is_capacity_reservation(std::string_view arn) {
  return arn.find(":capacity-reservation/") != std::string_view::npos || arn.starts_with("cr-");
}

bool equals_ignoring_case(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) { return ascii::to_lower(x) == y; });
}

void append_member(std::string& json, std::string_view key, std::string_view value, bool number) {
  json += json.empty() ? '{' : ',';
  append_stored_json_string(json, key);
  json += ':';
  if (number) {
    json += value;
  } else {
    append_stored_json_string(json, value);
  }
}

// The number that a text begins with, as JSON: "96", "1152 GiB"; empty if there is none.
std::string leading_number(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  const auto parsed = bill::parse_printed_number(word);
  return parsed && !parsed->rounded ? to_text(parsed->value) : std::string();
}

bool is_plan(LineItem type) {
  return type == LineItem::kSavingsPlanCoveredUsage || type == LineItem::kSavingsPlanNegation ||
         type == LineItem::kSavingsPlanRecurringFee || type == LineItem::kSavingsPlanUpfrontFee;
}

}  // namespace

AwsRowReader::AwsRowReader(HeaderPlan plan) : plan_(std::move(plan)) {}

std::string_view AwsRowReader::text(const Row& row, Column column) const {
  const auto at = plan_.position(column);
  return at ? row.fields[*at] : std::string_view{};
}

std::string_view AwsRowReader::take(Row& row, Column column) const {
  row.taken.set(static_cast<std::size_t>(column));
  return text(row, column);
}

std::string_view AwsRowReader::take_first(Row& row, std::initializer_list<Column> columns) const {
  for (const Column column : columns) {
    if (!text(row, column).empty()) return take(row, column);
  }
  return {};
}

std::string_view AwsRowReader::name_in_file(Column column) const {
  const auto at = plan_.position(column);
  return at ? std::string_view(plan_.names[*at]) : name_of(column);
}

bill::RowFault AwsRowReader::fault(Column column, std::string_view why) const {
  const std::string_view name = name_in_file(column);
  return {std::string(name), fmt::format("{} {}", name, why)};
}

bill::RowOutcome AwsRowReader::read(const bill::TextRow& texts, bill::ChargeBuffer& charges) {
  CHECK(texts.fields.size() == plan_.width, "a row has as many fields as its header");
  const auto refused = [](RowFault fault) { return bill::RowOutcome{.fault = std::move(fault)}; };
  Row row;
  row.fields = texts.fields;
  if (repeats_an_instance(text(row, Column::kOperation))) {
    return {.skipped = bill::SkippedRow{kSplitRow}};
  }
  if (auto bad = read_type(row)) return refused(std::move(*bad));
  if (auto bad = read_currency(row)) return refused(std::move(*bad));
  read_commitment(row);
  const Money none = Money::zero(row.currency);
  Amounts amounts{.unblended = none,
                  .public_on_demand = std::nullopt,
                  .covered_effective = std::nullopt,
                  .unused = std::nullopt};
  if (auto bad = read_amounts(row, amounts)) return refused(std::move(*bad));
  const Treatment treatment = treat(row.facts, amounts);
  if (amounts.public_on_demand && treatment.costs.list == *amounts.public_on_demand) {
    row.taken.set(static_cast<std::size_t>(Column::kPublicOnDemandCost));
  }

  Charge& charge = charges.add();
  charge.costs = treatment.costs;
  charge.charge_category = treatment.category;
  charge.charge_frequency = treatment.frequency;
  if (auto bad = read_periods(row, charge)) return refused(std::move(*bad));
  if (auto bad = read_charge_period(row, charge)) return refused(std::move(*bad));
  charge.is_correction = row.facts.type == LineItem::kRefund &&
                         charge.charge_period.begin() < charge.billing_period.begin();
  const Labels* product = product_map(row);
  read_accounts(row, charge);
  read_service(row, charge, product);
  read_location(row, charge, product);
  read_sku(row, charge, product);
  if (auto bad = read_prices(row, charge)) return refused(std::move(*bad));
  read_tags(row, charge);
  set_commitment(row, charge);
  read_resource(row, charge);
  read_capacity(row, charge);
  charge.other_columns = other_columns(row, charge, true);

  if (treatment.second != Second::kNone) {
    charges.add();
    const auto both = charges.all().last(2);
    fill_second(row, treatment.second, treatment.second_costs, both[0], both[1]);
  }
  count(row, treatment);
  return {};
}

std::optional<bill::RowFault> AwsRowReader::read_type(Row& row) const {
  const std::string_view name = text(row, Column::kLineItemType);
  const auto type = parse_line_item(name);
  if (!type) {
    return fault(Column::kLineItemType,
                 fmt::format("'{}' is not one that AWS documents, so what it does to the invoice "
                             "is not known; known are {}",
                             name.substr(0, 60), known_line_items()));
  }
  row.facts.type = *type;
  const std::string_view reservation = text(row, Column::kReservationArn);
  // Capacity reservations and Capacity Blocks cover no other charge.
  row.facts.of_reservation = !reservation.empty() && !is_capacity_reservation(reservation);
  if (*type != LineItem::kRefund) return std::nullopt;
  if (text(row, Column::kProductCode) == "ComputeSavingsPlans" &&
      text(row, Column::kDescription).starts_with(kPlanRefund)) {
    row.facts.refunded = Refunded::kPlanUpfrontFee;
  } else if (!text(row, Column::kTaxType).empty()) {
    row.facts.refunded = Refunded::kTax;
  } else if (row.facts.of_reservation) {
    row.facts.refunded = Refunded::kReservation;
  } else if (!text(row, Column::kUsageType).empty()) {
    row.facts.refunded = Refunded::kUsage;
  }
  return std::nullopt;
}

void AwsRowReader::read_commitment(Row& row) const {
  const LineItem type = row.facts.type;
  const bool of_plan = is_plan(type) || row.facts.refunded == Refunded::kPlanUpfrontFee;
  if (of_plan) {
    row.is_plan = true;
    row.commitment_id = take(row, Column::kPlanArn);
    return;
  }
  if (type == LineItem::kDiscountedUsage || type == LineItem::kRiFee) {
    row.commitment_id = row.facts.of_reservation ? take(row, Column::kReservationArn)
                                                 : take(row, Column::kReservationSubscriptionId);
  } else if (row.facts.of_reservation && (type == LineItem::kFee || type == LineItem::kRefund)) {
    row.commitment_id = take(row, Column::kReservationArn);
  }
}

Result<Instant> AwsRowReader::read_instant(std::size_t slot, std::string_view text) {
  LastInstant& last = last_instants_[slot];
  if (text == last.text && !text.empty()) return last.at;
  const auto at = parse_instant(text);
  if (at) last = {std::string(text), *at};
  return at;
}

std::optional<bill::RowFault> AwsRowReader::read_periods(Row& row, Charge& charge) {
  const auto begin = read_instant(0, take(row, Column::kBillingPeriodStart));
  if (!begin) return fault(Column::kBillingPeriodStart, begin.error().message);
  const auto end = read_instant(1, take(row, Column::kBillingPeriodEnd));
  if (!end) return fault(Column::kBillingPeriodEnd, end.error().message);
  const auto period = Interval::of(*begin, *end);
  if (!period) {
    return fault(Column::kBillingPeriodEnd,
                 fmt::format("{} is not after the start {}", to_text(*end), to_text(*begin)));
  }
  charge.billing_period = *period;
  return std::nullopt;
}

std::optional<Interval> AwsRowReader::time_interval(const Row& row) {
  const std::string_view both = text(row, Column::kTimeInterval);
  const std::size_t slash = both.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto begin = read_instant(4, both.substr(0, slash));
  const auto end = read_instant(5, both.substr(slash + 1));
  if (!begin || !end) return std::nullopt;
  return Interval::of(*begin, *end);
}

// The usage dates are the most precise. Line items without length (a fee, a credit) have the same
// date twice, or none: then the charge period is the hour, day or month of the line item.
std::optional<bill::RowFault> AwsRowReader::read_charge_period(Row& row, Charge& charge) {
  const auto whole = time_interval(row);
  const std::string_view start = text(row, Column::kUsageStart);
  const std::string_view end = text(row, Column::kUsageEnd);
  if (start.empty() || end.empty()) {
    if (whole) {
      charge.charge_period = *whole;
      return std::nullopt;
    }
    return fault(Column::kUsageStart,
                 "or the end is empty, and identity/TimeInterval does not say "
                 "it either; write both in UTC");
  }
  const auto from = read_instant(2, start);
  if (!from) return fault(Column::kUsageStart, from.error().message);
  const auto to = read_instant(3, end);
  if (!to) return fault(Column::kUsageEnd, to.error().message);
  if (const auto used = Interval::of(*from, *to)) {
    charge.charge_period = *used;
    row.taken.set(static_cast<std::size_t>(Column::kUsageStart));
    row.taken.set(static_cast<std::size_t>(Column::kUsageEnd));
    if (whole == used) row.taken.set(static_cast<std::size_t>(Column::kTimeInterval));
    return std::nullopt;
  }
  if (*from == *to && whole && whole->begin() <= *from && *from <= whole->end()) {
    charge.charge_period = *whole;
    return std::nullopt;
  }
  return fault(Column::kUsageEnd,
               fmt::format("{} is not after the start {}; the end is the first moment after it",
                           to_text(*to), to_text(*from)));
}

void AwsRowReader::read_accounts(Row& row, Charge& charge) const {
  charge.billing_account_id = take(row, Column::kPayerAccountId);
  charge.billing_account_name = take(row, Column::kPayerAccountName);
  charge.sub_account_id = text(row, Column::kUsageAccountId);
  row.taken.set(static_cast<std::size_t>(Column::kUsageAccountId));
  // FOCUS: no SubAccountName without a SubAccountId.
  if (!charge.sub_account_id.empty()) {
    charge.sub_account_name = take(row, Column::kUsageAccountName);
  }
  charge.invoice_id = take(row, Column::kInvoiceId);
  charge.invoice_issuer_name = take_first(row, {Column::kInvoicingEntity, Column::kLegalEntity});
  if (charge.invoice_issuer_name.empty()) charge.invoice_issuer_name = "Amazon Web Services, Inc.";
  charge.service_provider_name = take(row, Column::kBillingEntity);
  if (charge.service_provider_name.empty()) charge.service_provider_name = "AWS";
  charge.charge_description = take(row, Column::kDescription);
}

std::string_view AwsRowReader::product_value(const Row& row, const Labels* product, Column column,
                                             std::string_view key) const {
  if (const std::string_view value = text(row, column); !value.empty()) return value;
  if (product == nullptr) return {};
  return product->find(key).value_or(std::string_view{});
}

void AwsRowReader::read_service(Row& row, Charge& charge, const Labels* product) const {
  const std::string_view code = text(row, Column::kProductCode);
  const Service& service = find_service(code);
  std::string_view name = product_value(row, product, Column::kProductName, "product_name");
  if (name.empty()) name = service.name;
  if (name.empty()) name = product_value(row, product, Column::kServiceName, "servicename");
  if (name.empty()) name = code;
  if (name == text(row, Column::kProductName)) take(row, Column::kProductName);
  charge.service_name = name.empty() ? std::string_view("Other") : name;
  charge.service_category = service.category.category;
  charge.service_subcategory = service.category.subcategory;
}

void AwsRowReader::read_location(Row& row, Charge& charge, const Labels* product) const {
  charge.availability_zone = take(row, Column::kAvailabilityZone);
  charge.region_id = take_first(row, {Column::kProductRegionCode, Column::kProductRegion});
  if (charge.region_id.empty() && product != nullptr) {
    charge.region_id = product->find("region_code").value_or(std::string_view{});
    if (charge.region_id.empty()) {
      charge.region_id = product->find("region").value_or(std::string_view{});
    }
  }
  if (charge.region_id.empty()) charge.region_id = region_from_zone(charge.availability_zone);
}

void AwsRowReader::read_sku(Row& row, Charge& charge, const Labels* product) const {
  const std::string_view usage_type = text(row, Column::kUsageType);
  const bool spot = usage_type.find("SpotUsage") != std::string_view::npos;
  std::string_view type = product_value(row, product, Column::kInstanceType, "instance_type");
  if (type.empty()) type = instance_type_from_usage(usage_type);
  if (type.empty() && spot) type = instance_type_from_description(charge.charge_description);
  charge.instance_type = type;
  if (type == text(row, Column::kInstanceType)) take(row, Column::kInstanceType);

  const bool usage = charge.charge_category == ChargeCategory::kUsage;
  if (!usage && charge.charge_category != ChargeCategory::kPurchase) return;
  const bool covered = row.facts.type == LineItem::kDiscountedUsage ||
                       row.facts.type == LineItem::kSavingsPlanCoveredUsage;
  charge.pricing_category = covered         ? PricingCategory::kCommitted
                            : usage && spot ? PricingCategory::kDynamic
                                            : PricingCategory::kStandard;
  // Spot usage and fees may have no SKU; then the usage type is what is priced.
  charge.sku_id = text(row, Column::kSku).empty() ? usage_type : take(row, Column::kSku);
  if (charge.sku_id.empty()) return;
  charge.sku_meter = usage_type;
  charge.sku_price_id = take_first(row, {Column::kRateCode, Column::kRateId});
  if (charge.sku_price_id.empty()) charge.sku_price_id = charge.sku_id;

  std::string& details = charge.sku_price_details;
  const auto number = [&](std::string_view key, Column column, std::string_view in_map) {
    const std::string value = leading_number(product_value(row, product, column, in_map));
    if (!value.empty()) append_member(details, key, value, true);
  };
  const auto word = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) append_member(details, key, value, false);
  };
  number("CoreCount", Column::kVcpu, "vcpu");
  number("GpuCount", Column::kGpu, "gpu");
  word("InstanceType", charge.instance_type);
  number("MemorySize", Column::kMemory, "memory");
  word("OperatingSystem",
       product_value(row, product, Column::kOperatingSystem, "operating_system"));
  if (!details.empty()) details += '}';
}

void AwsRowReader::read_resource(Row& row, Charge& charge) const {
  if (charge.charge_category == ChargeCategory::kPurchase && !row.commitment_id.empty()) {
    charge.resource_id = row.commitment_id;
    charge.resource_type = charge.commitment_discount_type;
    if (text(row, Column::kResourceId) == row.commitment_id) take(row, Column::kResourceId);
    return;
  }
  charge.resource_id = take(row, Column::kResourceId);
  if (charge.resource_id.empty()) return;
  std::string_view type = resource_type_from_id(charge.resource_id);
  if (type.empty()) type = text(row, Column::kProductFamily);
  charge.resource_type = type.empty() ? std::string_view(charge.service_name) : type;
  const auto name = charge.tags.find("Name");
  if (name && *name != charge.resource_id) charge.resource_name = *name;
}

// Unused hours of a capacity reservation have the usage type UnusedBox or the capacity status
// UnusedCapacityReservation; used ones are lines of their instance that name the reservation.
void AwsRowReader::read_capacity(Row& row, Charge& charge) const {
  std::string_view id = text(row, Column::kCapacityReservationArn);
  Column from = Column::kCapacityReservationArn;
  for (const Column other : {Column::kReservationArn, Column::kResourceId}) {
    if (!id.empty()) break;
    if (is_capacity_reservation(text(row, other))) {
      id = text(row, other);
      from = other;
    }
  }
  if (id.empty()) return;
  row.taken.set(static_cast<std::size_t>(from));
  charge.capacity_reservation_id = id;
  const std::string_view usage_type = text(row, Column::kUsageType);
  const std::string_view said = text(row, Column::kCapacityReservationStatus);
  if (charge.charge_category != ChargeCategory::kUsage) return;
  const bool unused = equals_ignoring_case(said, "unused") ||
                      text(row, Column::kCapacityStatus) == "UnusedCapacityReservation" ||
                      usage_type.find("UnusedBox:") != std::string_view::npos ||
                      usage_type.find("UnusedDed:") != std::string_view::npos;
  const bool is_used = equals_ignoring_case(said, "used");
  charge.capacity_reservation_status =
      unused && !is_used ? UsedOrUnused::kUnused : UsedOrUnused::kUsed;
  if (is_used || equals_ignoring_case(said, "unused")) {
    row.taken.set(static_cast<std::size_t>(Column::kCapacityReservationStatus));
  }
}

void AwsRowReader::set_commitment(const Row& row, Charge& charge) const {
  if (row.commitment_id.empty()) return;
  charge.commitment_discount_id = row.commitment_id;
  charge.commitment_discount_category = row.is_plan ? "Spend" : "Usage";
  charge.commitment_discount_type = row.is_plan ? "Savings Plan" : "Reserved Instance";
  if (charge.charge_category == ChargeCategory::kUsage) {
    charge.commitment_discount_status = UsedOrUnused::kUsed;
  }
}

// Lives until the next JSON text is parsed.
const Labels* AwsRowReader::product_map(Row& row) {
  const std::string_view json = text(row, Column::kProduct);
  if (json.empty()) return nullptr;
  const std::optional<Labels>& labels = json_.parse(json);
  if (labels) return &*labels;
  ++row.unread_json;
  return nullptr;
}

void AwsRowReader::read_tags(Row& row, Charge& charge) {
  if (const std::string_view json = text(row, Column::kResourceTags); !json.empty()) {
    const std::optional<Labels>& labels = json_.parse(json);
    row.tags_unread = !labels.has_value();
    row.unread_json += labels ? 0 : 1;
    if (labels) {
      for (const auto& [key, value] : labels->entries()) {
        const std::string name = tag_key(key);
        // Two keys with one name, "user_a" and "user:a", or too many: the whole text is stored.
        if (charge.tags.find(name) || !charge.tags.set(name, value)) row.tags_unread = true;
      }
    }
    if (!row.tags_unread) row.taken.set(static_cast<std::size_t>(Column::kResourceTags));
  }
  for (std::size_t i = 0; i < plan_.tags.size(); ++i) {
    const std::string_view value = row.fields[plan_.tags[i].at];
    if (value.empty()) continue;
    if (charge.tags.find(plan_.tags[i].key) || !charge.tags.set(plan_.tags[i].key, value)) {
      row.tag_refused.resize(plan_.tags.size(), false);
      row.tag_refused[i] = true;
    }
  }
}

std::string AwsRowReader::other_columns(const Row& row, const Charge& charge,
                                        bool with_amounts) const {
  std::string json;
  // FOCUS columns without a field in Charge; they sort before every x_.
  if (with_amounts && !charge.commitment_discount_id.empty() && charge.pricing_quantity &&
      !row.is_plan) {
    append_member(json, "CommitmentDiscountQuantity", to_text(*charge.pricing_quantity), false);
    append_member(json, "CommitmentDiscountUnit", charge.pricing_unit, false);
  } else if (!charge.commitment_discount_id.empty() && row.is_plan &&
             charge.commitment_discount_status) {
    append_member(json, "CommitmentDiscountQuantity", to_text(charge.costs.effective.amount()),
                  false);
    append_member(json, "CommitmentDiscountUnit", row.currency.text(), false);
  }
  for (const OtherColumn& other : plan_.others) {
    const std::string_view value = row.fields[other.at];
    if (value.empty()) continue;
    if (other.column && row.taken[static_cast<std::size_t>(*other.column)]) continue;
    if (other.tag && (row.tag_refused.empty() || !row.tag_refused[*other.tag])) continue;
    if (!with_amounts && other.is_amount) continue;
    json += json.empty() ? '{' : ',';
    json += other.json_key;
    append_stored_json_string(json, value);
  }
  if (!json.empty()) json += '}';
  return json;
}

void AwsRowReader::fill_second(const Row& row, Second second, const Costs& costs,
                               const Charge& first, Charge& charge) const {
  charge.billing_account_id = first.billing_account_id;
  charge.billing_account_name = first.billing_account_name;
  charge.sub_account_id = first.sub_account_id;
  charge.sub_account_name = first.sub_account_name;
  charge.billing_period = first.billing_period;
  charge.charge_period = first.charge_period;
  charge.invoice_id = first.invoice_id;
  charge.invoice_issuer_name = first.invoice_issuer_name;
  charge.service_provider_name = first.service_provider_name;
  charge.charge_frequency = ChargeFrequency::kUsageBased;
  charge.service_category = first.service_category;
  charge.service_subcategory = first.service_subcategory;
  charge.service_name = first.service_name;
  charge.region_id = first.region_id;
  charge.costs = costs;
  charge.commitment_discount_id = first.commitment_discount_id;
  charge.commitment_discount_category = first.commitment_discount_category;
  charge.commitment_discount_type = first.commitment_discount_type;
  if (second == Second::kOffsetUsage) {
    charge.charge_category = ChargeCategory::kAdjustment;
    charge.charge_description = kOffsetText;
  } else {
    charge.charge_category = ChargeCategory::kUsage;
    charge.charge_description = fmt::format("Unused: {}", first.charge_description);
    charge.pricing_category = PricingCategory::kCommitted;
    charge.availability_zone = first.availability_zone;
    charge.resource_id = first.commitment_discount_id;
    charge.resource_type = first.commitment_discount_type;
    charge.sku_id = first.sku_id;
    charge.sku_meter = first.sku_meter;
    charge.instance_type = first.instance_type;
    charge.tags = first.tags;
    if (!first.commitment_discount_id.empty()) {
      charge.commitment_discount_status = UsedOrUnused::kUnused;
    }
  }
  charge.other_columns = other_columns(row, charge, false);
}

void AwsRowReader::count(const Row& row, const Treatment& treatment) {
  rounded_numbers_ += row.rounded;
  unread_json_ += row.unread_json;
  without_effective_ += row.without_effective ? 1 : 0;
  net_rows_ += row.net ? 1 : 0;
  if (row.facts.type == LineItem::kDiscount && !row.net) ++discounts_without_net_;
  const bool negation = row.facts.type == LineItem::kSavingsPlanNegation;
  if (treatment.second == Second::kOffsetUsage || negation) {
    const Money offset = negation ? treatment.costs.billed : treatment.second_costs.billed;
    const auto [at, is_new] = offsets_.emplace(row.currency, offset);
    if (!is_new) at->second += offset;
  }
}

void AwsRowReader::describe(bill::ImportSummary& summary) const {
  summary.kind = plan_.kind;
  summary.rounded_numbers = rounded_numbers_;
  summary.unread_json = unread_json_;
  if (net_rows_ > 0) summary.warnings = plan_.half_net;
  for (const auto& [currency, offset] : offsets_) {
    if (offset.is_zero()) continue;
    summary.warnings.push_back(
        fmt::format("usage under Savings Plans and its negations add up to {} {} in BilledCost "
                    "instead of 0: a part of the report is missing, or AWS rounded",
                    to_text(offset.amount()), currency.text()));
  }
  if (without_effective_ > 0) {
    summary.warnings.push_back(
        fmt::format("{} lines of reservations have no amortised cost (AWS gives none for Dedicated "
                    "Hosts); it counts as 0",
                    without_effective_));
  }
  if (discounts_without_net_ > 0 && net_rows_ > 0) {
    summary.warnings.push_back(fmt::format(
        "{} discount lines have no net cost while other lines have one: their discount may be "
        "counted twice; export the report again, without manual discount compatibility",
        discounts_without_net_));
  }
}

}  // namespace pennyweight::aws
