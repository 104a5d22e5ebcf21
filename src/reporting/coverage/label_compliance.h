// Label compliance: what share of cost, GPU time and workloads has each required label, over time,
// and whose cost lacks it.
//
// A posting is evaluated by the labels of its holding, so a workload that gets its label on the
// third of the month counts as unlabelled before. Only what workloads pay for themselves is
// evaluated. Cost without a workload, and cost that spreading and corrections moved to owners, has
// no labels; it is reported separately, so that all of it adds up to the runs' postings.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/money.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "ledger/summary.h"
#include "reporting/coverage/label_policy.h"

namespace pennyweight {

// Offenders beyond this many are merged into one.
inline constexpr std::size_t kOffendersMax = 10'000;

struct LabelSums {
  Money effective;
  GpuTime gpu_time;             // held, as in SummaryRow
  std::uint64_t workloads = 0;  // each under its worst status, so that they add up; 0 in periods
  bool operator==(const LabelSums&) const = default;
};

// One required label in one currency.
struct KeyCompliance {
  std::string key;
  std::array<LabelSums, std::size(kLabelStatuses)> by_status;  // as kLabelStatuses
  LabelSums before;  // before it was in force: not evaluated, and without workloads

  explicit KeyCompliance(std::string of, Currency currency)
      : key(std::move(of)), by_status(none(currency)), before(by_status[0]) {}
  const LabelSums& of(LabelStatus status) const {
    return by_status[static_cast<std::size_t>(status)];
  }
  Money met() const {
    return of(LabelStatus::kStated).effective + of(LabelStatus::kDerived).effective;
  }
  // Stated + derived + not allowed + missing.
  LabelSums evaluated() const;
  bool operator==(const KeyCompliance&) const = default;

 private:
  static std::array<LabelSums, std::size(kLabelStatuses)> none(Currency currency) {
    const LabelSums nothing{Money::zero(currency), {}, 0};
    return {nothing, nothing, nothing, nothing};
  }
};

struct KeyPeriodCompliance {
  Date first_day;
  KeyCompliance sums;
  bool operator==(const KeyPeriodCompliance&) const = default;
};

// Workloads of one group and user whose label is missing or has a value that is not allowed.
struct LabelOffender {
  std::string key;
  LabelStatus status;
  std::string cluster;
  std::string group;  // "namespace sandbox", "account nlp"; kOtherOffenders
  std::string user;   // may be empty
  LabelSums sums;
  // The earliest of its workloads, when it ran, and its value if that is not allowed.
  std::string example;
  Instant example_at;
  std::string value;
  bool operator==(const LabelOffender&) const = default;
};
inline constexpr const char* kOtherOffenders = "(others)";

struct CurrencyCompliance {
  Currency currency;
  std::vector<KeyCompliance> keys;           // as required
  std::vector<KeyPeriodCompliance> periods;  // by key as required, then time; none for kNone
  std::vector<LabelOffender> offenders;      // by key as required, then the most expensive first
  Money held;                                // evaluated + before, the same for each key
  Money unowned;                             // buckets, less what was moved out of them
  Money transferred;                         // to owners, by spreading and corrections
};

class LabelCompliance {
 public:
  // `fallbacks` are the policy's, by dimension: values that stand for "unknown".
  LabelCompliance(LabelPolicy policy, std::map<std::string, std::string> fallbacks,
                  TimeBucket bucket);
  ~LabelCompliance();

  // Looks up a posting's holding that add() did not bring: a superseded reading, or another
  // month's. If there is none, the posting counts as unlabelled.
  using FindHolding = std::function<std::optional<Holding>(const FactId&)>;

  // Starts the run of a scope: the following add() calls belong to it.
  // REQUIRES: holdings come before their postings.
  void begin_run(const Scope& scope, std::vector<WorkloadDimensions> dimensions, FindHolding find);
  void add(const Holding& holding);
  void add(const Posting& posting);

  // By currency. ENSURES, of each: for every key evaluated() + before == held.
  std::vector<CurrencyCompliance> finish() const;

 private:
  class Accumulator;
  std::unique_ptr<Accumulator> accumulator_;
};

// Whether at least `percent` (0 to 100) of the evaluated cost meets the key; of the GPU time, where
// that cost is not positive. True where nothing is evaluated. Exact.
bool meets_percent(const KeyCompliance& key, Decimal percent);

}  // namespace pennyweight
