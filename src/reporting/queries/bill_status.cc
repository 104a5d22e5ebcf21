#include "reporting/queries/bill_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/ascii.h"
#include "core/try.h"
#include "ledger/refused_delivery.h"
#include "ledger/store_rules.h"
#include "ledger/total_subject.h"
#include "reporting/money_text.h"

namespace pennyweight {
namespace {

bool same_text(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii::to_lower, ascii::to_lower);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// In small letters, since statements of earlier programs have Azure's ids in any.
std::set<std::string> accounts_of(const BillStatement& statement) {
  std::set<std::string> accounts;
  for (const DeliveredShare& share : statement.delivered) {
    accounts.insert(ascii::lower_case(share.account));
  }
  return accounts;
}

// Whether a later delivery says again, whole, what an earlier one could only say in part.
bool supersedes_rows(const StatedImport& later, DeliveryStyle style, const StatedImport& earlier) {
  if (style != DeliveryStyle::kReplacement || later.number <= earlier.number) return false;
  if (later.statement.part != earlier.statement.part ||
      later.statement.parts != earlier.statement.parts) {
    return false;
  }
  const std::set<std::string> before = accounts_of(earlier.statement);
  const std::set<std::string> after = accounts_of(later.statement);
  if (!before.empty()) return std::ranges::includes(after, before);
  // Nothing of the earlier one was taken, so only its files tell what it was.
  return later.statement.form == earlier.statement.form &&
         std::ranges::any_of(later.statement.files, [&](const DeliveredFile& file) {
           return std::ranges::any_of(earlier.statement.files, [&](const DeliveredFile& other) {
             return file_name(file.name) == file_name(other.name);
           });
         });
}

bool is_of_month(const std::vector<std::string>& months, const std::string& month) {
  return month.empty() || months.empty() || std::ranges::find(months, month) != months.end();
}

// What came of a delivery in parts.
struct ArrivedParts {
  std::string delivery;
  std::uint64_t parts = 0;
  std::map<std::uint64_t, const StatedImport*> by_part;
  std::set<std::string> months;
  bool is_refused = false;  // its files were not whole, so that nothing of it was imported
};

const MoneyOfRows* refused_rows(const BillStatement& statement) {
  const auto found = statement.passed_over.find(std::string(kIncompleteDelivery));
  return found == statement.passed_over.end() ? nullptr : &found->second;
}

// Whether parts can be of one delivery. People and providers use a name anew for each month; a part
// without charges says no month.
bool share_month(const std::set<std::string>& a, const std::vector<std::string>& b) {
  return a.empty() || b.empty() ||
         std::ranges::any_of(b, [&](const std::string& month) { return a.contains(month); });
}

void add_part(const StatedImport& import, std::vector<ArrivedParts>& deliveries) {
  const BillStatement& statement = import.statement;
  const std::vector<std::string> months = import.months();
  ArrivedParts joined{.delivery = statement.delivery,
                      .parts = statement.parts,
                      .by_part = {},
                      .months = {months.begin(), months.end()},
                      .is_refused = refused_rows(statement) != nullptr};
  std::erase_if(deliveries, [&](const ArrivedParts& earlier) {
    if (earlier.delivery != statement.delivery || !share_month(earlier.months, months)) {
      return false;
    }
    // One that is named again with another number of parts takes its own place, and so does one
    // that was refused and comes again.
    if (earlier.parts == statement.parts && !earlier.is_refused && !joined.is_refused) {
      joined.months.insert(earlier.months.begin(), earlier.months.end());
      for (const auto& [part, there] : earlier.by_part) joined.by_part[part] = there;
    }
    return true;
  });
  joined.by_part[statement.part] = &import;
  deliveries.push_back(std::move(joined));
}

// The other months for which the missing parts of a delivery came under its name, such as those of
// a quarter that was cut by month.
std::vector<std::string> months_of_missing(const MissingParts& one,
                                           const std::vector<ArrivedParts>& deliveries) {
  std::set<std::string> months;
  for (const ArrivedParts& other : deliveries) {
    if (other.delivery != one.delivery || other.parts != one.parts || other.is_refused) continue;
    for (const std::uint64_t part : one.missing) {
      if (other.by_part.contains(part)) months.insert(other.months.begin(), other.months.end());
    }
  }
  return {months.begin(), months.end()};
}

std::vector<MissingParts> missing_parts(const std::vector<StatedImport>& all,
                                        const std::string& month) {
  std::vector<ArrivedParts> deliveries;
  for (const StatedImport& import : all) {
    if (import.statement.parts > 0) {
      // Without an account nobody could end it.
      const bool is_of_nobody =
          refused_rows(import.statement) != nullptr && import.statement.delivered.empty();
      if (!is_of_nobody) add_part(import, deliveries);
      continue;
    }
    // A whole delivery takes the place of parts.
    const std::set<std::string> accounts = accounts_of(import.statement);
    std::erase_if(deliveries, [&](const ArrivedParts& arrived) {
      return std::ranges::any_of(arrived.by_part, [&](const auto& part) {
        return std::ranges::includes(accounts, accounts_of(part.second->statement)) &&
               !part.second->statement.delivered.empty();
      });
    });
  }
  std::vector<MissingParts> missing;
  for (const ArrivedParts& arrived : deliveries) {
    MissingParts one;
    one.delivery = arrived.delivery;
    one.parts = arrived.parts;
    one.months.assign(arrived.months.begin(), arrived.months.end());
    for (std::uint64_t part = 1; part <= arrived.parts; ++part) {
      if (arrived.is_refused || !arrived.by_part.contains(part)) one.missing.push_back(part);
    }
    if (const auto months = months_of_missing(one, deliveries); !months.empty()) {
      one.fault = fmt::format(
          "part {} of {} is missing (it came for {}, and parts complete each other within a "
          "month: if each file is a whole month, import it without --part)",
          one.missing.front(), one.parts, fmt::join(months, ", "));
    }
    for (const auto& [part, import] : arrived.by_part) {
      one.there.add(import->statement.taken);
      const MoneyOfRows* refused = refused_rows(import->statement);
      if (refused == nullptr) continue;
      one.there.add(*refused);
      if (!import->statement.notes.empty()) one.fault = import->statement.notes.front();
    }
    if (!one.missing.empty() && is_of_month(one.months, month)) missing.push_back(std::move(one));
  }
  std::ranges::sort(missing, {}, [](const MissingParts& one) {
    return std::tie(one.delivery, one.parts, one.months);
  });
  return missing;
}

// The newest total of each subject, for one that a person corrects.
std::vector<ControlTotal> newest_totals(const std::vector<StatedImport>& all,
                                        const std::string& month) {
  std::map<TotalSubject, ControlTotal> newest;
  for (const StatedImport& import : all) {
    for (ControlTotal total : import.statement.totals) {
      if (!month.empty() && total.month != month) continue;
      newest.insert_or_assign(subject_of(total), std::move(total));
    }
  }
  std::vector<ControlTotal> totals;
  for (auto& [subject, total] : newest) totals.push_back(std::move(total));
  return totals;
}

std::string text_of_subject(const ControlTotal& total) {
  std::string text = total.provider;
  for (const std::string& part : {total.account, total.service}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text.empty() ? "the whole month" : text;
}

}  // namespace

std::vector<std::string> StatedImport::months() const {
  std::set<std::string> months;
  for (const DeliveredShare& share : statement.delivered) months.insert(share.month());
  return {months.begin(), months.end()};
}

std::string MissingParts::text() const {
  if (!fault.empty()) return fmt::format("the delivery {} is not whole: {}", delivery, fault);
  return fmt::format("part {} of {} of the delivery {} is missing", missing.front(), parts,
                     delivery);
}

std::string OpenAsideRow::id() const { return fmt::format("{}.{}", import, row.number); }

bool BillStatus::totals_equal() const {
  return std::ranges::all_of(totals, [](const CheckedTotal& total) { return total.equal(); });
}

std::string BillStatus::checked_against() const {
  if (totals.empty()) return "not checked against any total of the provider";
  std::string text = "checked against ";
  for (std::size_t i = 0; i < totals.size() && i < 5; ++i) {
    const ControlTotal& total = totals[i].total;
    text += fmt::format("{}{} billed of {} ({})", i == 0 ? "" : ", ", exact_money(total.billed),
                        text_of_subject(total), total.source);
  }
  if (totals.size() > 5) text += fmt::format(", and {} more", totals.size() - 5);
  return text;
}

bool is_of_total(const Charge& charge, const ControlTotal& total) {
  if (charge.costs.currency() != total.billed.currency() || charge.takes_back) return false;
  if (!total.month.empty() && month_of(charge.billing_period.begin()) != total.month) return false;
  if (!total.provider.empty() && !same_text(total.provider, charge.invoice_issuer_name) &&
      !same_text(total.provider, charge.service_provider_name)) {
    return false;
  }
  if (!total.account.empty() && !same_text(total.account, charge.billing_account_id) &&
      !same_text(total.account, charge.sub_account_id)) {
    return false;
  }
  return total.service.empty() || same_text(total.service, charge.service_name);
}

Result<std::vector<CheckedTotal>> check_totals(Store& store,
                                               const std::vector<ControlTotal>& totals) {
  std::vector<CheckedTotal> checked;
  for (const ControlTotal& total : totals) {
    checked.push_back({total, Money::zero(total.billed.currency())});
  }
  if (checked.empty()) return checked;
  std::set<FactId> reversed;
  const auto retired = TRY(store.retired_charges(""));
  for (const RetiredCharge& charge : retired) reversed.insert(charge.charge.id);
  const bool some_of_any_month =
      std::ranges::any_of(totals, [](const ControlTotal& total) { return total.month.empty(); });
  // Lines that came after their month was closed are booked in later ones.
  std::string first = some_of_any_month ? "" : totals.front().month;
  for (const ControlTotal& total : totals) first = std::min(first, total.month);
  const auto overview = TRY(store.overview());
  for (const std::string& month : overview.months) {
    if (month < first) continue;
    TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
      for (const Charge& charge : charges) {
        if (reversed.contains(charge.id)) continue;
        for (CheckedTotal& one : checked) {
          if (is_of_total(charge, one.total)) one.found += charge.costs.billed;
        }
      }
      return true;
    }));
  }
  return checked;
}

