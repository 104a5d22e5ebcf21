// The commitment identity, and what is said where a ledger lacks a part of the term.
#include "reporting/coverage/commitment_reconciliation.h"

#include <gtest/gtest.h>

#include "core/decimal.h"

namespace pennyweight {
namespace {

Money usd(std::string_view text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }

Interval month(const char* first, const char* last) {
  return {*parse_instant(first), *parse_instant(last)};
}
const Interval kMarch = month("2026-03-01", "2026-04-01");
const Interval kApril = month("2026-04-01", "2026-05-01");

Charge line(const Interval& billing, const char* billed, const char* effective) {
  Charge charge(billing, billing, Costs::zero(kUsd));
  charge.costs.billed = usd(billed);
  charge.costs.effective = usd(effective);
  charge.commitment_discount_id = "ri-1";
  charge.charge_category = ChargeCategory::kUsage;
  return charge;
}

Charge purchase(const Interval& billing, const char* billed, ChargeFrequency frequency) {
  Charge charge = line(billing, billed, "0");
  charge.charge_category = ChargeCategory::kPurchase;
  charge.charge_frequency = frequency;
  return charge;
}

Charge use(const Interval& billing, const char* effective, UsedOrUnused status) {
  Charge charge = line(billing, "0", effective);
  charge.commitment_discount_status = status;
  return charge;
}

CommitmentStatus verdict(const std::vector<Charge>& charges) {
  CommitmentReconciler audit;
  for (const Charge& charge : charges) audit.add(charge);
  EXPECT_EQ(audit.terms().size(), 1U);
  return audit.terms().front().status();
}

TEST(CommitmentReconciler, TellsTheIdentityAndItsExceptions) {
  const auto fee = purchase(kMarch, "100", ChargeFrequency::kRecurring);
  const auto upfront = purchase(kMarch, "1200", ChargeFrequency::kOneTime);
  const auto used = use(kMarch, "80", UsedOrUnused::kUsed);
  const auto unused = use(kMarch, "20", UsedOrUnused::kUnused);
  EXPECT_EQ(verdict({fee, used, unused}), CommitmentStatus::kExact);
  EXPECT_EQ(verdict({fee, used}), CommitmentStatus::kMismatch);
  EXPECT_EQ(verdict({fee}), CommitmentStatus::kUseUnreported);
  EXPECT_EQ(verdict({upfront, used, unused}), CommitmentStatus::kUpfrontRemaining);
  EXPECT_EQ(verdict({used, unused}), CommitmentStatus::kPaidEarlier);
}

// A fee's own effective cost is part of what was taken; alone it says nothing of use.
TEST(CommitmentReconciler, TakesTheRestThatStandsOnTheFee) {
  Charge fee = purchase(kMarch, "100", ChargeFrequency::kRecurring);
  fee.costs.effective = usd("20");
  EXPECT_EQ(verdict({fee, use(kMarch, "80", UsedOrUnused::kUsed)}), CommitmentStatus::kExact);
  EXPECT_EQ(verdict({line(kMarch, "0", "0"), fee}), CommitmentStatus::kUseUnreported);
}

TEST(CommitmentReconciler, TheTermIsAllThatTheLedgerHas) {
  CommitmentReconciler audit;
  audit.add(purchase(kMarch, "100", ChargeFrequency::kOneTime));
  audit.add(use(kMarch, "50", UsedOrUnused::kUsed));
  audit.add(use(kApril, "30", UsedOrUnused::kUsed));
  audit.add(use(kApril, "20", UsedOrUnused::kUnused));
  Charge other = line(kApril, "5", "5");
  other.commitment_discount_id = "";
  audit.add(other);
  const auto months = audit.months();
  ASSERT_EQ(months.size(), 2U);
  EXPECT_EQ(months[0].month, "2026-03");
  EXPECT_EQ(months[0].status(), CommitmentStatus::kUpfrontRemaining);
  EXPECT_EQ(months[1].status(), CommitmentStatus::kPaidEarlier);
  const auto terms = audit.terms();
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(terms[0].status(), CommitmentStatus::kExact);
  EXPECT_EQ(terms[0].used, usd("80"));
  EXPECT_EQ(terms[0].unused, usd("20"));
}

}  // namespace
}  // namespace pennyweight
