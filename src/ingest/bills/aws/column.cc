#include "ingest/bills/aws/column.h"

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight::aws {
namespace {

struct Name {
  Column column;
  std::string_view name;
};

// In the order of the enumeration. Source: AWS Data Exports user guide, "CUR 2.0" table
// dictionary; the product columns that CUR 2.0 has only in its map are named as legacy reports are.
constexpr Name kNames[] = {
    {Column::kBillingEntity, "bill_billing_entity"},
    {Column::kBillingPeriodEnd, "bill_billing_period_end_date"},
    {Column::kBillingPeriodStart, "bill_billing_period_start_date"},
    {Column::kInvoiceId, "bill_invoice_id"},
    {Column::kInvoicingEntity, "bill_invoicing_entity"},
    {Column::kPayerAccountId, "bill_payer_account_id"},
    {Column::kPayerAccountName, "bill_payer_account_name"},
    {Column::kCapacityReservationArn, "capacity_reservation_capacity_reservation_arn"},
    {Column::kCapacityReservationStatus, "capacity_reservation_capacity_reservation_status"},
    {Column::kLineItemId, "identity_line_item_id"},
    {Column::kTimeInterval, "identity_time_interval"},
    {Column::kAvailabilityZone, "line_item_availability_zone"},
    {Column::kCurrencyCode, "line_item_currency_code"},
    {Column::kLegalEntity, "line_item_legal_entity"},
    {Column::kDescription, "line_item_line_item_description"},
    {Column::kLineItemType, "line_item_line_item_type"},
    {Column::kNetUnblendedCost, "line_item_net_unblended_cost"},
    {Column::kNetUnblendedRate, "line_item_net_unblended_rate"},
    {Column::kOperation, "line_item_operation"},
    {Column::kProductCode, "line_item_product_code"},
    {Column::kResourceId, "line_item_resource_id"},
    {Column::kTaxType, "line_item_tax_type"},
    {Column::kUnblendedCost, "line_item_unblended_cost"},
    {Column::kUnblendedRate, "line_item_unblended_rate"},
    {Column::kUsageAccountId, "line_item_usage_account_id"},
    {Column::kUsageAccountName, "line_item_usage_account_name"},
    {Column::kUsageAmount, "line_item_usage_amount"},
    {Column::kUsageEnd, "line_item_usage_end_date"},
    {Column::kUsageStart, "line_item_usage_start_date"},
    {Column::kUsageType, "line_item_usage_type"},
    {Column::kPublicOnDemandCost, "pricing_public_on_demand_cost"},
    {Column::kPublicOnDemandRate, "pricing_public_on_demand_rate"},
    {Column::kPricingUnit, "pricing_unit"},
    {Column::kRateCode, "pricing_rate_code"},
    {Column::kRateId, "pricing_rate_id"},
    {Column::kProduct, "product"},
    {Column::kCapacityStatus, "product_capacitystatus"},
    {Column::kGpu, "product_gpu"},
    {Column::kInstanceType, "product_instance_type"},
    {Column::kMemory, "product_memory"},
    {Column::kOperatingSystem, "product_operating_system"},
    {Column::kProductFamily, "product_product_family"},
    {Column::kProductName, "product_product_name"},
    {Column::kProductRegion, "product_region"},
    {Column::kProductRegionCode, "product_region_code"},
    {Column::kServiceName, "product_servicename"},
    {Column::kSku, "product_sku"},
    {Column::kVcpu, "product_vcpu"},
    {Column::kReservationArn, "reservation_reservation_a_r_n"},
    {Column::kReservationEffectiveCost, "reservation_effective_cost"},
    {Column::kReservationNetEffectiveCost, "reservation_net_effective_cost"},
    {Column::kReservationNetUnusedRecurringFee, "reservation_net_unused_recurring_fee"},
    {Column::kReservationNetUnusedUpfrontFee,
     "reservation_net_unused_amortized_upfront_fee_for_billing_period"},
    {Column::kReservationSubscriptionId, "reservation_subscription_id"},
    {Column::kReservationUnusedRecurringFee, "reservation_unused_recurring_fee"},
    {Column::kReservationUnusedUpfrontFee,
     "reservation_unused_amortized_upfront_fee_for_billing_period"},
    {Column::kResourceTags, "resource_tags"},
    {Column::kPlanAmortizedUpfront, "savings_plan_amortized_upfront_commitment_for_billing_period"},
    {Column::kPlanArn, "savings_plan_savings_plan_a_r_n"},
    {Column::kPlanEffectiveCost, "savings_plan_savings_plan_effective_cost"},
    {Column::kPlanNetAmortizedUpfront,
     "savings_plan_net_amortized_upfront_commitment_for_billing_period"},
    {Column::kPlanNetEffectiveCost, "savings_plan_net_savings_plan_effective_cost"},
    {Column::kPlanNetRecurring, "savings_plan_net_recurring_commitment_for_billing_period"},
    {Column::kPlanRecurring, "savings_plan_recurring_commitment_for_billing_period"},
    {Column::kPlanRegion, "savings_plan_region"},
    {Column::kPlanTotalCommitment, "savings_plan_total_commitment_to_date"},
    {Column::kPlanUsedCommitment, "savings_plan_used_commitment"},
};

constexpr bool follows_enumeration() {
  std::size_t i = 0;
  for (const Name& name : kNames) {
    if (static_cast<std::size_t>(name.column) != i++) return false;
  }
  return i == kColumnCount;
}
static_assert(follows_enumeration());

// Spellings that AWS's rule does not produce.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"reservation_reservation_arn", "reservation_reservation_a_r_n"},
    {"savings_plan_savings_plan_arn", "savings_plan_savings_plan_a_r_n"},
    {"capacity_reservation_capacity_reservation_a_r_n",
     "capacity_reservation_capacity_reservation_arn"},
};

// "UnblendedCost" → "unblended_cost"; "SavingsPlanARN" → "savings_plan_a_r_n".
std::string snake(std::string_view camel) {
  std::string out;
  for (std::size_t i = 0; i < camel.size(); ++i) {
    const char c = camel[i];
    if (ascii::is_upper(c) && i > 0 && camel[i - 1] != '_') out += '_';
    out += ascii::is_letter_or_digit(c) ? ascii::to_lower(c) : '_';
  }
  return out;
}

// "line_item_usage_type" → "LineItemUsageType". Other characters than letters and digits are
// dropped.
std::string pascal(std::string_view name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (!ascii::is_letter_or_digit(c)) {
      begins = true;
      continue;
    }
    out += begins ? ascii::to_upper(c) : c;
    begins = false;
  }
  return out;
}

