// invoice: chargeback invoices of a month, as drafts, issued, and shown again.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "app/file.h"
#include "app/table_options.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "invoice/document.h"
#include "invoice/render.h"
#include "questions/invoices.h"

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
  bool for_customer = false;
  std::string reason;
};

struct ShowOptions {
  std::string number;
  bool for_customer = false;
  std::string format = "text";
};

// Names of files are made of numbers alone: what a customer is called may be no name of a file.
std::string file_name(const Invoice& invoice, std::size_t place, const std::string& format) {
  const std::string end = "." + std::string(format == "text" ? "txt" : format);
  if (!invoice.number.empty()) return invoice.number + end;
  if (invoice.kind == InvoiceKind::kNotCharged) {
    return fmt::format("{}-{}-{}{}", kTheUnassigned, invoice.month, invoice.currency.text(), end);
  }
  return fmt::format("DRAFT-{}-{:04}{}", invoice.month, place + 1, end);
}

Result<void> write_files(const std::vector<Invoice>& invoices, const InvoiceOptions& options,
                         const Console& console) {
  std::error_code problem;
  std::filesystem::create_directories(options.folder, problem);
  if (problem) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot make the folder {}: {}", options.folder, problem.message()));
  }
  for (std::size_t i = 0; i < invoices.size(); ++i) {
    const std::string path =
        (std::filesystem::path(options.folder) / file_name(invoices[i], i, options.format))
            .string();
    auto file = OutputFile::create(path);
    if (!file) return std::unexpected(file.error());
    if (const auto written = file->write(render_invoice(invoices[i], options.format)); !written) {
      return written;
    }
    if (const auto done = file->commit(); !done) return done;
    console.say(path);
  }
  return {};
}

Result<void> put_out(const std::vector<Invoice>& invoices, const InvoiceOptions& options,
                     const Console& console) {
  if (!options.folder.empty()) return write_files(invoices, options, console);
  if (options.format == "html" && invoices.size() > 1) {
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
    console.print(render_invoice(invoices[i], options.format));
  }
  return {};
}

Result<ExitCode> run(const InvoiceOptions& options, Context& context) {
  if (options.month.empty()) return wrong_usage("--month says whose invoices: --month 2026-03");
  const InvoiceQuestion question{.month = options.month,
                                 .by = options.by,
                                 .detail = options.detail,
                                 .customer = options.customer,
                                 .issue = options.issue,
                                 .reason = options.reason};
  if (const auto right = check_question(question, context.config); !right) {
    return as_usage(right.error());
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  auto month = ask_invoices(**store, context.config, question, context.clock.now());
  if (!month) return std::unexpected(month.error());
  if (options.issue) {
    if (const auto told = tell_issued(context, month->prepared); !told) {
      return std::unexpected(told.error());
    }
  }

  std::vector<Invoice> shown = month->issued;
  shown.insert(shown.end(), month->prepared.begin(), month->prepared.end());
  // What nobody is charged for is no customer's.
  if (!options.for_customer) {
    shown.insert(shown.end(), month->not_charged.begin(), month->not_charged.end());
  }
  for (Invoice& invoice : shown) invoice.for_customer = options.for_customer;
  if (const auto done = put_out(shown, options, context.console); !done) {
    return std::unexpected(done.error());
  }
  context.console.say(fmt::format(
      "{}: {} issued before, {} {}; with what is not charged to anyone they meet the bill, "
      "difference 0",
      options.month, month->issued_all, month->prepared_all,
      options.issue   ? "issued now"
      : month->closed ? "drafts"
                      : "drafts of an open month"));
  return ExitCode::kDone;
}

Result<ExitCode> list(const TableOptions& options, Context& context) {
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto all_issued = issued_invoices(**store);
  if (!all_issued) return std::unexpected(all_issued.error());
  std::map<Currency, Table> tables;
  for (const auto& [kept, invoice] : *all_issued) {
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
  if (all.empty()) context.console.say("no invoice was issued yet");
  return ExitCode::kDone;
}

Result<ExitCode> show(const ShowOptions& options, Context& context) {
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  auto found = find_invoice(**store, options.number);
  if (!found) {
    Error error = found.error();
    if (error.code == ErrorCode::kNotFound) {
      error.message += "; 'pennyweight invoice list' has all of them";
    }
    return std::unexpected(std::move(error));
  }
  found->invoice.for_customer = options.for_customer;
  context.console.print(options.format == "json" && !options.for_customer
                            ? found->kept.document
                            : render_invoice(found->invoice, options.format));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_invoice(CLI::App& app) {
  const auto options = std::make_shared<InvoiceOptions>();
  const auto show_options = std::make_shared<ShowOptions>();
  const auto list_options = std::make_shared<TableOptions>();
  CLI::App* command = app.add_subcommand("invoice", "Chargeback invoices of a month, by customer");
  const auto add_format = [](CLI::App& to, std::string& format) {
    to.add_option("--format", format, "As what")
        ->check(CLI::IsMember({"text", "html", "csv", "json"}))
        ->capture_default_str();
  };
  const auto add_for_customer = [](CLI::App& to, bool& wanted) {
    to.add_flag("--for-customer", wanted,
                "Without the reconciliation, which says what all customers are charged");
  };
  command->add_option("--month", options->month, "Whose accounts, such as 2026-03");
  command->add_option("--by", options->by, "The customers' dimension, over the configured one");
  command->add_option("--detail", options->detail, "Dimensions with a section for each value")
      ->delimiter(',');
  command->add_option("--customer", options->customer, "Only the drafts and invoices of this one");
  add_format(*command, options->format);
  add_for_customer(*command, options->for_customer);
  command->add_option("--out", options->folder, "A folder: a file for each, named by its number");
  command->add_flag("--issue", options->issue,
                    "Give them numbers and keep them for ever; else they are drafts");
  command->add_option("--reason", options->reason, "Why issued invoices are put right");
  CLI::App* list_command = command->add_subcommand("list", "All that were issued");
  add_table_options(*list_command, *list_options);
  CLI::App* show_command = command->add_subcommand("show", "One as it was issued");
  show_command->add_option("number", show_options->number, "Its number")->required();
  add_format(*show_command, show_options->format);
  add_for_customer(*show_command, show_options->for_customer);
  command->footer(examples_of("invoice"));
  return {command, [=](Context& context) {
            if (list_command->parsed()) return list(*list_options, context);
            if (show_command->parsed()) return show(*show_options, context);
            return run(*options, context);
          }};
}

}  // namespace pennyweight
