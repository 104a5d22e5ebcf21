#include "reporting/cost_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace pennyweight {
namespace {

struct ReportRow {
  std::optional<std::chrono::sys_days> bucket;
  bool owned = true;  // false: one of its keys is a kind, such as "(shared)"
  std::vector<std::string> keys;
  Costs costs;
  GpuTime held;
  GpuTime idle;

  void add(const ReportRow& other) {
    costs += other.costs;
    held += other.held;
    idle += other.idle;
  }
};

Column cost_column(CostColumn column, Currency currency) {
  const auto named = [&](std::string_view name) {
    return Column{fmt::format("{}_cost", name), fmt::format("{} {}", name, currency.text()),
                  ColumnKind::kMoney};
  };
  switch (column) {
    case CostColumn::kEffective:
      return named("effective");
    case CostColumn::kBilled:
      return named("billed");
    case CostColumn::kList:
      return named("list");
    case CostColumn::kContracted:
      return named("contracted");
  }
  CHECK(false, "every cost column is named above");
  return {};
}

std::string_view bucket_name(TimeBucket bucket) {
  switch (bucket) {
    case TimeBucket::kNone:
      return "";
    case TimeBucket::kDay:
      return "day";
    case TimeBucket::kWeek:
      return "week";
    case TimeBucket::kMonth:
      return "month";
  }
  return "";
}

std::string bucket_text(std::chrono::sys_days day, TimeBucket bucket) {
  const std::chrono::year_month_day date(day);
  const auto year = static_cast<int>(date.year());
  const auto month = static_cast<unsigned>(date.month());
  if (bucket == TimeBucket::kMonth) return fmt::format("{:04}-{:02}", year, month);
  return fmt::format("{:04}-{:02}-{:02}", year, month, static_cast<unsigned>(date.day()));
}

ReportRow to_report_row(const SummaryRow& row, const CostReport& report) {
  CHECK(row.keys.size() == report.dimensions.size() + 1, "grouped by report_group_by()");
  const std::string& kind = row.keys.back();
  ReportRow line{row.bucket, true, {}, row.costs, row.gpu_time, row.idle_time};
  for (std::size_t i = 0; i < report.dimensions.size(); ++i) {
    line.keys.push_back(display_key(report.dimensions[i], row.keys[i], kind));
    if (row.keys[i].empty()) line.owned = false;
  }
  return line;
}

// By bucket, owners first, then by keys.
bool comes_before(const ReportRow& a, const ReportRow& b) {
  if (a.bucket != b.bucket) return a.bucket < b.bucket;
  if (a.owned != b.owned) return a.owned;
  return a.keys < b.keys;
}

// Merges rows that show the same keys, such as "(none)" of two kinds or a team's used and
// held_idle.
std::vector<ReportRow> merged(std::span<const SummaryRow> rows, Currency currency,
                              const CostReport& report) {
  std::vector<ReportRow> lines;
  const auto is_shown_as = [](const ReportRow& a, const ReportRow& b) {
    return a.bucket == b.bucket && a.owned == b.owned && a.keys == b.keys;
  };
  const auto put = [&](ReportRow line) {
    if (!lines.empty() && is_shown_as(lines.back(), line)) {
      lines.back().add(line);
    } else {
      lines.push_back(std::move(line));
    }
  };
  for (const SummaryRow& row : rows) {
    if (row.costs.currency() == currency) put(to_report_row(row, report));
  }
  // The store returns rows by bucket and keys, so mostly only unowned rows have to move.
  if (std::is_sorted(lines.begin(), lines.end(), comes_before)) return lines;
  std::vector<ReportRow> found = std::exchange(lines, {});
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return comes_before(found[a], found[b]); });
  lines.reserve(found.size());
  for (const std::size_t at : order) put(std::move(found[at]));
  return lines;
}

void order(std::vector<ReportRow>& lines, const CostReport& report) {
  if (report.sort == CostSort::kKey) return;  // merged() sorted them
  std::stable_sort(lines.begin(), lines.end(), [&](const ReportRow& a, const ReportRow& b) {
    if (a.bucket != b.bucket) return a.bucket < b.bucket;
    if (a.owned != b.owned) return a.owned;
    return select_cost(a.costs, report.costs.front()).ticks() >
           select_cost(b.costs, report.costs.front()).ticks();
  });
}

void name_others(ReportRow& others, std::size_t dimensions, std::uint64_t count) {
  others.keys.assign(dimensions, "");
  if (!others.keys.empty()) others.keys.front() = fmt::format("({} others)", count);
}

// Sums the owners beyond the first `top` of each time bucket in one row.
std::vector<ReportRow> shortened(std::vector<ReportRow> lines, std::uint64_t top) {
  std::vector<ReportRow> out;
  std::optional<ReportRow> others;
  std::uint64_t shown = 0;
  std::uint64_t hidden = 0;
  const auto put_others = [&] {
    if (others) {
      name_others(*others, others->keys.size(), hidden);
      out.push_back(*others);
    }
    others.reset();
    hidden = 0;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && lines[i].bucket != lines[i - 1].bucket) {
      put_others();
      shown = 0;
    }
    if (!lines[i].owned) {
      put_others();
      out.push_back(lines[i]);
    } else if (shown < top) {
      ++shown;
      out.push_back(lines[i]);
    } else {
      ++hidden;
      if (others) {
        others->add(lines[i]);
      } else {
        others = lines[i];
      }
    }
  }
  put_others();
  return out;
}

