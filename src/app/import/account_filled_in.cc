#include "app/import/account_filled_in.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/import/delivery_doubles.h"
#include "ledger/account_in_scope.h"
#include "ledger/delivery.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// More of the money than this must be the same.
constexpr int kPercentMin = 50;

bool has_issuer(const LineGroup& group, const std::string& issuer) {
  return issuer.empty() || group.issuers.contains("") || group.issuers.contains(issuer);
}

}  // namespace

std::optional<AccountNaming> account_now(const Charge& charge, const DeliveredLines& delivered) {
  const std::string month = month_of(charge.billing_period.begin());
  const std::string sub_account = account_in_scope(charge, charge.sub_account_id);
  const std::string_view cloud = cloud_of(charge);
  const std::string account = account_scope(charge);
  const bool was_named = !charge.billing_account_id.empty();
  std::set<std::pair<std::string, std::string>> all, of_sub_account;
  for (const auto& [key, group] : delivered.groups()) {
    if (key.month() != month || key.currency != charge.costs.currency()) continue;
    if (key.account == account) return std::nullopt;
    if (!cloud.empty() && !key.cloud.empty() && cloud != key.cloud) continue;
    const bool is_named = !group.billing_account_id.empty();
    if ((is_named && was_named) || !has_issuer(group, charge.invoice_issuer_name)) continue;
    const std::pair naming(group.billing_account_id,
                           is_named ? charge.invoice_issuer_name : *group.issuers.begin());
    all.insert(naming);
    if (!sub_account.empty() && key.sub_account == sub_account) of_sub_account.insert(naming);
  }
  const auto& namings = of_sub_account.empty() ? all : of_sub_account;
  if (namings.size() != 1) return std::nullopt;
  return AccountNaming{namings.begin()->first, namings.begin()->second};
}

Charge with_account(Charge charge, const AccountNaming& naming) {
  charge.billing_account_id = naming.billing_account_id;
  charge.invoice_issuer_name = naming.invoice_issuer_name;
  return charge;
}

bool is_earlier_version(const DeliveredLines& renamed, const DeliveredLines& delivered) {
  const SampledCells& before = renamed.resource_days();
  const SampledCells& after = delivered.resource_days();
  Int128 of_before = 0, of_after = 0, common = 0;
  before.each(after, [&](const CellSum& sum) { of_before += sum.size(); });
  after.each(before, [&](const CellSum& sum) { of_after += sum.size(); });
  // The later version may say another amount.
  before.each_common(after, [&](const CellSum& mine, const CellSum& theirs) {
    common += std::min(mine.size(), theirs.size());
  });
  const Int128 smaller = std::min(of_before, of_after);
  if (smaller > 0) return common > smaller / 100 * kPercentMin;
  return lines_in_common(renamed, delivered).percent >= kPercentMin;
}

}  // namespace pennyweight
