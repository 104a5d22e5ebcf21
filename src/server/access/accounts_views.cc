// Saved views: addresses of pages that users keep or share.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "core/try.h"
#include "server/access/accounts_file.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kSelectViews =
    "SELECT id, user, name, query, shared, created_at, every, receiver, sent_until, problem "
    "FROM views ";

constexpr std::pair<ViewPeriod, std::string_view> kViewPeriods[] = {
    {ViewPeriod::kDay, "day"}, {ViewPeriod::kWeek, "week"}, {ViewPeriod::kMonth, "month"}};

std::optional<ViewSchedule> schedule_of(const SqlRow& row) {
  const auto every = parse_view_period(row.text(6));
  if (!every) return std::nullopt;
  return ViewSchedule{
      .every = *every, .receiver = row.text(7), .sent_until = row.text(8), .problem = row.text(9)};
}

SavedView view_of(const SqlRow& row) {
  return {.id = static_cast<std::uint64_t>(row.integer(0)),
          .user = row.text(1),
          .name = row.text(2),
          .query = row.text(3),
          .shared = row.is_true(4),
          .created_at = from_unix_ms(row.integer(5)),
          .schedule = schedule_of(row)};
}

Result<void> check_view(const SavedView& view) {
  if (view.name.empty()) return fail(ErrorCode::kBadValue, "a saved view needs a name");
  TRY(check_line(view.name, "the name of a view", kNameBytesMax));
  TRY(check_line(view.query, "a view",
                 kViewQueryBytesMax));  // A page of ours: "//elsewhere" and "/\elsewhere" are not,
                                        // for a browser.
  if (!view.query.starts_with('/') || view.query.starts_with("//") ||
      view.query.find('\\') != std::string::npos) {
    return fail(ErrorCode::kBadValue, "a view is the address of a page, such as /explore?by=team");
  }
  return {};
}

std::unexpected<Error> no_view(std::uint64_t id) {
  return fail(ErrorCode::kNotFound, fmt::format("you have no view {}", id));
}

}  // namespace

std::string_view to_text(ViewPeriod period) {
  for (const auto& [known, text] : kViewPeriods) {
    if (known == period) return text;
  }
  return {};
}

std::optional<ViewPeriod> parse_view_period(std::string_view text) {
  for (const auto& [period, known] : kViewPeriods) {
    if (known == text) return period;
  }
  return std::nullopt;
}

Result<std::vector<SavedView>> AccountsFile::select_views_locked(
    std::string_view where, std::initializer_list<SqlValue> values) {
  std::vector<SavedView> views;
  TRY(database_.query(std::string(kSelectViews) + std::string(where), values,
                      [&](const SqlRow& row) { views.push_back(view_of(row)); }));
  return views;
}

Result<SavedView> AccountsFile::save_view(const SavedView& view, const Recorder& record) {
  TRY(check_view(view));
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  std::ignore = TRY(existing_locked(view.user));
  const std::string_view owner = view.user;
  const auto named = TRY(database_.integer("SELECT id FROM views WHERE user = ? AND name = ?",
                                           {owner, std::string_view(view.name)}));
  if (named && static_cast<std::uint64_t>(*named) != view.id) {
    return fail(ErrorCode::kConflict, fmt::format("you already have a view '{}'", view.name));
  }
  auto id = static_cast<std::int64_t>(view.id);
  if (id == 0) {
    const auto count = TRY(database_.integer("SELECT count(*) FROM views WHERE user = ?", {owner}));
    if (count.value_or(0) >= static_cast<std::int64_t>(kViewsPerUserMax)) {
      return fail(ErrorCode::kLimit,
                  fmt::format("you have {} views; remove one first", kViewsPerUserMax));
    }
    std::ignore = TRY(database_.change(
        "INSERT INTO views (user, name, query, shared, created_at) VALUES (?, ?, ?, ?, ?)",
        {owner, std::string_view(view.name), std::string_view(view.query),
         std::int64_t{view.shared}, unix_ms(clock_.now())}));
    id = database_.last_id();
  } else {
    const auto done = TRY(database_.change(
        "UPDATE views SET name = ?, query = ?, shared = ? WHERE id = ? AND user = ?",
        {std::string_view(view.name), std::string_view(view.query), std::int64_t{view.shared}, id,
         owner}));
    if (done == 0) return no_view(view.id);
  }
  auto kept = TRY(select_views_locked("WHERE id = ?", {id}));
  Change change;
  change.view_after = kept.front();
  TRY(commit_recorded_locked(transaction, record, change));
  return std::move(kept.front());
}

