#include "app/import/delivery_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "app/import/account_filled_in.h"
#include "app/import/delivery_doubles.h"
#include "app/import/earlier_deliveries.h"
#include "app/import/other_periods.h"
#include "core/hash.h"
#include "core/try.h"
#include "ledger/account_in_scope.h"
#include "ledger/delivery.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// The ledger's lines of the delivered months that count, whichever month they are booked in.
template <class Visit>
Result<void> each_live_line(Store& store, const std::set<std::string>& months, const Visit& visit) {
  std::set<std::string> closed;
  const auto closings = TRY(store.closings());
  for (const Closing& closing : closings) closed.insert(closing.month);
  std::set<std::string> booked = months;
  const bool some_closed =
      std::ranges::any_of(months, [&](const std::string& month) { return closed.contains(month); });
  std::set<FactId> reversed;
  if (some_closed) {
    const auto overview = TRY(store.overview());
    for (const std::string& month : overview.months) {
      if (month >= *months.begin()) booked.insert(month);
    }
  }
  for (const std::string& month : months) {
    if (!closed.contains(month)) continue;
    const auto retired = TRY(store.retired_charges(month));
    for (const RetiredCharge& charge : retired) reversed.insert(charge.charge.id);
  }
  for (const std::string& month : booked) {
    TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
      for (const Charge& charge : charges) {
        if (charge.takes_back || reversed.contains(charge.id)) continue;
        if (!months.contains(account_scope(charge).substr(0, 7))) continue;
        visit(charge);
      }
      return true;
    }));
  }
  return {};
}

// Whether a part of a delivery that is there gives way to the delivery in question.
bool part_gives_way(const std::string& part, const DeliveryQuestion& question) {
  if (!part.starts_with(kPartPrefix)) return false;
  if (question.parts == 0) return true;
  const std::string mine = part_label(question.delivery, question.part, question.parts);
  const std::string of_same = mine.substr(0, mine.rfind(", part "));
  const bool same_delivery = part.starts_with(of_same + ", part ");
  const bool same_count = part.ends_with(fmt::format(" of {}", question.parts));
  return !(same_delivery && same_count);
}

// Whether a line gives way to one of the same scope that comes whole, or in another part. A line
// that the provider numbers is one line wherever it comes; those of one export of Google Cloud that
// came whole give way to the parts of it.
bool gives_way(const Charge& charge, const std::string& part, const DeliveryQuestion& question) {
  if (part_gives_way(part, question) || has_line_number(charge)) return true;
  return question.parts > 0 && !part.starts_with(kPartPrefix) && has_line_identity(charge);
}

// Whether the lines of an account that name no sub account cost on most days what the delivery,
// which names one in each line, says of these days: then the provider filled it in later.
bool were_without_sub_account(const LineGroupKey& key, const LineGroup& group,
                              const DeliveredLines& delivered) {
  if (!key.sub_account.empty()) return false;
  DaySums after;
  for (const auto& [other, lines] : delivered.groups()) {
    if (other.account != key.account || other.currency != key.currency) continue;
    if (other.sub_account.empty()) return false;
    for (const auto& [day, sum] : lines.days) after[day].add(sum);
  }
  Int128 all = 0, equal = 0;
  for (const auto& [day, sum] : group.days) {
    all += sum.size();
    const auto found = after.find(day);
    if (found == after.end() || sum.is_zero()) continue;
    const CellSum& now = found->second;
    if (sum.billed == now.billed && sum.effective == now.effective) equal += sum.size();
  }
  return equal > 0 && equal >= all / 2;
}