Result<BillStatus> query_bill_status(Store& store, const std::string& month) {
  const auto records = TRY(store.imports());
  std::vector<StatedImport> all;
  std::map<std::uint64_t, DeliveryStyle> styles;
  std::set<std::pair<std::uint64_t, std::uint64_t>> decided;
  for (const ImportRecord& record : records) {
    if (record.statement.empty()) continue;
    StatedImport import{.number = record.number,
                        .at = record.source.at,
                        .name = record.source.name,
                        .format = record.source.format,
                        .statement = TRY(parse_bill_statement(record.statement))};
    for (const AsideDecision& decision : import.statement.decisions) {
      decided.emplace(decision.import, decision.row);
    }
    styles[record.number] = record.source.style;
    all.push_back(std::move(import));
  }
  BillStatus status;
  for (const StatedImport& import : all) {
    const bool is_said_again = std::ranges::any_of(all, [&](const StatedImport& later) {
      return supersedes_rows(later, styles.at(later.number), import);
    });
    if (is_said_again) continue;
    // Rows beyond those that are listed can only come again whole.
    const std::uint64_t listed = import.statement.aside_rows.size();
    const std::vector<std::string> months = import.months();
    for (const AsideRow& row : import.statement.aside_rows) {
      if (decided.contains({import.number, row.number})) continue;
      OpenAsideRow open{.import = import.number, .row = row, .months = months};
      if (!row.month.empty()) open.months = {row.month};
      if (!is_of_month(open.months, month)) continue;
      ++status.aside_money.rows;
      row.costs ? status.aside_money.add(*row.costs) : void(++status.aside_money.unreadable);
      status.aside.push_back(std::move(open));
    }
    if (import.statement.aside.rows > listed && is_of_month(months, month)) {
      status.aside_money.rows += import.statement.aside.rows - listed;
      status.aside_money.unreadable += import.statement.aside.rows - listed;
    }
  }
  status.missing = missing_parts(all, month);
  status.totals = TRY(check_totals(store, newest_totals(all, month)));
  for (StatedImport& import : all) {
    const std::vector<std::string> months = import.months();
    if (!month.empty() && std::ranges::find(months, month) == months.end()) continue;
    status.imports.push_back(std::move(import));
  }
  return status;
}

