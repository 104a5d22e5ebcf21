#include "insight/queries/client_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "core/money.h"
#include "core/try.h"
#include "reporting/cost_report.h"

namespace pennyweight {
namespace {

// FOCUS ServiceNames as providers write them.
constexpr std::string_view kStorageServices[] = {"Amazon Simple Storage Service",
                                                 "Amazon S3",
                                                 "AmazonS3",
                                                 "Amazon Elastic Block Store",
                                                 "Amazon EBS",
                                                 "Amazon Elastic File System",
                                                 "AmazonEFS",
                                                 "Amazon FSx",
                                                 "AmazonFSx",
                                                 "Amazon S3 Glacier",
                                                 "Storage",
                                                 "Storage Accounts",
                                                 "Azure NetApp Files",
                                                 "Azure Blob Storage",
                                                 "Azure Files",
                                                 "Azure Disk Storage",
                                                 "Cloud Storage",
                                                 "Cloud Filestore",
                                                 "Filestore",
                                                 "Google Cloud NetApp Volumes",
                                                 "Object Storage",
                                                 "Block Volume",
                                                 "BLOCK_STORAGE",
                                                 "OBJECTSTORE",
                                                 "File Storage",
                                                 "FILE_STORAGE"};

constexpr std::string_view kUnowned = "(unowned)";

struct ClientCosts {
  Money training, inference, storage, other;
  GpuTime gpu_time;
  Money whole() const { return training + inference + storage + other; }
};

struct ClientMargin {
  Money revenue, cost;
};

bool is_among(const std::vector<std::string>& values, std::string_view value) {
  return std::ranges::find(values, value) != values.end();
}

// Revenue and cost of each client, of tables as query_profitability() makes them.
std::map<std::pair<Currency, std::string>, ClientMargin> read_margins(
    std::span<const Table> tables) {
  std::map<std::pair<Currency, std::string>, ClientMargin> all;
  for (const Table& table : tables) {
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(table.columns, name, &Column::name) -
                                      table.columns.begin());
    };
    const std::size_t revenue = column("revenue"), cost = column("cost");
    if (!table.currency || std::max(revenue, cost) >= table.columns.size()) continue;
    for (const Row& row : table.rows) {
      const auto* client = std::get_if<std::string>(&row.front());
      const auto* earned = std::get_if<Money>(&row[revenue]);
      const auto* spent = std::get_if<Money>(&row[cost]);
      if (client != nullptr && earned != nullptr && spent != nullptr) {
        all.try_emplace({*table.currency, *client}, ClientMargin{*earned, *spent});
      }
    }
  }
  return all;
}

// "nlp: at risk"; the budgets whose scope is this client and nothing else.
std::string budget_flags(std::span<const BudgetStatus> budgets, const std::string& by,
                         const std::string& client) {
  std::string text;
  for (const BudgetStatus& status : budgets) {
    const auto& filters = status.budget.filters;
    if (filters.size() != 1 || filters.front() != by + "=" + client) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", status.budget.name, status.state());
  }
  return text;
}

Table client_table(const ClientReportQuery& params, Currency currency) {
  Table table;
  table.title = fmt::format("Clients by {}, {}, {}", params.by, params.month, currency.text());
  table.currency = currency;
  table.columns = {{params.by, params.by},
                   {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                   {"training", "training", ColumnKind::kMoney},
                   {"inference", "inference", ColumnKind::kMoney},
                   {"storage", "storage", ColumnKind::kMoney},
                   {"other", "other", ColumnKind::kMoney},
                   {"cost", "cost", ColumnKind::kMoney},
                   {"revenue", "revenue", ColumnKind::kMoney},
                   {"margin", "margin", ColumnKind::kMoney},
                   {"budgets", "budgets"}};
  return table;
}

}  // namespace

std::vector<std::string> storage_services() {
  return {std::begin(kStorageServices), std::end(kStorageServices)};
}

Result<std::vector<Table>> query_client_report(const ClientReportQuery& params,
                                               const SummarySource& summarise,
                                               std::span<const BudgetStatus> budgets,
                                               std::span<const Table> profitability) {
  SummaryQuery query;
  query.group_by = {params.by, params.work, "service"};
  query.filters.push_back({.dimension = "month", .values = {params.month}});
  const std::vector<SummaryRow> rows = TRY(summarise(query));
  if (rows.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no allocated cost; run 'pennyweight allocate --month {}'",
                            params.month, params.month));
  }
  const std::vector<std::string> storage =
      params.storage.empty() ? storage_services() : params.storage;
  std::map<std::pair<Currency, std::string>, ClientCosts> clients;
  bool knows_work = false;
  std::set<std::string> other_work;
  for (const SummaryRow& row : rows) {
    const Money& cost = select_cost(row.costs, params.cost);
    const Money none = Money::zero(cost.currency());
    const std::string& client = row.keys[0];
    const std::string& work = row.keys[1];
    ClientCosts& of =
        clients
            .try_emplace({cost.currency(), client.empty() ? std::string(kUnowned) : client},
                         ClientCosts{none, none, none, none, {}})
            .first->second;
    knows_work = knows_work || !work.empty();
    // What is stored is storage, whoever's work it is for.
    if (is_among(storage, row.keys[2])) {
      of.storage += cost;
    } else if (is_among(params.training, work)) {
      of.training += cost;
    } else if (is_among(params.inference, work)) {
      of.inference += cost;
    } else {
      of.other += cost;
      if (!work.empty()) other_work.insert(work);
    }
    of.gpu_time += row.gpu_time;
  }
  const auto margins = read_margins(profitability);
  std::map<Currency, Table> tables;
  std::map<Currency, ClientCosts> sums;
  for (const auto& [key, of] : clients) {
    const auto& [currency, client] = key;
    Table& table = tables.try_emplace(currency, client_table(params, currency)).first->second;
    const Money none = Money::zero(currency);
    ClientCosts& sum =
        sums.try_emplace(currency, ClientCosts{none, none, none, none, {}}).first->second;
    sum.training += of.training;
    sum.inference += of.inference;
    sum.storage += of.storage;
    sum.other += of.other;
    sum.gpu_time += of.gpu_time;
    const auto margin = margins.find(key);
    const bool is_charged = margin != margins.end();
    table.rows.push_back({client, of.gpu_time, of.training, of.inference, of.storage, of.other,
                          of.whole(), is_charged ? Cell{margin->second.revenue} : Cell{},
                          is_charged ? Cell{margin->second.revenue - margin->second.cost} : Cell{},
                          budget_flags(budgets, params.by, client)});
    if (is_charged && margin->second.cost != of.whole()) {
      table.notes.push_back(
          fmt::format("{}: invoices of the month count {} of cost, since they are for another "
                      "cost of the bill or for corrections; the margin is of that",
                      client, to_text(margin->second.cost.amount())));
    }
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) {
    const ClientCosts& sum = sums.at(currency);
    table.total =
        Row{std::string("total"), sum.gpu_time, sum.training, sum.inference, sum.storage, sum.other,
            sum.whole(),          Cell{},       Cell{},       Cell{}};
    if (!knows_work) {
      table.notes.push_back(fmt::format(
          "no workload has the dimension {}, so all but storage is other; the guide says how "
          "labels become dimensions, or name another one with --work",
          params.work));
    } else if (!other_work.empty()) {
      table.notes.push_back(
          fmt::format("other: also work of {} {}", params.work, fmt::join(other_work, ", ")));
    }
    all.push_back(std::move(table));
  }
  return all;
}

}  // namespace pennyweight
