// Uploads: a file that a browser sends is imported as `import` would, and a month is divided anew
// as `allocate` would. Both are announced in the audit log before they are made.
#include "server/api/uploads.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/ascii.h"
#include "core/date.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "ledger/counts_by_kind.h"
#include "server/api/audit_log.h"
#include "server/api/bill_equation.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::size_t kFileNameBytesMax = 200;
constexpr std::size_t kClusterBytesMax = 200;
constexpr std::size_t kUploadReasonBytesMax = 2000;

// Browsers send the name of a file alone. Anything that is a path, or that would garble a terminal,
// is refused rather than cleaned.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kFileNameBytesMax && name != "." && name != ".." &&
         name.front() != '-' && is_plain_text(name) && std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

// Handlers answer with the first few rows, whose text may be long.
constexpr std::size_t kRowBytesShown = 300;

void write_rejected(JsonWriter& out, const std::vector<RejectedRow>& rows) {
  out.key("first_rejected").begin_list();
  for (const RejectedRow& row : rows) {
    out.begin_object()
        .field("line", row.line)
        .field("column", row.column)
        .field("reason", row.reason)
        .field("text", printable_text(row.text, kRowBytesShown))
        .end_object();
  }
  out.end_list();
}

void write_counts(JsonWriter& out, const ImportOutcome& outcome) {
  out.key("facts").begin_list();
  for (const auto& [name, counts] : counts_by_kind(outcome)) {
    if (counts.created + counts.existing + counts.conflicts == 0) continue;
    out.begin_object()
        .field("name", name)
        .field("created", counts.created)
        .field("existing", counts.existing)
        .field("conflicts", counts.conflicts)
        .end_object();
  }
  out.end_list();
}

std::string report_json(const FileUpload& upload, const UploadReport& report) {
  JsonWriter out;
  out.begin_object()
      .field("name", upload.name)
      .field("preview", upload.preview)
      .field("number",
             report.outcome.number == 0 ? std::optional<std::uint64_t>() : report.outcome.number)
      .field("format", report.format)
      .field("description", report.description)
      .field("bill", report.is_bill)
      .field("known", report.outcome.known_file)
      .field("holdings", report.holdings)
      .field("gpu_hours", report.gpu_hours)
      .field("rejected", std::max(report.outcome.rejected, report.rejected_count));
  write_counts(out, report.outcome);
  write_rejected(out, report.rejected);
  out.texts("remarks", report.remarks)
      .texts("effect", report.effect)
      .field("confirm_key", report.confirm_key)
      .texts("needs_confirm", report.needs_confirm)
      .texts("doubles", report.doubles);
  write_bill_equation(out, report.statement);
  out.end_object();
  return out.text();
}

// Announces a change of the ledger, makes it, and records what came of it.
template <class Report>
Result<Report> make_recorded(const Services& services, const Request& request,
                             std::string_view action, const std::string& subject,
                             const std::string& facts,
                             const std::function<Result<Made<Report>>()>& make) {
  if (auto announced =
          record_intent(services.audit_log, author_of(request), action, subject, facts);
      !announced) {
    return std::unexpected(announced.error());
  }
  auto made = make();
  if (!made) {
    record_failure(services.audit_log, author_of(request), action, subject, made.error());
    return std::unexpected(made.error());
  }
  if (made->changes.empty()) {
    made->changes.push_back({fmt::format("{}.unchanged", action), subject, "", ""});
  }
  for (MadeChange& change : made->changes) {
    const auto recorded = append(services, request, change.action, std::move(change.subject),
                                 std::move(change.before), std::move(change.after));
    if (!recorded) return std::unexpected(recorded.error());
  }
  return std::move(made->report);
}

Response not_possible() {
  return server::problem(501, "Not possible here", "This server takes no uploads.");
}

}  // namespace

Response post_import(const Services& services, const Request& request) {
  if (!services.import_upload) return not_possible();
  QueryParams params(request);
  FileUpload upload;
  upload.name = params.required("name");
  upload.cluster = params.text("cluster").value_or("");
  upload.format = params.text("format").value_or("");
  upload.reason = params.text("reason").value_or("");
  upload.preview = params.boolean("preview").value_or(false);
  upload.confirmed = params.text("confirm").value_or("");
  upload.changed = params.instant("changed");
  upload.bytes = request.body;
  if (!upload.name.empty() && !is_file_name(upload.name)) {
    params.reject("name", fmt::format("must be the name of a file, without a path, of at most {} "
                                      "bytes",
                                      kFileNameBytesMax));
  }
  if (upload.cluster.size() > kClusterBytesMax || !is_plain_text(upload.cluster)) {
    params.reject("cluster", "must be the name of a cluster");
  }
  if (upload.reason.size() > kUploadReasonBytesMax || !is_plain_text(upload.reason)) {
    params.reject("reason",
                  fmt::format("must be a text of at most {} bytes", kUploadReasonBytesMax));
  }
  if (!upload.confirmed.empty() && !parse_hash(upload.confirmed)) {
    params.reject("confirm", "must be the confirm_key of a preview");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (request.body.empty()) return bad_parameter("body", "is empty: send the bytes of the file");
  // A preview changes nothing, so nothing of it is recorded.
  if (upload.preview) {
    const auto seen = services.import_upload(upload);
    return seen ? json(report_json(upload, seen->report)) : refusal(seen.error());
  }
  JsonWriter facts;
  facts.begin_object().field("name", upload.name).field("bytes", request.body.size());
  if (!upload.reason.empty()) facts.field("reason", upload.reason);
  if (!upload.confirmed.empty()) facts.field("confirmed", true);
  facts.end_object();
  const auto report =
      make_recorded<UploadReport>(services, request, "import", "1 file", facts.text(),
                                  [&] { return services.import_upload(upload); });
  if (!report) return refusal(report.error());
  return json(report_json(upload, *report), 201);
}

Response post_allocation(const Services& services, const Request& request) {
  if (!services.allocate) return not_possible();
  QueryParams params(request);
  JsonBody body(request);
  const std::string month = body.required("month");
  if (!month.empty() && (month.size() != 7 || !parse_date(month + "-01"))) {
    body.reject("month", "must be a month such as 2026-03");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  const auto runs =
      make_recorded<std::vector<RunReport>>(services, request, "allocate", "month " + month, "",
                                            [&] { return services.allocate(month); });
  if (!runs) return refusal(runs.error());
  JsonWriter out;
  out.begin_object().field("month", month).key("runs").begin_list();
  for (const RunReport& run : *runs) {
    out.begin_object()
        .field("cluster", run.cluster)
        .field("number", run.number)
        .field("lines", run.lines)
        .field("postings", run.postings)
        .field("unchanged", run.unchanged)
        .end_object();
  }
  out.end_list().end_object();
  return json(out, 201);
}

}  // namespace pennyweight::api
