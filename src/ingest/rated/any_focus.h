// A FOCUS bill, with money or without: which of the two its header and first row tell.
//
// Without money is a file that has none of the four cost columns, or whose first row leaves all of
// them empty: it is priced from a rate card (rated_focus.h), and without a card refused in words
// that say so. In every other file a cost that is empty is a fault of its row, as FOCUS has it.
#pragma once

#include <memory>

#include "ingest/bill/bill_reader.h"
#include "pricing/rate_card.h"

namespace pennyweight::rated {

// `card` may be null; else it must outlive the reader.
std::unique_ptr<bill::BillReader> any_focus_bill(const RateCard* card);

}  // namespace pennyweight::rated
