// invoice: drafts, issues and shows the chargeback invoices of a month.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/audit_events/audit_events.h"
#include "app/cli/budget_changes.h"
#include "app/cli/event_changes.h"
#include "app/cli/invoice_mail.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/billing_period.h"
#include "core/files/file.h"
#include "core/try.h"
#include "insight/queries/client_report.h"
#include "reporting/invoice/document.h"
#include "reporting/invoice/render.h"
#include "reporting/queries/invoices.h"

namespace pennyweight {
namespace {

constexpr const char* kTheUnassigned = "not-charged";

struct InvoiceOptions {
  std::string month;
  std::string by;
  std::vector<std::string> detail;
  std::string customer;
  std::string format = "text";
  std::string folder;
  bool issue = false;
  bool for_customer = false;  // the default; --books is the other view
  bool books = false;
  std::string reason;
};

struct ShowInvoiceOptions {
  std::string number;
  bool for_customer = false;
  bool books = false;
  std::string format = "text";
};

// Files are named by invoice number alone: a customer's name may not be a valid file name.
std::string file_name(const Invoice& invoice, std::size_t place, const std::string& format) {
  const std::string end = "." + std::string(format == "text" ? "txt" : format);
  if (!invoice.number.empty()) return invoice.number + end;
  if (invoice.kind == InvoiceKind::kNotCharged) {
    return fmt::format("{}-{}-{}{}", kTheUnassigned, invoice.month, invoice.currency.text(), end);
  }
  return fmt::format("DRAFT-{}-{:04}{}", invoice.month, place + 1, end);
}

Result<void> write_files(const std::vector<Invoice>& invoices, const InvoiceOptions& options,
                         const Context& context) {
  std::error_code problem;
  std::filesystem::create_directories(options.folder, problem);
  if (problem) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create the folder {}: {}", options.folder, problem.message()));
  }
  for (std::size_t i = 0; i < invoices.size(); ++i) {
    const std::string path =
        (std::filesystem::path(options.folder) / file_name(invoices[i], i, options.format))
            .string();
    const auto document = TRY(render_document(invoices[i], options.format, context.config));
    auto file = TRY(OutputFile::create(path));
    TRY(file.write(document));
    TRY(file.commit());
    context.console.say(path);
  }
  return {};
}

Result<void> put_out(const std::vector<Invoice>& invoices, const InvoiceOptions& options,
                     const Context& context) {
  if (!options.folder.empty()) return write_files(invoices, options, context);
  const Console& console = context.console;
  if ((options.format == "html" || options.format == "pdf") && invoices.size() > 1) {
    return fail(ErrorCode::kConfig,
                fmt::format("these are {} pages; name a folder with --out, or one customer with "
                            "--customer",
                            invoices.size()));
  }
  if (options.format == "csv") {
    console.print(render_invoice_csv(invoices));
    return {};
  }
  if (options.format == "json") {
    std::string all = "[";
    for (const Invoice& invoice : invoices) {
      all += (all.size() == 1 ? "\n" : ",\n") + invoice_document(invoice);
    }
    console.print(all + "]\n");
    return {};
  }
  for (std::size_t i = 0; i < invoices.size(); ++i) {
    if (i > 0) console.print("\n");
    const auto document = TRY(render_document(invoices[i], options.format, context.config));
    console.print(document);
  }
  return {};
}

Result<MonthInvoices> issue_recorded(Store& store, const InvoiceRequest& request,
                                     Context& context) {
  return with_intent(
      context, "invoice.issue", "month " + request.month, "", [&]() -> Result<MonthInvoices> {
        auto month = TRY(create_invoices(store, context.config, request, context.clock.now()));
        TRY(record_invoices(context, month.prepared));
        return month;
      });
}

Result<ExitCode> run(const InvoiceOptions& options, Context& context) {
  if (options.month.empty()) return usage_error("--month is missing: --month 2026-03");
  const InvoiceRequest request{.month = options.month,
                               .by = options.by,
                               .detail = options.detail,
                               .customer = options.customer,
                               .issue = options.issue,
                               .reason = options.reason};
  if (const auto right = check_invoice_request(request, context.config); !right) {
    return as_usage_error(right.error());
  }
  const auto store = TRY(open_ledger(context.config));
  auto month = options.issue
                   ? issue_recorded(*store, request, context)
                   : create_invoices(*store, context.config, request, context.clock.now());
  if (!month) return std::unexpected(month.error());
  TRY(warn_of_staleness(*store, options.month, context));
  for (const std::string& note : month->notes) context.console.say(note);

  std::vector<Invoice> shown = month->issued;
  shown.insert(shown.end(), month->prepared.begin(), month->prepared.end());
  // What is not charged belongs to no customer.
  if (options.books) {
    shown.insert(shown.end(), month->not_charged.begin(), month->not_charged.end());
  }
  for (Invoice& invoice : shown) invoice.for_customer = !options.books;
  TRY(put_out(shown, options, context));
  context.console.say(fmt::format(
      "{}: {} issued before, {} {}; with what is not charged to anyone they add up to the bill, "
      "difference 0",
      options.month, month->issued_all, month->prepared_all,
      options.issue   ? "issued now"
      : month->closed ? "drafts"
                      : "drafts of an open month"));
  return ExitCode::kDone;
}

Result<ExitCode> list(const TableOptions& options, Context& context) {
  const auto store = TRY(open_ledger(context.config));
  const auto all_issued = TRY(issued_invoices(*store));
  std::map<Currency, Table> tables;
  for (const auto& [kept, invoice] : all_issued) {
    const auto [table, is_new] = tables.try_emplace(invoice.currency);
    if (is_new) {
      table->second = {.title = "Issued invoices, " + invoice.currency.text(),
                       .currency = invoice.currency,
                       .columns = {{"number", "number", ColumnKind::kId},
                                   {"issued_on", "issued", ColumnKind::kId},
                                   {"month", "month", ColumnKind::kId},
                                   {"customer", "customer", ColumnKind::kText},
                                   {"refers_to", "refers to", ColumnKind::kId},
                                   {"net", "net", ColumnKind::kMoney},
                                   {"total", "total", ColumnKind::kMoney}},
                       .rows = {},
                       .total = std::nullopt,
                       .notes = {}};
    }
    table->second.rows.push_back({kept.number, invoice.issued_on, kept.month, kept.customer,
                                  kept.refers_to, invoice.net.shown, invoice.total_shown});
  }
  std::vector<Table> all;
  for (auto& [currency, table] : tables) all.push_back(std::move(table));
  print_tables(all, options, context);
  if (all.empty()) context.console.say("no invoice has been issued yet");
  return ExitCode::kDone;
}

struct ProfitabilityOptions {
  std::string month;
  std::string by;
  TableOptions table;
};

Result<ExitCode> show_profitability(const ProfitabilityOptions& options, Context& context) {
  if (options.month.empty()) return usage_error("--month is missing: --month 2026-03");
  if (const auto right =
          check_invoice_request({.month = options.month, .by = options.by}, context.config);
      !right) {
    return as_usage_error(right.error());
  }
  const auto store = TRY(open_ledger(context.config));
  const auto tables = TRY(query_profitability(*store, context.config, options.month, options.by));
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> show(const ShowInvoiceOptions& options, Context& context) {
  const auto store = TRY(open_ledger(context.config));
  auto found = find_invoice(*store, options.number);
  if (!found) {
    Error error = found.error();
    if (error.code == ErrorCode::kNotFound) {
      error.message += "; 'pennyweight invoice list' lists them all";
    }
    return std::unexpected(std::move(error));
  }
  found->invoice.for_customer = !options.books;
  if (options.format == "json" && options.books) {
    context.console.print(found->record.document);
    return ExitCode::kDone;
  }
  const auto document = TRY(render_document(found->invoice, options.format, context.config));
  context.console.print(document);
  return ExitCode::kDone;
}

struct ClientReportOptions {
  ClientReportQuery query;
  std::string pdf;
  TableOptions table;
};

Result<ExitCode> run_client_report(const ClientReportOptions& options, Context& context) {
  const ClientReportQuery& query = options.query;
  if (query.month.empty()) return usage_error("--month is missing: --month 2026-03");
  const Config& config = context.config;
  const std::vector<Budget> budgets = TRY(all_budgets(context));
  const auto events = TRY(all_events(context));
  const Date today = TRY(parse_date(local_date(context.clock.now(), config.policy.time_zone)));
  const auto store = TRY(open_ledger(config));
  auto tables = query_ledger_client_report(
      *store, {.query = query, .budgets = budgets, .events = events, .today = today}, config);
  if (!tables) return as_usage_error(tables.error());
  TRY(warn_of_staleness(*store, query.month, context));
  if (options.pdf.empty()) {
    print_tables(*tables, options.table, context);
    return ExitCode::kDone;
  }
  const auto bytes = TRY(render_client_report_pdf(query, *std::move(tables), config));
  auto file = TRY(OutputFile::create(options.pdf));
  TRY(file.write(bytes));
  TRY(file.commit());
  context.console.say("written to " + options.pdf);
  return ExitCode::kDone;
}

// Adds `invoice clients`. What is returned runs it where it was typed.
std::function<std::optional<Result<ExitCode>>(Context&)> add_client_report(CLI::App& invoice) {
  const auto options = std::make_shared<ClientReportOptions>();
  CLI::App* command = invoice.add_subcommand(
      "clients",
      "Show what each client spent on training, inference and storage, its budgets, "
      "and the margin");
  add_booked_month_option(*command, options->query.month);
  command->add_option("--by", options->query.by, "The clients' dimension; default: as configured");
  command->add_option("--work", options->query.work, "The dimension that says what work is for")
      ->capture_default_str();
  command->add_option("--training", options->query.training, "Its values for training")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--inference", options->query.inference, "Its values for inference")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--storage", options->query.storage,
                   "ServiceNames of the bill that are storage; default: those of AWS, Azure, GCP "
                   "and OCI")
      ->delimiter(',');
  command->add_option("--pdf", options->pdf, "Write it to this file, as a PDF");
  add_table_options(*command, options->table);
  return [command, options](Context& context) -> std::optional<Result<ExitCode>> {
    if (!command->parsed()) return std::nullopt;
    return run_client_report(*options, context);
  };
}

}  // namespace

