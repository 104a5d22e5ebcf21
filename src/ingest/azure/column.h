// The columns of Azure's cost exports. Their names differ by agreement, year and language; here
// each has one name, and every spelling that is known of it.
//
// Names are compared by their ASCII letters and digits alone, without case. A header of another
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

// Those that a rule reads.
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

// Among a charge's other columns: as which of the two exports its line was read.
inline constexpr std::string_view kMetricName = "x_CostMetric";

// The agreement that a file is of, as far as its columns tell.
enum class Agreement { kEnterprise, kCustomer, kPayAsYouGo };

class Columns {
 public:
  static Columns of(std::span<const std::string> header);

  std::optional<std::size_t> find(Column column) const {
    return at_[static_cast<std::size_t>(column)];
  }
  // Customer agreements (also a partner's) bill in one currency what is priced in another.
  Agreement agreement() const { return agreement_; }
  // What each column of the header is called among a charge's other columns: FOCUS's name or the
  // x_ name of Microsoft's FOCUS mapping where there is one, else x_ and its English name.
  const std::vector<std::string>& kept_names() const { return kept_names_; }

 private:
  std::array<std::optional<std::size_t>, kColumns> at_{};
  Agreement agreement_ = Agreement::kEnterprise;
  std::vector<std::string> kept_names_;
};

// The first name by which the documentation knows it: for messages.
std::string_view name_of(Column column);

}  // namespace pennyweight::azure
