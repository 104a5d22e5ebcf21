// Any bytes: no crash, no row lost, and what a row becomes adds up to what AWS invoices for it.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "ingest/bills/aws/aws_bill.h"
#include "ingest/bills/csv_import.h"

namespace {

using namespace pennyweight;

class Count : public bill::ImportSink {
 public:
  Result<void> charges(std::span<const Charge> charges) override {
    for (const Charge& charge : charges) {
      CHECK(charge.other_columns.empty() ||
                (charge.other_columns.front() == '{' && charge.other_columns.back() == '}'),
            "other columns are an object or nothing");
      CHECK(!charge.service_name.empty() && !charge.service_category.empty(),
            "a service has a name and a category");
      CHECK(charge.commitment_discount_id.empty() == charge.commitment_discount_category.empty(),
            "a commitment has both or none");
      CHECK(charge.resource_id.empty() == charge.resource_type.empty(),
            "a resource has both or none");
      CHECK(!charge.capacity_reservation_status || !charge.capacity_reservation_id.empty(),
            "a status is of a reservation");
      if (charge.charge_category == ChargeCategory::kTax) {
        CHECK(charge.costs.billed == charge.costs.effective, "a tax is not amortised");
      }
    }
    taken += charges.size();
    return {};
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    for (const RejectedRow& row : rows) CHECK(!row.reason.empty(), "a rejected row says why");
    return {};
  }
  std::uint64_t taken = 0;
};

// Every second input is only rows, under a header that takes them.
constexpr std::string_view kHeader =
    "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/NetUnblendedCost,lineItem/CurrencyCode,"
    "bill/PayerAccountId,bill/BillingPeriodStartDate,bill/BillingPeriodEndDate,"
    "lineItem/UsageStartDate,lineItem/UsageEndDate,identity/TimeInterval,lineItem/UsageType,"
    "lineItem/Operation,lineItem/ResourceId,lineItem/UsageAmount,reservation/ReservationARN,"
    "reservation/EffectiveCost,reservation/UnusedRecurringFee,"
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod,savingsPlan/SavingsPlanARN,"
    "savingsPlan/SavingsPlanEffectiveCost,savingsPlan/TotalCommitmentToDate,"
    "savingsPlan/UsedCommitment,savingsPlan/NetRecurringCommitmentForBillingPeriod,"
    "resource_tags,product,resourceTags/user:team\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 2 == 1) text = kHeader;
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);
  Count sink;
  const auto summary = bill::import_csv(text, "fuzz.csv", aws::aws_bill({}), sink);
  if (!summary) return 0;
  CHECK(sink.taken == summary->charges, "every line is handed over");
  CHECK(summary->charges >= summary->imported && summary->charges <= 2 * summary->imported,
        "a row becomes one line or two");
  return 0;
}
