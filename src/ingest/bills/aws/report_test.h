// For tests: a report written by hand, a row as the columns that differ from a plain hour of usage.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/try.h"
#include "ingest/bills/aws/aws_bill.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"

namespace pennyweight::aws {

using Cells = std::map<std::string, std::string>;

inline Cells plain_row() {
  return {{"line_item_line_item_type", "Usage"},
          {"line_item_unblended_cost", "1"},
          {"line_item_currency_code", "USD"},
          {"line_item_usage_start_date", "2026-03-05T10:00:00Z"},
          {"line_item_usage_end_date", "2026-03-05T11:00:00Z"},
          {"line_item_product_code", "AmazonEC2"},
          {"line_item_usage_account_id", "222222222222"},
          {"bill_payer_account_id", "111111111111"},
          {"bill_billing_period_start_date", "2026-03-01T00:00:00Z"},
          {"bill_billing_period_end_date", "2026-04-01T00:00:00Z"}};
}

inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// As CSV, every column that a row has in the header.
inline std::string report_of(const std::vector<Cells>& rows) {
  Cells header = plain_row();
  for (const Cells& row : rows) header.insert(row.begin(), row.end());
  std::string text;
  for (const auto& [name, value] : header) text += (text.empty() ? "" : ",") + in_quotes(name);
  text += '\n';
  for (const Cells& row : rows) {
    Cells whole = plain_row();
    for (const auto& [name, value] : row) whole[name] = value;
    bool first = true;
    for (const auto& [name, value] : header) {
      if (!first) text += ',';
      first = false;
      const auto cell = whole.find(name);
      if (cell != whole.end() && !cell->second.empty()) text += in_quotes(cell->second);
    }
    text += '\n';
  }
  return text;
}

struct Imported {
  bill::ImportSummary summary;
  std::vector<Charge> lines;
  std::vector<RejectedRow> bad;
  std::vector<std::string> totals;
};

inline Result<Imported> import_text(const std::string& text, AwsOptions options = {}) {
  bill::CollectingSink seen;
  auto summary = TRY(bill::import_csv(text, "cur.csv", aws_bill(options), seen));
  return Imported{
      .summary = std::move(summary), .lines = seen.lines, .bad = seen.bad, .totals = seen.totals()};
}

inline Result<Imported> import_rows(const std::vector<Cells>& rows) {
  return import_text(report_of(rows));
}

}  // namespace pennyweight::aws
