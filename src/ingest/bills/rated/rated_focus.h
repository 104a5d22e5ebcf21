// FOCUS bills without costs (CoreWeave's FOCUS 1.2 export has quantities only), priced from a
// contract's rate card.
//
// The four cost columns, BillingCurrency and ChargeCategory may be missing or empty. A row that
// states all four costs keeps them; a row that states only some of them is set aside. Every other
// row is priced: PricingQuantity by PricingUnit, else ConsumedQuantity by ConsumedUnit, times the
// price in force. A row without a price is set aside, with a reason that says what to add to the
// card: no charge becomes 0 because its price is unknown.
#pragma once

#include "allocation/pricing/rate_card.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::rated {

// The card must outlive the factory and its readers.
bill::RowReaderFactory rated_focus_bill(const RateCard& card);

}  // namespace pennyweight::rated
