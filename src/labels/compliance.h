// Compliance: how much of the money, of the GPU time and of the workloads meets each required
// label, over time, and whose money does not.
//
// Labels are those of the holding by which a posting was made, so a workload that gets its label
// on the third of the month is judged by what it said on each day. Judged is what holders pay for
// themselves. What nobody held, and what rules and persons moved, has no labels and is told beside,
// so that all of it adds up to the runs' postings.
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
#include "labels/label_policy.h"
#include "ledger/holding.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "ledger/summary.h"

namespace pennyweight {

// Offenders beyond so many are told as one.
inline constexpr std::size_t kOffendersMax = 10'000;

struct LabelSums {
  Money effective;
  GpuTime gpu_time;             // held, as of SummaryRow
  std::uint64_t workloads = 0;  // by its worst status, so that they add up; of a period: none
  bool operator==(const LabelSums&) const = default;
};

// Of one currency.
struct KeyCompliance {
  std::string key;
  std::array<LabelSums, std::size(kLabelStatuses)> by_status;  // as kLabelStatuses
  LabelSums before;  // it was in force; not judged, and its workloads are not counted

  explicit KeyCompliance(std::string of, Currency currency)
      : key(std::move(of)), by_status(none(currency)), before(by_status[0]) {}
  const LabelSums& of(LabelStatus status) const {
    return by_status[static_cast<std::size_t>(status)];
  }
  Money met() const {
    return of(LabelStatus::kStated).effective + of(LabelStatus::kDerived).effective;
  }
  // Judged: stated + derived + not allowed + missing.
  LabelSums judged() const;
  bool operator==(const KeyCompliance&) const = default;

 private:
  static std::array<LabelSums, std::size(kLabelStatuses)> none(Currency currency) {
    const LabelSums nothing{Money::zero(currency), {}, 0};
    return {nothing, nothing, nothing, nothing};
  }
};

struct KeyPeriod {
  Date first_day;
  KeyCompliance sums;
  bool operator==(const KeyPeriod&) const = default;
};

// Workloads of one group and user that lack the label, or have it with a value that does not count.
struct LabelOffender {
  std::string key;
  LabelStatus status;
  std::string cluster;
  std::string group;  // "namespace sandbox", "account nlp"; kOtherOffenders
  std::string user;   // may be empty
  LabelSums sums;
  // The first of its workloads by time, when it ran, and its value where it is not allowed.
  std::string example;
  Instant example_at;
  std::string value;
  bool operator==(const LabelOffender&) const = default;
};
inline constexpr const char* kOtherOffenders = "(others)";

struct CurrencyCompliance {
  Currency currency;
  std::vector<KeyCompliance> keys;       // as required
  std::vector<KeyPeriod> periods;        // by key as required, then time; none for kNone
  std::vector<LabelOffender> offenders;  // by key as required, then the most expensive first
  Money held;                            // judged + before of each key
  Money nobodys;                         // buckets, less what was moved out of them
  Money moved;                           // to owners by rules and corrections
};

class Compliance {
 public:
  // The fallbacks of the policy's dimensions: values that say that nothing is known.
  Compliance(LabelPolicy policy, std::map<std::string, std::string> fallbacks, TimeBucket bucket);
  ~Compliance();

  // The holding of a posting, for those that no add() brought: of an earlier reading, or of a month
  // before. Nothing where there is none; it counts as without labels.
  using FindHolding = std::function<std::optional<Holding>(const FactId&)>;

  // What follows is of this scope's run. REQUIRES: holdings come before the postings they made.
  void begin(const Scope& scope, std::vector<WorkloadDimensions> dimensions, FindHolding find);
  void add(const Holding& holding);
  void add(const Posting& posting);

  // By currency. ENSURES, of each: for every key judged() + before == held.
  std::vector<CurrencyCompliance> finish() const;

 private:
  class Book;
  std::unique_ptr<Book> book_;
};

// Whether at least `percent` of the judged money meets the key; where there is no money that could
// be divided, of the GPU time. True where nothing is judged. Exact. 0 to 100.
bool meets_percent(const KeyCompliance& key, Decimal percent);

}  // namespace pennyweight
