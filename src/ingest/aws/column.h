// The columns of AWS's Cost and Usage Reports, and one name for the three ways in which they are
// spelled.
//
//   legacy CSV                  lineItem/UnblendedCost       savingsPlan/SavingsPlanARN
//   legacy Parquet and Athena   line_item_unblended_cost     savings_plan_savings_plan_a_r_n
//   CUR 2.0                     line_item_unblended_cost     savings_plan_savings_plan_a_r_n
//
// The one name is that of CUR 2.0. AWS's rule from the first to the second is mechanical (a capital
// becomes '_' and a small letter), so a column that no release of pennyweight has heard of is named
// like its neighbours too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pennyweight::aws {

// Columns that a rule reads. Every other one goes word for word into Charge::other_columns.
enum class Column : std::uint8_t {
  kBillingEntity,
  kBillingPeriodEnd,
  kBillingPeriodStart,
  kInvoiceId,
  kInvoicingEntity,
  kPayerAccountId,
  kPayerAccountName,
  kCapacityReservationArn,
  kCapacityReservationStatus,
  kLineItemId,
  kTimeInterval,
  kAvailabilityZone,
  kCurrencyCode,
  kLegalEntity,
  kDescription,
  kLineItemType,
  kNetUnblendedCost,
  kNetUnblendedRate,
  kOperation,
  kProductCode,
  kResourceId,
  kTaxType,
  kUnblendedCost,
  kUnblendedRate,
  kUsageAccountId,
  kUsageAccountName,
  kUsageAmount,
  kUsageEnd,
  kUsageStart,
  kUsageType,
  kPublicOnDemandCost,
  kPublicOnDemandRate,
  kPricingUnit,
  kRateCode,
  kRateId,
  kProduct,
  kCapacityStatus,
  kGpu,
  kInstanceType,
  kMemory,
  kOperatingSystem,
  kProductFamily,
  kProductName,
  kProductRegion,
  kProductRegionCode,
  kServiceName,
  kSku,
  kVcpu,
  kReservationArn,
  kReservationEffectiveCost,
  kReservationNetEffectiveCost,
  kReservationNetUnusedRecurringFee,
  kReservationNetUnusedUpfrontFee,
  kReservationSubscriptionId,
  kReservationUnusedRecurringFee,
  kReservationUnusedUpfrontFee,
  kResourceTags,
  kPlanAmortizedUpfront,
  kPlanArn,
  kPlanEffectiveCost,
  kPlanNetAmortizedUpfront,
  kPlanNetEffectiveCost,
  kPlanNetRecurring,
  kPlanRecurring,
  kPlanRegion,
  kPlanTotalCommitment,
  kPlanUsedCommitment,
};
inline constexpr std::size_t kColumnCount =
    static_cast<std::size_t>(Column::kPlanUsedCommitment) + 1;

// The name of CUR 2.0.
std::string_view name_of(Column column);
// Nothing for a name that no rule reads. `name` is a canonical one.
std::optional<Column> find_column(std::string_view name);

// The one name of a column of any spelling; a name of no known form comes back as it is.
std::string canonical_name(std::string_view header);

// The key of a column that holds one tag: "team" of resourceTags/user:team and of
// resource_tags_user_team, "aws:createdBy" of resourceTags/aws:createdBy. Nothing for other
// columns.
std::optional<std::string> tag_key_of_column(std::string_view header);
// The same for a key of CUR 2.0's map resource_tags: "user_team" and "user:team" are "team".
std::string tag_key(std::string_view key);

// The name under which other_columns keeps a column: x_ and Pascal case. What is an amount of
// money, a quantity or a price ends in Cost, Quantity or UnitPrice, because by these endings the
// ledger tells what a line says from what it is about.
std::string name_kept(std::string_view header);

// Whether these are the names of a Cost and Usage Report, of any spelling, and not of FOCUS.
bool is_aws_header(std::span<const std::string> names);

}  // namespace pennyweight::aws
