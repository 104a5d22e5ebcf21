#include "ingest/schedulers/kubernetes/api_cluster.h"

#include <algorithm>
#include <utility>

#include "ingest/schedulers/kubernetes/object_json.h"

namespace pennyweight::kubernetes {
namespace {

// Without these there are no facts.
bool is_needed(const ResourceType& type) {
  return type.paths.front() == "/api/v1/pods" || type.paths.front() == "/api/v1/nodes";
}

}  // namespace

ApiCluster::ApiCluster(ApiClusterOptions options, Clock& clock)
    : clock_(clock),
      rules_(std::move(options.targets)),
      state_(std::move(options.cluster)),
      watcher_(options.server, std::move(options.types), options.seed, *this, clock,
               std::move(options.wait)) {}

ApiCluster::~ApiCluster() { watcher_.stop(); }

void ApiCluster::stop() { watcher_.stop(); }

Instant ApiCluster::known_until() const {
  Instant until = clock_.now();
  for (const auto& watch : watcher_.watches()) {
    if (!is_needed(watch->type()) || watch->counts().is_watching) continue;
    until = std::min(until, from_unix_ms(watch->counts().heard_ms));
  }
  return until;
}

bool ApiCluster::is_listed() const {
  return std::ranges::all_of(watcher_.watches(), [](const auto& watch) {
    return !is_needed(watch->type()) || watch->counts().lists > 0;
  });
}

Facts ApiCluster::facts() {
  const std::lock_guard lock(mutex_);
  Facts facts;
  // Before the first lists there are no facts, and no time that they would cover.
  if (is_listed()) facts = state_.facts(known_until());
  std::ranges::move(troubles_, std::back_inserter(facts.problems));
  troubles_.clear();
  return facts;
}

std::vector<ScrapeTarget> ApiCluster::targets() const {
  const std::lock_guard lock(mutex_);
  std::vector<ScrapeTarget> all;
  for (const auto& [uid, targets] : targets_) all.insert(all.end(), targets.begin(), targets.end());
  std::ranges::sort(all);
  return all;
}

ApiClusterCounts ApiCluster::counts() const {
  ApiClusterCounts counts;
  for (const auto& watch : watcher_.watches()) {
    const WatchCounts& one = watch->counts();
    ++counts.resources;
    counts.resources_watching += one.is_watching ? 1 : 0;
    counts.lists += one.lists;
    counts.objects_listed += one.objects_listed;
    counts.watches += one.watches;
    counts.events += one.events;
    counts.bookmarks += one.bookmarks;
    counts.expired += one.expired;
    counts.refusals += one.refusals;
    counts.failures += one.failures;
    counts.lost += one.lost;
  }
  const std::lock_guard lock(mutex_);
  counts.cluster = state_.counts();
  counts.unreadable = unreadable_;
  counts.troubles_lost = troubles_lost_;
  return counts;
}

void ApiCluster::apply(const ResourceType& type, std::string_view api_version, EventType event,
                       simdjson::dom::element json, Instant at) {
  const bool is_deleted = event == EventType::kDeleted;
  if (type.paths.front() == "/api/v1/pods" && !rules_.empty()) {
    auto targets = is_deleted ? std::vector<ScrapeTarget>() : pod_targets(json, rules_);
    const std::string uid = text_at(json, "/metadata/uid");
    if (targets.empty()) {
      targets_.erase(uid);
    } else {
      targets_.insert_or_assign(uid, std::move(targets));
    }
  }
  const auto object = read_object(json, type.kind, api_version);
  if (!object) {
    ++unreadable_;
    add_trouble("a " + type.kind +
                " of the Kubernetes API can't be read: " + object.error().message);
    return;
  }
  if (is_deleted) {
    state_.apply_deleted(*object, at);
  } else {
    state_.apply(*object, at);
  }
}

void ApiCluster::list_begins(const ResourceType& type, Instant) {
  const std::lock_guard lock(mutex_);
  lists_[type.paths.front()] = {};
}

void ApiCluster::listed(const ResourceType& type, std::string_view api_version,
                        simdjson::dom::element object, Instant at) {
  const std::lock_guard lock(mutex_);
  List& list = lists_[type.paths.front()];
  list.api_version = api_version;
  // Also the uid of an object that can't be read: it exists.
  list.uids.insert(text_at(object, "/metadata/uid"));
  apply(type, api_version, EventType::kAdded, object, at);
}

void ApiCluster::list_ends(const ResourceType& type, Instant at) {
  const std::lock_guard lock(mutex_);
  List list = std::exchange(lists_[type.paths.front()], {});
  if (list.api_version.empty()) list.api_version = type.api_version(0);
  if (type.paths.front() == "/api/v1/pods") {
    std::erase_if(targets_, [&](const auto& one) { return !list.uids.contains(one.first); });
  }
  state_.mark_relisted(type.kind, list.api_version, list.uids, at);
}

void ApiCluster::event(const ResourceType& type, std::string_view api_version, EventType event,
                       simdjson::dom::element object, Instant at) {
  const std::lock_guard lock(mutex_);
  apply(type, api_version, event, object, at);
}

// Holdings need not wait for resources that this cluster does not have, or does not show us. A 403
// is reported as trouble.
void ApiCluster::unavailable(const ResourceType& type, int, Instant at) {
  if (is_needed(type)) return;
  const std::lock_guard lock(mutex_);
  state_.mark_relisted(type.kind, type.api_version(0), {}, at);
}

void ApiCluster::trouble(const ResourceType&, const std::string& words) {
  const std::lock_guard lock(mutex_);
  add_trouble(words);
}

std::string ApiCluster::last_trouble() {
  const std::lock_guard lock(mutex_);
  return std::exchange(last_trouble_, {});
}

void ApiCluster::add_trouble(std::string words) {
  last_trouble_ = words;
  if (troubles_.size() == kTroublesKept) {
    ++troubles_lost_;
    return;
  }
  troubles_.push_back(std::move(words));
}

}  // namespace pennyweight::kubernetes
