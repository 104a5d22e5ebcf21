#include "reporting/coverage/commitment_reconciliation.h"

#include <algorithm>
#include <utility>

#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

CommitmentRow empty_row(const Charge& charge, std::string month) {
  const Money none = Money::zero(charge.costs.currency());
  return {.id = charge.commitment_discount_id,
          .type = "",
          .month = std::move(month),
          .upfront = none,
          .recurring = none,
          .used_billed = none,
          .used = none,
          .unused = none,
          .on_fee = none,
          .lines = 0};
}

void take(CommitmentRow& row, const CommitmentRow& from) {
  if (row.type.empty()) row.type = from.type;
  row.upfront += from.upfront;
  row.recurring += from.recurring;
  row.used_billed += from.used_billed;
  row.used += from.used;
  row.unused += from.unused;
  row.on_fee += from.on_fee;
  row.lines += from.lines;
}

}  // namespace

std::string_view to_text(CommitmentStatus status) {
  switch (status) {
    case CommitmentStatus::kExact:
      return "exact";
    case CommitmentStatus::kUpfrontRemaining:
      return "paid ahead";
    case CommitmentStatus::kPaidEarlier:
      return "paid earlier";
    case CommitmentStatus::kMismatch:
      return "off: less than the fee";
    case CommitmentStatus::kUseUnreported:
      return "no line of its use";
  }
  CHECK(false, "every status is named above");
}

CommitmentStatus CommitmentRow::status() const {
  const Money off = difference();
  if ((used + unused).is_zero() && !on_fee.is_zero()) return CommitmentStatus::kUseUnreported;
  if (off.is_zero()) return CommitmentStatus::kExact;
  if (off.is_negative()) return CommitmentStatus::kPaidEarlier;
  if (!upfront.is_zero()) return CommitmentStatus::kUpfrontRemaining;
  return amortised().is_zero() ? CommitmentStatus::kUseUnreported : CommitmentStatus::kMismatch;
}

void CommitmentReconciler::add(const Charge& charge) {
  if (charge.commitment_discount_id.empty()) return;
  const std::string month =
      BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text();
  CommitmentRow& row =
      rows_
          .try_emplace(Key{charge.costs.currency(), charge.commitment_discount_id, month},
                       empty_row(charge, month))
          .first->second;
  if (row.type.empty()) row.type = charge.commitment_discount_type;
  row.lines += 1;
  const bool is_purchase = charge.charge_category == ChargeCategory::kPurchase;
  if (!is_purchase) {
    row.used_billed += charge.costs.billed;
  } else if (charge.charge_frequency == ChargeFrequency::kOneTime) {
    row.upfront += charge.costs.billed;
  } else {
    row.recurring += charge.costs.billed;
  }
  const auto status = charge.commitment_discount_status;
  Money& taken = status == UsedOrUnused::kUnused                ? row.unused
                 : is_purchase && status != UsedOrUnused::kUsed ? row.on_fee
                                                                : row.used;
  taken += charge.costs.effective;
}

std::vector<CommitmentRow> CommitmentReconciler::months() const {
  std::vector<CommitmentRow> all;
  for (const auto& [key, row] : rows_) all.push_back(row);
  return all;
}

std::vector<CommitmentRow> CommitmentReconciler::terms() const {
  std::vector<CommitmentRow> all;
  for (const auto& [key, row] : rows_) {
    const bool goes_on = !all.empty() && all.back().id == row.id &&
                         all.back().used.currency() == row.used.currency();
    if (goes_on) {
      take(all.back(), row);
    } else {
      all.push_back(row);
      all.back().month.clear();
    }
  }
  std::ranges::stable_sort(all, [](const CommitmentRow& a, const CommitmentRow& b) {
    if (a.used.currency() != b.used.currency()) return a.used.currency() < b.used.currency();
    return std::max(a.paid().ticks(), a.amortised().ticks()) >
           std::max(b.paid().ticks(), b.amortised().ticks());
  });
  return all;
}

}  // namespace pennyweight
