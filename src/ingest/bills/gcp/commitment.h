// Commitments (committed use discounts, CUDs), as far as a row of the export describes them.
//
// Older model: usage is billed on demand, a credit takes back the covered part, and the fee is a
// row of its own. If fees are attributed, a label of the fee names the SKU that used it. Newer
// model (since July 2025): covered usage is billed at the commitment's price, under a consumption
// model other than "Default", and a credit reduces the fee by the same amount. The rest of the fee
// was not used. Source: docs.cloud.google.com/billing/docs/resources/multiprice-cuds, its tables of
// both models.
#pragma once

#include <optional>
#include <string>

#include "ingest/bills/gcp/amounts.h"
#include "ingest/bills/gcp/row.h"
#include "ledger/charge.h"

namespace pennyweight::gcp {

struct Commitment {
  std::string id;
  std::string name;  // empty: the export does not name it
  bool is_spend = true;
};

// What a fee paid for.
enum class FeeUse {
  kOffset,   // usage of as much as the offset; the rest was not used
  kUsed,     // usage that a label names
  kUnknown,  // the export does not say; the fee stays with its purchase
};

// The commitment of a row of usage, by its price or credit; nothing if it has none, and for fees.
std::optional<Commitment> usage_commitment(const Row& row, const Amounts& amounts);

// The commitment of a row that is its fee; nothing for other rows.
std::optional<Commitment> fee_commitment(const Row& row, const Amounts& amounts);
FeeUse fee_use(const Row& row, const Amounts& amounts, const Labels& tags);

// Sets the CommitmentDiscount* fields of a charge.
void set_commitment(const Commitment& commitment, std::optional<UsedOrUnused> status,
                    Charge& charge);

}  // namespace pennyweight::gcp
