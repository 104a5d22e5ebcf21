#include "invoice/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/card_share.h"
#include "report/json_text.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

// The keys of a row, as statement_dimensions() orders them.
struct RowKeys {
  std::string customer;
  std::string billing_month;
  std::string kind;
  std::string component;
  std::string category;
  std::string service;
  std::string instance_type;
  std::string pricing;
  std::vector<std::string> detail;
};

RowKeys keys_of(const SummaryRow& row, const StatementOptions& options) {
  const std::vector<std::string>& keys = row.keys;
  CHECK(keys.size() == statement_dimensions(options).size(), "rows grouped as was asked for");
  return {keys[0], keys[1], keys[2],
          keys[3], keys[4], keys[5],
          keys[6], keys[7], std::vector<std::string>(keys.begin() + 8, keys.end())};
}

Money cost_of(const Costs& costs, CostBasis basis) {
  switch (basis) {
    case CostBasis::kEffective:
      return costs.effective;
    case CostBasis::kBilled:
      return costs.billed;
    case CostBasis::kList:
      return costs.list;
    case CostBasis::kContracted:
      return costs.contracted;
  }
  CHECK(false, "every cost is listed");
}

// Every bill line has a category; what has none is a transfer (ledger/posting.h).
bool is_transfer(const RowKeys& row) { return row.category.empty(); }

bool is_earlier_month(const RowKeys& row, const StatementOptions& options) {
  return !row.billing_month.empty() && row.billing_month != options.month;
}

bool is_nobody(const std::string& customer, const StatementOptions& options) {
  if (customer.empty() || (customer.front() == '(' && customer.back() == ')')) return true;
  return std::ranges::find(options.not_customers, customer) != options.not_customers.end();
}

bool is_of_cards(const RowKeys& row) { return row.component == "gpu" || row.component == "whole"; }

// Where a line stands: sections by `order`, then detail; lines by service, type, pricing and rank.
struct Place {
  int order = 0;
  std::string section;
  std::string title;
  std::string service;
  std::string instance_type;
  std::string pricing;
  int rank = 0;
  std::string key;
  auto operator<=>(const Place&) const = default;
};

struct Draft {
  std::string description;
  std::string remark;
  enum class Measure { kHeld, kIdle, kShare, kLump } measure = Measure::kLump;
  std::string kind;  // of a share: of what
  Money amount;
  GpuTime time;
};

std::string in_words(const std::string& pricing) {
  if (pricing == "Standard") return ", on demand";
  if (pricing == "Dynamic") return ", spot";
  if (pricing == "Committed") return ", committed";
  return "";
}

std::string key_of(const std::vector<std::string>& parts) {
  std::string key;
  for (const std::string& part : parts) {
    key += key.empty() ? "" : ",";
    append_json_string(key, part);
  }
  return key;
}

std::string machine(const RowKeys& row) {
  const std::string name = row.instance_type.empty() ? row.service : row.instance_type;
  return (name.empty() ? "" : " on " + name) + in_words(row.pricing);
}

std::string what_is_held(const RowKeys& row) {
  if (row.kind == "overhead") return "Platform work" + machine(row);
  if (!is_of_cards(row)) return "CPU and memory" + machine(row);
  return (row.kind == "held_idle" ? "GPU time held without use" : "GPU time") + machine(row);
}

std::string what_is_shared(const std::string& kind) {
  if (kind == "unallocated") return "GPUs that nobody held";
  if (kind == "stranded") return "Parts of GPUs that their layout leaves over";
  if (kind == "held_idle") return "GPU time held without use";
  if (kind == "unavailable") return "Machines out of service";
  if (kind == "overhead") return "Platform work";
  if (kind == "shared") return "Shared cost";
  return "Corrections";
}

std::string detail_title(const RowKeys& row, const StatementOptions& options) {
  std::string title = "Usage";
  for (std::size_t i = 0; i < row.detail.size(); ++i) {
    title += fmt::format("{}{} {}", i == 0 ? ": " : ", ", options.detail[i],
                         row.detail[i].empty() ? "(none)" : row.detail[i]);
  }
  return title;
}

class Builder {
 public:
  Builder(const StatementOptions& options) : options_(options) {}

  void add(const SummaryRow& row) {
    const RowKeys keys = keys_of(row, options_);
    const Money amount = cost_of(row.costs, options_.cost);
    const Currency currency = amount.currency();
    // Transfers of a kind add up to zero, so all rows of it are what there was to bear.
    const auto all = shared_.try_emplace({currency, keys.kind}, Money::zero(currency)).first;
    all->second += amount;
    const bool nobody = is_nobody(keys.customer, options_);
    Customer& customer = customers_[{nobody ? "" : keys.customer, currency}];
    auto [place, draft] = nobody && keys.customer.empty() ? of_nobody(keys) : of_owner(keys);
    if (nobody && !keys.customer.empty()) {
      place.order += 10;
      place.section = "unowned:" + place.section;
      place.title = "Held by " + keys.customer + ": " + place.title;
    }
    const GpuTime time = draft.measure == Draft::Measure::kIdle ? row.idle_time : row.gpu_time;
    draft.amount = Money::zero(currency);
    Draft& line = customer.try_emplace(std::move(place), std::move(draft)).first->second;
    line.amount += amount;
    line.time += time;
  }

