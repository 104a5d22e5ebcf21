// The columns of AWS's Cost and Usage Reports, and one name for their three spellings.
//
//   legacy CSV                  lineItem/UnblendedCost       savingsPlan/SavingsPlanARN
//   legacy Parquet and Athena   line_item_unblended_cost     savings_plan_savings_plan_a_r_n
//   CUR 2.0                     line_item_unblended_cost     savings_plan_savings_plan_a_r_n
//
// The one name is that of CUR 2.0. AWS derives the second spelling from the first by a mechanical
// rule (a capital becomes '_' and a lower-case letter), so columns unknown to pennyweight get names
// like their neighbours'.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pennyweight::aws {

// The columns that a rule reads. All others go unchanged into Charge::other_columns.
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
// Nothing for a column that no rule reads. REQUIRES: `name` is canonical.
std::optional<Column> find_column(std::string_view name);

// The canonical name of a column in any spelling; a name of no known form stays unchanged.
std::string canonical_name(std::string_view header);

// The key of a column that holds one tag: "team" of resourceTags/user:team and of
// resource_tags_user_team, "aws:createdBy" of resourceTags/aws:createdBy. Nothing for other
// columns.
std::optional<std::string> tag_key_of_column(std::string_view header);
// The same for a key of CUR 2.0's map resource_tags: "user_team" and "user:team" are "team".
std::string tag_key(std::string_view key);

// The name of a column in other_columns: x_ and PascalCase. The name of an amount of money, a
// quantity or a price ends in Cost, Quantity or UnitPrice: by these endings the ledger tells what a
// charge states from what it is about.
std::string name_kept(std::string_view header);

// True for the columns of a Cost and Usage Report, in any spelling, that is not in FOCUS.
bool is_aws_header(std::span<const std::string> names);

}  // namespace pennyweight::aws
