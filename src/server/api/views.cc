#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "config/config.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "server/access/accounts.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"
#include "server/api/view_report.h"

namespace pennyweight::api {
namespace {

using access::SavedView;
using server::Request;
using server::Response;

constexpr std::string_view kViewList = "views";
constexpr std::uint64_t kIdMax = std::numeric_limits<std::int64_t>::max();

std::string view_text(const SavedView& view, std::string_view asker_name) {
  JsonWriter out;
  out.begin_object()
      .field("id", view.id)
      .field("name", view.name)
      .field("query", view.query)
      .field("shared", view.shared)
      .field("mine", view.user == asker_name)
      .key("schedule");
  if (view.schedule && view.user == asker_name) {
    const access::ViewSchedule& schedule = *view.schedule;
    const auto known = [](const std::string& text) {
      return text.empty() ? std::nullopt : std::optional(text);
    };
    out.begin_object()
        .field("every", access::to_text(schedule.every))
        .field("receiver", known(schedule.receiver))
        .field("sent_until", known(schedule.sent_until))
        .field("problem", known(schedule.problem))
        .end_object();
  } else {
    out.null();
  }
  out.end_object();
  return out.text();
}

std::string about(const SavedView& view) {
  return fmt::format("view {} of {}", view.id, view.user);
}

bool is_receiver_of_views(const AlertConfig& config, const std::string& name) {
  return std::ranges::any_of(config.receivers, [&](const ReceiverConfig& one) {
    return one.name == name &&
           (one.kind == ReceiverKind::kEmail || one.kind == ReceiverKind::kWebhook ||
            one.kind == ReceiverKind::kSlack);
  });
}

// The asker's own view of the id in the path; nothing: there is none.
Result<std::optional<SavedView>> own_view(const Services& services, const Request& request) {
  const auto id = parse_count(request.param("id"), kIdMax);
  if (!id) return std::nullopt;
  const std::string& name = principal_of(request).name;
  const auto views = TRY(services.accounts.views(name));
  const auto found = std::ranges::find(views, *id, &SavedView::id);
  if (found == views.end() || found->user != name) return std::nullopt;
  return *found;
}

Response no_such_view(const Request& request) {
  return not_found(fmt::format("you have no view {}", request.param("id")));
}

// Records the change as `action`.
Response store_schedule(const Services& services, const Request& request, const SavedView& view,
                        const std::optional<access::ViewSchedule>& schedule,
                        const std::string& action) {
  const access::Principal& who = principal_of(request);
  RecordedChange change(services.audit_log, author_of(request), action,
                        [&](const access::Change& made, audit_log::Entry& entry) {
                          entry.subject = about(*made.view_after);
                          entry.before = view_text(*made.view_before, who.name);
                          entry.after = view_text(*made.view_after, who.name);
                        });
  const auto saved = change.finish(
      services.accounts.schedule_view(who.name, view.id, schedule, change.recorder()));
  if (!saved) return refusal(saved.error());
  return schedule ? json(view_text(*saved, who.name)) : Response{.status = 204};
}

}  // namespace

Response schedule_view(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const access::Principal& who = principal_of(request);
  const auto every = access::parse_view_period(body.required("every"));
  if (!every) body.reject("every", "must be day, week or month");
  const std::string receiver = body.text("receiver").value_or("");
  if (!receiver.empty() && !is_receiver_of_views(services.config.alerts, receiver)) {
    body.reject("receiver",
                "is no receiver of alerts.receivers that mails, webhooks or Slack go to");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  // What others receive is for those who may say what others are notified of.
  const auto needed =
      receiver.empty() ? access::Permission::kReadCosts : access::Permission::kManageBudgets;
  if (!may_access(who, needed)) {
    return server::problem(403, "Forbidden",
                           receiver.empty()
                               ? "Your role may not read costs."
                               : "Your role sends views to your own mail address only: "
                                 "leave 'receiver' out.");
  }
  const auto view = own_view(services, request);
  if (!view) return refusal(view.error());
  if (!*view) return no_such_view(request);
  if (const auto sendable = check_sendable_view(**view); !sendable) {
    return bad_parameter("every", sendable.error().message);
  }
  if (receiver.empty()) {
    const auto user = services.accounts.find_user(who.name);
    if (!user) return refusal(user.error());
    if (!*user || (*user)->email.empty()) {
      return bad_parameter("receiver", "is needed: your account has no mail address");
    }
  }
  return store_schedule(services, request, **view,
                        access::ViewSchedule{.every = *every, .receiver = receiver},
                        "view.schedule");
}

Response unschedule_view(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto view = own_view(services, request);
  if (!view) return refusal(view.error());
  if (!*view) return no_such_view(request);
  return store_schedule(services, request, **view, std::nullopt, "view.unschedule");
}

Response get_views(const Services& services, const Request& request) {
  QueryParams params(request);
  const Page page = params.page(kViewList);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string& name = principal_of(request).name;
  auto views = services.accounts.views(name);
  if (!views) return refusal(views.error());
  const auto key = [](const SavedView& view) { return view.name + "\n" + ascending_key(view.id); };
  std::ranges::sort(*views, {}, key);
  const auto part = cut_page(kViewList, page, *std::move(views), key);
  return list(part.entries, part.next,
              [&](JsonWriter& out, const SavedView& view) { out.raw(view_text(view, name)); });
}

Response add_view(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const access::Principal& who = principal_of(request);
  SavedView view;
  view.user = who.name;
  view.name = body.required("name");
  view.query = body.required("query");
  view.shared = body.boolean("shared").value_or(false);
  if (view.shared && who.is_client()) body.reject("shared", "clients share no views");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  RecordedChange change(services.audit_log, author_of(request), "view.add",
                        [&](const access::Change& made, audit_log::Entry& entry) {
                          entry.subject = about(*made.view_after);
                          entry.after = view_text(*made.view_after, who.name);
                        });
  const auto saved = change.finish(services.accounts.save_view(view, change.recorder()));
  return saved ? json(view_text(*saved, who.name), 201) : refusal(saved.error());
}

Response remove_view(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const access::Principal& who = principal_of(request);
  const auto view = own_view(services, request);
  if (!view) return refusal(view.error());
  if (!*view) return no_such_view(request);
  RecordedChange change(services.audit_log, author_of(request), "view.remove",
                        [&](const access::Change& made, audit_log::Entry& entry) {
                          entry.subject = about(*made.view_before);
                          entry.before = view_text(*made.view_before, who.name);
                        });
  const auto removed =
      change.finish(services.accounts.remove_view(who.name, (*view)->id, change.recorder()));
  return removed ? Response{.status = 204} : refusal(removed.error());
}

}  // namespace pennyweight::api
