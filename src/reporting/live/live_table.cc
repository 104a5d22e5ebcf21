#include "reporting/live/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "reporting/minor_unit.h"

namespace pennyweight {

const std::vector<std::string> kLiveOrders = {"cost",  "today", "idle",    "gpus",
                                              "since", "busy",  "workload"};

namespace {

constexpr const char* kUnallocated = "(nobody)";
constexpr const char* kUnallocatedForPeople = "unallocated";
// Where no source reports what runs, nobody knows whether the GPUs are held.
constexpr const char* kUnknownForPeople = "not known";
constexpr std::size_t kNodesNamed = 2;
// The columns that a narrow terminal leaves out, in this order.
constexpr std::array kDispensable = {"cost_to_limit", "ends_by",       "device",     "cost_month",
                                     "nodes",         "idle_per_hour", "cost_today", "cluster"};

using Rows = std::vector<const LiveRow*>;

// The value that a filter or a column reads: cluster or workload, a dimension, else a label.
std::string find_value(const LiveRow& row, std::string_view name) {
  if (name == "cluster") return row.cluster.text();
  if (name == "workload") return row.share().workload.text();
  if (const auto value = row.share().dimensions.find(name)) return std::string(*value);
  return std::string(row.share().labels.find(name).value_or(""));
}

bool passes(const LiveRow& row, const Labels& filter) {
  return std::ranges::all_of(filter.entries(), [&](const Labels::Entry& wanted) {
    return find_value(row, wanted.first) == wanted.second;
  });
}

Int128 ticks_of(const std::optional<Money>& money) { return money ? money->ticks() : -1; }

std::string nodes_text(const LiveShare& share, bool for_people) {
  const std::size_t named =
      for_people ? std::min(share.nodes.size(), kNodesNamed) : share.nodes.size();
  std::string text;
  for (std::size_t i = 0; i < named; ++i) text += (i > 0 ? "," : "") + share.nodes[i].text();
  if (share.nodes.size() > named) text += fmt::format(" +{}", share.nodes.size() - named);
  return text;
}

// Millionths; -1: not observed.
Int128 busy_key(const LiveRow& row) {
  const auto ratio = busy_ratio(row);
  return ratio ? ratio->part / (ratio->whole / 1'000'000 + 1) : -1;
}

bool is_before(const LiveRow& a, const LiveRow& b, LiveOrder order) {
  // Unallocated cost comes first in every order.
  if (a.is_unallocated != b.is_unallocated) return a.is_unallocated;
  const auto name = [](const LiveRow& row) { return std::tie(row.cluster, row.share().workload); };
  const auto larger = [&](const auto& of_a, const auto& of_b) {
    return of_a != of_b ? of_a > of_b : name(a) < name(b);
  };
  switch (order) {
    case LiveOrder::kPerHour:
      return larger(ticks_of(a.hour), ticks_of(b.hour));
    case LiveOrder::kToday:
      return larger(ticks_of(a.cost_today), ticks_of(b.cost_today));
    case LiveOrder::kIdle:
      return larger(ticks_of(a.idle_hour), ticks_of(b.idle_hour));
    case LiveOrder::kGpus:
      return larger(a.gpu_milli, b.gpu_milli);
    case LiveOrder::kSince:
      return larger(a.share().since, b.share().since);
    case LiveOrder::kBusy:
      return larger(busy_key(a), busy_key(b));
    case LiveOrder::kWorkload:
      return name(a) < name(b);
  }
  return false;
}

std::optional<Currency> row_currency(const LiveRow& row) {
  if (row.hour) return row.hour->currency();
  if (row.cost_today) return row.cost_today->currency();
  if (row.cost_month) return row.cost_month->currency();
  return std::nullopt;
}

Cell cell(const std::optional<Money>& money) { return money ? Cell(*money) : Cell(); }

std::optional<Money> sum(const Rows& rows, std::optional<Money> LiveRow::* amount) {
  std::optional<Money> all;
  for (const LiveRow* row : rows) {
    const std::optional<Money>& one = row->*amount;
    if (one) all = all ? *all + *one : *one;
  }
  return all;
}

std::string since_text(const LiveRow& row, Instant now, bool for_people) {
  const auto& since = row.share().since;
  if (row.is_unallocated || !since) return "";
  const Instant end = row.runs ? now : row.share().until.value_or(now);
  return for_people ? duration_text(end - *since) : to_text(*since);
}

class LiveTableBuilder {
 public:
  LiveTableBuilder(const LiveView& view, const LiveQuery& query)
      : view_(view), query_(query), names_cluster_(view.clusters.size() > 1) {}

  // The totals of today and of the month are of `ended`, too, which are not shown.
  Table make(const Rows& rows, const Rows& ended, std::optional<Currency> currency) const {
    Table table;
    table.title = title(rows, currency);
    table.currency = currency;
    table.columns = columns(rows);
    const std::size_t shown = query_.limit == 0 ? rows.size() : std::min(query_.limit, rows.size());
    for (std::size_t i = 0; i < shown; ++i)
      table.rows.push_back(row(*rows[i], shows_limits(rows), shows_unpriced(rows)));
    table.total = total(rows, ended, table.columns.size());
    if (shown < rows.size()) {
      table.notes.push_back(fmt::format("{} of {} rows; the total is of all", shown, rows.size()));
    }
    if (const auto note = note_of_ended(ended)) table.notes.push_back(*note);
    if (shows_unpriced(rows)) {
      table.notes.push_back(
          "a row marked as partly priced leaves out what it held on nodes without a price");
    }
    if (query_.for_people && query_.style.width) fit(table);
    return table;
  }

