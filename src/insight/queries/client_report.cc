#include "insight/queries/client_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/money.h"
#include "core/try.h"
#include "insight/queries/month_budgets.h"
#include "ledger/closing.h"
#include "reporting/cost_report.h"
#include "reporting/pdf/invoice_pdf.h"
#include "reporting/pdf/table_pdf.h"

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
  explicit ClientCosts(Currency currency)
      : training(Money::zero(currency)),
        inference(training),
        storage(training),
        other(training),
        invoiced_cost(training) {}
  Money training, inference, storage, other;
  GpuTime gpu_time;
  std::optional<Money> revenue;
  Money invoiced_cost;  // of what the invoices are about, and of what nobody is charged
  Money whole() const { return training + inference + storage + other; }

  void add(const ClientCosts& more) {
    training += more.training;
    inference += more.inference;
    storage += more.storage;
    other += more.other;
    gpu_time += more.gpu_time;
    invoiced_cost += more.invoiced_cost;
    if (more.revenue) revenue = revenue ? *revenue + *more.revenue : *more.revenue;
  }
  Row row(const std::string& name, std::string budget_flags) const {
    return {name,
            gpu_time,
            training,
            inference,
            storage,
            other,
            whole(),
            revenue ? Cell{*revenue} : Cell{},
            revenue ? Cell{*revenue - invoiced_cost} : Cell{},
            std::move(budget_flags)};
  }
};
using ClientKey = std::pair<Currency, std::string>;

bool is_among(const std::vector<std::string>& values, std::string_view value) {
  return std::ranges::find(values, value) != values.end();
}

// "nlp: at risk"; the budgets whose scope is this client and nothing else.
std::string budget_flags(std::span<const BudgetStatus> budgets, const std::string& by,
                         const ClientKey& key) {
  const auto& [currency, client] = key;
  std::string text;
  for (const BudgetStatus& status : budgets) {
    const auto& filters = status.budget.filters;
    const Currency unit = status.budget.currency();
    if (unit != currency && unit != kGpuHourUnit) continue;
    if (filters.size() != 1 || filters.front() != by + "=" + client) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", status.budget.name, status.state());
    if (status.actual_permille) text += fmt::format(" ({} %)", *status.actual_permille / 10);
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

struct Clients {
  std::map<ClientKey, ClientCosts> costs;
  bool knows_work = false;           // some workload says what it is for
  std::set<std::string> other_work;  // what work is for that is neither
};

Clients clients_of(std::span<const SummaryRow> rows, const ClientReportQuery& params) {
  const std::vector<std::string> storage =
      params.storage.empty() ? storage_services() : params.storage;
  Clients clients;
  for (const SummaryRow& row : rows) {
    const Money& cost = select_cost(row.costs, params.cost);
    const std::string& work = row.keys[1];
    ClientCosts& of =
        clients.costs.try_emplace({cost.currency(), row.keys[0]}, cost.currency()).first->second;
    clients.knows_work = clients.knows_work || !work.empty();
    // What is stored is storage, whoever's work it is for.
    if (is_among(storage, row.keys[2])) {
      of.storage += cost;
    } else if (is_among(params.training, work)) {
      of.training += cost;
    } else if (is_among(params.inference, work)) {
      of.inference += cost;
    } else {
      of.other += cost;
      if (!work.empty()) clients.other_work.insert(work);
    }
    of.gpu_time += row.gpu_time;
  }
  return clients;
}

}  // namespace

std::vector<std::string> storage_services() {
  return {std::begin(kStorageServices), std::end(kStorageServices)};
}

Result<std::vector<Table>> query_client_report(const ClientReportQuery& params,
                                               const SummarySource& summarise,
                                               std::span<const BudgetStatus> budgets,
                                               std::span<const ClientProfit> profits) {
  SummaryQuery query;
  query.group_by = {params.by, params.work, "service"};
  query.filters.push_back({.dimension = "month", .values = {params.month}});
  const std::vector<SummaryRow> rows = TRY(summarise(query));
  if (rows.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no allocated cost; run 'pennyweight allocate --month {}'",
                            params.month, params.month));
  }
  Clients clients = clients_of(rows, params);
  std::map<Currency, ClientCosts> sums;
  for (const ClientProfit& one : profits) {
    const Currency currency = one.cost.currency();
    // What nobody is charged is in the rows of those who caused it; the whole margin lacks it.
    if (one.client.empty()) {
      sums.try_emplace(currency, currency).first->second.invoiced_cost += one.cost;
      continue;
    }
    ClientCosts& of = clients.costs.try_emplace({currency, one.client}, currency).first->second;
    of.revenue = one.revenue;
    of.invoiced_cost = one.cost;
  }
  std::map<Currency, Table> tables;
  for (const auto& [key, of] : clients.costs) {
    const auto& [currency, client] = key;
    Table& table = tables.try_emplace(currency, client_table(params, currency)).first->second;
    sums.try_emplace(currency, currency).first->second.add(of);
    const std::string name = client.empty() ? std::string(kUnowned) : client;
    table.rows.push_back(of.row(name, budget_flags(budgets, params.by, key)));
    if (of.revenue && of.invoiced_cost != of.whole()) {
      table.notes.push_back(
          fmt::format("{}: invoices of the month count {} of cost, since they are for another "
                      "cost of the bill or for corrections; the margin is of that",
                      name, to_text(of.invoiced_cost.amount())));
    }
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) {
    table.total = sums.at(currency).row("total", "");
    if (!clients.knows_work) {
      table.notes.push_back(fmt::format(
          "no workload has the dimension {}, so all but storage is other; the guide says how "
          "labels become dimensions, or name another one with --work",
          params.work));
    } else if (!clients.other_work.empty()) {
      table.notes.push_back(fmt::format("other: also work of {} {}", params.work,
                                        fmt::join(clients.other_work, ", ")));
    }
    all.push_back(std::move(table));
  }
  return all;
}

