// Parts of a customer's statement.
#include "reporting/queries/client_statement.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "core/card_share.h"
#include "core/decimal.h"
#include "core/money.h"

namespace pennyweight {
namespace {

constexpr Int128 kGpuHourUnits = static_cast<Int128>(kGpuHour.count());

InvoiceAmount usd(std::string_view text) {
  const Money amount = Money::from_decimal(*parse_exact_decimal(text), kUsd);
  return {amount, amount};
}

// A document with one section of usage.
Invoice document_of(Int128 hours, std::string_view amount) {
  const LineQuantity quantity{QuantityKind::kGpuHours, hours * kGpuHourUnits, kGpuHourUnits};
  InvoiceSection usage{"usage", "Usage", {}, usd(amount)};
  usage.lines.push_back({.key = "gpu",
                         .description = "GPU time",
                         .remark = "",
                         .quantity = quantity,
                         .quantity_shown = "",
                         .unit = "GPU-hours",
                         .rate = "",
                         .amount = usd(amount)});
  Invoice one(kUsd);
  one.sections.push_back(std::move(usage));
  return one;
}

TEST(ClientStatement, ACreditNoteTakesItsHoursBackAsItsMoney) {
  const auto parts = statement_parts({document_of(100, "200"), document_of(-20, "-40")}, kUsd);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0], (StatementPart{"Usage", 80 * kGpuHourUnits, usd("160").shown}));
}

TEST(ClientStatement, ASupplementAddsItsHours) {
  const auto parts = statement_parts({document_of(80, "160"), document_of(5, "10")}, kUsd);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0], (StatementPart{"Usage", 85 * kGpuHourUnits, usd("170").shown}));
}

}  // namespace
}  // namespace pennyweight
