#include "api/view_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "access/accounts.h"
#include "api/answers.h"
#include "api/audit_log.h"
#include "api/books.h"
#include "core/whole_count.h"

namespace pennyweight::api {
namespace {

using access::SavedView;
using server::Request;
using server::Response;

constexpr std::string_view kList = "views";
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

Response get_views(const Parts& parts, const Request& request) {
  Asked asked(request);
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  const std::string& name = asker(request).name;
  auto views = parts.accounts.views(name);
  if (!views) return refusal(views.error());
  const auto key = [](const SavedView& view) { return view.name + "\n" + in_order(view.id); };
  std::ranges::sort(*views, {}, key);
  const auto part = page_of(kList, page, *std::move(views), key);
  return list(part.entries, part.next,
              [&](JsonWriter& out, const SavedView& view) { out.raw(view_text(view, name)); });
}

Response add_view(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const access::Principal& who = asker(request);
  SavedView view;
  view.user = who.name;
  view.name = body.need("name");
  view.query = body.need("query");
  view.shared = body.truth("shared").value_or(false);
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  const auto saved = parts.accounts.save_view(view);
  if (!saved) return refusal(saved.error());
  const std::string text = view_text(*saved, who.name);
  if (auto told = append(parts, request, "view.add", about(*saved), "", text); !told) {
    return not_recorded(told.error());
  }
  return json(text, 201);
}

Response remove_view(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const access::Principal& who = asker(request);
  const Response missing =
      not_found(fmt::format("there is no view {} of yours", request.param("id")));
  const auto id = parse_count(request.param("id"), kIdMax);
  if (!id) return missing;
  const auto views = parts.accounts.views(who.name);
  if (!views) return refusal(views.error());
  const auto found = std::ranges::find(*views, *id, &SavedView::id);
  if (found == views->end() || found->user != who.name) return missing;
  if (auto removed = parts.accounts.remove_view(who.name, *id); !removed) {
    return refusal(removed.error());
  }
  const auto told =
      append(parts, request, "view.remove", about(*found), view_text(*found, who.name), "");
  if (!told) return not_recorded(told.error());
  return {.status = 204};
}

}  // namespace pennyweight::api
