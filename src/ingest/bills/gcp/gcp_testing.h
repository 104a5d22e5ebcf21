// For tests: rows of an export, written as the columns that a test is about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/gcp/gcp_bill.h"

namespace pennyweight::gcp {

using Cells = std::map<std::string, std::string>;

inline Cells usage_row(const Cells& changed) {
  Cells cells = {
      {"billing_account_id", "01-02-03"},
      {"service.id", "6F81-5844-456A"},
      {"service.description", "Compute Engine"},
      {"sku.id", "AAAA-BBBB-CCCC"},
      {"sku.description", "Nvidia H100 80GB GPU running in Iowa"},
      {"usage_start_time", "2026-03-10 05:00:00 UTC"},
      {"usage_end_time", "2026-03-10 06:00:00 UTC"},
      {"project.id", "ml"},
      {"project.name", "Machine learning"},
      {"labels", "[]"},
      {"system_labels", "[]"},
      {"location.location", "us-central1-a"},
      {"location.region", "us-central1"},
      {"location.zone", "us-central1-a"},
      {"resource.name", "gpu-1"},
      {"resource.global_name",
       "//compute.googleapis.com/projects/ml/zones/us-central1-a/"
       "instances/4711"},
      {"cost", "78.37"},
      {"currency", "USD"},
      {"currency_conversion_rate", "1.0"},
      {"usage.amount", "28800"},
      {"usage.unit", "seconds"},
      {"usage.amount_in_pricing_units", "8"},
      {"usage.pricing_unit", "hour"},
      {"credits", "[]"},
      {"invoice.month", "202603"},
      {"cost_type", "regular"},
  };
  for (const auto& [name, text] : changed) cells[name] = text;
  return cells;
}

inline std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// All rows with the columns of the first, and of the others what they have besides.
inline std::string csv_of(const std::vector<Cells>& rows) {
  Cells columns;
  for (const Cells& row : rows) columns.insert(row.begin(), row.end());
  std::string text;
  for (const auto& [name, ignored] : columns) text += (text.empty() ? "" : ",") + csv_field(name);
  text += '\n';
  for (const Cells& row : rows) {
    bool is_first = true;
    for (const auto& [name, ignored] : columns) {
      if (!is_first) text += ',';
      is_first = false;
      const auto cell = row.find(name);
      if (cell != row.end() && !cell->second.empty()) text += csv_field(cell->second);
    }
    text += '\n';
  }
  return text;
}

struct Imported {
  std::vector<Charge> lines;
  std::vector<RejectedRow> bad;
  bill::ImportSummary summary;
  std::string error;
};

inline Imported import(const std::string& csv) {
  bill::CollectingSink seen;
  auto summary = bill::import_csv(csv, "bill.csv", gcp_bill(), seen);
  Imported imported{
      .lines = std::move(seen.lines), .bad = std::move(seen.bad), .summary = {}, .error = {}};
  if (summary) {
    imported.summary = std::move(*summary);
  } else {
    imported.error = summary.error().message;
  }
  return imported;
}

inline Imported import_rows(const std::vector<Cells>& rows) { return import(csv_of(rows)); }

// "Usage 1.5 1.5 2 1.6": category, billed, effective, list, contracted.
inline std::string charge_text(const Charge& line) {
  std::string text(to_text(line.charge_category));
  for (const Money amount :
       {line.costs.billed, line.costs.effective, line.costs.list, line.costs.contracted}) {
    text += ' ' + to_text(amount.amount());
  }
  return text;
}

inline std::vector<std::string> charge_text(const std::vector<Charge>& lines) {
  std::vector<std::string> all;
  for (const Charge& line : lines) all.push_back(charge_text(line));
  return all;
}

}  // namespace pennyweight::gcp
