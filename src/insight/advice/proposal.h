// Proposal: one concrete change of a fleet or of a workload, and what the bill says it would save.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "core/label.h"
#include "core/money.h"

namespace pennyweight::advising {

enum class AdviceKind {
  kUnneededNodes,     // nodes that nobody held in any hour
  kScaleDown,         // hours in which nobody held a node
  kCommitment,        // on-demand hours that a commitment would make cheaper
  kUnusedCommitment,  // a commitment that is paid and not used
  kIdle,              // GPUs that a workload held and did not use
  kZombie,            // work that still runs and has done nothing for days
  kAutoscaling,       // replicas that follow the demand
  kRightSize,         // a smaller or larger GPU model
  kMigLayout,         // GPUs cut into instances, so that fewer nodes hold the same work
  kShare,             // GPUs that several workloads share, so that fewer nodes hold the same work
  kSpot,              // work that can be interrupted, on capacity that is
  kTimeLimit,         // time limits far beyond what jobs need
};
std::string_view to_text(AdviceKind kind);  // "unneeded-nodes", "scale-down", …
std::optional<AdviceKind> parse_advice_kind(std::string_view text);
std::span<const std::string_view> advice_kind_names();

enum class Confidence { kLow, kMedium, kHigh };
std::string_view to_text(Confidence confidence);  // "low", "medium", "high"

// How much work it is to follow.
enum class Effort {
  kLow,     // one command, one setting or one purchase
  kMedium,  // a manifest or an autoscaler that has to be tried out
  kHigh,    // the work itself has to change
};
std::string_view to_text(Effort effort);  // "low", "medium", "high"
std::optional<Effort> parse_effort(std::string_view text);
std::optional<Confidence> parse_confidence(std::string_view text);
Effort effort_of(AdviceKind kind);

// Where the figure comes from.
enum class SavingBasis {
  kBill,       // the bill of the period with the change: lines that fall away, to the tick
  kListPrice,  // hours of the bill at another list price
};
std::string_view to_text(SavingBasis basis);

// Of 730 hours, as the period's hours were. One currency.
struct MonthlySaving {
  Money low;
  Money expected;
  Money high;
};

struct Proposal {
  std::string id;  // 12 digits; the same for the same kind and subject in every month
  AdviceKind kind;
  ClusterId cluster;
  std::string subject;  // "pool gpu, p3.8xlarge", "workload ml/train-7"
  std::string change;   // what to do, one sentence
  MonthlySaving monthly;
  Money observed;  // the expected saving of the hours that were looked at, not scaled
  // What would move from those who held it to nobody, and stay on the bill, in the same hours.
  Money moved;
  SavingBasis basis = SavingBasis::kBill;
  Confidence confidence = Confidence::kLow;
  std::string confidence_reason = {};
  std::vector<std::string> evidence = {};
  std::string risk = {};
  std::string apply = {};  // text to apply, or what to run
  // Of proposals with the same text only one can be followed. Empty: it excludes none.
  std::string alternatives_of = {};
  // Sets of alternatives (alternatives_of) that can't be followed as well.
  std::vector<std::string> conflicts_with = {};
  Labels owner = {};  // dimensions of the workload; empty: it is about the fleet
  WorkloadId workload = WorkloadId("");
  // Where the ledger is compared before and after: "user ana", "work ann/train", "type p3.8xlarge";
  // empty: the cluster.
  std::string looked_for = {};
  std::vector<std::string> nodes = {};  // names, of advice about nodes
  std::vector<std::string> gpus = {};   // UUIDs, of advice about idle ones; sorted
};

inline constexpr std::size_t kProposalIdDigits = 12;

// REQUIRES: the parts name the kind's subject and nothing that changes from month to month.
std::string proposal_id(AdviceKind kind, const ClusterId& cluster, std::string_view subject);

// amount * numerator / denominator, cut off at 10^-18 of the unit towards zero.
// REQUIRES: denominator > 0, and the result is an amount.
Money scaled(Money amount, UInt128 numerator, UInt128 denominator);

inline constexpr std::uint64_t kHoursPerMonth = 730;

}  // namespace pennyweight::advising
