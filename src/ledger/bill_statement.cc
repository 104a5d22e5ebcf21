#include "ledger/bill_statement.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

std::string escape_field(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\t' || c == '\n' || c == '\r') {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescape_field(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ec == std::errc()) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Writes the fields of one record.
class RecordWriter {
 public:
  RecordWriter(std::string& out, std::string_view kind) : out_(out) { out_ += kind; }
  ~RecordWriter() { out_ += '\n'; }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  RecordWriter& text(std::string_view text) {
    out_ += '\t';
    out_ += escape_field(text);
    return *this;
  }
  RecordWriter& count(std::uint64_t count) { return text(std::to_string(count)); }
  RecordWriter& costs(const Costs& costs) {
    text(costs.currency().text());
    for (const Money& money : {costs.billed, costs.effective, costs.list, costs.contracted}) {
      text(to_text(money.amount()));
    }
    return *this;
  }

 private:
  std::string& out_;
};

// Reads them again, in the same order. The first fault stays.
class RecordReader {
 public:
  explicit RecordReader(std::string_view line) {
    for (;;) {
      const std::size_t tab = line.find('\t');
      fields_.push_back(unescape_field(line.substr(0, tab)));
      if (tab == std::string_view::npos) break;
      line.remove_prefix(tab + 1);
    }
  }
  bool failed() const { return failed_; }
  bool at_end() const { return next_ >= fields_.size(); }
  std::string text() {
    if (at_end()) {
      failed_ = true;
      return {};
    }
    return fields_[next_++];
  }
  std::uint64_t count() {
    const std::string field = text();
    std::uint64_t value = 0;
    const auto read = std::from_chars(field.data(), field.data() + field.size(), value);
    if (read.ec != std::errc() || read.ptr != field.data() + field.size()) failed_ = true;
    return value;
  }
  Currency currency() {
    const auto code = Currency::parse(text());
    if (!code) failed_ = true;
    return code.value_or(kUsd);
  }
  Money money(Currency currency) {
    const auto number = parse_decimal(text());
    if (!number) failed_ = true;
    return Money::from_decimal(number ? number->value : Decimal(), currency);
  }
  Costs costs() {
    const Currency code = currency();
    Costs costs = Costs::zero(code);
    for (Money* amount : {&costs.billed, &costs.effective, &costs.list, &costs.contracted}) {
      *amount = money(code);
    }
    return costs;
  }

 private:
  std::vector<std::string> fields_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

void write_rows(std::string& out, std::string_view kind, std::string_view reason,
                const MoneyOfRows& rows) {
  RecordWriter(out, kind).text(reason).count(rows.rows).count(rows.unreadable);
  for (const auto& [currency, costs] : rows.costs) {
    RecordWriter(out, fmt::format("{}-costs", kind)).text(reason).costs(costs);
  }
}

// The rows that a record of this kind belongs to; null: it is of another kind.
MoneyOfRows* rows_of(BillStatement& statement, std::string_view kind, const std::string& reason) {
  if (kind == "taken") return &statement.taken;
  if (kind == "aside") return &statement.aside;
  if (kind == "passed-over") return &statement.passed_over[reason];
  return nullptr;
}

void read_record(const std::string& kind, RecordReader& in, BillStatement& statement) {
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
  if (!statement.form.empty()) RecordWriter(out, "form").text(statement.form);
  if (statement.parts > 0) {
    RecordWriter(out, "part").text(statement.delivery).count(statement.part).count(statement.parts);
  }
  write_rows(out, "taken", "", statement.taken);
  write_rows(out, "aside", "", statement.aside);
  for (const auto& [reason, rows] : statement.passed_over) {
    write_rows(out, "passed-over", reason, rows);
  }
  for (const DeliveredShare& share : statement.delivered) {
    RecordWriter(out, "delivered")
        .text(share.account)
        .text(share.sub_account)
        .text(share.part)
        .count(share.lines)
        .costs(share.costs);
  }
  for (const DeliveredFile& file : statement.files) {
    RecordWriter(out, "file").text(file.name).count(file.rows).text(to_text(file.lines));
  }
  for (const AsideRow& row : statement.aside_rows) {
    RecordWriter record(out, "row");
    record.count(row.number).text(row.file).count(row.line).text(row.month).text(row.reason);
    if (row.costs) record.costs(*row.costs);
  }
  for (const ControlTotal& total : statement.totals) {
    RecordWriter(out, "total")
        .text(total.month)
        .text(total.provider)
        .text(total.account)
        .text(total.service)
        .text(total.source)
        .text(total.billed.currency().text())
        .text(to_text(total.billed.amount()));
  }
  for (const AsideDecision& decision : statement.decisions) {
    RecordWriter(out, decision.mended ? "mended" : "dismissed")
        .count(decision.import)
        .count(decision.row)
        .text(decision.by)
        .text(decision.reason);
  }
  for (const std::string& note : statement.notes) RecordWriter(out, "note").text(note);
  return out;
}

Result<BillStatement> parse_bill_statement(std::string_view text) {
  BillStatement statement;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    RecordReader record(text.substr(0, end));
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