Verb declare_invoice(CLI::App& app) {
  const auto options = std::make_shared<InvoiceOptions>();
  const auto show_options = std::make_shared<ShowInvoiceOptions>();
  const auto list_options = std::make_shared<TableOptions>();
  CLI::App* command =
      app.add_subcommand("invoice", "Show or issue the chargeback invoices of a month");
  const auto add_format = [](CLI::App& to, std::string& format) {
    to.add_option("--format", format, "The output format")
        ->check(CLI::IsMember({"text", "html", "pdf", "csv", "json"}))
        ->capture_default_str();
  };
  const auto add_views = [](CLI::App& to, bool& for_customer, bool& books) {
    CLI::Option* const client =
        to.add_flag("--for-customer", for_customer,
                    "As the customer may have it, without the books; the default");
    to.add_flag("--books", books,
                "With the reconciliation with the bill, what all other customers are charged, and "
                "what nobody is")
        ->excludes(client);
  };
  add_booked_month_option(*command, options->month);
  command->add_option("--by", options->by, "The customers' dimension; default: as configured");
  command->add_option("--detail", options->detail, "Dimensions with a section per value")
      ->delimiter(',');
  command->add_option("--customer", options->customer, "Only the drafts and invoices of this one");
  add_format(*command, options->format);
  add_views(*command, options->for_customer, options->books);
  command->add_option("--out", options->folder,
                      "A folder, for a file per invoice, named by its number");
  command->add_flag(
      "--issue", options->issue,
      "Issue the invoices: number them and store them for good; without it they are drafts");
  command->add_option("--reason", options->reason, "Why issued invoices are corrected");
  CLI::App* list_command = command->add_subcommand("list", "List the issued invoices");
  add_table_options(*list_command, *list_options);
  CLI::App* show_command = command->add_subcommand("show", "Show an invoice as it was issued");
  show_command->add_option("number", show_options->number, "Its number")->required();
  add_format(*show_command, show_options->format);
  add_views(*show_command, show_options->for_customer, show_options->books);
  const auto profit_options = std::make_shared<ProfitabilityOptions>();
  CLI::App* profit_command = command->add_subcommand(
      "profitability", "Show what each client is charged, what it cost, and the margin");
  add_booked_month_option(*profit_command, profit_options->month);
  profit_command->add_option("--by", profit_options->by,
                             "The clients' dimension; default: as configured");
  add_table_options(*profit_command, profit_options->table);
  const auto clients = add_client_report(*command);
  const auto send_options = std::make_shared<SendInvoiceOptions>();
  CLI::App* send_command =
      command->add_subcommand("send", "Mail issued invoices to their customers");
  send_command->add_option("number", send_options->number, "One invoice, by its number");
  add_booked_month_option(*send_command, send_options->month);
  send_command->add_option("--customer", send_options->customer, "Of the month only this one's");
  send_command
      ->add_option("--to", send_options->to, "Addresses in place of invoice.customers.VALUE.email")
      ->delimiter(',');
  send_command->add_option("--format", send_options->format, "What is attached")
      ->check(CLI::IsMember({"pdf", "html", "csv"}))
      ->capture_default_str();
  command->footer(examples_footer("invoice"));
  return {command, [=](Context& context) {
            if (auto done = clients(context)) return *std::move(done);
            if (send_command->parsed()) return send_invoices(*send_options, context);
            if (profit_command->parsed()) return show_profitability(*profit_options, context);
            if (list_command->parsed()) return list(*list_options, context);
            if (show_command->parsed()) return show(*show_options, context);
            return run(*options, context);
          }};
}

}  // namespace pennyweight
