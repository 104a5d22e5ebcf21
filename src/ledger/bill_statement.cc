#include "ledger/bill_statement.h"

#include <fmt/format.h>

#include <utility>

#include "core/try.h"
#include "ledger/statement_record.h"

namespace pennyweight {
namespace {

void write_rows(std::string& out, std::string_view kind, std::string_view reason,
                const MoneyOfRows& rows) {
  StatementRecordWriter(out, kind).text(reason).count(rows.rows).count(rows.unreadable);
  for (const auto& [currency, costs] : rows.costs) {
    StatementRecordWriter(out, fmt::format("{}-costs", kind)).text(reason).costs(costs);
  }
}

// The rows that a record of this kind belongs to; null: it is of another kind.
MoneyOfRows* rows_of(BillStatement& statement, std::string_view kind, const std::string& reason) {
  if (kind == "taken") return &statement.taken;
  if (kind == "aside") return &statement.aside;
  if (kind == "passed-over") return &statement.passed_over[reason];
  return nullptr;
}

void read_record(const std::string& kind, StatementRecordReader& in, BillStatement& statement) {
  if (kind == "form") {
    statement.form = in.text();
  } else if (kind == "part") {
    statement.delivery = in.text();
    statement.part = in.count();
    statement.parts = in.count();
  } else if (kind == "taken" || kind == "aside" || kind == "passed-over") {
    MoneyOfRows& rows = *rows_of(statement, kind, in.text());
    rows.rows = in.count();
    rows.unreadable = in.count();
  } else if (kind == "taken-costs" || kind == "aside-costs" || kind == "passed-over-costs") {
    const std::string reason = in.text();
    const Costs costs = in.costs();
    MoneyOfRows& rows = *rows_of(
        statement, kind.substr(0, kind.size() - std::string_view("-costs").size()), reason);
    rows.costs.insert_or_assign(costs.currency(), costs);
  } else if (kind == "delivered") {
    std::string account = in.text(), sub = in.text(), part = in.text();
    const std::uint64_t lines = in.count();
    const Costs costs = in.costs();
    statement.delivered.push_back(
        {std::move(account), std::move(sub), std::move(part), costs.currency(), lines, costs});
  } else if (kind == "file") {
    DeliveredFile file;
    file.name = in.text();
    file.rows = in.count();
    file.lines = parse_hash(in.text()).value_or(Hash128{});
    statement.files.push_back(std::move(file));
  } else if (kind == "row") {
    AsideRow row;
    row.number = in.count();
    row.file = in.text();
    row.line = in.count();
    row.month = in.text();
    row.reason = in.text();
    if (!in.at_end()) row.costs = in.costs();
    statement.aside_rows.push_back(std::move(row));
  } else if (kind == "total") {
    std::string month = in.text(), provider = in.text(), account = in.text(), service = in.text(),
                source = in.text();
    const Currency currency = in.currency();
    statement.totals.push_back({std::move(month), std::move(provider), std::move(account),
                                std::move(service), in.money(currency), std::move(source)});
  } else if (kind == "mended" || kind == "dismissed") {
    AsideDecision decision;
    decision.mended = kind == "mended";
    decision.import = in.count();
    decision.row = in.count();
    decision.by = in.text();
    decision.reason = in.text();
    statement.decisions.push_back(std::move(decision));
  } else if (kind == "note") {
    statement.notes.push_back(in.text());
  }
}

bool add_money(Money& sum, Money more) {
  Int128 ticks{};
  if (__builtin_add_overflow(sum.ticks(), more.ticks(), &ticks)) return false;
  if (ticks > Decimal::kTicksMax || ticks < -Decimal::kTicksMax) return false;
  sum = Money::from_ticks(ticks, sum.currency());
  return true;
}

}  // namespace

bool add_costs(Costs& sum, const Costs& costs) {
  if (sum.currency() != costs.currency()) return false;
  Costs next = sum;
  if (!add_money(next.billed, costs.billed) || !add_money(next.effective, costs.effective) ||
      !add_money(next.list, costs.list) || !add_money(next.contracted, costs.contracted)) {
    return false;
  }
  sum = next;
  return true;
}

void MoneyOfRows::add(const Costs& row) {
  const auto [sum, is_new] = costs.try_emplace(row.currency(), row);
  if (!is_new && !add_costs(sum->second, row)) ++unreadable;
}

void MoneyOfRows::add(const MoneyOfRows& other) {
  rows += other.rows;
  unreadable += other.unreadable;
  for (const auto& [currency, sum] : other.costs) add(sum);
}

MoneyOfRows BillStatement::in_files() const {
  MoneyOfRows all = taken;
  all.add(aside);
  for (const auto& [reason, rows] : passed_over) all.add(rows);
  return all;
}

std::string to_text(const BillStatement& statement) {
  std::string out;
  if (!statement.form.empty()) StatementRecordWriter(out, "form").text(statement.form);
  if (statement.parts > 0) {
    StatementRecordWriter(out, "part")
        .text(statement.delivery)
        .count(statement.part)
        .count(statement.parts);
  }
  write_rows(out, "taken", "", statement.taken);
  write_rows(out, "aside", "", statement.aside);
  for (const auto& [reason, rows] : statement.passed_over) {
    write_rows(out, "passed-over", reason, rows);
  }
  for (const DeliveredShare& share : statement.delivered) {
    StatementRecordWriter(out, "delivered")
        .text(share.account)
        .text(share.sub_account)
        .text(share.part)
        .count(share.lines)
        .costs(share.costs);
  }
  for (const DeliveredFile& file : statement.files) {
    StatementRecordWriter(out, "file").text(file.name).count(file.rows).text(to_text(file.lines));
  }
  for (const AsideRow& row : statement.aside_rows) {
    StatementRecordWriter record(out, "row");
    record.count(row.number).text(row.file).count(row.line).text(row.month).text(row.reason);
    if (row.costs) record.costs(*row.costs);
  }
  for (const ControlTotal& total : statement.totals) {
    StatementRecordWriter(out, "total")
        .text(total.month)
        .text(total.provider)
        .text(total.account)
        .text(total.service)
        .text(total.source)
        .text(total.billed.currency().text())
        .text(to_text(total.billed.amount()));
  }
  for (const AsideDecision& decision : statement.decisions) {
    StatementRecordWriter(out, decision.mended ? "mended" : "dismissed")
        .count(decision.import)
        .count(decision.row)
        .text(decision.by)
        .text(decision.reason);
  }
  for (const std::string& note : statement.notes) StatementRecordWriter(out, "note").text(note);
  return out;
}

Result<BillStatement> parse_bill_statement(std::string_view text) {
  BillStatement statement;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    StatementRecordReader record(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string kind = record.text();
    read_record(kind, record, statement);
    if (record.failed()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("a record \"{}\" of a bill's statement is not complete; the ledger was "
                      "changed outside of pennyweight: restore a backup",
                      kind));
    }
  }
  return statement;
}

}  // namespace pennyweight
