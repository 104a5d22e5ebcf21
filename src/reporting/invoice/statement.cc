#include "reporting/invoice/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/card_share.h"
#include "core/json_text.h"
#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// The keys of a row, as statement_group_by() orders them.
struct RowKeys {
  std::string customer;
  std::string billing_month;
  std::string kind;
  std::string component;
  std::string category;
  std::string service;
  std::string instance_type;
  std::string pricing;
  std::string charge_class;
  std::vector<std::string> detail;
  std::string gpu_model;
  std::string tier;
};

RowKeys to_row_keys(const SummaryRow& row, const StatementOptions& options) {
  const std::vector<std::string>& keys = row.keys;
  CHECK(keys.size() == statement_group_by(options).size(),
        "rows are grouped by statement_group_by()");
  const auto first_detail = keys.begin() + 9;
  const auto after_detail = first_detail + static_cast<std::ptrdiff_t>(options.detail.size());
  auto extra = after_detail;
  RowKeys of{
      keys[0], keys[1], keys[2], keys[3], keys[4],
      keys[5], keys[6], keys[7], keys[8], std::vector<std::string>(first_detail, after_detail),
      "",      ""};
  if (options.has_rates() && options.rates->by_gpu_model()) of.gpu_model = *extra++;
  if (options.has_rates() && options.rates->by_tier()) of.tier = *extra;
  return of;
}

