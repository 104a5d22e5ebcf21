#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/whole_count.h"
#include "server/access/accounts.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

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
      .end_object();
  return out.text();
}

std::string about(const SavedView& view) {
  return fmt::format("view {} of {}", view.id, view.user);
}

}  // namespace

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
  const Response missing = not_found(fmt::format("you have no view {}", request.param("id")));
  const auto id = parse_count(request.param("id"), kIdMax);
  if (!id) return missing;
  const auto views = services.accounts.views(who.name);
  if (!views) return refusal(views.error());
  const auto found = std::ranges::find(*views, *id, &SavedView::id);
  if (found == views->end() || found->user != who.name) return missing;
  RecordedChange change(services.audit_log, author_of(request), "view.remove",
                        [&](const access::Change& made, audit_log::Entry& entry) {
                          entry.subject = about(*made.view_before);
                          entry.before = view_text(*made.view_before, who.name);
                        });
  const auto removed =
      change.finish(services.accounts.remove_view(who.name, *id, change.recorder()));
  return removed ? Response{.status = 204} : refusal(removed.error());
}

}  // namespace pennyweight::api
