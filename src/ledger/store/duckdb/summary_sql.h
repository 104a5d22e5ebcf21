// A SummaryQuery as SQL. Every name and value from outside is a parameter, never text.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "core/duckdb/database.h"
#include "ledger/summary.h"

namespace pennyweight {

class SummarySql {
 public:
  explicit SummarySql(const SummaryQuery& query);

  // Columns: the bucket's day (null for none), the keys, then currency, four costs, GPU time held
  // and idle, memory time, time observed, and the number of postings.
  std::string summarise() const;
  // The same rows, faster for queries with all dimensions: the columns of charges have few distinct
  // combinations, so the sums are grouped by a number of the combination instead of its texts.
  std::string scan() const;
  // The postings themselves, the largest first.
  std::string largest(std::uint64_t at_most, std::uint64_t skipped) const;
  void bind(duckdb::Statement& statement) const;

 private:
  std::string value_of(const std::string& dimension);
  std::string sums() const;
  using Parameter = std::variant<std::string, std::chrono::sys_days, Instant>;
  std::string parameter(Parameter value);

  TimeBucket bucket_;
  std::vector<std::string> group_by_;
  std::vector<std::string> keys_;  // SQL expressions
  std::string runs_ = "r.is_current";
  std::string joins_;
  std::string where_;  // beside runs_
  bool joins_charges_ = false;
  bool filters_charges_ = false;
  std::vector<std::pair<std::string, std::string>> joined_;  // dimension of labels, its alias
  std::vector<Parameter> parameters_;
};

// comes_before(Posting, Posting) of ledger/store_rules.h as the terms of an ORDER BY.
std::string posting_order(const std::string& prefix);

}  // namespace pennyweight
