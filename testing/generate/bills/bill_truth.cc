#include "testing/generate/bills/bill_truth.h"

#include <fmt/format.h>

#include "core/json_text.h"
#include "testing/generate/bills/json_text.h"

namespace pennyweight::bills {
namespace {

Decimal sum(Decimal a, Decimal b) { return Decimal::from_ticks(a.ticks() + b.ticks()); }

std::string amount_members(Decimal billed, Decimal effective) {
  return fmt::format("\"billed\":\"{}\",\"effective\":\"{}\"", to_text(billed), to_text(effective));
}

}  // namespace

std::string_view to_text(LineType type) {
  switch (type) {
    case LineType::kOnDemand:
      return "on demand";
    case LineType::kSpot:
      return "spot";
    case LineType::kCommitmentUsed:
      return "commitment used";
    case LineType::kCommitmentUnused:
      return "commitment unused";
    case LineType::kCommitmentFee:
      return "commitment fee";
    case LineType::kCommitmentUpfront:
      return "commitment upfront";
    case LineType::kNegation:
      return "negation";
    case LineType::kStorage:
      return "storage";
    case LineType::kNetwork:
      return "network";
    case LineType::kSupport:
      return "support";
    case LineType::kRefund:
      return "refund";
    case LineType::kCorrection:
      return "correction";
    case LineType::kCredit:
      return "credit";
    case LineType::kDiscount:
      return "discount";
    case LineType::kTax:
      return "tax";
    case LineType::kRounding:
      return "rounding";
  }
  CHECK(false, "every type of line is listed");
}

void BillTruth::add(const TruthKey& key, Decimal billed, Decimal effective) {
  TruthAmounts& there = amounts[key];
  there.billed = sum(there.billed, billed);
  there.effective = sum(there.effective, effective);
}

Decimal BillTruth::billed() const {
  Decimal total;
  for (const auto& [key, amount] : amounts) total = sum(total, amount.billed);
  return total;
}

Decimal BillTruth::effective() const {
  Decimal total;
  for (const auto& [key, amount] : amounts) total = sum(total, amount.effective);
  return total;
}

std::string to_json(const BillTruth& truth) {
  std::string out = fmt::format(
      "{{\"generated\":true,\"currency\":\"{}\",\"rows\":{},\"repeating_rows\":{},{},\n",
      truth.currency.text(), truth.rows, truth.repeating_rows,
      amount_members(truth.billed(), truth.effective()));
  out += "\"amounts\":[";
  const char* separator = "\n";
  for (const auto& [key, amount] : truth.amounts) {
    out += fmt::format(
        "{}{{\"month\":{},\"invoice\":{},\"account\":{},\"service\":{},\"team\":{},\"type\":{},"
        "{}}}",
        separator, json_string(key.month), json_string(key.invoice), json_string(key.account),
        json_string(key.service), json_string(key.team), json_string(to_text(key.type)),
        amount_members(amount.billed, amount.effective));
    separator = ",\n";
  }
  out += "\n],\n\"commitments\":[";
  separator = "\n";
  for (const auto& [id, commitment] : truth.commitments) {
    out += fmt::format(
        "{}{{\"id\":{},\"recurring\":\"{}\",\"amortised_upfront\":\"{}\",\"used\":\"{}\","
        "\"unused\":\"{}\"}}",
        separator, json_string(id), to_text(commitment.recurring),
        to_text(commitment.amortised_upfront), to_text(commitment.used),
        to_text(commitment.unused));
    separator = ",\n";
  }
  out += "\n],\n\"quantities\":[";
  separator = "\n";
  for (const auto& [key, quantity] : truth.quantities) {
    out += fmt::format("{}{{\"sku\":{},\"unit\":{},\"quantity\":\"{}\"}}", separator,
                       json_string(key.first), json_string(key.second), to_text(quantity));
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace pennyweight::bills