Table aside_table(const BillStatus& status) {
  Table table;
  table.title = "rows of bills set aside, and not decided about";
  table.columns = {
      {"row", "row", ColumnKind::kText},       {"month", "month", ColumnKind::kText},
      {"file", "file", ColumnKind::kText},     {"line", "line", ColumnKind::kText},
      {"billed", "billed", ColumnKind::kText}, {"effective", "effective", ColumnKind::kText},
      {"reason", "reason", ColumnKind::kText}};
  for (const OpenAsideRow& open : status.aside) {
    const auto& costs = open.row.costs;
    table.rows.push_back({open.id(), open.row.month, open.row.file,
                          open.row.line == 0 ? std::string() : std::to_string(open.row.line),
                          costs ? exact_money(costs->billed) : std::string("not readable"),
                          costs ? exact_money(costs->effective) : std::string("not readable"),
                          open.row.reason});
  }
  return table;
}

Table totals_table(const BillStatus& status) {
  Table table;
  table.title = "totals of the provider";
  table.columns = {{"month", "month", ColumnKind::kText},
                   {"of", "of", ColumnKind::kText},
                   {"stated", "the provider says", ColumnKind::kText},
                   {"found", "the ledger has", ColumnKind::kText},
                   {"difference", "difference", ColumnKind::kText},
                   {"source", "source", ColumnKind::kText}};
  for (const CheckedTotal& one : status.totals) {
    table.rows.push_back({one.total.month, text_of_subject(one.total),
                          exact_money(one.total.billed), exact_money(one.found),
                          exact_money(one.found - one.total.billed), one.total.source});
  }
  return table;
}

}  // namespace pennyweight
