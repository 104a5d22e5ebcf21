// Invoices: issued ones, as data and as pages; drafts for a month; and issuing them.
//
// Users with a scope see the invoices of its customers if the scope has exactly one dimension, the
// one that invoices are made by: an invoice can't be cut by a second one.
#include "reporting/queries/invoices.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/date.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "reporting/invoice/render.h"
#include "server/access/accounts.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kInvoiceList = "invoices";
constexpr std::size_t kInvoiceReasonBytesMax = 2000;

bool sees_invoice(const access::Principal& who, const Invoice& invoice) {
  if (who.is_client() && !who.is_scoped()) return false;
  return std::ranges::all_of(who.scope, [&](const SummaryFilter& part) {
    return !part.negate && part.dimension == invoice.by &&
           std::ranges::find(part.values, invoice.customer) != part.values.end();
  });
}

// Those who may issue invoices see what all of them add up to.
bool sees_books(const access::Principal& who) {
  return !who.is_scoped() && access::may(who, access::Permission::kIssueInvoices);
}

// A share stands beside the sum that it is of, which is what all bear together.
void hide_shared_sums(Invoice& invoice) {
  for (InvoiceSection& section : invoice.sections) {
    for (InvoiceLine& line : section.lines) {
      if (!line.quantity || line.quantity->kind != QuantityKind::kShare) continue;
      line.quantity.reset();
      line.quantity_shown.clear();
      line.unit.clear();
      line.rate.clear();
    }
  }
}

server::Response not_the_books() {
  return server::problem(403, "Forbidden",
                         "The view 'books' shows what all customers are charged; it needs the "
                         "permission issue_invoices. Leave 'view' out for the client's view.");
}

std::string_view kind_word(InvoiceKind kind) {
  switch (kind) {
    case InvoiceKind::kInvoice:
      return "invoice";
    case InvoiceKind::kCreditNote:
      return "credit_note";
    case InvoiceKind::kSupplement:
      return "supplement";
    case InvoiceKind::kNotCharged:
      return "not_charged";
  }
  return "invoice";
}

void write_shown(JsonWriter& out, const Invoice& invoice) {
  out.field("kind", kind_word(invoice.kind))
      .field("month", invoice.month)
      .field("by", invoice.by)
      .field("customer", invoice.customer)
      .field("refers_to",
             invoice.refers_to.empty() ? std::nullopt : std::optional(invoice.refers_to))
      .field("net", pennyweight::to_text(invoice.net.shown.amount()))
      .field("total", pennyweight::to_text(invoice.total_shown.amount()))
      .field("currency", invoice.currency.text());
}

bool is_to_be_paid(const Invoice& invoice) {
  return !invoice.showback && invoice.total_shown.ticks() > 0;
}

// A day that people note of an issued invoice, which itself never changes. They are kept by the
// accounts file; an empty day is none.
struct NotedDay {
  std::string_view kept_as;
  std::string_view field;
  std::string_view noted;  // the audit log's word
  std::string_view taken_back;
};
constexpr NotedDay kSent{"invoice_dispatch ", "sent_on", "invoice.sent", "invoice.unsent"};
constexpr NotedDay kPaid{"invoice_payment ", "paid_on", "invoice.paid", "invoice.unpaid"};

Result<std::string> noted_day(const Services& services, const NotedDay& which,
                              const std::string& number) {
  const auto day = TRY(services.accounts.get(std::string(which.kept_as) + number));
  return day.value_or("");
}

struct NotedDays {
  std::string sent;
  std::string paid;
};

Result<NotedDays> noted_days(const Services& services, const std::string& number) {
  NotedDays days;
  days.sent = TRY(noted_day(services, kSent, number));
  days.paid = TRY(noted_day(services, kPaid, number));
  return days;
}

// `today`: in the zone of the policy, as texts of days are in the order of time.
void write_days(JsonWriter& out, const Invoice& invoice, const NotedDays& days,
                const std::string& today) {
  const auto known = [](const std::string& day) {
    return day.empty() ? std::nullopt : std::optional(day);
  };
  out.field("due_on", known(invoice.due_on))
      .field(kSent.field, known(days.sent))
      .field(kPaid.field, known(days.paid));
  out.field("overdue", days.paid.empty() && !invoice.due_on.empty() && invoice.due_on < today &&
                           is_to_be_paid(invoice));
}

std::string day_facts(const NotedDay& which, const std::string& day) {
  JsonWriter out;
  out.begin_object()
      .field(which.field, day.empty() ? std::nullopt : std::optional(day))
      .end_object();
  return out.text();
}

