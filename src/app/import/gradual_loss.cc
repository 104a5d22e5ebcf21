#include "app/import/gradual_loss.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "app/import/sampled_cells.h"
#include "app/import/share_names.h"

namespace pennyweight {
namespace {

bool was_confirmed(const BillStatement& statement) {
  return std::ranges::any_of(
      statement.notes, [](const std::string& note) { return note.starts_with(kConfirmedNote); });
}

using AccountName = std::pair<std::string, Currency>;
// Of one account, month and currency, with what they cost.
using GroupsOfAccount = std::map<GroupName, Int128>;
using Accounts = std::map<AccountName, GroupsOfAccount>;

AccountName account_in(const GroupName& name) { return {std::get<0>(name), std::get<3>(name)}; }
const std::string& sub_account_in(const GroupName& name) { return std::get<1>(name); }

bool names_sub_accounts(const GroupsOfAccount& groups) {
  return std::ranges::any_of(
      groups, [](const auto& group) { return !sub_account_in(group.first).empty(); });
}

// Whether two deliveries are of one export: they have a sub account in common.
bool are_of_one_export(const GroupsOfAccount& some, const GroupsOfAccount& others) {
  return std::ranges::any_of(some, [&](const auto& group) { return others.contains(group.first); });
}

// The most that was delivered of a group since a person confirmed less.
struct Peak {
  Int128 ticks = 0;
  std::uint64_t import = 0;
  std::shared_ptr<const GroupsOfAccount> last_with;  // what came with it when it came last
  bool is_gone = false;  // since a later delivery of its export lacked it
};
using Peaks = std::map<GroupName, Peak>;

Accounts accounts_of_shares(const BillStatement& statement, const ShareNames& names,
                            Money Costs::* cost) {
  Accounts accounts;
  for (const DeliveredShare& share : statement.delivered) {
    const GroupName name = names.name_of(share);
    accounts[account_in(name)][name] += (share.costs.*cost).ticks();
  }
  return accounts;
}

// Lines that the provider identifies are never gone for being left out.
Accounts accounts_of_lines(const DeliveredLines& lines, Money Costs::* cost) {
  Accounts accounts;
  std::set<AccountName> identified;
  for (const auto& [key, group] : lines.groups()) {
    const GroupName name = group_name(key);
    if (group.has_line_identity) identified.insert(account_in(name));
    accounts[account_in(name)][name] += (group.costs.*cost).ticks();
  }
  for (const AccountName& account : identified) accounts.erase(account);
  return accounts;
}

// Whether a later delivery is of the export that brought a group last, and lacks it. An account's
// only group, from before the provider named its sub accounts, is not gone but has other names.
bool lacks(const GroupsOfAccount& later, const GroupName& name, const Peak& peak) {
  return !later.contains(name) && are_of_one_export(*peak.last_with, later) &&
         names_sub_accounts(*peak.last_with) == names_sub_accounts(later);
}

void take(const GroupsOfAccount& groups, std::uint64_t number, bool is_confirmed, Peaks& peaks) {
  const AccountName account = account_in(groups.begin()->first);
  for (auto at = peaks.begin(); at != peaks.end();) {
    auto& [name, peak] = *at;
    const bool is_lacking = account_in(name) == account && lacks(groups, name, peak);
    peak.is_gone |= is_lacking;
    at = is_lacking && is_confirmed ? peaks.erase(at) : std::next(at);
  }
  const auto together = std::make_shared<const GroupsOfAccount>(groups);
  for (const auto& [name, ticks] : groups) {
    const auto [found, is_new] = peaks.try_emplace(name);
    Peak& peak = found->second;
    if (is_new || is_confirmed || ticks > peak.ticks) {
      peak.ticks = ticks;
      peak.import = number;
    }
    peak.last_with = together;
    peak.is_gone = false;
  }
}

Peaks peaks_of(const EarlierDeliveries& earlier, const ShareNames& names, const Accounts& now,
               Money Costs::* cost) {
  Peaks peaks;
  for (const auto& [number, statement] : earlier.statements()) {
    if (!earlier.is_replacement(number) || statement.parts > 0) continue;
    const bool is_confirmed = was_confirmed(statement);
    for (const auto& [account, groups] : accounts_of_shares(statement, names, cost)) {
      if (now.contains(account)) take(groups, number, is_confirmed, peaks);
    }
  }
  return peaks;
}

void add_group(const GroupName& name, const Peak& peak, Int128 now, bool is_there,
               GradualLoss& loss) {
  loss.brought += peak.ticks;
  loss.size += CellSum::size_of(peak.ticks);
  if (peak.ticks <= now) return;
  loss.lost += peak.ticks - now;
  loss.imports.insert(peak.import);
  if (!is_there && !sub_account_in(name).empty()) loss.gone.push_back(sub_account_in(name));
}

}  // namespace

std::vector<GradualLoss> losses_with(Money Costs::* cost, const DeliveredLines& covered,
                                     const DeliveredLines& delivered,
                                     const EarlierDeliveries& earlier) {
  const Accounts accounts = accounts_of_lines(delivered, cost);
  const Peaks peaks = peaks_of(earlier, ShareNames(delivered), accounts, cost);
  std::set<GroupName> replaced;
  for (const auto& [key, group] : covered.groups()) replaced.insert(group_name(key));
  std::vector<GradualLoss> losses;
  for (const auto& [account, now] : accounts) {
    GradualLoss loss{.account = account.first,
                     .currency = account.second,
                     .brought = 0,
                     .size = 0,
                     .lost = 0,
                     .imports = {},
                     .gone = {}};
    for (const auto& [name, peak] : peaks) {
      if (account_in(name) != account) continue;
      if (const auto found = now.find(name); found != now.end()) {
        if (replaced.contains(name) || peak.is_gone)
          add_group(name, peak, found->second, true, loss);
      } else if (lacks(now, name, peak) && (replaced.contains(name) || peak.is_gone)) {
        add_group(name, peak, 0, false, loss);
      }
    }
    losses.push_back(std::move(loss));
  }
  return losses;
}

}  // namespace pennyweight