  Result<MonthStatement> finish(std::span<const BillTotal> bills) {
    MonthStatement statement{options_.month, options_.by, options_.cost, {}, {}, {}};
    std::map<Currency, Money> sums;
    for (const auto& [who, drafts] : customers_) {
      CustomerStatement customer{who.first, {}, Money::zero(who.second)};
      for (const auto& [place, draft] : drafts) {
        customer.total += draft.amount;
        // What was moved away to the last digit leaves nothing to say.
        if (draft.amount.is_zero() && draft.time == GpuTime()) continue;
        customer.lines.push_back(line_of(place, draft));
      }
      sums.try_emplace(who.second, Money::zero(who.second)).first->second += customer.total;
      if (customer.lines.size() > kInvoiceLinesMax) {
        return fail(ErrorCode::kLimit,
                    fmt::format("an invoice of {} lines; {} is the most: ask for fewer details",
                                customer.lines.size(), kInvoiceLinesMax));
      }
      if (who.first.empty()) {
        statement.not_charged.push_back(std::move(customer));
      } else if (!customer.lines.empty()) {
        statement.customers.push_back(std::move(customer));
      }
    }
    for (const BillTotal& bill : bills) {
      const Currency currency = bill.amount.currency();
      const auto sum = sums.try_emplace(currency, Money::zero(currency)).first;
      if (sum->second != bill.amount) return does_not_meet(sum->second, bill);
      sums.erase(sum);
      if (!customers_.contains({"", currency})) {
        statement.not_charged.push_back({"", {}, Money::zero(currency)});
      }
      statement.bills.push_back(bill);
    }
    if (!sums.empty()) {
      return does_not_meet(sums.begin()->second, {Money::zero(sums.begin()->first), 0});
    }
    const auto by_currency = [](const auto& a, const auto& b) {
      return a.total.currency() < b.total.currency();
    };
    std::ranges::sort(statement.not_charged, by_currency);
    std::ranges::sort(statement.bills, [](const BillTotal& a, const BillTotal& b) {
      return a.amount.currency() < b.amount.currency();
    });
    return statement;
  }

 private:
  using Customer = std::map<Place, Draft>;
  using Placed = std::pair<Place, Draft>;

  Placed placed(const RowKeys& row, int order, std::string section, std::string title,
                Draft draft) const {
    Place place{
        order, std::move(section), std::move(title), row.service, row.instance_type, row.pricing, 0,
        ""};
    return {std::move(place), std::move(draft)};
  }

  Placed of_owner(const RowKeys& row) const {
    Money none = Money::zero(kUsd);
    if (is_earlier_month(row, options_)) {
      const bool held = is_of_cards(row) && row.category == "Usage";
      auto [place, draft] = placed(row, 5, "adjustments", "Adjustments to earlier months",
                                   {"Adjustment to " + row.billing_month + ": " + what_is_held(row),
                                    row.service,
                                    held ? Draft::Measure::kHeld : Draft::Measure::kLump,
                                    row.kind,
                                    none,
                                    {}});
      place.key = key_of({row.billing_month, row.kind, held ? "gpu" : "other", row.category,
                          row.service, row.instance_type, row.pricing});
      return {place, draft};
    }
    if (is_transfer(row)) return of_transfer(row);
    if (row.category == "Credit" || row.category == "Adjustment") {
      auto [place, draft] =
          placed(row, 2, "credits", "Credits and adjustments",
                 {fmt::format("{} on {}", row.category,
                              row.instance_type.empty() ? row.service : row.instance_type),
                  row.service,
                  Draft::Measure::kLump,
                  row.kind,
                  none,
                  {}});
      place.key = key_of({row.category, row.service, row.instance_type, row.pricing});
      return {place, draft};
    }
    const bool cards = is_of_cards(row);
    const std::string section = row.detail.empty() ? "usage" : "usage:" + key_of(row.detail);
    auto [place, draft] = placed(row, 1, section, detail_title(row, options_),
                                 {what_is_held(row),
                                  row.service,
                                  cards ? Draft::Measure::kHeld : Draft::Measure::kLump,
                                  row.kind,
                                  none,
                                  {}});
    if (row.category != "Usage") draft.description = row.category + ": " + draft.description;
    place.rank = (row.kind == "used" ? 0 : row.kind == "held_idle" ? 2 : 4) + (cards ? 0 : 1);
    place.key = key_of({row.kind, cards ? "gpu" : "host", row.category, row.service,
                        row.instance_type, row.pricing});
    return {place, draft};
  }

