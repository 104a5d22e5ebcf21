#include "app/import/earlier_deliveries.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "app/import/delivery_doubles.h"
#include "core/ascii.h"
#include "core/try.h"
#include "ledger/account_in_scope.h"
#include "ledger/delivery.h"
#include "reporting/money_text.h"

namespace pennyweight {
namespace {

using GroupName = std::tuple<std::string, std::string, std::string, Currency>;

// Statements of earlier programs have Azure's ids in the letters of their files. "2026-03 account "
// has none but small ones.
std::string spelled_as(const std::string& account, std::string_view cloud) {
  return cloud == kAzureCloud ? ascii::lower_case(account) : account;
}

GroupName name_of(const DeliveredShare& share) {
  return {share.account, share.sub_account, share.part, share.currency};
}
GroupName name_of(const LineGroupKey& key) {
  return {key.account, key.sub_account, key.part, key.currency};
}

std::set<Hash128> lines_of(const std::vector<DeliveredFile>& files) {
  std::set<Hash128> lines;
  for (const DeliveredFile& file : files) {
    if (file.rows > 0) lines.insert(file.lines);
  }
  return lines;
}

bool was_confirmed(const BillStatement& statement) {
  return std::ranges::any_of(
      statement.notes, [](const std::string& note) { return note.starts_with(kConfirmedNote); });
}

std::string text_of(const ImportRecord& import) {
  return fmt::format("import {}, {}", import.number, import.source.name);
}

// The most that was delivered of a group since a person confirmed less.
struct Peak {
  Int128 ticks = 0;
  std::uint64_t import = 0;
};

}  // namespace

Result<EarlierDeliveries> EarlierDeliveries::of(Store& store) {
  EarlierDeliveries earlier;
  const auto imports = TRY(store.imports());
  for (const ImportRecord& import : imports) {
    earlier.records_.emplace(import.number, import);
    if (import.statement.empty()) continue;
    auto statement = TRY(parse_bill_statement(import.statement));
    earlier.statements_.emplace_back(import.number, std::move(statement));
  }
  return earlier;
}

const ImportRecord* EarlierDeliveries::find(std::uint64_t number) const {
  const auto found = records_.find(number);
  return found == records_.end() ? nullptr : &found->second;
}

std::string_view EarlierDeliveries::form_of(std::uint64_t number) const {
  const auto found = std::ranges::find(statements_, number, &Statement::first);
  return found == statements_.end() ? std::string_view() : found->second.form;
}

std::optional<bool> EarlierDeliveries::came_with(const LineGroupKey& group,
                                                 const std::set<std::string>& sub_accounts) const {
  for (auto at = statements_.rbegin(); at != statements_.rend(); ++at) {
    bool has_group = false, has_other = false;
    for (const DeliveredShare& share : at->second.delivered) {
      const std::string sub_account = spelled_as(share.sub_account, group.cloud);
      if (spelled_as(share.account, group.cloud) != group.account) continue;
      if (sub_account == group.sub_account && share.part == group.part) has_group = true;
      if (!sub_account.empty() && sub_accounts.contains(sub_account)) {
        has_other = true;
      }
    }
    if (has_group) return has_other;
  }
  return std::nullopt;
}

bool EarlierDeliveries::is_replacement(std::uint64_t number) const {
  const ImportRecord* record = find(number);
  return record != nullptr && record->source.style == DeliveryStyle::kReplacement;
}

void add_older_delivery(const DeliveredLines& covered, const DeliveredLines& delivered,
                        const std::vector<DeliveredFile>& files, const EarlierDeliveries& earlier,
                        std::vector<std::string>& needs_confirm) {
  const std::set<Hash128> lines = lines_of(files);
  if (lines.empty()) return;
  std::set<GroupName> groups;
  for (const auto& [key, group] : delivered.groups()) groups.insert(name_of(key));
  const ImportRecord* newer = nullptr;
  const auto& statements = earlier.statements();
  for (auto at = statements.rbegin(); at != statements.rend(); ++at) {
    const auto& [number, statement] = *at;
    if (!earlier.is_replacement(number)) continue;
    // One of a single sub account is a part of the bill and no newer version of it.
    std::set<GroupName> of_import;
    for (const DeliveredShare& share : statement.delivered) of_import.insert(name_of(share));
    if (!std::ranges::includes(of_import, groups)) continue;
    if (lines_of(statement.files) != lines) {
      if (newer == nullptr) newer = earlier.find(number);
      continue;
    }
    if (newer == nullptr) return;  // it is the last one
    needs_confirm.push_back(fmt::format(
        "it is line for line what {} brought, and {} has replaced that since: an older version of "
        "the bill, with {}, would take the place of a newer one, with {}",
        text_of(*earlier.find(number)), text_of(*newer), text_of_total(delivered),
        text_of_total(covered)));
    return;
  }
}

namespace {

// Of one cost. Whether it was too much.
bool add_loss_of_cost(Money Costs::* cost, std::string_view what, const DeliveredLines& covered,
                      const DeliveredLines& delivered, const EarlierDeliveries& earlier,
                      const DeliveryGuard& guard, std::vector<std::string>& needs_confirm) {
  std::map<GroupName, Peak> peaks;
  for (const auto& [number, statement] : earlier.statements()) {
    if (!earlier.is_replacement(number) || statement.parts > 0) continue;
    const bool is_confirmed = was_confirmed(statement);
    for (const DeliveredShare& share : statement.delivered) {
      const Int128 ticks = (share.costs.*cost).ticks();
      const auto [peak, is_new] =
          peaks.try_emplace(name_of(share), Peak{.ticks = ticks, .import = number});
      if (is_confirmed || ticks > peak->second.ticks) {
        peak->second = {.ticks = ticks, .import = number};
      }
    }
  }
  struct Sum {
    Int128 before = 0, lost = 0;
    std::uint64_t import = 0;
  };
  std::map<AccountMonth, Sum> sums;
  for (const auto& [key, group] : covered.groups()) {
    const auto peak = peaks.find(name_of(key));
    const auto now = delivered.groups().find(key);
    if (group.has_line_identity || peak == peaks.end() || now == delivered.groups().end()) continue;
    const Int128 most = peak->second.ticks;
    Sum& sum = sums[key.account_month()];
    sum.before += CellSum::size_of(most);
    const Int128 lost = most - (now->second.costs.*cost).ticks();
    if (lost <= 0) continue;
    sum.lost += lost;
    sum.import = peak->second.import;
  }
  bool is_any = false;
  for (const auto& [account, sum] : sums) {
    const bool is_over = sum.lost > sum.before / 100 * static_cast<std::int64_t>(guard.percent_max);
    const bool is_over_amount = guard.amount_max && sum.lost > guard.amount_max->ticks();
    if (sum.lost <= 0 || !(is_over || is_over_amount)) continue;
    is_any = true;
    needs_confirm.push_back(
        fmt::format("with the deliveries before it, it takes {}{} away from {}, {}, of which {} "
                    "brought {}",
                    exact_money(Money::from_ticks(sum.lost, account.currency)), what, account.month,
                    account.account, text_of(*earlier.find(sum.import)),
                    exact_money(Money::from_ticks(sum.before, account.currency))));
  }
  return is_any;
}

}  // namespace

void add_loss_of_many(const DeliveredLines& covered, const DeliveredLines& delivered,
                      const EarlierDeliveries& earlier, const DeliveryGuard& guard,
                      std::vector<std::string>& needs_confirm) {
  if (add_loss_of_cost(&Costs::billed, "", covered, delivered, earlier, guard, needs_confirm)) {
    return;
  }
  add_loss_of_cost(&Costs::effective, " of effective cost", covered, delivered, earlier, guard,
                   needs_confirm);
}

}  // namespace pennyweight
