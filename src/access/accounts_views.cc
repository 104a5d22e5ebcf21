// Saved views: pages that somebody wants to see again, or show to others.
#include <fmt/format.h>

#include <map>

#include "access/accounts_file.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kSelectViews =
    "SELECT id, user, name, query, shared, created_at FROM views ";

SavedView view_of(const SqlRow& row) {
  return {.id = static_cast<std::uint64_t>(row.integer(0)),
          .user = row.text(1),
          .name = row.text(2),
          .query = row.text(3),
          .shared = row.is_true(4),
          .created_at = from_unix_ms(row.integer(5))};
}

Result<void> check_view(const SavedView& view) {
  if (view.name.empty()) return fail(ErrorCode::kBadValue, "a saved view has a name");
  if (auto checked = check_line(view.name, "the name of a view", kNameBytesMax); !checked) {
    return checked;
  }
  if (auto checked = check_line(view.query, "a view", kViewQueryBytesMax); !checked) return checked;
  // A page of ours: "//elsewhere" and "/\elsewhere" are not, for a browser.
  if (!view.query.starts_with('/') || view.query.starts_with("//") ||
      view.query.find('\\') != std::string::npos) {
    return fail(ErrorCode::kBadValue, "a view is the address of a page, such as /explore?by=team");
  }
  return {};
}

std::unexpected<Error> no_view(std::uint64_t id) {
  return fail(ErrorCode::kNotFound, fmt::format("there is no view {} of yours", id));
}

}  // namespace

Result<std::vector<SavedView>> AccountsFile::select_views_locked(
    std::string_view where, std::initializer_list<SqlValue> values) {
  std::vector<SavedView> views;
  auto done = database_.query(std::string(kSelectViews) + std::string(where), values,
                              [&](const SqlRow& row) { views.push_back(view_of(row)); });
  if (!done) return std::unexpected(done.error());
  return views;
}

Result<SavedView> AccountsFile::save_view(const SavedView& view) {
  if (auto checked = check_view(view); !checked) return std::unexpected(checked.error());
  const std::lock_guard lock(mutex_);
  auto transaction = SqlTransaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  if (const auto user = existing_locked(view.user); !user) return std::unexpected(user.error());
  const std::string_view owner = view.user;
  const auto named = database_.integer("SELECT id FROM views WHERE user = ? AND name = ?",
                                       {owner, std::string_view(view.name)});
  if (!named) return std::unexpected(named.error());
  if (*named && static_cast<std::uint64_t>(**named) != view.id) {
    return fail(ErrorCode::kConflict, fmt::format("you have a view '{}' already", view.name));
  }
  auto id = static_cast<std::int64_t>(view.id);
  if (id == 0) {
    const auto count = database_.integer("SELECT count(*) FROM views WHERE user = ?", {owner});
    if (!count) return std::unexpected(count.error());
    if (count->value_or(0) >= static_cast<std::int64_t>(kViewsPerUserMax)) {
      return fail(ErrorCode::kLimit,
                  fmt::format("you have {} views; remove one first", kViewsPerUserMax));
    }
    const auto done = database_.change(
        "INSERT INTO views (user, name, query, shared, created_at) VALUES (?, ?, ?, ?, ?)",
        {owner, std::string_view(view.name), std::string_view(view.query),
         std::int64_t{view.shared}, unix_ms(clock_.now())});
    if (!done) return std::unexpected(done.error());
    id = database_.last_id();
  } else {
    const auto done = database_.change(
        "UPDATE views SET name = ?, query = ?, shared = ? WHERE id = ? AND user = ?",
        {std::string_view(view.name), std::string_view(view.query), std::int64_t{view.shared}, id,
         owner});
    if (!done) return std::unexpected(done.error());
    if (*done == 0) return no_view(view.id);
  }
  auto kept = select_views_locked("WHERE id = ?", {id});
  if (!kept) return std::unexpected(kept.error());
  if (auto done = transaction->commit(); !done) return std::unexpected(done.error());
  return std::move(kept->front());
}

Result<std::vector<SavedView>> AccountsFile::views(std::string_view user) {
  const std::lock_guard lock(mutex_);
  const auto asker = existing_locked(user);
  if (!asker) return std::unexpected(asker.error());
  auto found = select_views_locked("WHERE user = ? OR shared = 1 ORDER BY name, user, id", {user});
  if (!found) return found;
  // A view's filters name what its owner sees; who sees less of it must not learn the names.
  std::map<std::string, bool> shown = {{std::string(user), true}};
  std::vector<SavedView> views;
  for (SavedView& view : *found) {
    if (!shown.contains(view.user)) {
      const auto owner = existing_locked(view.user);
      if (!owner) return std::unexpected(owner.error());
      shown[view.user] = covers(asker->scope, owner->scope);
    }
    if (shown[view.user]) views.push_back(std::move(view));
  }
  return views;
}

Result<void> AccountsFile::remove_view(std::string_view user, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto done = database_.change("DELETE FROM views WHERE id = ? AND user = ?",
                                     {static_cast<std::int64_t>(id), user});
  if (!done) return std::unexpected(done.error());
  if (*done == 0) return no_view(id);
  return {};
}

}  // namespace pennyweight::access
