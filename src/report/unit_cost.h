// Unit costs: what one outcome cost, a request, a million tokens, by any dimension.
//
// A workload's cost is set against its own outcomes of one measure (ledger/outcome.h). What has
// cost and no such outcomes, a training job beside requests, is told in a column of its own and
// never mixed in; what has outcomes and no cost is counted apart. Where a half is missing there is
// no unit cost, rather than one of zero. Prompt and output tokens of one server are two measures of
// the same cost, which is not divided between them.
//
// Every cost is of one of three kinds:
//   used    what the workload was charged for what it used
//   idle    what it held and did not use, and its share of the idle that rules moved to its owner:
//           an owner's part is divided among its workloads by what they cost without it
//   other   overhead and shared cost that was moved to the owner, in the same way
// Without idle: used / count. With idle: (used + idle) / count. All of it adds up to the postings.
//
// Outcomes that carry the dimension as a label of their own (user, client, model of a request)
// divide their workload's cost by their counts. An outcome belongs to the month in which it begins;
// those of `serve` span a minute.
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

struct UnitParts {
  Money used, idle, other;

  static UnitParts none(Currency currency) {
    const Money zero = Money::zero(currency);
    return {zero, zero, zero};
  }
  Money total() const { return used + idle + other; }
  Money with_idle() const { return used + idle; }
  UnitParts& operator+=(const UnitParts& more) {
    used += more.used;
    idle += more.idle;
    other += more.other;
    return *this;
  }
  bool operator==(const UnitParts&) const = default;
};

struct UnitCostRow {
  std::string key;            // "nlp", "(unallocated)"; kNoKey where the dimension has no value
  UnitParts cost;             // of workloads with outcomes of the measure
  UnitParts beside;           // of workloads without any, of owners alone, of nobody
  bool has_cost = false;      // of workloads with outcomes: a posting at all
  bool has_outcomes = false;  // of workloads with cost
  UInt128 count = 0;          // of workloads with cost
  UInt128 count_without_cost = 0;  // of those without
  bool operator==(const UnitCostRow&) const = default;
};

struct UnitCostReport {
  std::string measure;
  std::optional<Currency> currency;  // nothing: outcomes, and no cost at all
  std::vector<UnitCostRow> rows;     // by key
  // ENSURES: the sum of the rows, and cost + beside is all that was added in the currency.
  std::optional<UnitCostRow> total;
};

inline constexpr const char* kNoKey = "(none)";

// An exact amount for each `per` outcomes.
struct UnitCost {
  Money cost;
  UInt128 count;  // > 0
  std::uint64_t per;
  // Rounded half to even, once, at `digits` digits; nothing where that is no amount of Money.
  // REQUIRES: 0 <= digits <= 18.
  std::optional<Money> rounded(int digits) const;
};

// Nothing where a half is missing: why() says which.
std::optional<UnitCost> without_idle(const UnitCostRow& row, std::uint64_t per);
std::optional<UnitCost> with_idle(const UnitCostRow& row, std::uint64_t per);
// "cost without outcomes", "outcomes without cost", "counted none"; empty where there is a cost.
std::string_view why_no_unit_cost(const UnitCostRow& row);

// 1,000,000 for tokens, else 1.
std::uint64_t usual_per(std::string_view measure);

class UnitCosts {
 public:
  // `by` is "workload", "cluster", a dimension of the policy or a label of outcomes.
  explicit UnitCosts(std::string by) : by_(std::move(by)) {}

  // The dimensions of a run's workloads, "(team=nlp)" among them. They come first.
  void add_dimensions(const ClusterId& cluster, std::span<const WorkloadDimensions> workloads);
  // What postings of one kind come to.
  void add_cost(const ClusterId& cluster, const WorkloadId& workload, PostingKind kind,
                Money effective);
  void add_outcome(const Outcome& outcome);

  // Measures that outcomes have, by name.
  std::vector<std::string> measures() const;
  // By currency. With neither cost nor outcomes nothing.
  std::vector<UnitCostReport> report(std::string_view measure) const;

 private:
  using Workload = std::pair<std::string, std::string>;  // cluster, workload
  struct Sums {
    std::map<Workload, UnitParts> workloads;
    std::map<Workload, UnitParts> owners;      // "(team=nlp)"
    std::map<std::string, UnitParts> nobodys;  // by key
  };
  // A count for each value of the label; without the label the value is empty.
  using Counts = std::map<std::string, UInt128>;
  class Reporter;

  std::string by_;
  std::map<Workload, Labels> dimensions_;
  std::map<Currency, Sums> sums_;
  std::map<std::string, std::map<Workload, Counts>, std::less<>> outcomes_;
};

}  // namespace pennyweight