Result<std::vector<Table>> query_ledger_client_report(Store& store,
                                                      const LedgerClientReport& params,
                                                      const Config& config) {
  ClientReportQuery query = params.query;
  if (query.by.empty()) query.by = config.invoice.by;
  query.cost = config.invoice.cost == "billed" ? CostColumn::kBilled : CostColumn::kEffective;
  TRY(check_invoice_request({.month = query.month, .by = query.by}, config));
  const SummarySource summarise = [&](const SummaryQuery& summary) {
    return store.summarise(summary);
  };
  std::vector<BudgetStatus> statuses;
  if (!params.budgets.empty()) {
    const std::vector<Closing> closings = TRY(store.closings());
    const bool is_closed =
        std::ranges::find(closings, query.month, &Closing::month) != closings.end();
    statuses = TRY(query_month_budgets(
        {.budgets = params.budgets, .today = params.today, .events = params.events}, query.month,
        is_closed, config.policy, summarise));
  }
  auto profits = TRY(query_client_profits(store, config, query.month, query.by));
  if (profits.at_cost) profits.clients.clear();
  auto tables = TRY(query_client_report(query, summarise, statuses, profits.clients));
  if (profits.at_cost) {
    for (Table& table : tables) {
      table.notes.emplace_back("invoice.rates has no rates, so nothing is said of revenue");
    }
  }
  return tables;
}

Result<std::string> render_client_report_pdf(const ClientReportQuery& query,
                                             std::vector<Table> tables, const Config& config) {
  return render_tables_pdf(
      {.title = fmt::format("The month of each client: {}", query.month),
       .lead = {"What each client spent on training, on inference, on storage and on everything "
                "else; these four add up to its cost. Beside them, what it is charged, the margin, "
                "and how its budgets stand."},
       .tables = std::move(tables)},
      config.invoice.font.empty() ? kPdfFont : config.invoice.font);
}

}  // namespace pennyweight
