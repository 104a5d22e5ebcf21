// What a delivery of a bill does to the ledger, in money, found before anything is written: what it
// replaces, what remains beside it, what would be counted twice, and what would be
// removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"
#include "app/import/earlier_deliveries.h"
#include "app/import/period_cells.h"
#include "core/error.h"
#include "ledger/bill_statement.h"
#include "ledger/store.h"
#include "reporting/money_text.h"

namespace pennyweight {

// Of one account and month, in one currency.
struct AccountEffect {
  std::string month, account;  // "2026-03", "account 123456789012"
  Costs before;                // of the lines that the delivery replaces
  Costs after;                 // of the lines that it brings
  Costs beside;                // of lines that stay as they are: other sub accounts, parts, exports
  std::uint64_t lines_before = 0, lines_after = 0, lines_beside = 0;
  Decimal taken_away;  // the sum over sub accounts and days that have less than before
  bool is_closed = false;
  bool replaces = false;  // else the lines are added, but for those that are known
};

struct DeliveryEffect {
  std::vector<AccountEffect> accounts;     // by month, account, currency
  std::vector<std::string> also_replaced;  // CommitTerms::also_replaced
  std::vector<std::string> needs_confirm;  // why a person must confirm it, a sentence each
  std::vector<std::string> doubles;        // what would stand twice, a sentence each
  std::vector<std::string> similar;        // DoubleFindings::similar
  bool replaces_lines = false;             // the ledger has lines in the scopes of the delivery
};

struct DeliveryQuestion {
  DeliveryStyle style = DeliveryStyle::kGuarded;
  std::string format;    // bill::BillFormat::name of the delivery
  std::string form;      // BillStatement::form
  std::string delivery;  // BillStatement::delivery, part and parts
  std::uint64_t part = 0, parts = 0;
  DeliveryGuard guard;
  std::vector<DeliveredFile> files;  // of the delivery
};

// The label that lines of such a part have in kDeliveryPartColumn: "delivery march, part 1 of 2".
std::string part_label(const std::string& delivery, std::uint64_t part, std::uint64_t parts);

// Reads the ledger's lines of the delivered months, once. `store` may have the session open that
// takes the delivery. `periods`: the lines of `delivered` once more.
Result<DeliveryEffect> effect_of(Store& store, const DeliveredLines& delivered,
                                 const PeriodCells& periods, const DeliveryQuestion& question);

// Stands for DeliveryEffect::needs_confirm; empty where nobody must confirm anything.
std::string confirm_key(const std::vector<std::string>& needs_confirm);

// "2026-03, account 12: 55.00 → 6.00 USD billed, 49.00 taken away"
std::string to_text(const AccountEffect& effect);

}  // namespace pennyweight