constexpr std::string_view kLegacyTags = "resourceTags/";
constexpr std::string_view kLegacyCategory = "costCategory/";
constexpr std::string_view kColumnTags = "resource_tags_";
constexpr std::string_view kColumnCategory = "cost_category_";

// Columns of amounts whose own names do not end as those of amounts do, and columns to which the
// rule would give a clumsy name.
constexpr std::pair<std::string_view, std::string_view> kKept[] = {
    {"cost_category", "x_CostCategories"},
    {"discount", "x_DiscountsCost"},
    {"line_item_blended_rate", "x_BlendedUnitPrice"},
    {"line_item_line_item_type", "x_LineItemType"},
    {"line_item_net_unblended_rate", "x_NetUnblendedUnitPrice"},
    {"line_item_normalized_usage_amount", "x_NormalizedUsageQuantity"},
    {"line_item_product_code", "x_ServiceCode"},
    {"line_item_unblended_rate", "x_UnblendedUnitPrice"},
    {"line_item_usage_amount", "x_UsageQuantity"},
    {"pricing_public_on_demand_rate", "x_PricingPublicOnDemandUnitPrice"},
    {"reservation_reservation_a_r_n", "x_ReservationArn"},
    {"reservation_total_reserved_normalized_units", "x_ReservationTotalNormalizedQuantity"},
    {"reservation_total_reserved_units", "x_ReservationTotalQuantity"},
    {"savings_plan_savings_plan_a_r_n", "x_SavingsPlanArn"},
    {"savings_plan_savings_plan_rate", "x_SavingsPlanUnitPrice"},
    {"savings_plan_savings_plan_effective_cost", "x_SavingsPlanEffectiveCost"},
    {"savings_plan_net_savings_plan_effective_cost", "x_SavingsPlanNetEffectiveCost"},
    {"capacity_reservation_capacity_reservation_arn", "x_CapacityReservationArn"},
    {"capacity_reservation_capacity_reservation_status", "x_CapacityReservationStatus"},
    {"capacity_reservation_capacity_reservation_type", "x_CapacityReservationType"},
};

