#include "insight/advice/proposal.h"

#include "core/check.h"
#include "core/enum_names.h"
#include "core/hash.h"
#include "core/int128.h"

namespace pennyweight::advising {
namespace {

constexpr EnumNames kAdviceKinds = enum_names<AdviceKind>({
    {AdviceKind::kUnneededNodes, "unneeded-nodes"},
    {AdviceKind::kScaleDown, "scale-down"},
    {AdviceKind::kCommitment, "commitment"},
    {AdviceKind::kUnusedCommitment, "unused-commitment"},
    {AdviceKind::kIdle, "idle"},
    {AdviceKind::kZombie, "zombie"},
    {AdviceKind::kAutoscaling, "autoscaling"},
    {AdviceKind::kRightSize, "right-size"},
    {AdviceKind::kMigLayout, "mig-layout"},
    {AdviceKind::kShare, "share"},
    {AdviceKind::kSpot, "spot"},
    {AdviceKind::kTimeLimit, "time-limit"},
});
constexpr EnumNames kConfidenceNames = enum_names<Confidence>(
    {{Confidence::kLow, "low"}, {Confidence::kMedium, "medium"}, {Confidence::kHigh, "high"}});
constexpr EnumNames kEffortNames = enum_names<Effort>(
    {{Effort::kLow, "low"}, {Effort::kMedium, "medium"}, {Effort::kHigh, "high"}});
constexpr EnumNames kSavingBases = enum_names<SavingBasis>(
    {{SavingBasis::kBill, "bill"}, {SavingBasis::kListPrice, "list price"}});

}  // namespace

std::string_view to_text(AdviceKind kind) { return kAdviceKinds.name(kind); }
std::optional<AdviceKind> parse_advice_kind(std::string_view text) {
  return kAdviceKinds.parse(text);
}
std::span<const std::string_view> advice_kind_names() { return kAdviceKinds.names(); }
std::string_view to_text(Confidence confidence) { return kConfidenceNames.name(confidence); }
std::optional<Confidence> parse_confidence(std::string_view text) {
  return kConfidenceNames.parse(text);
}
std::string_view to_text(Effort effort) { return kEffortNames.name(effort); }
std::optional<Effort> parse_effort(std::string_view text) { return kEffortNames.parse(text); }

Effort effort_of(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::kUnneededNodes:
    case AdviceKind::kCommitment:
    case AdviceKind::kUnusedCommitment:
    case AdviceKind::kIdle:
    case AdviceKind::kTimeLimit:
    case AdviceKind::kZombie:
      return Effort::kLow;
    case AdviceKind::kScaleDown:
    case AdviceKind::kRightSize:
    case AdviceKind::kAutoscaling:
    case AdviceKind::kMigLayout:
    case AdviceKind::kShare:
    case AdviceKind::kSpot:
      return Effort::kMedium;
  }
  CHECK(false, "every kind is listed");
}

std::string_view to_text(SavingBasis basis) { return kSavingBases.name(basis); }

std::string proposal_id(AdviceKind kind, const ClusterId& cluster, std::string_view subject) {
  Fingerprint fields;
  fields.add(to_text(kind)).add(cluster.text()).add(subject);
  return to_text(fields.hash()).substr(0, kProposalIdDigits);
}

Money scaled(Money amount, UInt128 numerator, UInt128 denominator) {
  const bool negative = amount.is_negative();
  const auto size = static_cast<UInt128>(negative ? -amount.ticks() : amount.ticks());
  const UInt128 part = multiply_divide(size, numerator, denominator).quotient;
  CHECK(part <= static_cast<UInt128>(kInt128Max), "money overflow");
  const auto ticks = static_cast<Int128>(part);
  return Money::from_ticks(negative ? -ticks : ticks, amount.currency());
}

}  // namespace pennyweight::advising
