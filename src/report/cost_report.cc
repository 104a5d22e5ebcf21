#include "report/cost_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/check.h"

namespace pennyweight {
namespace {

struct Line {
  std::optional<std::chrono::sys_days> bucket;
  bool owned = true;  // false: one of its keys is a kind in parentheses
  std::vector<std::string> keys;
  Costs costs;
  GpuTime held;
  GpuTime idle;

  void add(const Line& other) {
    costs += other.costs;
    held += other.held;
    idle += other.idle;
  }
};

const Money& cost_of(const Costs& costs, CostColumn column) {
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

Column column_of(CostColumn column, Currency currency) {
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

std::string_view name_of(TimeBucket bucket) {
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

std::string text_of(std::chrono::sys_days day, TimeBucket bucket) {
  const std::chrono::year_month_day date(day);
  const auto year = static_cast<int>(date.year());
  const auto month = static_cast<unsigned>(date.month());
  if (bucket == TimeBucket::kMonth) return fmt::format("{:04}-{:02}", year, month);
  return fmt::format("{:04}-{:02}-{:02}", year, month, static_cast<unsigned>(date.day()));
}

Line line_of(const SummaryRow& row, const CostReport& report) {
  CHECK(row.keys.size() == report.dimensions.size() + 1, "grouped by query_dimensions()");
  const std::string& kind = row.keys.back();
  Line line{row.bucket, true, {}, row.costs, row.gpu_time, row.idle_time};
  for (std::size_t i = 0; i < report.dimensions.size(); ++i) {
    line.keys.push_back(shown_key(report.dimensions[i], row.keys[i], kind));
    if (row.keys[i].empty()) line.owned = false;
  }
  return line;
}

// Rows that show the same keys become one: "(none)" of two kinds, or a team's used and held_idle.
std::vector<Line> merged(std::span<const SummaryRow> rows, Currency currency,
                         const CostReport& report) {
  std::map<std::tuple<std::optional<std::chrono::sys_days>, bool, std::vector<std::string>>, Line>
      by_key;
  for (const SummaryRow& row : rows) {
    if (row.costs.currency() != currency) continue;
    Line line = line_of(row, report);
    const auto key = std::tuple(line.bucket, !line.owned, line.keys);
    const auto [at, is_new] = by_key.try_emplace(key, line);
    if (!is_new) at->second.add(line);
  }
  std::vector<Line> lines;
  for (auto& [key, line] : by_key) lines.push_back(std::move(line));
  return lines;
}

void order(std::vector<Line>& lines, const CostReport& report) {
  if (report.sort == CostSort::kKey) return;  // as merged() left them
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
    if (a.bucket != b.bucket) return a.bucket < b.bucket;
    if (a.owned != b.owned) return a.owned;
    return cost_of(a.costs, report.costs.front()).ticks() >
           cost_of(b.costs, report.costs.front()).ticks();
  });
}

// Past the first `top` owners of a bucket of time, the others are one row.
std::vector<Line> shortened(std::vector<Line> lines, std::uint64_t top) {
  std::vector<Line> out;
  std::optional<Line> others;
  std::uint64_t shown = 0;
  std::uint64_t hidden = 0;
  const auto put_others = [&] {
    if (others) {
      others->keys.assign(others->keys.size(), "");
      if (!others->keys.empty()) others->keys.front() = fmt::format("({} others)", hidden);
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

class CostTable {
 public:
  CostTable(const CostReport& report, Currency currency) : report_(report) {
    table_.currency = currency;
    table_.title = report.title;
    if (report.bucket != TimeBucket::kNone) {
      const std::string name(name_of(report.bucket));
      table_.columns.push_back({name, name, ColumnKind::kText});
    }
    for (const std::string& dimension : report.dimensions) {
      table_.columns.push_back({dimension, dimension, ColumnKind::kText});
    }
    for (const CostColumn cost : report.costs) table_.columns.push_back(column_of(cost, currency));
    table_.columns.push_back({"share_percent", "share", ColumnKind::kPercent});
    table_.columns.push_back({"gpu_hours", "GPU-hours", ColumnKind::kGpuHours});
    table_.columns.push_back({"idle_gpu_hours", "idle GPU-hours", ColumnKind::kGpuHours});
  }

  Table build(const std::vector<Line>& all, const std::vector<Line>& shown) && {
    Line total{{},
               true,
               std::vector<std::string>(report_.dimensions.size()),
               Costs::zero(*table_.currency),
               {},
               {}};
    for (const Line& line : all) total.add(line);
    for (const Line& line : shown) table_.rows.push_back(row(line, total));
    Row last = row(total, total);
    if (std::holds_alternative<std::string>(last.front())) last.front() = std::string("total");
    table_.total = std::move(last);
    return std::move(table_);
  }

 private:
  Row row(const Line& line, const Line& total) const {
    Row row;
    if (report_.bucket != TimeBucket::kNone) {
      row.emplace_back(line.bucket ? text_of(*line.bucket, report_.bucket) : std::string());
    }
    for (const std::string& key : line.keys) row.emplace_back(key);
    for (const CostColumn cost : report_.costs) row.emplace_back(cost_of(line.costs, cost));
    const CostColumn first = report_.costs.front();
    row.emplace_back(
        Ratio{cost_of(line.costs, first).ticks(), cost_of(total.costs, first).ticks()});
    row.emplace_back(hours(line.held));
    row.emplace_back(hours(line.idle));
    return row;
  }
  static Cell hours(GpuTime time) { return time == GpuTime() ? Cell() : Cell(time); }

  const CostReport& report_;
  Table table_;
};

}  // namespace

std::string shown_key(std::string_view dimension, std::string_view key, std::string_view kind) {
  if (!key.empty()) return std::string(key);
  if (dimension == "cluster") return "(no cluster)";
  const bool held = kind == "used" || kind == "held_idle";
  return held ? "(none)" : fmt::format("({})", kind);
}

std::vector<std::string> query_dimensions(const CostReport& report) {
  std::vector<std::string> dimensions = report.dimensions;
  dimensions.emplace_back("kind");
  return dimensions;
}

std::vector<Table> cost_tables(std::span<const SummaryRow> rows, const CostReport& report) {
  CHECK(!report.costs.empty(), "a cost report shows a cost");
  std::vector<Currency> currencies;
  for (const SummaryRow& row : rows) currencies.push_back(row.costs.currency());
  std::sort(currencies.begin(), currencies.end());
  currencies.erase(std::unique(currencies.begin(), currencies.end()), currencies.end());

  std::vector<Table> tables;
  for (const Currency currency : currencies) {
    std::vector<Line> lines = merged(rows, currency, report);
    order(lines, report);
    const std::vector<Line> shown = report.top ? shortened(lines, *report.top) : lines;
    tables.push_back(CostTable(report, currency).build(lines, shown));
  }
  return tables;
}

}  // namespace pennyweight
