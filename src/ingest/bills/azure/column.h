// The columns of Azure's cost exports. Their names differ by agreement, year and language; here
// each column has one name and all its known spellings.
//
// Names are compared by their ASCII letters and digits only, ignoring case. A header in another
// language carries the English name in brackets: "Abonnement-GUID (SubscriptionGuid)".
// learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::azure {

// The columns that a rule reads.
enum class Column : std::size_t {
  kCost,
  kCurrency,
  kDate,
  kBillingPeriodStart,
  kBillingPeriodEnd,
  kBillingAccountId,
  kBillingAccountName,
  kBillingProfileId,
  kBillingProfileName,
  kSubscriptionId,
  kSubscriptionName,
  kInvoiceId,
  kPartnerName,
  kChargeType,
  kPricingModel,
  kFrequency,
  kQuantity,
  kUnitOfMeasure,
  kUnitPrice,
  kPaygPrice,
  kPaygCost,
  kPricingCurrency,
  kExchangeRate,
  kMeterId,
  kMeterName,
  kMeterCategory,
  kProductId,
  kProductName,
  kPartNumber,
  kServiceFamily,
  kServiceName,
  kConsumedService,
  kResourceId,
  kResourceName,
  kResourceType,
  kRegion,
  kAvailabilityZone,
  kReservationId,
  kReservationName,
  kBenefitId,
  kBenefitName,
  kAdditionalInfo,
  kTags,
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::kTags) + 1;

// The member of other_columns that says by which metric a row was read.
inline constexpr std::string_view kMetricName = "x_CostMetric";

// The agreement of a file, as far as its columns tell.
enum class Agreement { kEnterprise, kCustomer, kPayAsYouGo };

class Columns {
 public:
  static Columns of(std::span<const std::string> header);

  std::optional<std::size_t> find(Column column) const {
    return at_[static_cast<std::size_t>(column)];
  }
  // Customer and partner agreements may be priced in one currency and billed in another.
  Agreement agreement() const { return agreement_; }
  // The name of each column of the header in other_columns: FOCUS's name or the x_ name of
  // Microsoft's FOCUS mapping if there is one, else x_ and its English name.
  const std::vector<std::string>& kept_names() const { return kept_names_; }

 private:
  std::array<std::optional<std::size_t>, kColumns> at_{};
  Agreement agreement_ = Agreement::kEnterprise;
  std::vector<std::string> kept_names_;
};

// The first name in Microsoft's documentation, for messages.
std::string_view name_of(Column column);

}  // namespace pennyweight::azure
