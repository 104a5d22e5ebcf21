#include "app/cli/invoice_mail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/audit_events/audit_events.h"
#include "app/cli/shared_options.h"
#include "app/context/mail_server.h"
#include "core/mail/message.h"
#include "core/mail/smtp.h"
#include "core/try.h"
#include "reporting/invoice/render.h"
#include "reporting/minor_unit.h"
#include "reporting/queries/invoices.h"

namespace pennyweight {
namespace {

Result<std::vector<Invoice>> chosen_invoices(Store& store, const SendInvoiceOptions& options) {
  std::vector<Invoice> chosen;
  if (!options.number.empty()) {
    auto found = TRY(find_invoice(store, options.number));
    chosen.push_back(std::move(found.invoice));
    return chosen;
  }
  auto all = TRY(issued_invoices(store));
  for (StoredInvoice& one : all) {
    const bool is_of_customer =
        options.customer.empty() || one.invoice.customer == options.customer;
    if (one.record.month == options.month && is_of_customer) {
      chosen.push_back(std::move(one.invoice));
    }
  }
  if (chosen.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no invoice was issued for {}{}; 'pennyweight invoice list' lists them",
                            options.month,
                            options.customer.empty() ? "" : " to '" + options.customer + "'"));
  }
  return chosen;
}

std::string mail_text(const Invoice& invoice) {
  std::string text = fmt::format("{} {} for {}\n\n", invoice_title(invoice), invoice.number,
                                 format_month(invoice.month));
  text += fmt::format("Total: {} {}\n", format_minor(invoice.total_shown), invoice.currency.text());
  if (!invoice.due_on.empty()) text += fmt::format("Due: {}\n", invoice.due_on);
  if (!invoice.refers_to.empty()) text += fmt::format("Refers to: {}\n", invoice.refers_to);
  if (!invoice.note.empty()) text += "\n" + invoice.note + "\n";
  if (!invoice.issuer.name.empty()) text += "\n" + invoice.issuer.name + "\n";
  return text;
}

std::string media_type(std::string_view format) {
  if (format == "pdf") return "application/pdf";
  return format == "html" ? "text/html; charset=utf-8" : "text/csv; charset=utf-8";
}

Result<std::vector<std::string>> recipients_of(const Invoice& invoice,
                                               const SendInvoiceOptions& options,
                                               const InvoiceConfig& config) {
  if (!options.to.empty()) return options.to;
  const auto known = config.customers.find(invoice.customer);
  if (known != config.customers.end() && !known->second.email.empty()) {
    return std::vector<std::string>{known->second.email};
  }
  return fail(ErrorCode::kConfig,
              fmt::format("no address for '{}'; set invoice.customers.{}.email, or give --to",
                          invoice.customer, invoice.customer));
}

Result<std::vector<std::string>> send_one(Invoice invoice, const SendInvoiceOptions& options,
                                          const mail::SmtpSettings& smtp, Context& context) {
  invoice.for_customer = true;
  auto to = TRY(recipients_of(invoice, options, context.config.invoice));
  auto document = TRY(render_document(invoice, options.format, context.config));
  const Instant now = context.clock.now();
  const mail::Message message{
      .from = context.config.mail.from,
      .to = to,
      .reply_to = context.config.invoice.issuer.email,
      .subject =
          fmt::format("{} {} from {}", invoice_title(invoice), invoice.number,
                      invoice.issuer.name.empty() ? context.config.mail.from : invoice.issuer.name),
      .text = mail_text(invoice),
      .attachments = {{fmt::format("{}.{}", invoice.number, options.format),
                       media_type(options.format), std::move(document)}},
      .at = now,
      .id = fmt::format("{}.{}", invoice.number, now.time_since_epoch().count())};
  const auto text = TRY(mail::write_message(message));
  const std::string subject = "invoice " + invoice.number;
  const std::string facts = JsonObjectBuilder()
                                .text("to", fmt::format("{}", fmt::join(to, ", ")))
                                .text("format", options.format)
                                .json();
  TRY(with_intent(context, "invoice.send", subject, facts, [&]() -> Result<void> {
    TRY(mail::send_mail(smtp, message.from, to, text));
    return record_audit_event(context, "invoice.send", subject, "", facts);
  }));
  return to;
}

}  // namespace

Result<ExitCode> send_invoices(const SendInvoiceOptions& options, Context& context) {
  if (options.number.empty() == options.month.empty()) {
    return usage_error("name one invoice, or give --month for all that were issued for it");
  }
  for (const std::string& address : options.to) {
    if (const auto right = mail::check_address(address); !right) {
      return as_usage_error(right.error());
    }
  }
  const auto smtp = TRY(smtp_settings(context.config.mail));
  std::vector<Invoice> invoices;
  {
    const auto store = TRY(open_ledger(context.config));
    auto chosen = TRY(chosen_invoices(*store, options));
    invoices = std::move(chosen);
  }
  std::size_t unsent = 0;
  for (Invoice& invoice : invoices) {
    const std::string number = invoice.number;
    const auto sent = send_one(std::move(invoice), options, smtp, context);
    if (sent) {
      context.console.say(fmt::format("{} sent to {}", number, fmt::join(*sent, ", ")));
    } else {
      ++unsent;
      context.console.warn(fmt::format("{} was not sent: {}", number, sent.error().message));
    }
  }
  return unsent == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace pennyweight