 private:
  static bool shows_unpriced(const Rows& rows) {
    return std::ranges::any_of(rows, [](const LiveRow* row) { return row->is_partly_priced(); });
  }

  static bool shows_limits(const Rows& rows) {
    return std::ranges::any_of(rows,
                               [](const LiveRow* row) { return time_limit_end(*row).has_value(); });
  }

  std::string limit_text(const LiveRow& row) const {
    const auto end = time_limit_end(row);
    if (!end) return "";
    return query_.for_people ? duration_text(*end - view_.at) : to_text(*end);
  }

  static std::optional<std::string> note_of_ended(const Rows& ended) {
    const auto today = sum(ended, &LiveRow::cost_today), month = sum(ended, &LiveRow::cost_month);
    if (!month) return std::nullopt;
    const auto amount = [&](const std::optional<Money>& money) {
      return format_minor(money.value_or(Money::zero(month->currency())));
    };
    return fmt::format(
        "the totals include workloads that have ended: {} today, {} {} this month; --ended shows "
        "them",
        amount(today), amount(month), month->currency().text());
  }

  std::vector<Column> columns(const Rows& rows) const {
    std::vector<Column> all;
    if (names_cluster_) all.push_back({"cluster", "cluster", ColumnKind::kText});
    all.push_back({"workload", "workload", ColumnKind::kText});
    for (const std::string& name : query_.shown) all.push_back({name, name, ColumnKind::kText});
    all.push_back({"nodes", "nodes", ColumnKind::kText});
    all.push_back({"device", "device", ColumnKind::kText});
    // Aligned as numbers, although their cells are texts.
    all.push_back({"gpus", "GPUs", ColumnKind::kCount});
    all.push_back({"since", query_.for_people ? "for" : "since", ColumnKind::kCount});
    all.push_back({"cost_per_hour", "an hour", ColumnKind::kMoney});
    all.push_back({"idle_per_hour", "of it idle", ColumnKind::kMoney});
    all.push_back({"cost_today", "today", ColumnKind::kMoney});
    all.push_back({"cost_month", "this month", ColumnKind::kMoney});
    all.push_back({"busy", "used", ColumnKind::kPercent});
    if (shows_limits(rows)) {
      all.push_back({"ends_by", query_.for_people ? "ends in" : "ends by", ColumnKind::kCount});
      all.push_back({"cost_to_limit", "until then", ColumnKind::kMoney});
    }
    if (shows_unpriced(rows)) all.push_back({"priced", "priced", ColumnKind::kText});
    return all;
  }

  // What stands in the place of a workload.
  std::string holder_of_rest(const LiveRow& row) const {
    if (!query_.for_people) return kUnallocated;
    const auto cluster = view_.clusters.find(row.cluster);
    const bool is_watched = cluster == view_.clusters.end() || cluster->second.is_watched;
    return is_watched ? kUnallocatedForPeople : kUnknownForPeople;
  }

  Row row(const LiveRow& row, bool names_limits, bool names_unpriced) const {
    const LiveShare& share = row.share();
    Row cells;
    if (names_cluster_) cells.emplace_back(row.cluster.text());
    cells.emplace_back(row.is_unallocated ? holder_of_rest(row) : share.workload.text());
    for (const std::string& name : query_.shown) cells.emplace_back(find_value(row, name));
    cells.emplace_back(row.is_unallocated && query_.for_people
                           ? std::string()
                           : nodes_text(share, query_.for_people));
    cells.emplace_back(row.is_unallocated ? std::string() : share.device);
    cells.emplace_back(row.runs ? gpus_text(row.gpu_milli) : std::string());
    cells.emplace_back(since_text(row, view_.at, query_.for_people));
    cells.push_back(cell(row.hour));
    cells.push_back(cell(row.idle_hour));
    cells.push_back(cell(row.cost_today));
    cells.push_back(cell(row.cost_month));
    const auto busy = busy_ratio(row);
    cells.push_back(busy ? Cell(*busy) : Cell());
    if (names_limits) {
      cells.emplace_back(limit_text(row));
      cells.push_back(cell(cost_to_time_limit(row, view_.at)));
    }
    if (names_unpriced) cells.emplace_back(std::string(row.is_partly_priced() ? "partly" : ""));
    return cells;
  }

