// Selects the first groups of a fold in an exact order, without sorting all of them.
//
// One pass finds the amount of the last selected group. Names are read only for the selected
// groups, and for those with exactly that amount, since ties are broken by name.
#pragma once

#include "core/duckdb/database.h"
#include "core/error.h"
#include "reporting/rollup/first_rows.h"
#include "reporting/rollup/fold.h"

namespace pennyweight::rollup {

// REQUIRES: the plan has OwnerKinds::kMergedByOwner, and the fold was made with sums_for(asked).
Result<TopOwners> choose_owners(const Fold& fold, const OwnersRequest& asked,
                                duckdb::Connection& connection);
SumSelection sums_for(const OwnersRequest& asked);

// REQUIRES: as Rollup::page(), and the fold was made with sums_for(asked).
Result<RowPage> choose_page(const Fold& fold, const PageRequest& asked,
                            duckdb::Connection& connection);
SumSelection sums_for(const PageRequest& asked);

}  // namespace pennyweight::rollup