// The groups of an account and month that an earlier version of the same export held, and that the
// delivery lacks.
bool belongs_to_export(const LineGroupKey& key, const LineGroup& group,
                       const DeliveredLines& delivered,
                       const std::map<LineGroupKey, LineGroup>& there,
                       const EarlierDeliveries& earlier, const DeliveryQuestion& question) {
  std::set<std::string> sub_accounts;
  bool has_account = false, has_part = false, has_identity = false;
  for (const auto& [other, lines] : delivered.groups()) {
    if (other.account != key.account || are_of_two_clouds(other, key)) continue;
    has_account = true;
    has_part |= other.part == key.part;
    has_identity |= lines.has_line_identity;
    if (!other.sub_account.empty()) sub_accounts.insert(other.sub_account);
  }
  if (!has_account || has_identity || group.has_line_identity) return false;
  if (part_gives_way(key.part, question)) return true;
  if (question.parts > 0 ? key.part.starts_with(kPartPrefix) : !has_part) return false;
  if (sub_accounts.empty()) return true;  // the provider names no sub accounts any more
  if (sub_accounts.contains(key.sub_account)) return true;
  if (were_without_sub_account(key, group, delivered)) return true;
  if (const auto together = earlier.came_with(key, sub_accounts)) return *together;
  // Imported by an earlier program: together if they came with one import.
  for (const auto& [other, lines] : there) {
    if (other.account != key.account || are_of_two_clouds(other, key)) continue;
    if (!sub_accounts.contains(other.sub_account)) continue;
    for (const auto& [number, count] : lines.imports) {
      if (group.imports.contains(number)) return true;
    }
  }
  return false;
}

// Whether no line of an account names a sub account.
bool names_no_sub_account(const AccountMonth& key, const DeliveredLines& lines) {
  return std::ranges::none_of(lines.groups(), [&](const auto& group) {
    return group.first.account_month() == key && !group.first.sub_account.empty();
  });
}

// The sum over sub accounts and days of what is there before and not after, by currency and
// account. Where one of the two names no sub accounts, they can't be told apart.
Decimal lost_by_day(const AccountMonth& key, const DeliveredLines& before,
                    const DeliveredLines& after, Int128 CellSum::* cost) {
  const bool apart = !names_no_sub_account(key, before) && !names_no_sub_account(key, after);
  const auto sub_account_of = [&](const LineGroupKey& group) {
    return apart ? group.sub_account : std::string();
  };
  std::map<std::pair<std::string, std::chrono::sys_days>, Int128> days;
  for (const auto& [group_key, group] : before.groups()) {
    if (group_key.account_month() != key) continue;
    for (const auto& [day, sum] : group.days) days[{sub_account_of(group_key), day}] += sum.*cost;
  }
  for (const auto& [group_key, group] : after.groups()) {
    if (group_key.account_month() != key) continue;
    for (const auto& [day, sum] : group.days) {
      const auto found = days.find({sub_account_of(group_key), day});
      if (found != days.end()) found->second -= sum.*cost;
    }
  }
  Int128 lost = 0;
  for (const auto& [day, left] : days) lost += std::max<Int128>(left, 0);
  return Decimal::from_ticks(lost);
}

bool is_too_much(Decimal lost, const Costs& before, Money Costs::* cost,
                 const DeliveryGuard& guard) {
  if (lost.ticks() <= 0) return false;
  if (guard.amount_max && lost.ticks() > guard.amount_max->ticks()) return true;
  const Int128 base = CellSum::size_of((before.*cost).ticks());
  return lost.ticks() > base / 100 * static_cast<std::int64_t>(guard.percent_max);
}

bool is_same_cost(const DeliveredLines& before, const DeliveredLines& after) {
  if (before.groups().size() != after.groups().size()) return false;
  for (const auto& [key, group] : after.groups()) {
    const auto same = before.groups().find(key);
    if (same == before.groups().end() || same->second.costs != group.costs) return false;
  }
  return lines_in_common(before, after).all;
}

std::string names_of_form(const std::map<std::uint64_t, std::uint64_t>& imports,
                          const std::string& format, const EarlierDeliveries& earlier) {
  for (const auto& [number, lines] : imports) {
    const ImportRecord* record = earlier.find(number);
    if (record == nullptr) continue;
    const std::string& name = record->source.format;
    const bool same = name == format || (name.starts_with(format) && name[format.size()] == '-');
    if (!same) return fmt::format("import {}, {}, format {}", number, record->source.name, name);
  }
  return {};
}

