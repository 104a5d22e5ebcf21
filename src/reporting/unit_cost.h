// Unit costs: what one outcome costs (a request, a million tokens), by any dimension.
//
// A workload's cost is compared with its own outcomes of one measure (ledger/outcome.h). Cost
// without such outcomes, such as a training job's where requests are counted, has a column of its
// own; outcomes without cost are counted separately. Where either side is missing there is no unit
// cost, rather than one of zero. Prompt and output tokens of one server are two measures of the
// same cost; the cost is not divided between them.
//
// Every cost is of one of three kinds:
//   used    what the workload was charged for what it used
//   idle    what it held and did not use, plus its share of the idle cost that spreading moved to
//           its owner. The owner's idle is divided among its workloads in proportion to their cost
//           before it.
//   other   overhead and shared cost that spreading moved to the owner, divided the same way
// Without idle: used / count. With idle: (used + idle) / count. The three add up to the postings.
//
// Where outcomes carry the dimension as a label of their own (user, client, model of a request),
// their counts divide their workload's cost. An outcome belongs to the month in which it begins;
// outcomes recorded by `serve` span one minute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/int128.h"
#include "core/money.h"
#include "ledger/outcome.h"
#include "ledger/posting.h"
#include "ledger/run.h"

namespace pennyweight {

struct UnitCostBreakdown {
  Money used, idle, other;

  static UnitCostBreakdown none(Currency currency) {
    const Money zero = Money::zero(currency);
    return {zero, zero, zero};
  }
  Money total() const { return used + idle + other; }
  Money with_idle() const { return used + idle; }
  UnitCostBreakdown& operator+=(const UnitCostBreakdown& more) {
    used += more.used;
    idle += more.idle;
    other += more.other;
    return *this;
  }
  bool operator==(const UnitCostBreakdown&) const = default;
};

struct UnitCostRow {
  std::string key;         // "nlp", "(unallocated)"; kNoKey if the dimension has no value
  UnitCostBreakdown cost;  // of workloads with outcomes of the measure
  UnitCostBreakdown without_outcomes;  // of all else: other workloads, owners, unallocated
  bool has_cost = false;               // a workload with outcomes has a posting
  bool has_outcomes = false;           // a workload with cost has an outcome
  UInt128 count = 0;                   // outcomes of workloads with cost
  UInt128 count_without_cost = 0;      // outcomes of workloads without cost
  bool operator==(const UnitCostRow&) const = default;
};

struct UnitCostReport {
  std::string measure;
  std::optional<Currency> currency;  // empty: outcomes without any cost
  std::vector<UnitCostRow> rows;     // by key
  // ENSURES: the sum of the rows; cost + without_outcomes is all cost added in the currency.
  std::optional<UnitCostRow> total;
};

inline constexpr const char* kNoKey = "(none)";

// An exact amount for each `per` outcomes.
struct UnitCost {
  Money cost;
  UInt128 count;  // > 0
  std::uint64_t per;
  // Rounded half to even, once, at `digits` digits; empty where Money can't represent it.
  // REQUIRES: 0 <= digits <= 18.
  std::optional<Money> rounded(int digits) const;
};

// Empty where a row has no cost or no outcomes: why_no_unit_cost() says which.
std::optional<UnitCost> without_idle(const UnitCostRow& row, std::uint64_t per);
std::optional<UnitCost> with_idle(const UnitCostRow& row, std::uint64_t per);
// "cost without outcomes", "outcomes without cost", "counted none"; empty where there is a unit
// cost.
std::string_view why_no_unit_cost(const UnitCostRow& row);

// The number of outcomes that a unit cost is usually quoted for: 1,000,000 tokens, else 1.
std::uint64_t default_per(std::string_view measure);

class UnitCosts {
 public:
  // `by` is "workload", "cluster", a dimension of the policy, or a label of outcomes.
  explicit UnitCosts(std::string by) : by_(std::move(by)) {}

  // The dimensions of a run's workloads, including owners such as "(team=nlp)". REQUIRES: called
  // before the other add functions.
  void add_dimensions(const ClusterId& cluster, std::span<const WorkloadDimensions> workloads);
  // Adds the sum of a workload's postings of one kind.
  void add_cost(const ClusterId& cluster, const WorkloadId& workload, PostingKind kind,
                Money effective);
  void add_outcome(const Outcome& outcome);

  // The measures of all outcomes, by name.
  std::vector<std::string> measures() const;
  // By currency. Empty with neither cost nor outcomes.
  std::vector<UnitCostReport> report(std::string_view measure) const;

 private:
  using Workload = std::pair<std::string, std::string>;  // cluster, workload
  struct Sums {
    std::map<Workload, UnitCostBreakdown> workloads;
    std::map<Workload, UnitCostBreakdown> owners;      // "(team=nlp)"
    std::map<std::string, UnitCostBreakdown> unowned;  // by key
  };
  // A count per value of the label; the value is empty where the label is missing.
  using Counts = std::map<std::string, UInt128>;
  class Reporter;

  std::string by_;
  std::map<Workload, Labels> dimensions_;
  std::map<Currency, Sums> sums_;
  std::map<std::string, std::map<Workload, Counts>, std::less<>> outcomes_;
};

}  // namespace pennyweight