// Puts the sums of other owners below the owners of their time bucket.
std::vector<ReportRow> with_others(std::vector<ReportRow> lines,
                                   std::span<const OtherOwners> others, Currency currency,
                                   const CostReport& report) {
  std::vector<ReportRow> further;
  for (const OtherOwners& one : others) {
    const SummaryRow& sum = one.sum;
    if (sum.costs.currency() != currency) continue;
    ReportRow& line = further.emplace_back(
        ReportRow{sum.bucket, true, {}, sum.costs, sum.gpu_time, sum.idle_time});
    name_others(line, report.dimensions.size(), one.count);
  }
  std::vector<ReportRow> all;
  all.reserve(lines.size() + further.size());
  std::ranges::merge(std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()),
                     std::make_move_iterator(further.begin()),
                     std::make_move_iterator(further.end()), std::back_inserter(all),
                     [](const ReportRow& a, const ReportRow& b) {
                       return a.bucket != b.bucket ? a.bucket < b.bucket : a.owned && !b.owned;
                     });
  return all;
}

std::vector<Currency> row_currencies(std::span<const SummaryRow> rows) {
  std::vector<Currency> currencies;
  for (const SummaryRow& row : rows) currencies.push_back(row.costs.currency());
  std::sort(currencies.begin(), currencies.end());
  currencies.erase(std::unique(currencies.begin(), currencies.end()), currencies.end());
  return currencies;
}

class CostTable {
 public:
  CostTable(const CostReport& report, Currency currency) : report_(report) {
    table_.currency = currency;
    table_.title = report.title;
    table_.notes = report.notes;
    if (report.bucket != TimeBucket::kNone) {
      std::string name(bucket_name(report.bucket));
      // No two columns have one name: that of the dimension is the bill's month.
      if (std::ranges::find(report.dimensions, name) != report.dimensions.end()) {
        name = "calendar_" + name;
      }
      table_.columns.push_back({name, name, ColumnKind::kText});
    }
    for (const std::string& dimension : report.dimensions) {
      table_.columns.push_back({dimension, dimension, ColumnKind::kText});
    }
    for (const CostColumn cost : report.costs)
      table_.columns.push_back(cost_column(cost, currency));
    table_.columns.push_back({"share_percent", "share", ColumnKind::kPercent});
    table_.columns.push_back({"gpu_hours", "GPU-hours", ColumnKind::kGpuHours});
    table_.columns.push_back({"idle_gpu_hours", "idle GPU-hours", ColumnKind::kGpuHours});
  }

  Table build(const std::vector<ReportRow>& all, const std::vector<ReportRow>& shown) && {
    ReportRow total{{},
                    true,
                    std::vector<std::string>(report_.dimensions.size()),
                    Costs::zero(*table_.currency),
                    {},
                    {}};
    for (const ReportRow& line : all) total.add(line);
    for (const ReportRow& line : shown) table_.rows.push_back(row(line, total));
    Row last = row(total, total);
    if (std::holds_alternative<std::string>(last.front())) last.front() = std::string("total");
    table_.total = std::move(last);
    return std::move(table_);
  }

 private:
  Row row(const ReportRow& line, const ReportRow& total) const {
    Row row;
    if (report_.bucket != TimeBucket::kNone) {
      row.emplace_back(line.bucket ? bucket_text(*line.bucket, report_.bucket) : std::string());
    }
    for (const std::string& key : line.keys) row.emplace_back(key);
    for (const CostColumn cost : report_.costs) row.emplace_back(select_cost(line.costs, cost));
    const CostColumn first = report_.costs.front();
    row.emplace_back(
        Ratio{select_cost(line.costs, first).ticks(), select_cost(total.costs, first).ticks()});
    row.emplace_back(hours(line.held));
    row.emplace_back(hours(line.idle));
    return row;
  }
  static Cell hours(GpuTime time) { return time == GpuTime() ? Cell() : Cell(time); }

  const CostReport& report_;
  Table table_;
};

}  // namespace

const Money& select_cost(const Costs& costs, CostColumn column) {
  switch (column) {
    case CostColumn::kEffective:
      return costs.effective;
    case CostColumn::kBilled:
      return costs.billed;
    case CostColumn::kList:
      return costs.list;
    case CostColumn::kContracted:
      return costs.contracted;
  }
  CHECK(false, "every cost column is named above");
  return costs.effective;
}

std::string display_key(std::string_view dimension, std::string_view key, std::string_view kind) {
  if (!key.empty()) return std::string(key);
  if (dimension == "cluster") return "(no cluster)";
  const bool held = kind == "used" || kind == "held_idle";
  return held ? "(none)" : fmt::format("({})", kind);
}

std::vector<std::string> report_group_by(const CostReport& report) {
  std::vector<std::string> dimensions = report.dimensions;
  dimensions.emplace_back("kind");
  return dimensions;
}

std::vector<Table> cost_tables(std::span<const SummaryRow> rows, const CostReport& report) {
  CHECK(!report.costs.empty(), "a cost report shows a cost");
  std::vector<Table> tables;
  for (const Currency currency : row_currencies(rows)) {
    std::vector<ReportRow> lines = merged(rows, currency, report);
    order(lines, report);
    if (report.top) {
      const std::vector<ReportRow> shown = shortened(lines, *report.top);
      tables.push_back(CostTable(report, currency).build(lines, shown));
    } else {
      tables.push_back(CostTable(report, currency).build(lines, lines));
    }
  }
  return tables;
}

std::vector<Table> cost_tables(std::span<const SummaryRow> rows,
                               std::span<const OtherOwners> others, const CostReport& report) {
  CHECK(!report.costs.empty(), "a cost report shows a cost");
  std::vector<Table> tables;
  for (const Currency currency : row_currencies(rows)) {
    std::vector<ReportRow> lines = merged(rows, currency, report);
    order(lines, report);
    lines = with_others(std::move(lines), others, currency, report);
    tables.push_back(CostTable(report, currency).build(lines, lines));
  }
  return tables;
}

}  // namespace pennyweight