  Placed of_transfer(const RowKeys& row) const {
    const bool is_correction = row.kind == "used";
    const bool is_idle = row.kind != "shared" && row.kind != "overhead";
    const auto method = options_.methods.find(row.kind);
    const std::string remark = method == options_.methods.end() ? "" : method->second;
    const Money none = Money::zero(kUsd);
    auto [place, draft] =
        is_correction ? placed(row, 2, "credits", "Credits and adjustments",
                               {"Corrections between customers",
                                remark,
                                Draft::Measure::kLump,
                                row.kind,
                                none,
                                {}})
        : is_idle
            ? placed(row, 3, "idle", "Share of idle capacity",
                     {what_is_shared(row.kind), remark, Draft::Measure::kShare, row.kind, none, {}})
            : placed(
                  row, 4, "shared", "Share of shared cost",
                  {what_is_shared(row.kind), remark, Draft::Measure::kShare, row.kind, none, {}});
    place.key = key_of({row.kind});
    return {place, draft};
  }

  // A bucket, or what left it.
  Placed of_nobody(const RowKeys& row) const {
    const bool is_idle = row.kind != "shared" && row.kind != "overhead";
    const std::string month =
        is_earlier_month(row, options_) ? " (bill of " + row.billing_month + ")" : "";
    const Money none = Money::zero(kUsd);
    Draft draft{is_transfer(row) ? what_is_shared(row.kind) + ": passed on to customers"
                : row.kind == "shared" || row.instance_type.empty()
                    ? fmt::format("{}: {}{}", what_is_shared(row.kind), row.service, month)
                    : what_is_shared(row.kind) + machine(row) + month,
                row.service,
                is_of_cards(row) && is_idle && !is_transfer(row) ? Draft::Measure::kIdle
                                                                 : Draft::Measure::kLump,
                row.kind,
                none,
                {}};
    if (is_transfer(row)) {
      const auto method = options_.methods.find(row.kind);
      if (method != options_.methods.end()) draft.remark = method->second;
    }
    if (!is_of_cards(row) && is_idle && !is_transfer(row)) {
      draft.description = "CPU and memory beside: " + draft.description;
    }
    auto [place, line] = placed(row, is_idle ? 3 : 4, is_idle ? "idle" : "shared",
                                is_idle ? "Idle capacity" : "Shared cost", std::move(draft));
    place.rank = is_transfer(row) ? 9 : 0;
    // What went to customers is one line, of whichever part of the machines it was.
    place.key = is_transfer(row)
                    ? key_of({row.kind})
                    : key_of({row.kind, is_of_cards(row) ? "gpu" : "host", row.category,
                              row.service, row.instance_type, row.pricing, row.billing_month});
    return {place, line};
  }

  StatementLine line_of(const Place& place, const Draft& draft) const {
    StatementLine line{place.section, place.title,  place.key,   draft.description,
                       draft.remark,  std::nullopt, draft.amount};
    // A service that the line is named after is not told twice.
    if (line.description.ends_with(line.remark)) line.remark.clear();
    switch (draft.measure) {
      case Draft::Measure::kHeld:
      case Draft::Measure::kIdle:
        line.quantity =
            draft.time == GpuTime()
                ? LineQuantity{}
                : LineQuantity{QuantityKind::kGpuHours, static_cast<Int128>(draft.time.count()),
                               static_cast<Int128>(kGpuHour.count())};
        break;
      case Draft::Measure::kShare: {
        // Where credits turn the sum round, a share of it would say nothing.
        const Money all = shared_.at({draft.amount.currency(), draft.kind});
        if (all.ticks() > 0 && draft.amount.ticks() >= 0 && draft.amount.ticks() <= all.ticks()) {
          line.quantity = LineQuantity{QuantityKind::kShare, draft.amount.ticks(), all.ticks()};
        }
        break;
      }
      case Draft::Measure::kLump:
        line.quantity = LineQuantity{};
        break;
    }
    return line;
  }

  std::unexpected<Error> does_not_meet(Money sum, const BillTotal& bill) const {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{}: what is charged and what is charged to nobody come to {} {}, and the {} "
                    "bill lines to {}; run 'pennyweight allocate --month {}', then 'pennyweight "
                    "reconcile --month {}'",
                    options_.month, to_text(sum.amount()), sum.currency().text(), bill.lines,
                    to_text(bill.amount.amount()), options_.month, options_.month));
  }

  const StatementOptions& options_;
  std::map<std::pair<std::string, Currency>, Customer> customers_;
  std::map<std::pair<Currency, std::string>, Money> shared_;  // by kind
};

}  // namespace

std::string_view to_text(CostBasis basis) {
  switch (basis) {
    case CostBasis::kEffective:
      return "effective";
    case CostBasis::kBilled:
      return "billed";
    case CostBasis::kList:
      return "list";
    case CostBasis::kContracted:
      return "contracted";
  }
  CHECK(false, "every cost is listed");
}

std::vector<std::string> statement_dimensions(const StatementOptions& options) {
  std::vector<std::string> dimensions = {options.by, "billing_month", "kind",          "component",
                                         "category", "service",       "instance_type", "pricing"};
  dimensions.insert(dimensions.end(), options.detail.begin(), options.detail.end());
  return dimensions;
}

Result<MonthStatement> month_statement(std::span<const SummaryRow> rows,
                                       std::span<const BillTotal> bills,
                                       const StatementOptions& options) {
  Builder builder(options);
  for (const SummaryRow& row : rows) builder.add(row);
  return builder.finish(bills);
}

}  // namespace pennyweight