// Keeps such a day of the invoice that the request names; "": there is none.
server::Response store_day(const Services& services, const server::Request& request,
                           const NotedDay& which, const std::string& day) {
  const std::string number = request.param("number");
  const auto found =
      ask_ledger(services, [&](Store& store) { return find_invoice(store, number); });
  if (!found) return refusal(found.error());
  if (&which == &kPaid && !is_to_be_paid(found->invoice)) {
    return server::problem(409, "Conflict",
                           fmt::format("Nothing is to be paid for {}: it is a credit note, or for "
                                       "information.",
                                       number));
  }
  const auto before = noted_day(services, which, number);
  if (!before) return refusal(before.error());
  const std::string action(day.empty() ? which.taken_back : which.noted);
  const std::string subject = "invoice " + number;
  if (auto recorded = record_intent(services.audit_log, author_of(request), action, subject,
                                    day_facts(which, day));
      !recorded) {
    return refusal(recorded.error());
  }
  if (const auto kept = services.accounts.put(std::string(which.kept_as) + number, day); !kept) {
    record_failure(services.audit_log, author_of(request), action, subject, kept.error());
    return refusal(kept.error());
  }
  const auto recorded =
      append(services, request, action, subject, day_facts(which, *before), day_facts(which, day));
  if (!recorded) return not_recorded(recorded.error());
  return day.empty() ? server::Response{.status = 204} : json(day_facts(which, day));
}

server::Response note_day(const Services& services, const server::Request& request,
                          const NotedDay& which) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string now = local_date(services.clock.now(), services.config.policy.time_zone);
  const auto today = parse_date(now);
  const std::string field(which.field);
  const auto day = parse_date(body.text(field).value_or(now));
  if (!day) {
    body.reject(field, "must be a date such as 2026-04-02");
  } else if (today && *day > *today) {
    body.reject(field, "is in the future");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  return store_day(services, request, which, pennyweight::to_text(*day));
}

server::Response take_day_back(const Services& services, const server::Request& request,
                               const NotedDay& which) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  return store_day(services, request, which, "");
}

void write_stored_invoice(JsonWriter& out, const StoredInvoice& one, const NotedDays& days,
                          const std::string& today) {
  out.begin_object().field("number", one.record.number);
  write_shown(out, one.invoice);
  write_days(out, one.invoice, days, today);
  out.field("issued_at", one.record.issued_at)
      .field("digest", pennyweight::to_text(one.record.digest))
      .end_object();
}

struct Media {
  std::string_view format;
  std::string_view content_type;
  std::string_view ending;
};
constexpr Media kMedia[] = {{"json", "application/json", "json"},
                            {"html", "text/html; charset=utf-8", "html"},
                            {"text", "text/plain; charset=utf-8", "txt"},
                            {"csv", "text/csv; charset=utf-8", "csv"},
                            {"pdf", "application/pdf", "pdf"}};

const Media& find_media(std::string_view format) {
  for (const Media& media : kMedia) {
    if (media.format == format) return media;
  }
  return kMedia[0];
}

// An invoice is a page of its own without scripts: it gets its own content security policy instead
// of the one of the dashboard.
void secure_page(server::Response& response) {
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                                "sandbox");
}

InvoiceRequest read_invoice_request(JsonBody& body) {
  InvoiceRequest invoice_request{.month = body.required("month")};
  invoice_request.by = body.text("by").value_or("");
  invoice_request.detail = body.texts("detail").value_or(std::vector<std::string>());
  invoice_request.reason = body.text("reason").value_or("");
  if (invoice_request.reason.size() > kInvoiceReasonBytesMax ||
      !is_plain_text(invoice_request.reason)) {
    body.reject("reason",
                fmt::format("must be a text of at most {} bytes", kInvoiceReasonBytesMax));
  }
  return invoice_request;
}

void write_documents(JsonWriter& out, std::string_view name, const std::vector<Invoice>& all) {
  out.key(name).begin_list();
  for (const Invoice& one : all) out.raw(render_invoice(one, "json"));
  out.end_list();
}

void write_notes(JsonWriter& out, const std::vector<std::string>& notes) {
  out.key("notes").begin_list();
  for (const std::string& note : notes) out.value(note);
  out.end_list();
}

std::string invoice_numbers(const std::vector<Invoice>& issued) {
  JsonWriter out;
  out.begin_object().key("invoices").begin_list();
  for (const Invoice& one : issued) {
    out.begin_object().field("number", one.number);
    write_shown(out, one);
    out.field("digest", pennyweight::to_text(hash_of(render_invoice(one, "json")))).end_object();
  }
  out.end_list().end_object();
  return out.text();
}

}  // namespace

