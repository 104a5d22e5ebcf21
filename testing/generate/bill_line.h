// Builds the charges of a generated bill, in the terms and null rules of FOCUS 1.4.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "testing/generate/bill_plan.h"
#include "testing/generate/bill_prices.h"
#include "testing/generate/generate_bill.h"

namespace pennyweight {

// The service of a charge, and the SKU within it.
struct Product {
  std::string_view service_category;
  std::string_view service_subcategory;
  std::string service_name;
  std::string sku_meter;  // empty: a line without a SKU (tax, credit)
  std::string sku;        // distinguishes the SKUs of a meter: "p3.8xlarge"
  std::string option;     // distinguishes the prices of a SKU: "on_demand"
  std::string unit;       // of price and quantity: "Hours"
};

// A charge being built: the columns that go into Charge::other_columns are still separate.
struct BillLine {
  Charge charge;
  std::map<std::string, std::string> other_columns;

  // Writes other_columns into the charge, which is then complete.
  const Charge& finish();
};

// Fills in the fields that all charges of one bill and month share, and those that follow from
// prices.
class BillLines {
 public:
  // Both must outlive this.
  BillLines(const BillOptions& options, const BillPlan& plan, BillingPeriod month)
      : options_(options), plan_(plan), month_(std::move(month)), billed_(month_.to_interval()) {}

  // A charge without amounts. If `cluster` is empty, it is for the whole account.
  BillLine begin_line(const Product& product, ChargeCategory category, const Interval& charged,
                      std::string_view cluster, std::string_view region,
                      std::string_view description, std::string_view price_source) const;

  // Usage of a node on the given term; set_amounts adds the amounts.
  BillLine node_line(const PlannedNode& node, const InstanceType* type,
                     const HourlyPrices& prices) const;
  // The unused part of a commitment.
  BillLine unused_line(const Commitment& commitment, const HourlyPrices& prices) const;
  BillLine purchase_line(const Commitment& commitment, const HourlyPrices& prices) const;

  const BillingPeriod& month() const { return month_; }

 private:
  void set_commitment(BillLine& line, const Commitment& commitment) const;

  const BillOptions& options_;
  const BillPlan& plan_;
  BillingPeriod month_;
  Interval billed_;
};

// Unit prices and the costs that follow from them. List and contracted cost come from their unit
// prices; billed and effective cost each from a unit price of its own. Returns an error only if a
// product leaves DECIMAL(38,18).
struct UnitPrices {
  Decimal list;
  Decimal contracted;
  Decimal billed;
  Decimal effective;
};
Result<void> set_amounts(BillLine& line, Decimal quantity, const UnitPrices& prices);

}  // namespace pennyweight
