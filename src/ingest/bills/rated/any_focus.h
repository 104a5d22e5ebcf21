// FOCUS bills with or without costs; the header and the first row tell which.
//
// A file without costs has none of the four cost columns, or its first row leaves all of them
// empty. It is priced from a rate card (rated_focus.h); without a card it is refused. In every
// other file an empty cost is a fault of its row, as in FOCUS.
#pragma once

#include "allocation/pricing/rate_card.h"
#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::rated {

// `card` may be null; else it must outlive the reader.
bill::RowReaderFactory any_focus_bill(const RateCard* card);

extern const bill::BillFormat kFocusFormat;

}  // namespace pennyweight::rated
