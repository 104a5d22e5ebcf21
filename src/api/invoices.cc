// Invoices: those that were issued, as data and as pages; drafts of a month; and issuing it.
//
// Who is bound to a scope sees the invoices of its customers: those of the dimension that he is
// bound by, and of no more than one, since an invoice is not cut by a second.
#include "questions/invoices.h"

#include <fmt/format.h>

#include <utility>

#include "api/audit_log.h"
#include "api/book_routes.h"
#include "api/books.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "invoice/render.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "invoices";
constexpr std::size_t kReasonBytesMax = 2000;

bool sees_invoice(const access::Principal& who, const Invoice& invoice) {
  return std::ranges::all_of(who.scope, [&](const SummaryFilter& part) {
    return !part.negate && part.dimension == invoice.by &&
           std::ranges::find(part.values, invoice.customer) != part.values.end();
  });
}

std::string_view to_text(InvoiceKind kind) {
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
  out.field("kind", to_text(invoice.kind))
      .field("month", invoice.month)
      .field("by", invoice.by)
      .field("customer", invoice.customer)
      .field("refers_to",
             invoice.refers_to.empty() ? std::nullopt : std::optional(invoice.refers_to))
      .field("net", pennyweight::to_text(invoice.net.shown.amount()))
      .field("total", pennyweight::to_text(invoice.total_shown.amount()))
      .field("currency", invoice.currency.text());
}

void write_kept(JsonWriter& out, const KeptInvoice& one) {
  out.begin_object().field("number", one.kept.number);
  write_shown(out, one.invoice);
  out.field("issued_at", one.kept.issued_at)
      .field("digest", pennyweight::to_text(one.kept.digest))
      .end_object();
}

server::Response invoices(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const auto month = asked.month("month");
  const auto customer = asked.text("customer");
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto all = ask_ledger(parts, [](Store& store) { return issued_invoices(store); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const KeptInvoice& one) {
    return (month && one.kept.month != *month) || (customer && one.kept.customer != *customer) ||
           !sees_invoice(asker(request), one.invoice);
  });
  const auto part =
      page_of(kList, page, *std::move(all), [](const KeptInvoice& one) { return one.kept.number; });
  return with_version(list(part.entries, part.next, write_kept));
}

struct Media {
  std::string_view format;
  std::string_view content_type;
  std::string_view ending;
};
constexpr Media kMedia[] = {{"json", "application/json", "json"},
                            {"html", "text/html; charset=utf-8", "html"},
                            {"text", "text/plain; charset=utf-8", "txt"},
                            {"csv", "text/csv; charset=utf-8", "csv"}};

const Media& media_of(std::string_view format) {
  for (const Media& media : kMedia) {
    if (media.format == format) return media;
  }
  return kMedia[0];
}

// A page of its own, and nothing in it runs: what it may do is said with it, whatever the server
// says of its other pages.
void secure_page(server::Response& response) {
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                                "sandbox");
}

server::Response invoice(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const std::string format = asked.choice("format", {"json", "html", "text", "csv"});
  if (auto no = asked.refused()) return *std::move(no);
  const std::string number = request.param("number");
  auto found = ask_ledger(parts, [&](Store& store) { return find_invoice(store, number); });
  if (!found) return refusal(found.error());
  // As if it were not there: that it is, is already more than he is to know.
  if (!sees_invoice(asker(request), found->invoice)) {
    return not_found(fmt::format("there is no invoice {}", number));
  }
  // What all the others are charged is not for who sees but some.
  found->invoice.for_customer = asker(request).is_scoped();
  const Media& media = media_of(format);
  server::Response response{.content_type = std::string(media.content_type),
                            .body = format == "json" && !found->invoice.for_customer
                                        ? found->kept.document
                                        : render_invoice(found->invoice, format)};
  if (format == "html") secure_page(response);
  response.headers.emplace_back(
      "Content-Disposition",
      fmt::format("inline; filename=\"{}.{}\"", found->kept.number, media.ending));
  return with_version(std::move(response));
}

InvoiceQuestion question_of(JsonBody& body) {
  InvoiceQuestion question{.month = body.need("month")};
  question.by = body.text("by").value_or("");
  question.detail = body.texts("detail").value_or(std::vector<std::string>());
  question.reason = body.text("reason").value_or("");
  if (question.reason.size() > kReasonBytesMax || !is_plain_text(question.reason)) {
    body.wrong("reason", fmt::format("a text of at most {} bytes", kReasonBytesMax));
  }
  return question;
}

void write_documents(JsonWriter& out, std::string_view name, const std::vector<Invoice>& all) {
  out.key(name).begin_list();
  for (const Invoice& one : all) out.raw(render_invoice(one, "json"));
  out.end_list();
}

server::Response preview(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  JsonBody body(request);
  InvoiceQuestion question = question_of(body);
  question.customer = body.text("customer").value_or("");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  const auto month = ask_ledger(parts, [&](Store& store) {
    return ask_invoices(store, parts.config, question, parts.clock.now());
  });
  if (!month) return refusal(month.error());
  JsonWriter out;
  out.begin_object().field("month", question.month).field("closed", month->closed);
  write_documents(out, "issued", month->issued);
  write_documents(out, "drafts", month->prepared);
  write_documents(out, "not_charged", month->not_charged);
  out.end_object();
  return json(out);
}

std::string numbers_of(const std::vector<Invoice>& issued) {
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

server::Response issue(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  JsonBody body(request);
  InvoiceQuestion question = question_of(body);
  question.issue = true;
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  const Instant now = parts.clock.now();
  const auto month = ask_ledger(
      parts, [&](Store& store) { return ask_invoices(store, parts.config, question, now); });
  if (!month) return refusal(month.error());
  if (!month->prepared.empty()) {
    const auto recorded = append(parts, request, "invoice.issue", "month " + question.month, "",
                                 numbers_of(month->prepared));
    if (!recorded) return not_recorded(recorded.error());
  }
  JsonWriter out;
  out.begin_object()
      .field("month", question.month)
      .field("issued_before", month->issued_all)
      .key("data")
      .begin_list();
  for (const Invoice& one : month->prepared) {
    out.begin_object().field("number", one.number);
    write_shown(out, one);
    out.field("issued_at", now)
        .field("digest", pennyweight::to_text(hash_of(render_invoice(one, "json"))))
        .end_object();
  }
  out.end_list().end_object();
  return json(out, 201);
}

}  // namespace

std::vector<server::Route> invoice_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/invoices",
           .handler = [&parts](const server::Request& request) { return invoices(parts, request); },
           .needs = "read_invoices"},
          {.method = "GET",
           .path = "/api/v1/invoices/{number}",
           .handler = [&parts](const server::Request& request) { return invoice(parts, request); },
           .needs = "read_invoices"},
          {.method = "POST",
           .path = "/api/v1/invoices/preview",
           .handler = [&parts](const server::Request& request) { return preview(parts, request); },
           .needs = "issue_invoices"},
          {.method = "POST",
           .path = "/api/v1/invoices",
           .handler = [&parts](const server::Request& request) { return issue(parts, request); },
           .needs = "issue_invoices"}};
}

}  // namespace pennyweight::api
