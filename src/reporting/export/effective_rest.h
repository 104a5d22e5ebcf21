// Parts the effective cost from a line on which FOCUS does not allow it.
//
// "EffectiveCost MUST be 0 when ChargeCategory is "Purchase" and the purchase is intended to cover
// related eligible charges"; of Tax and Credit it MUST equal BilledCost (1.4). Google bills
// commitments by the hour and Azure's actual cost takes them back without amortising them, so their
// bills have the effective cost on the purchase, and on no other line. It stays in the file, as a
// row of its own: an Adjustment whose other costs are 0. Both rows add up to the line.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ledger/charge.h"
#include "reporting/export/focus_column.h"
#include "reporting/export/share.h"

namespace pennyweight {

struct PartedCharge {
  Charge line;  // as FOCUS allows it
  Charge rest;  // the effective cost that it may not have; an id of its own
};

// Nothing for a line that FOCUS allows as it is.
std::optional<PartedCharge> part_effective_cost(const Charge& charge, FocusVersion version);

struct PartedShares {
  std::vector<ChargeShare> line;
  std::vector<ChargeShare> rest;
};

// The shares of `charge`, parted as it was.
PartedShares part_shares(std::span<const ChargeShare> shares, const PartedCharge& parted);

}  // namespace pennyweight