// What gives way and came in another form, such as a CUR where the delivery is FOCUS.
void add_other_forms(const DeliveredLines& covered, const DeliveryQuestion& question,
                     const EarlierDeliveries& earlier, DeliveryEffect& effect) {
  std::map<AccountMonth, std::pair<Costs, std::string>> sums;
  for (const auto& [key, group] : covered.groups()) {
    std::string other = names_of_form(group.imports, question.format, earlier);
    if (other.empty()) continue;
    const auto [sum, is_new] = sums.try_emplace(key.account_month(), group.costs, std::move(other));
    if (!is_new) std::ignore = add_costs(sum->second.first, group.costs);
  }
  for (const auto& [key, sum] : sums) {
    effect.needs_confirm.push_back(
        fmt::format("{} stand in {} {} from another form of this bill ({}), and one takes the "
                    "other's place",
                    exact_money(sum.first.billed), key.month, key.account, sum.second));
  }
}

// Of a form such as "Azure amortised cost, Enterprise Agreement": how it states commitments.
std::string_view metric_of(std::string_view form) {
  for (const std::string_view metric : {"actual cost", "amortised cost"}) {
    if (form.contains(metric)) return metric;
  }
  return {};
}

// Where an amortised export takes the place of an actual one, or the other way round, and there are
// commitments: each has cost that the other one lacks. Without commitments both say the same.
void add_other_metric(const DeliveredLines& covered, const DeliveredLines& delivered,
                      const std::map<AccountMonth, Costs>& purchases,
                      const DeliveryQuestion& question, const EarlierDeliveries& earlier,
                      DeliveryEffect& effect) {
  const std::string_view metric = metric_of(question.form);
  if (metric.empty()) return;
  const auto differs = [](const DeliveredLines& lines, const AccountMonth& account) {
    return std::ranges::any_of(lines.groups(), [&](const auto& group) {
      return group.first.account_month() == account &&
             std::ranges::any_of(group.second.days, [](const auto& day) {
               return day.second.billed != day.second.effective;
             });
    });
  };
  struct There {
    Costs costs;
    std::string_view metric;  // of the last import that states one
    std::uint64_t stated_by = 0;
  };
  std::map<AccountMonth, There> accounts;
  for (const auto& [key, group] : covered.groups()) {
    const auto [found, is_new] = accounts.try_emplace(
        key.account_month(), There{.costs = group.costs, .metric = {}, .stated_by = 0});
    There& there = found->second;
    if (!is_new) std::ignore = add_costs(there.costs, group.costs);
    for (const auto& [number, lines] : group.imports) {
      const std::string_view stated = metric_of(earlier.form_of(number));
      if (stated.empty() || number < there.stated_by) continue;
      there.metric = stated;
      there.stated_by = number;
    }
  }
  for (const auto& [account, there] : accounts) {
    if (there.metric.empty() || there.metric == metric) continue;
    const bool was_amortised = there.metric == "amortised cost";
    const bool has_commitments =
        was_amortised ? differs(covered, account) : purchases.contains(account);
    if (!has_commitments || (!was_amortised && !differs(delivered, account))) continue;
    effect.needs_confirm.push_back(fmt::format(
        "it states the {} of {} {}, where the ledger has the {} ({}{}), and one takes the other's "
        "place; --azure-metric purchases adds what the amortised export lacks",
        metric, account.month, account.account, there.metric, exact_money(there.costs.billed),
        was_amortised ? fmt::format(" billed, {} effective", exact_money(there.costs.effective))
                      : fmt::format(" billed, of them {} of purchases",
                                    exact_money(purchases.at(account).billed))));
  }
}

