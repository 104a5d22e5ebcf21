#include "app/import/share_names.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/instant.h"

namespace pennyweight {
namespace {

Charge charge_of(const char* issuer) {
  const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
  Charge charge(march, march, Costs::zero(kUsd));
  charge.billing_account_id = "ACCOUNT-1";
  charge.sub_account_id = "SUB-1";
  charge.invoice_issuer_name = issuer;
  return charge;
}

// Statements of earlier programs have Azure's ids as the file wrote them; other clouds' ids differ
// by their letters.
TEST(ShareNames, AzuresAreTheSameInAnyLetters) {
  for (const auto& [issuer, is_same] : {std::pair("Microsoft", true), std::pair("Acme", false)}) {
    DeliveredLines lines;
    lines.add(charge_of(issuer));
    const ShareNames names(lines);
    const DeliveredShare written{.account = "2026-03 account ACCOUNT-1",
                                 .sub_account = "SUB-1",
                                 .part = "",
                                 .currency = kUsd,
                                 .lines = 1,
                                 .costs = Costs::zero(kUsd)};
    DeliveredShare other = written;
    other.account = "2026-03 account Account-1";
    other.sub_account = "sub-1";
    const GroupName name = group_name(lines.groups().begin()->first);
    EXPECT_EQ(names.name_of(written), name) << issuer;
    EXPECT_EQ(names.name_of(other) == name, is_same) << issuer;
  }
}

// A bill that names no account has its issuer in the place of one.
TEST(ShareNames, AnIssuerIsNamedAsItIs) {
  Charge charge = charge_of("Microsoft");
  charge.billing_account_id.clear();
  DeliveredLines lines;
  lines.add(charge);
  const DeliveredShare written{.account = "2026-03 issuer Microsoft",
                               .sub_account = "Sub-1",
                               .part = "",
                               .currency = kUsd,
                               .lines = 1,
                               .costs = Costs::zero(kUsd)};
  EXPECT_EQ(ShareNames(lines).name_of(written), group_name(lines.groups().begin()->first));
}

}  // namespace
}  // namespace pennyweight
