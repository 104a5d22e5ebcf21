// EarlierDeliveries: what the imports of bills said of themselves, to judge a later delivery by:
// what came together, in which form, and how much it was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/import/delivered_lines.h"
#include "core/decimal.h"
#include "core/error.h"
#include "ledger/bill_statement.h"
#include "ledger/store.h"

namespace pennyweight {

// When a delivery that takes money away wants a person's word: above this share of what stands in
// the ledger for the account and month, or above this amount in any currency.
struct DeliveryGuard {
  std::uint64_t percent_max = 10;
  std::optional<Decimal> amount_max = {};
};

// How the note of a statement begins that says what a person confirmed.
inline constexpr std::string_view kConfirmedNote = "confirmed: ";

class EarlierDeliveries {
 public:
  using Statement = std::pair<std::uint64_t, BillStatement>;  // by the number of the import

  static Result<EarlierDeliveries> of(Store& store);

  const ImportRecord* find(std::uint64_t number) const;
  // BillStatement::form of an import; empty: it has none.
  std::string_view form_of(std::uint64_t number) const;
  // Whether the last delivery of a group of the ledger's lines also had one of these sub accounts.
  // Nothing: no statement names the group, since an earlier program imported it.
  std::optional<bool> came_with(const LineGroupKey& group,
                                const std::set<std::string>& sub_accounts) const;
  // By number, the first one first.
  const std::vector<Statement>& statements() const { return statements_; }
  bool is_replacement(std::uint64_t number) const;

 private:
  std::map<std::uint64_t, ImportRecord> records_;
  std::vector<Statement> statements_;
};

// Adds why a delivery wants a person's word that is, line for line, an earlier one that was
// replaced since: a folder read in the wrong order would undo what the provider corrected.
void add_older_delivery(const DeliveredLines& covered, const DeliveredLines& delivered,
                        const std::vector<DeliveredFile>& files, const EarlierDeliveries& earlier,
                        std::vector<std::string>& needs_confirm);

// The same where each of several deliveries takes a little away, and all of them together more than
// one of them might. What a person confirmed counts no more.
void add_loss_of_many(const DeliveredLines& covered, const DeliveredLines& delivered,
                      const EarlierDeliveries& earlier, const DeliveryGuard& guard,
                      std::vector<std::string>& needs_confirm);

}  // namespace pennyweight
