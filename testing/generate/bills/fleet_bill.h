// FleetBill: what all native bills share: the nodes with their teams and prices, and the iteration
// over months, slices of time and nodes. Each provider's format writes its rows during this
// iteration.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/instant.h"
#include "testing/generate/bill_plan.h"
#include "testing/generate/bill_prices.h"
#include "testing/generate/bills/bill_truth.h"
#include "testing/generate/bills/native_bill.h"

namespace pennyweight::bills {

struct BilledNode {
  const PlannedNode* planned;
  const InstanceType* type;  // from the catalog; may be null
  std::string team;          // empty: without the tag
  std::string id;            // the provider's name for it: the end of its provider id, or made up
};

// A node within one slice of time.
struct NodeUse {
  const BilledNode* node;
  std::size_t cluster;  // index into the plan's
  Interval when;
  Decimal hours;  // four digits at most
  const HourlyPrices* prices;
};

// A commitment within the month being written. Those with an even index are for usage of an
// instance type (reservations), the others for spending (savings plans).
struct CommitmentMonth {
  const Commitment* commitment;
  std::size_t index;
  bool is_spend;
  const HourlyPrices* prices;
  Decimal rate;       // effective cost of an instance hour
  Decimal committed;  // instance-hours of the month
};

class FleetBill {
 public:
  // `catalog`, `nodes` and `options` must outlive this.
  static Result<FleetBill> plan(std::span<const Node> nodes, const Catalog& catalog,
                                const NativeBillOptions& options);

  const NativeBillOptions& options() const { return *options_; }
  const BillPlan& bill() const { return plan_; }
  const std::vector<BilledNode>& nodes() const { return nodes_; }
  std::uint64_t seed() const { return options_->bill.seed; }
  std::string account(std::size_t cluster) const {
    return account_number(seed(), plan_.clusters[cluster].name);
  }

  // price · quantity, rounded half-even to the digits of this bill: at most ten after the point,
  // and at most fifteen in all, which is what a provider's floating point preserves.
  Decimal cost(Decimal price, Decimal quantity) const;
  Decimal rounded(Decimal amount) const;
  int digits() const { return digits_; }

 private:
  friend class FleetWalk;
  FleetBill(BillPlan plan, const Catalog& catalog, const NativeBillOptions& options)
      : plan_(std::move(plan)), catalog_(&catalog), options_(&options) {}

  BillPlan plan_;
  std::vector<BilledNode> nodes_;
  const Catalog* catalog_;
  const NativeBillOptions* options_;
  int digits_ = 10;
};

// The callbacks of a format for the steps of the iteration.
class BillForm {
 public:
  virtual ~BillForm() = default;
  // The part of a month that the bill covers, and the whole month.
  virtual Result<void> begin_month(const BillingPeriod& month, const Interval& covered,
                                   std::span<const CommitmentMonth> commitments) = 0;
  virtual Result<void> node(const NodeUse& use) = 0;
  // After all nodes of a slice; instance-hours of the slice by cluster.
  virtual Result<void> end_slice(const Interval& slice, std::span<const Decimal> cluster_hours) = 0;
  virtual Result<void> end_month() = 0;
};

// Months and days are in the time zone `zone`.
Result<void> walk(const FleetBill& fleet, const TimeZone& zone, BillForm& form);

Decimal plus(Decimal a, Decimal b);
Decimal minus(Decimal a, Decimal b);
// Instance-hours of a commitment within an interval; exact.
Decimal committed_hours(const Interval& interval, const Commitment& commitment);
// In hours, to four digits.
Decimal hours_of(std::uint64_t milliseconds);

}  // namespace pennyweight::bills