bool is_amount_by_nature(std::string_view name) {
  if (name.ends_with("_cost") || name.ends_with("_quantity")) return false;  // ends well already
  for (const std::string_view part : {"commitment", "fee", "upfront_value", "amortized_upfront"}) {
    const bool of_commitment =
        name.starts_with("reservation_") || name.starts_with("savings_plan_");
    if (of_commitment && name.find(part) != std::string_view::npos) return true;
  }
  return name.starts_with("discount_") ||
         (name.starts_with("split_line_item_") && name.find("usage") == std::string_view::npos &&
          name != "split_line_item_parent_resource_id");
}

bool is_split_usage(std::string_view name) {
  return name.starts_with("split_line_item_") && name.ends_with("_usage");
}

}  // namespace

std::string_view name_of(Column column) { return kNames[static_cast<std::size_t>(column)].name; }

std::optional<Column> find_column(std::string_view name) {
  for (const Name& known : kNames) {
    if (known.name == name) return known.column;
  }
  return std::nullopt;
}

std::string canonical_name(std::string_view header) {
  std::string name(header);
  if (const std::size_t slash = header.find('/'); slash != std::string_view::npos) {
    if (header.starts_with(kLegacyTags) || header.starts_with(kLegacyCategory)) return name;
    name = snake(header.substr(0, slash)) + "_" + snake(header.substr(slash + 1));
  }
  for (const auto& [alias, canonical] : kAliases) {
    if (alias == name) return std::string(canonical);
  }
  return name;
}

std::string tag_key(std::string_view key) {
  for (const std::string_view user : {"user:", "user_"}) {
    if (key.starts_with(user)) return std::string(key.substr(user.size()));
  }
  if (key.starts_with("aws_")) return "aws:" + std::string(key.substr(4));
  return std::string(key);
}

std::optional<std::string> tag_key_of_column(std::string_view header) {
  for (const std::string_view prefix : {kLegacyTags, kColumnTags}) {
    if (header.starts_with(prefix) && header.size() > prefix.size()) {
      std::string key = tag_key(header.substr(prefix.size()));
      if (!key.empty()) return key;
    }
  }
  return std::nullopt;
}

std::string name_kept(std::string_view header) {
  if (header.starts_with("x_")) return std::string(header);
  for (const std::string_view category : {kLegacyCategory, kColumnCategory}) {
    if (header.starts_with(category)) {
      return "x_CostCategory:" + std::string(header.substr(category.size()));
    }
  }
  const std::string name = canonical_name(header);
  for (const auto& [known, kept] : kKept) {
    if (known == name) return std::string(kept);
  }
  std::string_view rest = name;
  for (const std::string_view group : {"line_item_", "identity_", "bill_"}) {
    if (rest.starts_with(group)) {
      rest.remove_prefix(group.size());
      break;
    }
  }
  std::string kept = "x_" + pascal(rest);
  if (is_amount_by_nature(name)) kept += "Cost";
  if (is_split_usage(name)) kept += "Quantity";
  return kept;
}

bool is_aws_header(std::span<const std::string> names) {
  bool type = false;
  bool cost = false;
  for (const std::string& name : names) {
    type = type || name == "lineItem/LineItemType" || name == "line_item_line_item_type";
    cost = cost || name == "lineItem/UnblendedCost" || name == "line_item_unblended_cost";
    if (name == "BilledCost") return false;
  }
  return type && cost;
}

}  // namespace pennyweight::aws
