// A FOCUS bill without money (CoreWeave's FOCUS 1.2 export: quantities only), priced from a
// contract's rate card.
//
// The four cost columns, BillingCurrency and ChargeCategory may be missing or empty. A row that
// states all four costs has its own money, which stands; one that states some of them is kept
// aside. Every other row is priced: PricingQuantity by PricingUnit, else ConsumedQuantity by
// ConsumedUnit, times the price in force. What has no price is kept aside with the reason, which
// says what to add to the card: nothing of a bill becomes 0 because nobody knows what it costs.
#pragma once

#include <memory>

#include "ingest/bill/bill_reader.h"
#include "pricing/rate_card.h"

namespace pennyweight::rated {

// The card must outlive the reader.
std::unique_ptr<bill::BillReader> rated_focus_bill(const RateCard& card);

}  // namespace pennyweight::rated
