// Choose: the first of a fold's groups, in an exact order, without putting all of them in order.
//
// The amount at which the first end is found in one pass. Names are read only of those that are
// chosen, and of those that are equal at that amount, since among equals the name decides.
#pragma once

#include "core/error.h"
#include "duckdb/database.h"
#include "rollup/first_rows.h"
#include "rollup/fold.h"

namespace pennyweight::rollup {

// REQUIRES: of a question with Kinds::kOfOwnersTogether; wanted_of(asked) was wanted.
Result<Owners> choose_owners(const Fold& fold, const OwnersAsked& asked,
                             duckdb::Connection& connection);
Wanted wanted_of(const OwnersAsked& asked);

// REQUIRES: as Rollup::page(); wanted_of(asked) was wanted.
Result<PageOfRows> choose_page(const Fold& fold, const PageAsked& asked,
                               duckdb::Connection& connection);
Wanted wanted_of(const PageAsked& asked);

}  // namespace pennyweight::rollup