Money select_cost(const Costs& costs, CostBasis basis) {
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

// Every charge has a category; postings without one are transfers (ledger/posting.h).
bool is_transfer(const RowKeys& row) { return row.category.empty(); }

bool is_earlier_month(const RowKeys& row, const StatementOptions& options) {
  return !row.billing_month.empty() && row.billing_month != options.month;
}

bool is_not_customer(const std::string& customer, const StatementOptions& options) {
  if (customer.empty() || (customer.front() == '(' && customer.back() == ')')) return true;
  return std::ranges::find(options.not_customers, customer) != options.not_customers.end();
}

bool is_refund(const RowKeys& row) { return row.charge_class == "Correction"; }

bool is_gpu_cost(const RowKeys& row) { return row.component == "gpu" || row.component == "whole"; }

// The position of a line: sections by `order`, then detail; lines by service, type, pricing, rank.
struct LinePosition {
  int order = 0;
  std::string section;
  std::string title;
  std::string service;
  std::string instance_type;
  std::string pricing;
  int rank = 0;
  std::string key;
  auto operator<=>(const LinePosition&) const = default;
};

struct DraftLine {
  std::string description;
  std::string remark;
  enum class Measure { kHeld, kIdle, kShare, kLump } measure = Measure::kLump;
  std::string kind;  // of the amount that is shared
  Money amount;      // what is charged
  GpuTime time;
  Money cost = Money::zero(kUsd);
  std::string pricing = {};
};

std::string pricing_suffix(const std::string& pricing) {
  if (pricing == "Standard") return ", on demand";
  if (pricing == "Dynamic") return ", spot";
  if (pricing == "Committed") return ", committed";
  return "";
}

std::string join_key(const std::vector<std::string>& parts) {
  std::string key;
  for (const std::string& part : parts) {
    key += key.empty() ? "" : ",";
    append_json_string(key, part);
  }
  return key;
}

std::string machine_suffix(const RowKeys& row) {
  const std::string name = row.instance_type.empty() ? row.service : row.instance_type;
  return (name.empty() ? "" : " on " + name) + pricing_suffix(row.pricing);
}

std::string describe_held(const RowKeys& row) {
  if (row.kind == "overhead") return "Platform work" + machine_suffix(row);
  if (!is_gpu_cost(row)) return "CPU and memory" + machine_suffix(row);
  return (row.kind == "held_idle" ? "Idle GPU time" : "GPU time") + machine_suffix(row);
}

std::string describe_shared(const std::string& kind) {
  if (kind == "unallocated") return "Unallocated GPUs";
  if (kind == "stranded") return "GPU capacity beside MIG layouts";
  if (kind == "held_idle") return "Idle GPU time";
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

class StatementBuilder {
 public:
  explicit StatementBuilder(const StatementOptions& options) : options_(options) {}

  Result<void> add(const SummaryRow& row) {
    const RowKeys keys = to_row_keys(row, options_);
    const Money amount = select_cost(row.costs, options_.cost);
    const Currency currency = amount.currency();
    // Transfers of a kind add up to zero, so the sum of its rows is the amount that is shared.
    const auto all = shared_.try_emplace({currency, keys.kind}, Money::zero(currency)).first;
    all->second += amount;
    const bool nobody = is_not_customer(keys.customer, options_);
    Customer& customer = customers_[{nobody ? "" : keys.customer, currency}];
    auto [place, draft] = nobody && keys.customer.empty() ? place_unowned(keys) : place_owned(keys);
    if (nobody && !keys.customer.empty()) {
      place.order += 10;
      place.section = "unowned:" + place.section;
      place.title = "Held by " + keys.customer + ": " + place.title;
    }
    const GpuTime time = draft.measure == DraftLine::Measure::kIdle ? row.idle_time : row.gpu_time;
    const RatedPrice price = TRY(price_of(row, keys, amount, time, nobody));
    if (price.rule) rates_used_.insert(*price.rule);
    if (!price.pricing.empty()) tell_pricing(keys, price, place, draft);
    draft.amount = draft.cost = Money::zero(currency);
    DraftLine& line = customer.try_emplace(std::move(place), std::move(draft)).first->second;
    line.amount += price.amount;
    line.cost += amount;
    line.time += time;
    return {};
  }

  Result<MonthStatement> finish(std::span<const BillTotal> bills) {
    MonthStatement statement{options_.month, options_.by, options_.cost, {}, {}, {}, rates_used_};
    std::map<Currency, Money> sums;
    for (const auto& [who, drafts] : customers_) {
      CustomerStatement customer{who.first, {}, Money::zero(who.second), Money::zero(who.second)};
      for (const auto& [place, draft] : drafts) {
        customer.total += draft.amount;
        customer.cost += draft.cost;
        // Nothing is left of an amount that was moved away completely.
        if (draft.amount.is_zero() && draft.cost.is_zero() && draft.time == GpuTime()) continue;
        customer.lines.push_back(to_line(place, draft));
      }
      sums.try_emplace(who.second, Money::zero(who.second)).first->second += customer.cost;
      if (customer.lines.size() > kInvoiceLinesMax) {
        return fail(
            ErrorCode::kLimit,
            fmt::format("an invoice has {} lines, more than the limit of {}; ask for fewer details",
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
      if (sum->second != bill.amount) return mismatch_error(sum->second, bill);
      sums.erase(sum);
      if (!customers_.contains({"", currency})) {
        statement.not_charged.push_back({"", {}, Money::zero(currency), Money::zero(currency)});
      }
      statement.bills.push_back(bill);
    }
    if (!sums.empty()) {
      return mismatch_error(sums.begin()->second, {Money::zero(sums.begin()->first), 0});
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
  using Customer = std::map<LinePosition, DraftLine>;

  Result<RatedPrice> price_of(const SummaryRow& row, const RowKeys& keys, Money cost, GpuTime time,
                              bool nobody) const {
    if (nobody || !options_.has_rates()) return RatedPrice{cost, "", std::nullopt};
    return options_.rates->price(
        {.client = keys.customer,
         .gpu_model = keys.gpu_model,
         .tier = keys.tier,
         .day = row.bucket,
         .cost = cost,
         .is_gpu_time = is_gpu_cost(keys) && !is_transfer(keys) && keys.category == "Usage",
         .time = time});
  }

  // A line has one rate, so that its quantity times the rate is its amount.
  static void tell_pricing(const RowKeys& keys, const RatedPrice& price, LinePosition& place,
                           DraftLine& draft) {
    draft.pricing = price.pricing;
    place.key += "," + price.pricing;
    if (price.pricing.find("per GPU-hour") == std::string::npos) return;
    if (!keys.gpu_model.empty()) draft.description += ", " + keys.gpu_model;
    if (!keys.tier.empty()) draft.description += ", " + keys.tier;
    place.key += "," + keys.gpu_model + "," + keys.tier;
  }

  using PlacedLine = std::pair<LinePosition, DraftLine>;

  PlacedLine placed(const RowKeys& row, int order, std::string section, std::string title,
                    DraftLine draft) const {
    LinePosition place{
        order, std::move(section), std::move(title), row.service, row.instance_type, row.pricing, 0,
        ""};
    return {std::move(place), std::move(draft)};
  }

  PlacedLine place_owned(const RowKeys& row) const {
    Money none = Money::zero(kUsd);
    if (is_earlier_month(row, options_)) {
      const bool held = is_gpu_cost(row) && row.category == "Usage";
      auto [place, draft] =
          placed(row, 5, "adjustments", "Adjustments to earlier months",
                 {"Adjustment to " + row.billing_month + ": " + describe_held(row),
                  row.service,
                  held ? DraftLine::Measure::kHeld : DraftLine::Measure::kLump,
                  row.kind,
                  none,
                  {}});
      place.key = join_key({row.billing_month, row.kind, held ? "gpu" : "other", row.category,
                            row.service, row.instance_type, row.pricing});
      return {place, draft};
    }
    if (is_transfer(row)) return place_transfer(row);
    if (row.category == "Credit" || row.category == "Adjustment") {
      auto [place, draft] =
          placed(row, 2, "credits", "Credits and adjustments",
                 {fmt::format("{} on {}", row.category,
                              row.instance_type.empty() ? row.service : row.instance_type),
                  row.service,
                  DraftLine::Measure::kLump,
                  row.kind,
                  none,
                  {}});
      place.key = join_key({row.category, row.service, row.instance_type, row.pricing});
      return {place, draft};
    }
    // What a provider gives back of usage is a line of its own, as on the provider's invoice.
    if (is_refund(row)) {
      auto [place, draft] =
          placed(row, 2, "credits", "Credits and adjustments",
                 {fmt::format("{} corrected: {}", row.category, describe_held(row)),
                  row.service,
                  is_gpu_cost(row) ? DraftLine::Measure::kHeld : DraftLine::Measure::kLump,
                  row.kind,
                  none,
                  {}});
      place.key = join_key({"Correction", row.kind, is_gpu_cost(row) ? "gpu" : "host", row.category,
                            row.service, row.instance_type, row.pricing});
      return {place, draft};
    }
    const bool cards = is_gpu_cost(row);
    const std::string section = row.detail.empty() ? "usage" : "usage:" + join_key(row.detail);
    auto [place, draft] = placed(row, 1, section, detail_title(row, options_),
                                 {describe_held(row),
                                  row.service,
                                  cards ? DraftLine::Measure::kHeld : DraftLine::Measure::kLump,
                                  row.kind,
                                  none,
                                  {}});
    if (row.category != "Usage") draft.description = row.category + ": " + draft.description;
    place.rank = (row.kind == "used" ? 0 : row.kind == "held_idle" ? 2 : 4) + (cards ? 0 : 1);
    place.key = join_key({row.kind, cards ? "gpu" : "host", row.category, row.service,
                          row.instance_type, row.pricing});
    return {place, draft};
  }

  PlacedLine place_transfer(const RowKeys& row) const {
    const bool is_correction = row.kind == "used";
    const bool is_idle = row.kind != "shared" && row.kind != "overhead";
    const auto method = options_.methods.find(row.kind);
    const std::string remark = method == options_.methods.end() ? "" : method->second;
    const Money none = Money::zero(kUsd);
    auto [place, draft] = is_correction ? placed(row, 2, "credits", "Credits and adjustments",
                                                 {"Corrections between customers",
                                                  remark,
                                                  DraftLine::Measure::kLump,
                                                  row.kind,
                                                  none,
                                                  {}})
                          : is_idle     ? placed(row, 3, "idle", "Share of idle capacity",
                                                 {describe_shared(row.kind),
                                                  remark,
                                                  DraftLine::Measure::kShare,
                                                  row.kind,
                                                  none,
                                                  {}})
                                        : placed(row, 4, "shared", "Share of shared cost",
                                                 {describe_shared(row.kind),
                                                  remark,
                                                  DraftLine::Measure::kShare,
                                                  row.kind,
                                                  none,
                                                  {}});
    place.key = join_key({row.kind});
    return {place, draft};
  }

  // A bucket's cost, or a transfer out of it.
  PlacedLine place_unowned(const RowKeys& row) const {
    const bool is_idle = row.kind != "shared" && row.kind != "overhead";
    const std::string month =
        is_earlier_month(row, options_) ? " (bill of " + row.billing_month + ")" : "";
    const Money none = Money::zero(kUsd);
    DraftLine draft{is_transfer(row) ? describe_shared(row.kind) + ": passed on to customers"
                    : row.kind == "shared" || row.instance_type.empty()
                        ? fmt::format("{}: {}{}", describe_shared(row.kind), row.service, month)
                        : describe_shared(row.kind) + machine_suffix(row) + month,
                    row.service,
                    is_gpu_cost(row) && is_idle && !is_transfer(row) ? DraftLine::Measure::kIdle
                                                                     : DraftLine::Measure::kLump,
                    row.kind,
                    none,
                    {}};
    if (is_transfer(row)) {
      const auto method = options_.methods.find(row.kind);
      if (method != options_.methods.end()) draft.remark = method->second;
    }
    if (!is_gpu_cost(row) && is_idle && !is_transfer(row)) {
      draft.description = "CPU and memory: " + draft.description;
    }
    auto [place, line] = placed(row, is_idle ? 3 : 4, is_idle ? "idle" : "shared",
                                is_idle ? "Idle capacity" : "Shared cost", std::move(draft));
    place.rank = is_transfer(row) ? 9 : 0;
    // All that was passed on to customers is one line, whatever component it was for.
    place.key = is_transfer(row)
                    ? join_key({row.kind})
                    : join_key({row.kind, is_gpu_cost(row) ? "gpu" : "host", row.category,
                                row.service, row.instance_type, row.pricing, row.billing_month});
    return {place, line};
  }

  StatementLine to_line(const LinePosition& place, const DraftLine& draft) const {
    StatementLine line{place.section, place.title,  place.key,   draft.description,
                       draft.remark,  std::nullopt, draft.amount};
    if (!draft.pricing.empty()) {
      line.cost = draft.cost;
      line.pricing = draft.pricing;
    }
    // The description already ends with the service.
    if (line.description.ends_with(line.remark)) line.remark.clear();
    switch (draft.measure) {
      case DraftLine::Measure::kHeld:
      case DraftLine::Measure::kIdle:
        line.quantity =
            draft.time == GpuTime()
                ? LineQuantity{}
                : LineQuantity{QuantityKind::kGpuHours, static_cast<Int128>(draft.time.count()),
                               static_cast<Int128>(kGpuHour.count())};
        break;
      case DraftLine::Measure::kShare: {
        // Where credits make the sum zero or negative, a share of it is meaningless.
        const Money all = shared_.at({draft.amount.currency(), draft.kind});
        if (draft.pricing.empty() && all.ticks() > 0 && draft.amount.ticks() >= 0 &&
            draft.amount.ticks() <= all.ticks()) {
          line.quantity = LineQuantity{QuantityKind::kShare, draft.amount.ticks(), all.ticks()};
        }
        break;
      }
      case DraftLine::Measure::kLump:
        line.quantity = LineQuantity{};
        break;
    }
    return line;
  }

  std::unexpected<Error> mismatch_error(Money sum, const BillTotal& bill) const {
    return fail(
        ErrorCode::kConflict,
        fmt::format(
            "{}: the postings, charged or not, add up to {} {}, but the {} "
            "bill lines add up to {}; run 'pennyweight allocate --month {}', then 'pennyweight "
            "reconcile --month {}'",
            options_.month, to_text(sum.amount()), sum.currency().text(), bill.lines,
            to_text(bill.amount.amount()), options_.month, options_.month));
  }

  const StatementOptions& options_;
  std::set<std::size_t> rates_used_;  // by place
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

std::vector<std::string> statement_group_by(const StatementOptions& options) {
  std::vector<std::string> dimensions = {options.by,      "billing_month", "kind",
                                         "component",     "category",      "service",
                                         "instance_type", "pricing",       "charge_class"};
  dimensions.insert(dimensions.end(), options.detail.begin(), options.detail.end());
  if (options.has_rates() && options.rates->by_gpu_model()) dimensions.emplace_back(kNodeDimension);
  if (options.has_rates() && options.rates->by_tier()) dimensions.push_back(options.tier);
  return dimensions;
}

Result<MonthStatement> month_statement(std::span<const SummaryRow> rows,
                                       std::span<const BillTotal> bills,
                                       const StatementOptions& options) {
  StatementBuilder builder(options);
  for (const SummaryRow& row : rows) {
    TRY(builder.add(row));
  }
  return builder.finish(bills);
}

}  // namespace pennyweight