Result<std::vector<SavedView>> AccountsFile::views(std::string_view user) {
  const std::lock_guard lock(mutex_);
  const auto asker = TRY(existing_locked(user));
  auto found = select_views_locked("WHERE user = ? OR shared = 1 ORDER BY name, user, id", {user});
  if (!found) return found;
  // A view's filters contain names that its owner sees; users who see less must not learn them, and
  // clients learn none but their own, nor does anybody learn theirs.
  std::map<std::string, bool> shown = {{std::string(user), true}};
  std::vector<SavedView> views;
  for (SavedView& view : *found) {
    if (!shown.contains(view.user)) {
      const auto owner = TRY(existing_locked(view.user));
      shown[view.user] = asker.role != Role::kClient && owner.role != Role::kClient &&
                         covers(asker.scope, owner.scope);
    }
    if (shown[view.user]) views.push_back(std::move(view));
  }
  return views;
}

Result<SavedView> AccountsFile::schedule_view(std::string_view user, std::uint64_t id,
                                              const std::optional<ViewSchedule>& schedule,
                                              const Recorder& record) {
  if (schedule) {
    TRY(check_line(schedule->receiver, "the receiver of a view", kNameBytesMax));
    TRY(check_line(schedule->sent_until, "the day up to which a view was sent", kNameBytesMax));
  }
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto key = static_cast<std::int64_t>(id);
  const auto before = TRY(select_views_locked("WHERE id = ? AND user = ?", {key, user}));
  if (before.empty()) return no_view(id);
  const ViewSchedule next = schedule.value_or(ViewSchedule{});
  const std::string_view every = schedule ? to_text(next.every) : std::string_view();
  std::ignore = TRY(database_.change(
      "UPDATE views SET every = ?, receiver = ?, sent_until = ?, problem = '' WHERE id = ?",
      {every, std::string_view(next.receiver), std::string_view(next.sent_until), key}));
  auto kept = TRY(select_views_locked("WHERE id = ?", {key}));
  Change change;
  change.view_before = before.front();
  change.view_after = kept.front();
  TRY(commit_recorded_locked(transaction, record, change));
  return std::move(kept.front());
}

Result<std::vector<SavedView>> AccountsFile::scheduled_views() {
  const std::lock_guard lock(mutex_);
  return select_views_locked("WHERE every <> '' ORDER BY id", {});
}

Result<void> AccountsFile::note_sent(const SavedView& view, const std::string& sent_until,
                                     const std::string& problem) {
  const ViewSchedule sent = view.schedule.value_or(ViewSchedule{});
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(database_.change(
      "UPDATE views SET sent_until = ?, problem = ? WHERE id = ? AND every = ? "
      "AND receiver = ?",
      {std::string_view(sent_until), std::string_view(problem), static_cast<std::int64_t>(view.id),
       to_text(sent.every), std::string_view(sent.receiver)}));
  return {};
}

Result<void> AccountsFile::remove_view(std::string_view user, std::uint64_t id,
                                       const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto before =
      TRY(select_views_locked("WHERE id = ? AND user = ?", {static_cast<std::int64_t>(id), user}));
  if (before.empty()) return no_view(id);
  const auto done = TRY(database_.change("DELETE FROM views WHERE id = ? AND user = ?",
                                         {static_cast<std::int64_t>(id), user}));
  if (done == 0) return no_view(id);
  Change change;
  change.view_before = before.front();
  return commit_recorded_locked(transaction, record, change);
}

}  // namespace pennyweight::access
