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
  const auto saved = services.accounts.save_view(view);
  if (!saved) return refusal(saved.error());
  const std::string text = view_text(*saved, who.name);
  if (auto recorded = append(services, request, "view.add", about(*saved), "", text); !recorded) {
    return not_recorded(recorded.error());
  }
  return json(text, 201);
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
  if (auto removed = services.accounts.remove_view(who.name, *id); !removed) {
    return refusal(removed.error());
  }
  const auto recorded =
      append(services, request, "view.remove", about(*found), view_text(*found, who.name), "");
  if (!recorded) return not_recorded(recorded.error());
  return {.status = 204};
}

}  // namespace pennyweight::api