// What resources cost on days for which the delivery says nothing of them, although their bill
// gives way: then the delivery is another part of the bill, not a later version of it.
void add_lost_resources(const DeliveredLines& covered, const DeliveredLines& delivered,
                        const DeliveryGuard& guard, DeliveryEffect& effect) {
  const SampledCells& before = covered.resource_days();
  const SampledCells& after = delivered.resource_days();
  Int128 whole = 0;
  before.each(after, [&](const CellSum& sum) { whole += sum.size(); });
  Int128 lost = whole;
  before.each_common(after, [&](const CellSum& sum, const CellSum&) { lost -= sum.size(); });
  const bool over_amount = guard.amount_max && lost > guard.amount_max->ticks();
  if (lost <= 0 ||
      !(over_amount || lost > whole / 100 * static_cast<std::int64_t>(guard.percent_max))) {
    return;
  }
  std::set<Currency> currencies;
  for (const auto& [key, group] : covered.groups()) currencies.insert(key.currency);
  const bool is_sampled = before.is_sampled() || after.is_sampled() || currencies.size() > 1;
  effect.needs_confirm.push_back(
      is_sampled
          ? fmt::format("it lacks resources that make up about {} % of the cost that it replaces",
                        static_cast<std::uint64_t>(lost / ((whole + 99) / 100)))
          : fmt::format("it lacks resources that cost {} {}, and their lines would be removed",
                        to_text(Decimal::from_ticks(lost)), currencies.begin()->text()));
}

std::string_view shown_account(std::string_view account) {
  return account == "issuer " ? "no account" : account;
}

}  // namespace

std::string part_label(const std::string& delivery, std::uint64_t part, std::uint64_t parts) {
  return fmt::format("{}{}, part {} of {}", kPartPrefix, delivery, part, parts);
}

std::string to_text(const AccountEffect& effect) {
  std::string text = fmt::format("{}, {}: ", effect.month, shown_account(effect.account));
  const auto change = [](const char* name, Money before, Money after) {
    return before == after
               ? fmt::format("{} {}", exact_money(after), name)
               : fmt::format("{} → {} {}", exact_money(before), exact_money(after), name);
  };
  if (!effect.replaces) {
    text += fmt::format("{} billed, {} effective delivered", exact_money(effect.after.billed),
                        exact_money(effect.after.effective));
    return effect.lines_beside == 0
               ? text
               : text + fmt::format("; {} stood there before", exact_money(effect.beside.billed));
  }
  if (effect.lines_before == 0) {
    text += fmt::format("{} billed, {} effective, new", exact_money(effect.after.billed),
                        exact_money(effect.after.effective));
  } else if (effect.before == effect.after) {
    text += fmt::format("{} billed, as before", exact_money(effect.after.billed));
  } else {
    text += change("billed", effect.before.billed, effect.after.billed) + ", " +
            change("effective", effect.before.effective, effect.after.effective);
  }
  if (effect.taken_away.ticks() > 0) {
    text +=
        fmt::format(", {} taken away",
                    exact_money(Money::from_decimal(effect.taken_away, effect.before.currency())));
  }
  if (effect.lines_beside > 0) {
    text += fmt::format("; {} of other deliveries stay", exact_money(effect.beside.billed));
  }
  return text;
}

