// The records of a statement (ledger/bill_statement.h): one a line, a kind and its fields between
// tabs.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/decimal.h"
#include "core/money.h"
#include "ledger/charge.h"

namespace pennyweight {

inline std::string escape_statement_field(std::string_view text) {
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

inline std::string unescape_statement_field(std::string_view text) {
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
class StatementRecordWriter {
 public:
  StatementRecordWriter(std::string& out, std::string_view kind) : out_(out) { out_ += kind; }
  ~StatementRecordWriter() { out_ += '\n'; }
  StatementRecordWriter(const StatementRecordWriter&) = delete;
  StatementRecordWriter& operator=(const StatementRecordWriter&) = delete;
  StatementRecordWriter& text(std::string_view text) {
    out_ += '\t';
    out_ += escape_statement_field(text);
    return *this;
  }
  StatementRecordWriter& count(std::uint64_t count) { return text(std::to_string(count)); }
  StatementRecordWriter& costs(const Costs& costs) {
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
class StatementRecordReader {
 public:
  explicit StatementRecordReader(std::string_view line) {
    for (;;) {
      const std::size_t tab = line.find('\t');
      fields_.push_back(unescape_statement_field(line.substr(0, tab)));
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

}  // namespace pennyweight
