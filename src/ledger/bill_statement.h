// BillStatement: what an import of a bill says about its money, kept with the import: what the
// files held, what of it was taken, set aside or passed over, and for which accounts and months.
//
// The equation of every import: in the files = taken + set aside + passed over, in rows and in all
// four costs, for each currency. Imports without facts carry what people say later: totals of the
// provider, and decisions about rows that were set aside.
//
// It is stored as text, one record a line, so that it has no limit of columns: a later program may
// add kinds of records, and an earlier one skips those that it does not know.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/money.h"
#include "ledger/charge.h"

namespace pennyweight {

// Rows and their costs. Costs that can't be added up (beyond the range of Money) count as
// unreadable, so that no file stops the program.
struct MoneyOfRows {
  std::uint64_t rows = 0;
  std::uint64_t unreadable = 0;  // rows among them whose costs are not known
  std::map<Currency, Costs> costs;

  void add(const Costs& row);  // the costs alone
  void add(const MoneyOfRows& other);
  bool operator==(const MoneyOfRows&) const = default;
};
// False, and `sum` unchanged, where the sum is beyond the range of Money or the currencies differ.
bool add_costs(Costs& sum, const Costs& costs);

// The charges of one account and month that an import delivered.
struct DeliveredShare {
  std::string account;      // account_scope(): "2026-03 account 123456789012"
  std::string sub_account;  // may be empty
  std::string part;         // x_DeliveryPart; may be empty
  Currency currency;
  std::uint64_t lines = 0;
  Costs costs;
  std::string month() const { return account.substr(0, 7); }
  bool operator==(const DeliveredShare&) const = default;
};

// A row that was set aside. Its number within the import names it: "4.2" is row 2 of import 4.
struct AsideRow {
  std::uint64_t number = 0;  // from 1
  std::string file;
  std::uint64_t line = 0;  // 0: the format has no lines
  std::string month;       // of its billing period; empty: not readable
  std::optional<Costs> costs;
  std::string reason;
  bool operator==(const AsideRow&) const = default;
};

struct DeliveredFile {
  std::string name;
  std::uint64_t rows = 0;
  Hash128 lines;  // of its charges as a set: the same for a copy that is compressed or reordered
  bool operator==(const DeliveredFile&) const = default;
};

// A total that the provider states for a month.
struct ControlTotal {
  std::string month;     // "2026-03"; empty: of the delivery, whatever its months
  std::string provider;  // as the issuer or service provider of charges; empty: any
  std::string account;   // billing or sub account; empty: any
  std::string service;   // empty: all
  Money billed;
  std::string source;  // where it is from: "--expect-total", "invoice totals.csv:3"
  bool operator==(const ControlTotal&) const = default;
};

// What a person decided about a row that was set aside.
struct AsideDecision {
  std::uint64_t import = 0;
  std::uint64_t row = 0;
  bool mended = false;  // else dismissed
  std::string by;
  std::string reason;
  bool operator==(const AsideDecision&) const = default;
};

struct BillStatement {
  std::string form;  // "AWS CUR 2.0"
  // Parts of a delivery that came in several commands: its name, the number of this part, and how
  // many there are. 0: it came as a whole.
  std::string delivery;
  std::uint64_t part = 0, parts = 0;

  MoneyOfRows taken, aside;
  std::map<std::string, MoneyOfRows> passed_over;  // by reason
  std::vector<DeliveredShare> delivered;           // by account, sub account, part, currency
  std::vector<DeliveredFile> files;
  std::vector<AsideRow> aside_rows;  // at most limits::kAsideRowsStatedMax
  std::vector<ControlTotal> totals;
  std::vector<AsideDecision> decisions;
  std::vector<std::string> notes;  // what a person confirmed: "--confirm: …"

  MoneyOfRows in_files() const;
  // Whether the costs of every row that was not taken are known.
  bool is_whole() const { return in_files().unreadable == 0; }
  bool operator==(const BillStatement&) const = default;
};

std::string to_text(const BillStatement& statement);
// An Error names the record that is not of any version. An empty text is an empty statement.
Result<BillStatement> parse_bill_statement(std::string_view text);

}  // namespace pennyweight