  Row total(const Rows& rows, const Rows& ended, std::size_t columns) const {
    std::uint64_t milli = 0;
    for (const LiveRow* row : rows) milli += row->runs ? row->gpu_milli : 0;
    Row cells(columns);
    cells[0] = std::string("total");
    // Labels that have a column may have the same name, so it is counted from the end.
    const std::size_t gpus =
        columns - 7 - (shows_limits(rows) ? 2 : 0) - (shows_unpriced(rows) ? 1 : 0);
    cells[gpus] = gpus_text(milli);
    cells[gpus + 2] = cell(sum(rows, &LiveRow::hour));
    cells[gpus + 3] = cell(sum(rows, &LiveRow::idle_hour));
    Rows all = rows;
    all.insert(all.end(), ended.begin(), ended.end());
    cells[gpus + 4] = cell(sum(all, &LiveRow::cost_today));
    cells[gpus + 5] = cell(sum(all, &LiveRow::cost_month));
    return cells;
  }

  std::string title(const Rows& rows, std::optional<Currency> currency) const {
    Rows held, free;
    std::uint64_t milli_held = 0, milli = 0, running = 0;
    for (const LiveRow* row : rows) {
      if (!row->runs) continue;
      (row->is_unallocated ? free : held).push_back(row);
      milli += row->gpu_milli;
      if (row->is_unallocated) continue;
      milli_held += row->gpu_milli;
      ++running;
    }
    std::string text = fmt::format("Running at {}: {} {} on {} of {} GPUs",
                                   to_text(std::chrono::floor<std::chrono::seconds>(view_.at)),
                                   running, running == 1 ? "workload" : "workloads",
                                   gpus_text(milli_held), gpus_text(milli));
    if (!currency) return text;
    const auto amount = [&](const std::optional<Money>& money) {
      return format_minor(money.value_or(Money::zero(*currency)));
    };
    text += fmt::format(", {} {} an hour", amount(sum(rows, &LiveRow::hour)), currency->text());
    const auto idle = sum(held, &LiveRow::idle_hour);
    const auto unallocated = sum(free, &LiveRow::hour);
    if (idle && !idle->is_zero()) text += fmt::format(", {} of it idle", amount(idle));
    if (unallocated && !unallocated->is_zero())
      text += fmt::format(", {} unallocated", amount(unallocated));
    return text;
  }

  // Removes columns until the rest fits the terminal's width.
  void fit(Table& table) const {
    for (const char* name : kDispensable) {
      if (is_narrow_enough(table)) return;
      const auto at = std::ranges::find(table.columns, name, &Column::name);
      if (at == table.columns.end()) continue;
      const auto index = at - table.columns.begin();
      table.columns.erase(at);
      for (Row& cells : table.rows) cells.erase(cells.begin() + index);
      const bool was_label = index == 0;  // of the total row
      table.total->erase(table.total->begin() + index);
      if (was_label) table.total->front() = std::string("total");
    }
  }

  bool is_narrow_enough(const Table& table) const {
    Table bare = table;
    bare.title.clear();
    bare.notes.clear();
    TextStyle style = query_.style;
    style.colour = false;
    std::istringstream rows(render_text(bare, style));
    for (std::string row; std::getline(rows, row);) {
      if (display_width(row) > *style.width) return false;
    }
    return true;
  }

  const LiveView& view_;
  const LiveQuery& query_;
  const bool names_cluster_;
};

}  // namespace

std::optional<LiveOrder> parse_live_order(std::string_view text) {
  const auto found = std::ranges::find(kLiveOrders, text);
  if (found == kLiveOrders.end()) return std::nullopt;
  return static_cast<LiveOrder>(found - kLiveOrders.begin());
}

std::string duration_text(std::chrono::milliseconds length) {
  const auto seconds = std::max<std::int64_t>(0, length.count() / 1000);
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{} d {} h", days, hours % 24);
  if (hours > 0) return fmt::format("{} h {} min", hours, minutes % 60);
  if (minutes > 0) return fmt::format("{} min", minutes);
  return fmt::format("{} s", seconds);
}

std::vector<Table> live_tables(const LiveView& view, const LiveQuery& query) {
  std::vector<LiveRow> all = live_rows(view);
  std::erase_if(all, [&](const LiveRow& row) { return !passes(row, query.filter); });
  std::ranges::sort(
      all, [&](const LiveRow& a, const LiveRow& b) { return is_before(a, b, query.order); });
  std::map<Currency, Rows> by_currency, ended;
  Rows without;
  for (const LiveRow& row : all) {
    const auto currency = row_currency(row);
    const bool is_shown = query.ended || row.runs;
    if (!is_shown && currency) ended[*currency].push_back(&row);
    if (is_shown) (currency ? by_currency[*currency] : without).push_back(&row);
  }
  for (const auto& [currency, rows] : ended) by_currency.try_emplace(currency);
  const LiveTableBuilder maker(view, query);
  std::vector<Table> tables;
  for (auto& [currency, rows] : by_currency) {
    if (tables.empty()) rows.insert(rows.end(), without.begin(), without.end());
    tables.push_back(maker.make(rows, ended[currency], currency));
  }
  if (tables.empty()) tables.push_back(maker.make(without, {}, std::nullopt));
  for (const auto& [id, cluster] : view.clusters) {
    for (const std::string& note : cluster.recent.notes) {
      tables.back().notes.push_back(fmt::format("{}: {}", id.text(), note));
    }
  }
  return tables;
}

}  // namespace pennyweight
