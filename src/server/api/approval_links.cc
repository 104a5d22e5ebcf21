#include "server/api/approval_links.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "config/config.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/queries/approval_budgets.h"
#include "reporting/invoice/html_page.h"
#include "reporting/minor_unit.h"
#include "server/access/accounts.h"
#include "server/access/principal.h"
#include "server/api/audit_log.h"
#include "server/approval_book/approval_book.h"
#include "server/request_text.h"

namespace pennyweight::api {
namespace {

using guardrails::Approval;
using guardrails::ApprovalState;
using server::Request;
using server::Response;

constexpr std::size_t kFormBytesMax = 16u << 10;

Response html_page(int status, std::string_view title, const std::string& content) {
  return {.status = status,
          .content_type = "text/html; charset=utf-8",
          .body = fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta "
                              "charset=\"utf-8\">\n<meta name=\"viewport\" "
                              "content=\"width=device-width\">\n<meta name=\"robots\" "
                              "content=\"noindex\">\n<title>{0}</title>\n</head>\n<body>\n<main>\n"
                              "<h1>{0}</h1>\n{1}</main>\n</body>\n</html>\n",
                              html_text(title), content),
          // The address is a secret: no other page may learn it, frame it, or be sent to by it.
          .headers = {{"Content-Security-Policy",
                       "default-src 'none'; form-action 'self'; frame-ancestors 'none'; "
                       "base-uri 'none'"},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "DENY"}}};
}

Response link_problem(const Error& error) {
  const int status = error.code == ErrorCode::kNotFound   ? 404
                     : error.code == ErrorCode::kConflict ? 409
                     : error.code == ErrorCode::kBadValue ? 422
                                                          : 503;
  // What went wrong inside is the log's.
  const std::string why =
      status == 503 ? "The requests for approvals can't be read now; try again." : error.message;
  return html_page(status, "No decision", fmt::format("<p>{}</p>\n", html_text(why)));
}

// A page's form sends lines; a note is one.
std::string one_line(std::string_view note) {
  std::string line;
  for (const char c : note) {
    const bool is_break = c == '\r' || c == '\n' || c == '\t';
    if (!is_break) {
      line += c;
    } else if (!line.empty() && !line.ends_with(' ')) {
      line += ' ';
    }
  }
  return line;
}

void add_row(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_text(name),
                     html_text(value));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

std::string request_table(const Approval& approval) {
  const guardrails::ApprovalRequest& request = approval.request;
  std::string out = "<table>\n";
  add_row(out, "Request", request.id);
  add_row(out, "Asked for by", request.by);
  add_row(out, "At", pennyweight::to_text(request.at));
  add_row(out, "Workload", request.workload);
  add_row(out, "Why", request.reason);
  add_row(out, "Cost at most",
          request.cost ? fmt::format("{} {} a {}", format_minor(*request.cost),
                                     request.cost->currency().text(), request.cost_of)
                       : std::string("not known"));
  add_row(out, "Rules", joined(request.rules));
  add_row(out, "What met them", request.because);
  add_row(out, "Cheaper", joined(request.alternatives));
  for (const guardrails::ApprovalDecision& decision : approval.decisions) {
    add_row(out, decision.approves ? "Approved by" : "Refused by", decision.by);
  }
  return out + "</table>\n";
}

// Without an action, the form goes back to where it came from.
std::string decision_form(const ApprovalBook::LinkedRequest& linked, std::string_view note) {
  return fmt::format(
      "<p>You decide as {}. This link decides once, until {}.</p>\n"
      "<form method=\"post\">\n<p><label>Note, needed to refuse<br>"
      "<textarea name=\"note\" rows=\"3\" cols=\"60\" "
      "maxlength=\"1000\">{}</textarea></label></p>\n"
      "<p><button name=\"decision\" value=\"approve\">Approve</button> "
      "<button name=\"decision\" value=\"refuse\">Refuse</button></p>\n</form>\n",
      html_text(linked.approver), html_text(pennyweight::to_text(linked.until)), html_text(note));
}

Response show_linked(const Services& services, const Request& request) {
  const auto linked =
      services.approval_book->open_link(request.param("link"), services.clock.now());
  if (!linked) return link_problem(linked.error());
  const auto may = check_link_account(services, linked->approver, linked->approval.request);
  if (!may) return link_problem(may.error());
  const ApprovalState state =
      state_of(linked->approval, services.approval_book->terms(), services.clock.now());
  std::string content = request_table(linked->approval);
  content += state == ApprovalState::kPending
                 ? decision_form(*linked, "")
                 : fmt::format("<p>It is {}; there is nothing to decide.</p>\n", to_text(state));
  return html_page(200, "Request for an approval", content);
}

