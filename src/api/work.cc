// Work: which scopes workers have divided, which are due again, who is at them, and how far behind
// each is (questions/work_items.h).
#include <algorithm>
#include <array>
#include <utility>

#include "api/book_routes.h"
#include "api/books.h"
#include "config/config.h"
#include "questions/work_items.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "work";
constexpr std::array kStates = {WorkState::kDone, WorkState::kDue, WorkState::kWaiting,
                                WorkState::kClaimed, WorkState::kUnplanned};

// As it is told: what it hangs on is gone when the ledger is closed.
struct ToldItem {
  WorkItem item = {};
  std::optional<std::uint64_t> run = {};
};

bool is_unplanned(const WorkItem& item) { return item.state == WorkState::kUnplanned; }

std::string key_of(const ToldItem& told) {
  return told.item.scope.month + '\n' + (is_unplanned(told.item) ? "0" : "1") +
         told.item.scope.cluster.text();
}

void write(JsonWriter& out, const ToldItem& told) {
  const WorkItem& item = told.item;
  const bool is_claimed = item.state == WorkState::kClaimed;
  out.begin_object().key("cluster");
  if (is_unplanned(item)) {
    out.null();
  } else {
    out.value(item.scope.cluster.text());
  }
  out.field("month", item.scope.month).field("state", to_text(item.state)).key("because");
  if (item.due) {
    out.value(to_text(*item.due));
  } else {
    out.null();
  }
  out.field("run", told.run)
      .field("divided_at", item.done ? std::optional(item.done->at) : std::nullopt)
      .field("imports_seen", item.done ? std::optional(item.done->seen.imports) : std::nullopt)
      .field("imports_behind", item.imports_behind)
      .field("behind_since", item.behind_since)
      .field("worker", is_claimed ? std::optional(item.claim->claim.worker) : std::nullopt)
      .field("claimed_at", is_claimed ? std::optional(item.claim->claim.at) : std::nullopt)
      .field("last_sign", is_claimed ? std::optional(item.claim->last_sign) : std::nullopt)
      .end_object();
}

Result<std::vector<ToldItem>> told_items(const Parts& parts, Store& store) {
  const WorkRules rules = work_rules(parts.config.policy, parts.catalog, parts.config.join_rules);
  WorkLook look;
  if (auto looked = look_at_work(store, look); !looked) return std::unexpected(looked.error());
  std::vector<WorkItem> items = work_items(look, rules);
  if (auto found = find_behind_since(store, rules, items); !found) {
    return std::unexpected(found.error());
  }
  std::vector<ToldItem> told;
  for (WorkItem& item : items) {
    ToldItem one;
    if (item.run != nullptr) one.run = item.run->number;
    one.item = std::move(item);
    told.push_back(std::move(one));
  }
  return told;
}

server::Response work(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const auto month = asked.month("month");
  const auto cluster = asked.text("cluster");
  const auto state = asked.text("state");
  const Page page = asked.page(kList);
  const bool is_known = !state || std::ranges::any_of(kStates, [&](WorkState known) {
    return *state == to_text(known);
  });
  if (!is_known) asked.wrong("state", "one of done, due, waiting, claimed, unplanned");
  if (auto no = asked.refused()) return *std::move(no);
  auto all = ask_ledger(parts, [&](Store& store) { return told_items(parts, store); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const ToldItem& told) {
    return (month && told.item.scope.month != *month) ||
           (cluster && (is_unplanned(told.item) || told.item.scope.cluster.text() != *cluster)) ||
           (state && to_text(told.item.state) != *state);
  });
  const auto by_key = [](const ToldItem& a, const ToldItem& b) { return key_of(a) < key_of(b); };
  std::ranges::sort(*all, by_key);
  const auto part = page_of(kList, page, *std::move(all), key_of);
  return with_version(list(part.entries, part.next, write));
}

}  // namespace

std::vector<server::Route> work_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/work",
           .handler = [&parts](const server::Request& request) { return work(parts, request); },
           .needs = "read_rules"}};
}

}  // namespace pennyweight::api
