// For any bytes: no crash, every row is accounted for, and every charge is valid.
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/oci/oci_bill.h"

namespace {

using namespace pennyweight;

class Count : public bill::ImportSink {
 public:
  Result<void> charges(std::span<const Charge> charges) override {
    for (const Charge& charge : charges) {
      CHECK(charge.costs.billed == charge.costs.effective, "nothing is amortised");
      CHECK(charge.other_columns.empty() ||
                (charge.other_columns.front() == '{' && charge.other_columns.back() == '}'),
            "other columns are an object or nothing");
    }
    taken += charges.size();
    return {};
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    for (const RejectedRow& row : rows) CHECK(!row.reason.empty(), "a rejected row says why");
    rejects += rows.size();
    return {};
  }
  std::uint64_t taken = 0;
  std::uint64_t rejects = 0;
};

// Every second input is rows only, under a valid header.
constexpr std::string_view kHeader =
    "lineItem/tenantId,lineItem/intervalUsageStart,lineItem/intervalUsageEnd,product/service,"
    "cost/myCost,cost/currencyCode,usage/billedQuantity,cost/skuUnitDescription,cost/unitPrice,"
    "lineItem/isCorrection,product/resourceId,cost/overageFlag,tags/a,tags/b,x\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Count count;
  const std::string text =
      data[0] % 2 == 0 ? std::string(bytes) : std::string(kHeader).append(bytes);
  const auto summary = bill::import_csv(text, "report.csv", oci::oci_bill(), count);
  if (!summary) {
    CHECK(!summary.error().message.empty(), "an error says why");
    return 0;
  }
  CHECK(summary->imported == count.taken && summary->rejected == count.rejects &&
            summary->rows == count.taken + count.rejects,
        "every row is accounted for");
  return 0;
}