server::Response get_invoices(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const auto customer = params.text("customer");
  const auto number = params.text("number");
  const Page page = params.page(kInvoiceList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = ask_ledger(services, [](Store& store) { return issued_invoices(store); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const StoredInvoice& one) {
    return (month && one.record.month != *month) ||
           (customer && one.record.customer != *customer) ||
           (number && one.record.number != *number) ||
           !sees_invoice(principal_of(request), one.invoice);
  });
  const auto part = cut_page(kInvoiceList, page, *std::move(all),
                             [](const StoredInvoice& one) { return one.record.number; });
  const std::string today = local_date(services.clock.now(), services.config.policy.time_zone);
  std::map<std::string, NotedDays> days;
  for (const StoredInvoice& one : part.entries) {
    auto noted = noted_days(services, one.record.number);
    if (!noted) return refusal(noted.error());
    days[one.record.number] = *std::move(noted);
  }
  return with_body_etag(
      list(part.entries, part.next, [&](JsonWriter& out, const StoredInvoice& one) {
        write_stored_invoice(out, one, days[one.record.number], today);
      }));
}

server::Response get_invoice(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const std::string format = params.choice("format", {"json", "html", "text", "csv", "pdf"});
  const bool wants_books = params.choice("view", {"client", "books"}) == "books";
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string number = request.param("number");
  auto found = ask_ledger(services, [&](Store& store) { return find_invoice(store, number); });
  if (!found) return refusal(found.error());
  // Answered as if it did not exist: scoped users must not learn that it does.
  if (!sees_invoice(principal_of(request), found->invoice)) {
    return not_found(fmt::format("there is no invoice {}", number));
  }
  // What the company bears, and what the others are charged, is for those who keep its books.
  if (wants_books && !sees_books(principal_of(request))) return not_the_books();
  found->invoice.for_customer = !wants_books;
  if (principal_of(request).is_client()) hide_shared_sums(found->invoice);
  const Media& media = find_media(format);
  auto document = format == "json" && wants_books
                      ? Result<std::string>(found->record.document)
                      : render_document(found->invoice, format, services.config);
  if (!document) return refusal(document.error());
  server::Response response{.content_type = std::string(media.content_type),
                            .body = *std::move(document)};
  if (format == "html") secure_page(response);
  response.headers.emplace_back(
      "Content-Disposition",
      fmt::format("inline; filename=\"{}.{}\"", found->record.number, media.ending));
  return with_body_etag(std::move(response));
}

server::Response preview_invoices(const Services& services, const server::Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  InvoiceRequest invoice_request = read_invoice_request(body);
  invoice_request.customer = body.text("customer").value_or("");
  const std::string view = body.text("view").value_or("client");
  if (view != "client" && view != "books") body.reject("view", "must be client or books");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  auto month = ask_ledger(services, [&](Store& store) {
    return create_invoices(store, services.config, invoice_request, services.clock.now());
  });
  if (!month) return refusal(month.error());
  if (view == "client") {
    month->not_charged.clear();
    for (Invoice& one : month->issued) one.for_customer = true;
    for (Invoice& one : month->prepared) one.for_customer = true;
  }
  JsonWriter out;
  out.begin_object().field("month", invoice_request.month).field("closed", month->closed);
  write_documents(out, "issued", month->issued);
  write_documents(out, "drafts", month->prepared);
  write_documents(out, "not_charged", month->not_charged);
  write_notes(out, month->notes);
  out.end_object();
  return json(out);
}

server::Response issue_invoices(const Services& services, const server::Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  InvoiceRequest invoice_request = read_invoice_request(body);
  invoice_request.issue = true;
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  const Instant now = services.clock.now();
  const std::string subject = "month " + invoice_request.month;
  if (auto recorded =
          record_intent(services.audit_log, author_of(request), "invoice.issue", subject, "");
      !recorded) {
    return refusal(recorded.error());
  }
  const auto month = ask_ledger(services, [&](Store& store) {
    return create_invoices(store, services.config, invoice_request, now);
  });
  if (!month) {
    record_failure(services.audit_log, author_of(request), "invoice.issue", subject, month.error());
    return refusal(month.error());
  }
  const auto recorded =
      append(services, request, "invoice.issue", subject, "", invoice_numbers(month->prepared));
  if (!recorded) return not_recorded(recorded.error());
  JsonWriter out;
  out.begin_object()
      .field("month", invoice_request.month)
      .field("issued_before", month->issued_all)
      .key("data")
      .begin_list();
  for (const Invoice& one : month->prepared) {
    out.begin_object().field("number", one.number);
    write_shown(out, one);
    write_days(out, one, {}, "");
    out.field("issued_at", now)
        .field("digest", pennyweight::to_text(hash_of(render_invoice(one, "json"))))
        .end_object();
  }
  out.end_list();
  write_notes(out, month->notes);
  out.end_object();
  return json(out, 201);
}

server::Response pay_invoice(const Services& services, const server::Request& request) {
  return note_day(services, request, kPaid);
}

server::Response unpay_invoice(const Services& services, const server::Request& request) {
  return take_day_back(services, request, kPaid);
}

server::Response send_invoice(const Services& services, const server::Request& request) {
  return note_day(services, request, kSent);
}

server::Response unsend_invoice(const Services& services, const server::Request& request) {
  return take_day_back(services, request, kSent);
}

}  // namespace pennyweight::api
