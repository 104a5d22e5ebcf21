#include "reporting/restatement_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using Key = std::pair<std::uint64_t, Hash128>;  // import, natural key

std::string charge_subject(const Charge& charge) {
  for (const std::string* text : {&charge.resource_name, &charge.resource_id,
                                  &charge.charge_description, &charge.service_name}) {
    if (!text->empty()) return *text;
  }
  return std::string(to_text(charge.charge_category));
}

RestatedCharge make_restated(std::optional<Charge> before, std::optional<Charge> after,
                             std::optional<Charge> reversal, std::uint64_t import) {
  const Currency currency = (before ? *before : *after).costs.currency();
  Money difference = Money::zero(currency);
  if (after) difference += after->costs.effective;
  if (before) difference += -before->costs.effective;
  const std::string booked = reversal ? reversal->booked_month
                             : after  ? after->booked_month
                                      : before->booked_month;
  return {std::move(before), std::move(after), std::move(reversal), import, difference, booked};
}

std::string import_reason(const ImportRecord& import) {
  std::string reason = fmt::format("import {}, {}", import.number, to_text(import.source.style));
  if (!import.source.reason.empty()) reason += ": " + import.source.reason;
  return reason;
}

}  // namespace

std::string RestatedCharge::own_month() const {
  return month_of((before ? *before : *after).billing_period.begin());
}

std::vector<RestatedCharge> pair_restatements(std::span<const RetiredCharge> retired,
                                              std::span<const Charge> restated) {
  std::map<Key, std::pair<std::vector<const RetiredCharge*>, std::vector<const Charge*>>> by_key;
  for (const RetiredCharge& gone : retired) {
    // A reversal is shown with the charge it takes back.
    by_key[{gone.import_number, natural_key(gone.charge)}].first.push_back(&gone);
  }
  for (const Charge& charge : restated) {
    by_key[{charge.import_number, natural_key(charge)}].second.push_back(&charge);
  }
  std::vector<RestatedCharge> lines;
  for (auto& [key, versions] : by_key) {
    auto& [before, after] = versions;
    std::ranges::sort(before, {}, [](const RetiredCharge* r) { return r->charge.id; });
    std::ranges::sort(after, {}, [](const Charge* c) { return c->id; });
    std::size_t i = 0;
    for (; i < std::min(before.size(), after.size()); ++i) {
      // Both are in one currency, which is part of the natural key.
      lines.push_back(
          make_restated(before[i]->charge, *after[i], before[i]->taken_back, key.first));
    }
    for (std::size_t j = i; j < before.size(); ++j) {
      lines.push_back(make_restated(before[j]->charge, {}, before[j]->taken_back, key.first));
    }
    for (std::size_t j = i; j < after.size(); ++j) {
      lines.push_back(make_restated({}, *after[j], {}, key.first));
    }
  }
  return lines;
}

std::vector<Table> restatement_tables(std::span<const RestatedCharge> lines,
                                      std::span<const ImportRecord> imports) {
  std::map<std::uint64_t, std::string> reasons;
  for (const ImportRecord& import : imports) reasons[import.number] = import_reason(import);
  std::map<Currency, Table> tables;
  for (const RestatedCharge& line : lines) {
    const Currency currency = line.difference.currency();
    Table& table = tables[currency];
    if (table.columns.empty()) {
      table.title = fmt::format("What deliveries changed, effective cost in {}", currency.text());
      table.currency = currency;
      table.columns = {{"billing_month", "bill of", ColumnKind::kText},
                       {"line", "line", ColumnKind::kText},
                       {"before", "before", ColumnKind::kExactMoney},
                       {"after", "after", ColumnKind::kExactMoney},
                       {"difference", "difference", ColumnKind::kExactMoney},
                       {"booked_in", "booked in", ColumnKind::kText},
                       {"how", "how", ColumnKind::kText},
                       {"reason", "why", ColumnKind::kText},
                       {"charge_before", "id before", ColumnKind::kId},
                       {"charge_after", "id after", ColumnKind::kId},
                       {"reversal", "taken back by", ColumnKind::kId}};
      table.total =
          Row{std::string("sum"),    std::string(), Money::zero(currency), Money::zero(currency),
              Money::zero(currency), std::string(), std::string(),         std::string(),
              std::string(),         std::string(), std::string()};
    }
    const auto cost = [](const std::optional<Charge>& charge) {
      return charge ? Cell(charge->costs.effective) : Cell();
    };
    const auto id = [](const std::optional<Charge>& charge) {
      return charge ? Cell(to_text(charge->id)) : Cell();
    };
    table.rows.push_back(
        {line.own_month(), charge_subject(line.before ? *line.before : *line.after),
         cost(line.before), cost(line.after), line.difference, line.booked_month,
         std::string(line.is_adjustment() ? "adjustment" : "open month"),
         reasons[line.import_number], id(line.before), id(line.after), id(line.reversal)});
    const auto add = [&](std::size_t column, const Money& money) {
      std::get<Money>((*table.total)[column]) += money;
    };
    if (line.before) add(2, line.before->costs.effective);
    if (line.after) add(3, line.after->costs.effective);
    add(4, line.difference);
  }
  std::vector<Table> sorted;
  for (auto& [currency, table] : tables) sorted.push_back(std::move(table));
  return sorted;
}

}  // namespace pennyweight
