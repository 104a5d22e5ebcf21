// DeliveredLines: what the lines of a bill add up to, by account, sub account and day, and by what
// they are for: enough to compare a delivery with the ledger without keeping its lines.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "app/import/resource_naming.h"
#include "app/import/sampled_cells.h"
#include "ledger/bill_statement.h"
#include "ledger/charge.h"

namespace pennyweight {

// By the day on which the charge period begins.
using DaySums = std::map<std::chrono::sys_days, CellSum>;

// Lines of a group whose charge periods are of one length.
struct LinesOfLength {
  DaySums days;
  // Each resource by day, each resource, each service, of lines that name one, in small samples:
  // there may be thousands of sub accounts.
  SampledCells resource_days{128}, resources{32}, services{32};
  std::array<Int128, kResourceNamings> named = {};  // as in LineGroup
};

// The lines of one account and month, sub account, part and currency.
struct LineGroup {
  std::uint64_t lines = 0;
  Costs costs;
  bool overflowed = false;         // costs are beyond the range of Money
  bool has_line_identity = false;  // ledger/delivery.h
  DaySums days;
  std::array<LinesOfLength, 3> by_length;  // of an hour or less, of a day or less, and others
  std::array<DaySums, 2> by_resource;      // lines that name no resource, and others
  std::array<Int128, kResourceNamings> named = {};  // CellSum::size() by ResourceNaming
  std::map<std::uint64_t, std::uint64_t> imports;   // lines by import, of lines in the ledger
  std::string billing_account_id;                   // as its first line writes it
  std::set<std::string> issuers;
};

// An account and month in one currency.
struct AccountMonth {
  std::string month, account;  // "2026-03", "account 123456789012"
  Currency currency;
  auto operator<=>(const AccountMonth&) const = default;
};

struct LineGroupKey {
  std::string account;  // account_scope()
  std::string sub_account;
  std::string part;
  std::string cloud;  // cloud_of()
  Currency currency;
  auto operator<=>(const LineGroupKey&) const = default;
  std::string month() const { return account.substr(0, 7); }
  // Without the month: "account 123456789012".
  std::string account_name() const { return account.substr(8); }
  AccountMonth account_month() const { return {month(), account_name(), currency}; }
};
// Whether both name their cloud, and name another one. A line of a marketplace may name none.
bool are_of_two_clouds(const LineGroupKey& a, const LineGroupKey& b);

// "/subscriptions/0a1b" and "0A1B" → "0a1b": forms of a bill write accounts differently.
std::string plain_account(std::string_view account);

// How the label of a part that a person named begins, in kDeliveryPartColumn.
inline constexpr std::string_view kPartPrefix = "delivery ";
// delivery_scope() as if the charge had come with a whole delivery.
std::string whole_scope(const Charge& charge);

class DeliveredLines {
 public:
  void add(const Charge& charge);

  const std::map<LineGroupKey, LineGroup>& groups() const { return groups_; }
  std::set<std::string> months() const;
  // Whether a line has this scope (ledger/delivery.h).
  bool has_scope(std::string_view scope) const;
  // The same for whole_scope().
  bool has_whole_scope(std::string_view scope) const;

  // Each line by what it is for and what it costs; each resource by day; each line as it is; each
  // by the number that the provider gave it, where it gives one.
  const SampledCells& lines() const { return lines_; }
  const SampledCells& resource_days() const { return resource_days_; }
  // Each resource of an account by day, whichever sub account it is said to be of, where its name
  // may stand in several.
  const SampledCells& account_resources() const { return account_resources_; }
  const SampledCells& contents() const { return contents_; }
  const SampledCells& numbers() const { return numbers_; }
  bool is_own_export() const { return is_own_export_; }
  // Adds the lines of another.
  void merge(const DeliveredLines& other);
  // Adds those of a further file of the same delivery.
  void merge_file(const DeliveredLines& file);
  // Lines of a file that stand in an earlier file of the delivery too, in every column and in the
  // same number, cost something and name their resource. (Without one, machines of one kind may
  // have lines that are alike.) Of the file with the most different ones; in a sample, an estimate.
  struct Repeated {
    std::uint64_t different = 0;
    std::uint64_t lines = 0;
    Int128 size = 0;  // CellSum::size()
  };
  const Repeated& between_files() const { return between_files_; }

 private:
  LineGroup& group_of(const Charge& charge, const std::string& part);

  std::map<LineGroupKey, LineGroup> groups_;
  std::unordered_set<std::uint64_t> scopes_, whole_scopes_;
  SampledCells lines_, resource_days_, account_resources_, contents_, numbers_;
  Repeated between_files_;
  bool is_own_export_ = false;
  // Of the previous line, which the next one usually resembles.
  std::string last_account_, last_issuer_, last_provider_, last_sub_, last_part_;
  Instant last_begin_;
  LineGroup* last_group_ = nullptr;
  Currency last_currency_ = kUsd;
  std::string last_scope_;
};

}  // namespace pennyweight
