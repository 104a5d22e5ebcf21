#include "ingest/bills/gcp/commitment.h"

#include <algorithm>

namespace pennyweight::gcp {
namespace {

constexpr std::string_view kOriginatingSku = "goog-originating-sku-id";

// Usage billed at a price of its own, which is that of a commitment.
bool has_own_price_model(const Row& row) {
  const std::string_view model = row[Field::kConsumptionModelDescription];
  return !model.empty() && model != "Default";
}

const Credit* covering_credit(const Amounts& amounts) {
  for (const Credit& credit : amounts.credits.all) {
    if (credit.kind == CreditKind::kUsageCovered || credit.kind == CreditKind::kSpendCovered) {
      return &credit;
    }
  }
  return nullptr;
}

bool is_fee(const Row& row, const Amounts& amounts) {
  if (has_own_price_model(row) || covering_credit(amounts) != nullptr) return false;
  const std::string_view sku = row[Field::kSkuDescription];
  return amounts.has_offset || row.has(Field::kSubscriptionId) || sku.starts_with("Commitment") ||
         sku.find("Committed Use Discount") != std::string_view::npos;
}

// A fee of the newer model is priced in money: one unit costs 1.
bool is_priced_in_money(const Row& row, const Amounts& amounts) {
  return row.has(Field::kConsumptionModelDescription) &&
         amounts.effective_price == Decimal::from_units(1);
}

}  // namespace

std::optional<Commitment> usage_commitment(const Row& row, const Amounts& amounts) {
  const std::string subscription(row[Field::kSubscriptionId]);
  if (has_own_price_model(row)) {
    return Commitment{.id = subscription.empty()
                                ? std::string(row.has(Field::kConsumptionModelId)
                                                  ? row[Field::kConsumptionModelId]
                                                  : row[Field::kConsumptionModelDescription])
                                : subscription,
                      .name = std::string(row[Field::kConsumptionModelDescription]),
                      .is_spend = true};
  }
  const Credit* credit = covering_credit(amounts);
  if (credit == nullptr) return std::nullopt;
  Commitment commitment{.id = subscription,
                        .name = credit->full_name.empty() ? credit->name : credit->full_name,
                        .is_spend = credit->kind == CreditKind::kSpendCovered};
  for (const std::string& text : {credit->id, credit->name, credit->full_name, credit->type}) {
    if (commitment.id.empty()) commitment.id = text;
  }
  return commitment;
}

std::optional<Commitment> fee_commitment(const Row& row, const Amounts& amounts) {
  if (!is_fee(row, amounts)) return std::nullopt;
  const std::string_view sku = row[Field::kSkuDescription];
  Commitment commitment{.id = std::string(row[Field::kSubscriptionId]),
                        .name = std::string(sku),
                        .is_spend = !sku.starts_with("Commitment v1:")};
  // The standard export has no subscriptions: all fees of a SKU are then one commitment.
  for (const std::string_view text :
       {row[Field::kSkuId], sku, std::string_view("committed use discount")}) {
    if (commitment.id.empty()) commitment.id = text;
  }
  return commitment;
}

FeeUse fee_use(const Row& row, const Amounts& amounts, const Labels& tags) {
  if (amounts.has_offset || is_priced_in_money(row, amounts)) return FeeUse::kOffset;
  const auto origin = tags.find(kOriginatingSku);
  return origin && !origin->empty() ? FeeUse::kUsed : FeeUse::kUnknown;
}

void set_commitment(const Commitment& commitment, std::optional<UsedOrUnused> status,
                    Charge& charge) {
  charge.commitment_discount_id = commitment.id;
  charge.commitment_discount_category = commitment.is_spend ? "Spend" : "Usage";
  charge.commitment_discount_type = commitment.is_spend ? "Spend-based CUD" : "Resource-based CUD";
  charge.commitment_discount_status = status;
}

}  // namespace pennyweight::gcp