Result<DeliveryEffect> effect_of(Store& store, const DeliveredLines& delivered,
                                 const PeriodCells& periods, const DeliveryQuestion& question) {
  DeliveryEffect effect;
  const std::set<std::string> months = delivered.months();
  if (months.empty()) return effect;
  const auto earlier = TRY(EarlierDeliveries::of(store));
  const bool replaces = question.style == DeliveryStyle::kReplacement;

  // Which groups the delivery replaces although it has no line of them is known once all are seen,
  // so lines are kept apart by group until then.
  DeliveredLines covered, standing;
  struct Uncovered {
    DeliveredLines lines;
    std::set<std::string> scopes;
    std::optional<AccountNaming> naming;  // as the delivery names their account, if otherwise
    DeliveredLines renamed;
  };
  std::map<LineGroupKey, Uncovered> uncovered;
  std::set<std::string> other_parts;  // scopes that give way to the delivery
  PeriodCells elsewhere;              // under another billing period
  const std::set<std::chrono::sys_days> days = days_of(delivered);
  std::set<std::string> looked_at = other_periods_of(delivered);
  looked_at.insert(months.begin(), months.end());
  std::map<AccountMonth, Costs> purchases;  // of commitments, among what gives way
  TRY(each_live_line(store, looked_at, [&](const Charge& charge) {
    if (!months.contains(month_of(charge.billing_period.begin()))) {
      const auto day = std::chrono::floor<std::chrono::days>(charge.charge_period.begin());
      if (days.contains(day)) elsewhere.add(charge);
      return;
    }
    const std::string scope = delivery_scope(charge);
    const std::string part(other_column_text(charge, kDeliveryPartColumn));
    if (replaces && delivered.has_scope(scope)) {
      covered.add(charge);
      if (charge.charge_category == ChargeCategory::kPurchase &&
          !charge.commitment_discount_id.empty()) {
        const LineGroupKey key{account_scope(charge), {}, {}, {}, charge.costs.currency()};
        const auto [sum, is_new] = purchases.try_emplace(key.account_month(), charge.costs);
        if (!is_new) std::ignore = add_costs(sum->second, charge.costs);
      }
    } else if (replaces && gives_way(charge, part, question) &&
               delivered.has_whole_scope(whole_scope(charge))) {
      covered.add(charge);
      other_parts.insert(scope);
    } else if (replaces && !has_line_identity(charge)) {
      const auto [found, is_new] = uncovered.try_emplace(
          {account_scope(charge), account_in_scope(charge, charge.sub_account_id), part,
           std::string(cloud_of(charge)), charge.costs.currency()});
      Uncovered& group = found->second;
      if (is_new) group.naming = account_now(charge, delivered);
      group.lines.add(charge);
      if (group.naming) group.renamed.add(with_account(charge, *group.naming));
      group.scopes.insert(scope);
    } else {
      standing.add(charge);
    }
  }));
  std::map<LineGroupKey, LineGroup> there = covered.groups();
  for (const auto& [key, group] : uncovered) {
    for (const auto& [own, lines] : group.lines.groups()) there.insert_or_assign(own, lines);
  }
  std::set<std::string> also_replaced = std::move(other_parts);
  std::vector<const Uncovered*> others;
  for (const auto& [key, group] : uncovered) {
    if (belongs_to_export(key, there.at(key), delivered, there, earlier, question)) {
      also_replaced.insert(group.scopes.begin(), group.scopes.end());
      covered.merge(group.lines);
    } else if (group.naming && is_earlier_version(group.renamed, delivered)) {
      also_replaced.insert(group.scopes.begin(), group.scopes.end());
      covered.merge(group.renamed);
    } else {
      others.push_back(&group);
    }
  }
  // A scope gives way as a whole, with its lines in other currencies.
  for (const Uncovered* const group : others) {
    const bool goes_along = std::ranges::any_of(
        group->scopes, [&](const std::string& scope) { return also_replaced.contains(scope); });
    const DeliveredLines& replaced = group->naming ? group->renamed : group->lines;
    (goes_along ? covered : standing).merge(goes_along ? replaced : group->lines);
  }
  effect.also_replaced.assign(also_replaced.begin(), also_replaced.end());
  effect.replaces_lines = !covered.groups().empty();

  std::set<std::string> closed;
  const auto closings = TRY(store.closings());
  for (const Closing& closing : closings) closed.insert(closing.month);
  std::map<AccountMonth, AccountEffect> effects;
  const auto effect_at = [&](const LineGroupKey& key) -> AccountEffect& {
    const Costs zero = Costs::zero(key.currency);
    return effects
        .try_emplace(key.account_month(), AccountEffect{.month = key.month(),
                                                        .account = key.account_name(),
                                                        .before = zero,
                                                        .after = zero,
                                                        .beside = zero,
                                                        .taken_away = {},
                                                        .is_closed = closed.contains(key.month()),
                                                        .replaces = replaces})
        .first->second;
  };
  for (const auto& [key, group] : delivered.groups()) {
    if (group.overflowed) {
      return fail(ErrorCode::kLimit,
                  fmt::format("the costs of {} add up to more than an amount can hold; the file is "
                              "not a bill",
                              key.account));
    }
    AccountEffect& at = effect_at(key);
    std::ignore = add_costs(at.after, group.costs);
    at.lines_after += group.lines;
  }
  for (const auto& [key, group] : covered.groups()) {
    AccountEffect& at = effect_at(key);
    std::ignore = add_costs(at.before, group.costs);
    at.lines_before += group.lines;
  }
  for (const auto& [key, group] : standing.groups()) {
    const auto at = effects.find(key.account_month());
    if (at == effects.end()) continue;
    std::ignore = add_costs(at->second.beside, group.costs);
    at->second.lines_beside += group.lines;
  }
  for (auto& [key, at] : effects) {
    const Decimal billed = lost_by_day(key, covered, delivered, &CellSum::billed);
    const Decimal effective = lost_by_day(key, covered, delivered, &CellSum::effective);
    at.taken_away = billed.ticks() >= effective.ticks() ? billed : effective;
    const bool too_much = is_too_much(billed, at.before, &Costs::billed, question.guard) ||
                          is_too_much(effective, at.before, &Costs::effective, question.guard);
    if (too_much && question.parts == 0) {
      effect.needs_confirm.push_back(
          fmt::format("it takes {} away from {}, {}, where {} stand",
                      exact_money(Money::from_decimal(at.taken_away, key.currency)), key.month,
                      shown_account(key.account), exact_money(at.before.billed)));
    }
    effect.accounts.push_back(at);
  }
  // A resource is known by its sub account.
  const bool have_other_sub_accounts =
      std::ranges::all_of(covered.groups(), [&](const auto& group) {
        const AccountMonth account = group.first.account_month();
        return names_no_sub_account(account, covered) != names_no_sub_account(account, delivered);
      });
  if (question.parts == 0 && effect.needs_confirm.empty() && !have_other_sub_accounts) {
    add_lost_resources(covered, delivered, question.guard, effect);
  }
  if (effect.replaces_lines && question.parts == 0 && !is_same_cost(covered, delivered)) {
    const bool is_small = effect.needs_confirm.empty();
    // One that only adds is told by its effect.
    const bool takes_away = std::ranges::any_of(
        effect.accounts, [](const AccountEffect& e) { return e.taken_away.ticks() > 0; });
    if (takes_away) {
      add_older_delivery(covered, delivered, question.files, earlier, effect.needs_confirm);
    }
    if (is_small) {
      add_loss_of_many(covered, delivered, earlier, question.guard, effect.needs_confirm);
    }
  }
  add_other_forms(covered, question, earlier, effect);
  add_other_metric(covered, delivered, purchases, question, earlier, effect);
  if (delivered.is_own_export() && !(covered.groups().empty() && standing.groups().empty())) {
    effect.doubles.push_back(fmt::format(
        "it is pennyweight's own export of allocated cost (x_PostingKind), {}, and "
        "what it was made from is there: {}",
        text_of_total(delivered), text_of_accounts(covered.groups().empty() ? standing : covered)));
  }
  DoubleFindings found;
  // What takes its own place, cost for cost, was judged when it came.
  if (!is_same_cost(covered, delivered)) {
    found = find_doubles(delivered, standing, question.style, [&](const LineGroup& group) {
      return !names_of_form(group.imports, question.format, earlier).empty();
    });
    if (question.style != DeliveryStyle::kDelta) {
      find_in_other_periods(periods, elsewhere, found);
    }
    find_repeats(delivered, found);
  }
  std::ranges::move(found.doubles, std::back_inserter(effect.doubles));
  effect.similar = std::move(found.similar);
  return effect;
}

std::string confirm_key(const std::vector<std::string>& needs_confirm) {
  if (needs_confirm.empty()) return "";
  Fingerprint all;
  for (const std::string& sentence : needs_confirm) all.add(sentence);
  return to_text(all.hash());
}

}  // namespace pennyweight
