// Commitments (committed use discounts, CUDs), as far as a row of the export tells of them.
//
// Older model: usage is billed on demand, a credit takes off what was covered, and the fee is a row
// of its own; where fees are attributed, it bears the SKU that used it in a label.
// Newer model (since July 2025): usage that is covered is billed at the commitment's price, under a
// consumption model that is not "Default", and a credit takes the same off the fee; what is left of
// the fee was not used.
// Source: docs.cloud.google.com/billing/docs/resources/multiprice-cuds, its tables of both models.
#pragma once

#include <optional>
#include <string>

#include "ingest/gcp/amounts.h"
#include "ingest/gcp/row.h"
#include "ledger/charge.h"

namespace pennyweight::gcp {

struct Commitment {
  std::string id;
  std::string name;  // empty: the export has none
  bool is_spend = true;
};

// What a fee went to.
enum class FeeUse {
  kOffset,   // used by as much as its offset says, and otherwise not
  kUsed,     // the label names what used it
  kUnknown,  // the export does not say; the fee stays with its purchase
};

// Of a row of usage whose price or credit is a commitment's; nothing of others. Fees are no usage.
std::optional<Commitment> usage_commitment(const Row& row, const Amounts& amounts);

// Of a row that is a fee; nothing of others.
std::optional<Commitment> fee_commitment(const Row& row, const Amounts& amounts);
FeeUse fee_use(const Row& row, const Amounts& amounts, const Labels& tags);

// Sets the columns CommitmentDiscount* that a Charge has.
void set_commitment(const Commitment& commitment, std::optional<UsedOrUnused> status,
                    Charge& charge);

}  // namespace pennyweight::gcp