Response decide_linked(const Services& services, const Request& request) {
  const Instant now = services.clock.now();
  const auto linked = services.approval_book->open_link(request.param("link"), now);
  if (!linked) return link_problem(linked.error());
  const auto form = server::read_target("/?" + request.body);
  const auto field = [&](const std::string& name) -> std::string {
    if (!form || form->query.count(name) != 1) return "";
    return form->query.find(name)->second;
  };
  const auto record = [&](std::string_view action, const std::string& subject,
                          const std::string& facts) {
    return append(services, {.actor = "link:" + linked->approver,
                             .peer = request.peer,
                             .action = std::string(action),
                             .subject = subject,
                             .after = facts});
  };
  // With a link that is ours somebody tried what they may not: that is for the audit log.
  const auto refuse = [&](const Error& error) {
    const auto noted = record("approval.link_refused", "approval " + linked->approval.request.id,
                              fmt::format("{{\"why\": {}}}", json_string(error.message)));
    return link_problem(noted ? error : noted.error());
  };
  const auto may = check_link_account(services, linked->approver, linked->approval.request);
  if (!may) return refuse(may.error());
  const std::string note = one_line(field("note"));
  // What was written is not lost.
  const auto ask_again = [&](const std::string& why) {
    return html_page(422, "No decision yet",
                     fmt::format("<p role=\"alert\">{}</p>\n", html_text(why)) +
                         request_table(linked->approval) + decision_form(*linked, note));
  };
  const std::string decision = field("decision");
  if (decision != "approve" && decision != "refuse") {
    return ask_again("Choose to approve or to refuse.");
  }
  const guardrails::DecisionWish wish{
      .by = linked->approver, .approves = decision == "approve", .note = note, .is_by_link = true};
  if (decision == "refuse" && note.empty()) return ask_again("A refusal needs a note: why.");
  const auto decided =
      services.approval_book->decide(linked->approval.request.id, wish, now, record);
  if (!decided) return refuse(decided.error());
  const ApprovalState state = state_of(*decided, services.approval_book->terms(), now);
  const std::string next = state == ApprovalState::kPending ? "It waits for a second person."
                           : state == ApprovalState::kApproved
                               ? "Whoever asked for it finds the token on the page Approvals."
                               : "";
  return html_page(200, fmt::format("The request is {}", to_text(state)),
                   request_table(*decided) + fmt::format("<p>{}</p>\n", next));
}

}  // namespace

Result<void> check_link_account(const Services& services, const std::string& approver,
                                const guardrails::ApprovalRequest& request) {
  const auto user = TRY(services.accounts.find_user(approver));
  const access::Principal who =
      user ? access::Principal{.name = user->name,
                               .role = user->role,
                               .scope = user->scope,
                               .must_change_password = user->must_change_password}
           : access::Principal();
  const bool may = user && !user->disabled && access::may(who, access::Permission::kApprove);
  if (!may) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' has no account here that may approve, so no link of theirs "
                            "decides",
                            printable_text(approver, 200)));
  }
  if (who.is_scoped() && !is_about(request, who.scope, services.config.policy)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} is not in the scope of '{}'", request.id, user->name));
  }
  return {};
}

guardrails::ApproverCheck approver_check(const Services& services) {
  const auto users = services.accounts.users();
  if (!users) return {};
  std::map<std::string, access::Principal, std::less<>> accounts;
  for (const access::User& user : *users) {
    access::Principal who{.name = user.name, .role = user.role, .scope = user.scope};
    // A one-time password is changed on the way to the decision.
    if (user.disabled) who.only.emplace();
    accounts.emplace(user.name, std::move(who));
  }
  const Policy& policy = services.config.policy;
  return [accounts, &policy](const std::string& who, const guardrails::ApprovalRequest& request) {
    const auto account = accounts.find(who);
    if (account == accounts.end()) return true;
    const access::Principal& approver = account->second;
    return access::may(approver, access::Permission::kApprove) &&
           (!approver.is_scoped() || is_about(request, approver.scope, policy));
  };
}

std::vector<server::Route> approval_link_routes(const Services& services) {
  const auto shared = std::make_shared<const Services>(services);
  const auto route = [&](const char* method, Response (*handler)(const Services&, const Request&)) {
    return server::Route{
        .method = method,
        .path = "/approve/{link}",
        .open = true,
        .handler =
            [shared, handler](const Request& request) {
              if (shared->approval_book != nullptr) {
                return handler(*shared, request);
              }
              return link_problem({ErrorCode::kNotFound, "This server has no book of approvals."});
            },
        .body_bytes_max = kFormBytesMax};
  };
  return {route("GET", show_linked), route("POST", decide_linked)};
}

}  // namespace pennyweight::api
