#include "app/import/other_periods.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "app/import/delivery_doubles.h"
#include "core/decimal.h"
#include "ledger/delivery.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using Days = std::map<std::chrono::sys_days, CellSum>;

// What both cost on days on which they cost the same, and what the smaller one costs in all.
struct DaysInCommon {
  Int128 common = 0, smaller = 0;
};

DaysInCommon days_in_common(const Days& first, const Days& second) {
  DaysInCommon found;
  Int128 one = 0, other = 0;
  for (const auto& [day, sum] : first) {
    one += sum.size();
    const auto same = second.find(day);
    if (same == second.end()) continue;
    const bool is_same = sum.billed == same->second.billed &&
                         sum.effective == same->second.effective && sum.lines == same->second.lines;
    if (is_same) found.common += sum.size();
  }
  for (const auto& [day, sum] : second) other += sum.size();
  found.smaller = std::min(one, other);
  return found;
}

// What the lines of some days come to, credits taken off.
Int128 net_of(const DeliveredLines& lines, const std::set<std::chrono::sys_days>& days) {
  CellSum net;
  for (const auto& [key, group] : lines.groups()) {
    for (const auto& [day, sum] : group.days) {
      if (!days.contains(day)) continue;
      net.billed += sum.billed;
      net.effective += sum.effective;
    }
  }
  return net.size();
}

// One delivery with the same charges under two billing periods.
void find_within(const DeliveredLines& delivered, std::vector<std::string>& doubles) {
  if (delivered.months().size() < 2) return;
  using Subject = std::tuple<std::string, std::string, Currency>;  // account, sub account
  std::map<Subject, std::map<std::string, const Days*>> months_of_subject;
  for (const auto& [key, group] : delivered.groups()) {
    months_of_subject[{key.account_name(), key.sub_account, key.currency}].emplace(key.month(),
                                                                                   &group.days);
  }
  for (const auto& [subject, months] : months_of_subject) {
    const auto& [account, sub_account, currency] = subject;
    for (auto later = months.begin(); later != months.end(); ++later) {
      if (later == months.begin()) continue;
      const auto earlier = std::prev(later);
      const DaysInCommon found = days_in_common(*earlier->second, *later->second);
      if (found.common == 0 || found.common <= found.smaller / 2) continue;
      doubles.push_back(fmt::format("{} {} of {} stand in it under the billing periods {} and {}",
                                    to_text(Decimal::from_ticks(found.common)), currency.text(),
                                    account, earlier->first, later->first));
    }
  }
}

}  // namespace

std::set<std::chrono::sys_days> days_of(const DeliveredLines& delivered) {
  std::set<std::chrono::sys_days> days;
  for (const auto& [key, group] : delivered.groups()) {
    for (const auto& [day, sum] : group.days) days.insert(day);
  }
  return days;
}

std::set<std::string> other_periods_of(const DeliveredLines& delivered) {
  std::set<std::string> others;
  for (const auto day : days_of(delivered)) others.insert(month_of(day));
  const std::set<std::string> months = delivered.months();
  for (const std::string& month : months) others.insert(month_after(month));
  for (const std::string& month : months) others.erase(month);
  return others;
}

void find_in_other_periods(const DeliveredLines& delivered, const DeliveredLines& elsewhere,
                           std::vector<std::string>& doubles) {
  find_within(delivered, doubles);
  if (elsewhere.groups().empty()) return;
  // Only days that both have can have the same charges.
  const std::set<std::chrono::sys_days> days = days_of(elsewhere);
  const Int128 mine = net_of(delivered, days), theirs = net_of(elsewhere, days);
  const LinesInCommon common = lines_in_common(elsewhere, delivered);
  // Corrections of an earlier month repeat what they correct, beside what they take back: then they
  // hold less in all than what they have in common with it.
  if (common.size > mine || common.size <= std::min(mine, theirs) / 2) return;
  doubles.push_back(
      fmt::format("it holds {}, and the ledger has the same charges under another billing period: "
                  "{}; they would stand there twice",
                  text_of_total(delivered), text_of_accounts(elsewhere)));
}

}  // namespace pennyweight
