#include "live/view/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "report/number_format.h"

namespace pennyweight {

const std::vector<std::string> kLiveOrders = {"cost",  "today", "idle",    "gpus",
                                              "since", "busy",  "workload"};

namespace {

constexpr const char* kNobody = "(nobody)";
constexpr const char* kNobodyForPeople = "held by nobody";
constexpr std::size_t kNodesNamed = 2;
// What a narrow terminal goes without, the first of these first.
constexpr std::array kDispensable = {"device",        "cost_month", "nodes",
                                     "idle_per_hour", "cost_today", "cluster"};

using Lines = std::vector<const LiveLine*>;

// What a filter or a column says of a line: its cluster or workload, a dimension, else a label.
std::string value_of(const LiveLine& line, std::string_view name) {
  if (name == "cluster") return line.cluster.text();
  if (name == "workload") return line.share().workload.text();
  if (const auto value = line.share().dimensions.find(name)) return std::string(*value);
  return std::string(line.share().labels.find(name).value_or(""));
}

bool passes(const LiveLine& line, const Labels& filter) {
  return std::ranges::all_of(filter.entries(), [&](const Labels::Entry& wanted) {
    return value_of(line, wanted.first) == wanted.second;
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

// Millionths; -1: not seen.
Int128 busy_key(const LiveLine& line) {
  const auto ratio = busy_of(line);
  return ratio ? ratio->part / (ratio->whole / 1'000'000 + 1) : -1;
}

bool goes_before(const LiveLine& a, const LiveLine& b, LiveOrder order) {
  // What nobody holds stands first, whatever the order.
  if (a.is_nobody != b.is_nobody) return a.is_nobody;
  const auto name = [](const LiveLine& line) {
    return std::tie(line.cluster, line.share().workload);
  };
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

std::optional<Currency> currency_of(const LiveLine& line) {
  if (line.hour) return line.hour->currency();
  if (line.cost_today) return line.cost_today->currency();
  return std::nullopt;
}

Cell cell(const std::optional<Money>& money) { return money ? Cell(*money) : Cell(); }

std::optional<Money> sum(const Lines& lines, std::optional<Money> LiveLine::* amount) {
  std::optional<Money> all;
  for (const LiveLine* line : lines) {
    const std::optional<Money>& one = line->*amount;
    if (one) all = all ? *all + *one : *one;
  }
  return all;
}

std::string since_text(const LiveLine& line, Instant now, bool for_people) {
  const auto& since = line.share().since;
  if (line.is_nobody || !since) return "";
  return for_people ? duration_text(now - *since) : to_text(*since);
}

class TableMaker {
 public:
  TableMaker(const LiveView& view, const LiveQuery& query)
      : view_(view), query_(query), names_cluster_(view.clusters.size() > 1) {}

  Table make(const Lines& lines, std::optional<Currency> currency) const {
    Table table;
    table.title = title(lines, currency);
    table.currency = currency;
    table.columns = columns();
    const std::size_t shown =
        query_.limit == 0 ? lines.size() : std::min(query_.limit, lines.size());
    for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(row(*lines[i]));
    table.total = total(lines);
    if (shown < lines.size()) {
      table.notes.push_back(fmt::format("{} of {} rows; the total is of all", shown, lines.size()));
    }
    if (query_.for_people && query_.style.width) fit(table);
    return table;
  }

 private:
  std::vector<Column> columns() const {
    std::vector<Column> all;
    if (names_cluster_) all.push_back({"cluster", "cluster", ColumnKind::kText});
    all.push_back({"workload", "workload", ColumnKind::kText});
    for (const std::string& name : query_.shown) all.push_back({name, name, ColumnKind::kText});
    all.push_back({"nodes", "nodes", ColumnKind::kText});
    all.push_back({"device", "device", ColumnKind::kText});
    // Numbers, though their cells are texts.
    all.push_back({"gpus", "GPUs", ColumnKind::kCount});
    all.push_back({"since", query_.for_people ? "for" : "since", ColumnKind::kCount});
    all.push_back({"cost_per_hour", "an hour", ColumnKind::kMoney});
    all.push_back({"idle_per_hour", "of it idle", ColumnKind::kMoney});
    all.push_back({"cost_today", "today", ColumnKind::kMoney});
    all.push_back({"cost_month", "this month", ColumnKind::kMoney});
    all.push_back({"busy", "used", ColumnKind::kPercent});
    return all;
  }

  Row row(const LiveLine& line) const {
    const LiveShare& share = line.share();
    Row cells;
    if (names_cluster_) cells.emplace_back(line.cluster.text());
    const char* const nobody = query_.for_people ? kNobodyForPeople : kNobody;
    cells.emplace_back(line.is_nobody ? nobody : share.workload.text());
    for (const std::string& name : query_.shown) cells.emplace_back(value_of(line, name));
    cells.emplace_back(line.is_nobody && query_.for_people ? std::string()
                                                           : nodes_text(share, query_.for_people));
    cells.emplace_back(line.is_nobody ? std::string() : share.device);
    cells.emplace_back(line.runs ? gpus_text(line.gpu_milli) : std::string());
    cells.emplace_back(since_text(line, view_.at, query_.for_people));
    cells.push_back(cell(line.hour));
    cells.push_back(cell(line.idle_hour));
    cells.push_back(cell(line.cost_today));
    cells.push_back(cell(line.cost_month));
    const auto busy = busy_of(line);
    cells.push_back(busy ? Cell(*busy) : Cell());
    return cells;
  }

  Row total(const Lines& lines) const {
    std::uint64_t milli = 0;
    for (const LiveLine* line : lines) milli += line->runs ? line->gpu_milli : 0;
    Row cells(columns().size());
    cells[0] = std::string("total");
    const std::size_t gpus = cells.size() - 7;
    cells[gpus] = gpus_text(milli);
    cells[gpus + 2] = cell(sum(lines, &LiveLine::hour));
    cells[gpus + 3] = cell(sum(lines, &LiveLine::idle_hour));
    cells[gpus + 4] = cell(sum(lines, &LiveLine::cost_today));
    cells[gpus + 5] = cell(sum(lines, &LiveLine::cost_month));
    return cells;
  }

  std::string title(const Lines& lines, std::optional<Currency> currency) const {
    Lines held, free;
    std::uint64_t milli_held = 0, milli = 0, running = 0;
    for (const LiveLine* line : lines) {
      if (!line->runs) continue;
      (line->is_nobody ? free : held).push_back(line);
      milli += line->gpu_milli;
      if (line->is_nobody) continue;
      milli_held += line->gpu_milli;
      ++running;
    }
    std::string text = fmt::format("Running at {}: {} {} on {} of {} GPUs",
                                   to_text(std::chrono::floor<std::chrono::seconds>(view_.at)),
                                   running, running == 1 ? "workload" : "workloads",
                                   gpus_text(milli_held), gpus_text(milli));
    if (!currency) return text;
    const auto amount = [](const std::optional<Money>& money) {
      return format_rounded(money ? money->amount() : Decimal(), 2, Thousands::kSeparated);
    };
    text += fmt::format(", {} {} an hour", amount(sum(lines, &LiveLine::hour)), currency->text());
    const auto idle = sum(held, &LiveLine::idle_hour);
    const auto nobody = sum(free, &LiveLine::hour);
    if (idle && !idle->is_zero()) text += fmt::format(", {} of it held idle", amount(idle));
    if (nobody && !nobody->is_zero()) text += fmt::format(", {} held by nobody", amount(nobody));
    return text;
  }

  // Takes columns away until the rest can be shown in the terminal's width.
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
    std::istringstream lines(render_text(bare, style));
    for (std::string line; std::getline(lines, line);) {
      if (display_width(line) > *style.width) return false;
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
  std::vector<LiveLine> all = live_lines(view);
  std::erase_if(all, [&](const LiveLine& line) {
    return (!query.ended && !line.runs) || !passes(line, query.filter);
  });
  std::ranges::sort(
      all, [&](const LiveLine& a, const LiveLine& b) { return goes_before(a, b, query.order); });
  std::map<Currency, Lines> by_currency;
  Lines without;
  for (const LiveLine& line : all) {
    const auto currency = currency_of(line);
    (currency ? by_currency[*currency] : without).push_back(&line);
  }
  const TableMaker maker(view, query);
  std::vector<Table> tables;
  for (auto& [currency, lines] : by_currency) {
    if (tables.empty()) lines.insert(lines.end(), without.begin(), without.end());
    tables.push_back(maker.make(lines, currency));
  }
  if (tables.empty()) tables.push_back(maker.make(without, std::nullopt));
  for (const auto& [id, cluster] : view.clusters) {
    for (const std::string& note : cluster.recent.notes) {
      tables.back().notes.push_back(fmt::format("{}: {}", id.text(), note));
    }
  }
  return tables;
}

}  // namespace pennyweight
