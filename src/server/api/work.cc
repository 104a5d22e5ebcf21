// Work: which scopes workers have allocated, which are due again, which worker has claimed them,
// and how far behind each is (reporting/queries/work_items.h).
#include <algorithm>
#include <array>
#include <utility>

#include "config/config.h"
#include "core/try.h"
#include "reporting/queries/work_items.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kWorkList = "work";
constexpr std::array kStates = {WorkState::kDone, WorkState::kDue, WorkState::kWaiting,
                                WorkState::kClaimed, WorkState::kUnplanned};

// A work item with what must be read while the ledger is open.
struct WorkItemFacts {
  WorkItem item = {};
  std::optional<std::uint64_t> run = {};
};

bool is_unplanned(const WorkItem& item) { return item.state == WorkState::kUnplanned; }

std::string work_item_key(const WorkItemFacts& facts) {
  return facts.item.scope.month + '\n' + (is_unplanned(facts.item) ? "0" : "1") +
         facts.item.scope.cluster.text();
}

void write_work_item(JsonWriter& out, const WorkItemFacts& facts) {
  const WorkItem& item = facts.item;
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
  out.field("run", facts.run)
      .field("divided_at", item.done ? std::optional(item.done->at) : std::nullopt)
      .field("imports_seen", item.done ? std::optional(item.done->inputs.imports) : std::nullopt)
      .field("imports_behind", item.imports_behind)
      .field("behind_since", item.behind_since)
      .field("worker", is_claimed ? std::optional(item.claim->claim.worker) : std::nullopt)
      .field("claimed_at", is_claimed ? std::optional(item.claim->claim.at) : std::nullopt)
      .field("last_sign", is_claimed ? std::optional(item.claim->last_heartbeat) : std::nullopt)
      .end_object();
}

Result<std::vector<WorkItemFacts>> list_work_items(const Services& services, Store& store) {
  const WorkCriteria rules =
      work_criteria(services.config.policy, services.catalog, services.config.join_rules);
  WorkSnapshot look;
  TRY(refresh_work(store, look));
  std::vector<WorkItem> items = work_items(look, rules);
  TRY(find_behind_since(store, rules, items));
  std::vector<WorkItemFacts> facts;
  for (WorkItem& item : items) {
    WorkItemFacts one;
    if (item.run != nullptr) one.run = item.run->number;
    one.item = std::move(item);
    facts.push_back(std::move(one));
  }
  return facts;
}

}  // namespace

server::Response get_work(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const auto cluster = params.text("cluster");
  const auto state = params.text("state");
  const Page page = params.page(kWorkList);
  const bool is_known = !state || std::ranges::any_of(kStates, [&](WorkState known) {
    return *state == to_text(known);
  });
  if (!is_known) params.reject("state", "must be one of done, due, waiting, claimed, unplanned");
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = ask_ledger(services, [&](Store& store) { return list_work_items(services, store); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const WorkItemFacts& facts) {
    return (month && facts.item.scope.month != *month) ||
           (cluster && (is_unplanned(facts.item) || facts.item.scope.cluster.text() != *cluster)) ||
           (state && to_text(facts.item.state) != *state);
  });
  const auto by_key = [](const WorkItemFacts& a, const WorkItemFacts& b) {
    return work_item_key(a) < work_item_key(b);
  };
  std::ranges::sort(*all, by_key);
  const auto part = cut_page(kWorkList, page, *std::move(all), work_item_key);
  return with_body_etag(list(part.entries, part.next, write_work_item));
}

}  // namespace pennyweight::api
