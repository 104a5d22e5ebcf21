#include "ingest/schedulers/kubernetes/audit_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>

#include "core/plain_text.h"
#include "core/text_lines.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/schedulers/kubernetes/object_json.h"
#include "ledger/holding_reading.h"

namespace pennyweight::kubernetes {
namespace {

// What is known is given when a node changes, since pods hold what their nodes have then, and after
// so many changes, since pods that ended take memory.
constexpr std::uint64_t kChangesKept = 100'000;
// API servers write an event when its answer is complete; of two at once either may come first.
constexpr std::chrono::minutes kOrderSlack{1};
constexpr std::size_t kRejectedKept = 256;
// Caches of API servers are seconds behind. So long, and so many, are remembered as gone.
constexpr std::chrono::minutes kGoneRemembered{10};
constexpr std::size_t kGoneRememberedMax = 200'000;

constexpr std::string_view kVersion = "audit.k8s.io/v1";

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 4> kReads{"get", "list", "create", "update"};

bool is_deletion(std::string_view verb) { return verb == "delete" || verb == "deletecollection"; }

bool is_known_verb(std::string_view verb) {
  return is_one_of(verb, kReads) || verb == "patch" || is_deletion(verb);
}

// Objects that decide what is held, and owners, whose labels count. Never Secrets, or what is
// asked thousands of times (leases, events, reviews).
bool is_of_interest(std::string_view group, std::string_view resource) {
  if (group.empty()) {
    return resource == "pods" || resource == "nodes" || resource == "namespaces";
  }
  if (group == "apps" || group == "batch" || group == "resource.k8s.io") return true;
  return group.find('.') != std::string_view::npos && !group.ends_with(".k8s.io");
}

constexpr std::string_view kDeviceGroup = "resource.k8s.io";

bool decides(std::string_view group, std::string_view resource) {
  if (group.empty()) return resource == "pods" || resource == "nodes";
  return group == kDeviceGroup && (resource == "resourceclaims" || resource == "resourceslices");
}

// Others have kinds of the same name (Longhorn's Node), which are something else.
bool is_of_group(std::string_view kind, std::string_view group) {
  if (kind == "Pod" || kind == "Node" || kind == "Namespace") return group.empty();
  if (kind == "ResourceClaim" || kind == "ResourceSlice") return group == kDeviceGroup;
  return true;
}

// Answers to these have the object itself.
bool has_object(std::string_view subresource) {
  constexpr std::array<std::string_view, 4> kSame{"", "status", "ephemeralcontainers", "resize"};
  return is_one_of(subresource, kSame);
}

std::string path_of(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}

std::string kept_key(bool is_node, std::string_view name) {
  return path_of(is_node ? "node" : "slice", name);
}

// A pod with several parts has an attempt for each.
std::string_view pod_uid_of(const Holding& holding) {
  return std::string_view(holding.attempt).substr(0, holding.attempt.find('/'));
}

bool is_over(const Pod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

bool has_items(simdjson::dom::element object, std::string_view pointer) {
  simdjson::dom::array items;
  return object.at_pointer(pointer).get(items) == simdjson::SUCCESS && items.size() > 0;
}

bool has_deletion(simdjson::dom::element object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

// A deletion that was asked for, and not done yet: the pod has time to end, or others keep it.
bool is_pending(simdjson::dom::element object) {
  std::int64_t seconds = 0;
  std::ignore = object.at_pointer("/metadata/deletionGracePeriodSeconds").get(seconds);
  return has_deletion(object) && (seconds > 0 || has_items(object, "/metadata/finalizers"));
}

// A dry run is asked for in the address, or in the options of a deletion.
bool is_dry_run(simdjson::dom::element event, std::string_view verb) {
  return text_at(event, "/requestURI").find("dryRun=All") != std::string::npos ||
         (is_deletion(verb) && has_items(event, "/requestObject/dryRun"));
}

// The answer to the deletion of many has them as they were before. Those that nothing keeps are
// gone then; a pod that runs has time to end.
bool is_removed_at_once(simdjson::dom::element event, simdjson::dom::element object,
                        std::string_view kind) {
  if (has_items(object, "/metadata/finalizers")) return false;
  if (kind != "Pod" || text_at(object, "/spec/nodeName").empty()) return true;
  const std::string phase = text_at(object, "/status/phase");
  if (phase == "Succeeded" || phase == "Failed") return true;
  std::int64_t seconds = 30;
  std::ignore = object.at_pointer("/spec/terminationGracePeriodSeconds").get(seconds);
  std::ignore = event.at_pointer("/requestObject/gracePeriodSeconds").get(seconds);
  return seconds == 0;
}

}  // namespace

bool is_audit_log(std::string_view beginning) {
  constexpr std::size_t kLooked = 512;
  const std::string_view head = beginning.substr(0, kLooked);
  return head.starts_with('{') && head.find("\"audit.k8s.io/v") != std::string_view::npos &&
         (head.find("\"Event\"") != std::string_view::npos ||
          head.find("\"EventList\"") != std::string_view::npos);
}

AuditLog::AuditLog(AuditOptions options) : options_(std::move(options)) {}

Result<void> AuditLog::feed(std::string_view bytes) {
  Result<void> done;
  const bool on = splitter_.feed(bytes, [&](std::string_view line) {
    done = take_line(line);
    return done.has_value();
  });
  if (!done) return done;
  if (!on) {
    return fail(ErrorCode::kLimit, fmt::format("event {} has more than {} bytes; give lists of "
                                               "objects no place in the audit policy",
                                               number_ + 1, kEventBytesMax));
  }
  return {};
}

Result<void> AuditLog::finish() {
  TRY(feed("\n"));  // the last line, if it has no end
  if (state_ != nullptr) {
    counts_.waiting_pods = waiting_.size();
    counts_.partial_pods = partial_pods_.size();
    counts_.partial_nodes = partial_nodes_.size();
    counts_.over_limit = state_->counts().over_limit;
    TRY(give_until(newest_, true));
    counts_.owners = state_->counts().owners;
  }
  if (!rejected_.empty()) TRY(options_.rejected(rejected_));
  return {};
}

Result<void> AuditLog::reject(std::string_view name, std::string reason) {
  rejected_.push_back({.file = options_.file,
                       .line = number_,
                       .column = "",
                       .reason = std::move(reason),
                       .text = printable_text(name, 200)});
  if (rejected_.size() < kRejectedKept) return {};
  return options_.rejected(std::exchange(rejected_, {}));
}

Result<void> AuditLog::take_line(std::string_view line) {
  ++number_;
  if (number_ == 1) line = without_byte_order_mark(line);
  element root;
  if (const auto error = parser_.parse(line.data(), line.size()).get(root)) {
    return reject(line, fmt::format("is not JSON: {}; an audit log has an event a line",
                                    simdjson::error_message(error)));
  }
  simdjson::dom::array items;
  if (text_at(root, "/kind") != "EventList" || root["items"].get(items) != simdjson::SUCCESS) {
    return take_event(root);
  }
  for (const element item : items) {
    TRY(take_event(item));
  }
  return {};
}

Result<void> AuditLog::take_event(element event) {
  const std::string name = text_at(event, "/auditID");
  const std::string version = text_at(event, "/apiVersion");
  if (!version.empty() && version != kVersion) {
    return reject(name,
                  fmt::format("is of '{}' and not of {}", printable_text(version, 60), kVersion));
  }
  const std::string time = text_at(event, "/stageTimestamp");
  const auto at = parse_time(time);
  if (!at) {
    return reject(name,
                  fmt::format("stageTimestamp: '{}' is not a time", printable_text(time, 60)));
  }
  if (*at > options_.now) {
    return reject(name, fmt::format("stageTimestamp: {} is in the future", to_text(*at)));
  }
  if (state_ != nullptr && *at + kOrderSlack < newest_) {
    return fail(ErrorCode::kBadFile,
                fmt::format("event {} is of {}, and one before it of {}: give the events in order "
                            "of time; of several API servers merge the logs with jq -sc "
                            "'sort_by(.stageTimestamp)[]'",
                            number_, to_text(*at), to_text(newest_)));
  }
  if (state_ == nullptr) {
    if (options_.known) known_ = options_.known(*at);
    KnownFacts known = known_;
    if (known_.node) {
      known.node = [this](const NodeId& node) {
        const auto ended = ended_.find(node.text());
        return ended == ended_.end() ? known_.node(node) : std::optional(ended->second);
      };
    }
    state_ = std::make_unique<ClusterState>(ClusterOptions{.cluster = options_.cluster,
                                                           .labels = {},
                                                           .wait_for = {},
                                                           .gpu_nodes_only = false,
                                                           .gives_readings = true,
                                                           .known = std::move(known)});
    newest_ = *at;
  }
  if (changes_kept_ >= kChangesKept) TRY(give_until(*at - std::chrono::milliseconds(1), false));
  newest_ = std::max(newest_, *at);
  return take_answer(event, *at);
}

Result<void> AuditLog::take_answer(element event, Instant at) {
  const std::string group = text_at(event, "/objectRef/apiGroup");
  const std::string resource = text_at(event, "/objectRef/resource");
  const std::string verb = text_at(event, "/verb");
  std::int64_t code = 0;
  std::ignore = event.at_pointer("/responseStatus/code").get(code);
  if (text_at(event, "/stage") != "ResponseComplete" || code < 200 || code > 299 ||
      !is_of_interest(group, resource) || !is_known_verb(verb) ||
      !has_object(text_at(event, "/objectRef/subresource")) || is_dry_run(event, verb)) {
    ++counts_.others;
    return {};
  }
  element answer;
  if (event["responseObject"].get(answer) != simdjson::SUCCESS || !answer.is_object()) {
    // An answer that is a Status is there at every level.
    const std::string uid = text_at(event, "/responseStatus/details/uid");
    if (is_deletion(verb) && !uid.empty()) {
      ++counts_.changes;
      return take_deletion(event, uid, at);
    }
    if (verb == "get" || verb == "list" || !decides(group, resource)) {
      ++counts_.others;  // nothing changed, or only an owner
      return {};
    }
    return take_no_answer(event, resource);
  }
  std::string kind = text_at(answer, "/kind");
  if (kind == "Status") {
    ++(is_deletion(verb) ? counts_.changes : counts_.others);
    return is_deletion(verb) ? take_deletion(event, text_at(answer, "/details/uid"), at)
                             : Result<void>{};
  }
  const std::string version = text_at(answer, "/apiVersion");
  simdjson::dom::array items;
  const bool is_list = answer["items"].get(items) == simdjson::SUCCESS;
  if (is_list && kind.ends_with("List")) kind.resize(kind.size() - 4);
  if (!is_of_group(kind, group)) {
    ++counts_.others;
    return {};
  }
  ++counts_.changes;
  if (!is_list) return take_object(answer, kind, version, at, is_deletion(verb));
  for (const element item : items) {
    TRY(take_object(item, kind, version, at,
                    is_deletion(verb) && is_removed_at_once(event, item, kind)));
  }
  return {};
}

Result<void> AuditLog::take_no_answer(element event, std::string_view resource) {
  const std::string name = text_at(event, "/objectRef/name");
  const std::string path = path_of(text_at(event, "/objectRef/namespace"), name);
  const std::string verb = text_at(event, "/verb");
  if ((resource == "pods" || resource == "nodes") && verb != "create") {
    if (const auto pod = pod_uids_.find(path); resource == "pods" && pod != pod_uids_.end()) {
      partial_pods_.insert(pod->second);
    }
    if (resource == "nodes" && (!is_deletion(verb) || others_.contains(kept_key(true, name)))) {
      partial_nodes_.insert(name);
    }
    // What kubelets report of pods and nodes, which usual policies log at level Request.
    if (!is_deletion(verb)) {
      ++counts_.others;
      return {};
    }
  }
  return reject(path, fmt::format("{} of {} at level {}, without its answer; let the audit policy "
                                  "log it at level RequestResponse",
                                  printable_text(verb, 20), resource,
                                  printable_text(text_at(event, "/level"), 20)));
}

// An answer of an earlier version, such as one from a cache, says nothing new.
bool AuditLog::is_older(element object) {
  const auto version = parse_count(text_at(object, "/metadata/resourceVersion"),
                                   std::numeric_limits<std::uint64_t>::max());
  if (!version) return false;
  std::uint64_t& newest = versions_[text_at(object, "/metadata/uid")];
  if (*version < newest) return true;
  newest = *version;
  return false;
}

void AuditLog::note_gone(std::string_view uid, Instant at) {
  versions_.erase(std::string(uid));
  if (uid.empty() || !gone_.emplace(uid).second) return;
  gone_since_.emplace_back(at, uid);
  while (gone_since_.front().first + kGoneRemembered < newest_ ||
         gone_since_.size() > kGoneRememberedMax) {
    gone_.erase(gone_since_.front().second);
    gone_since_.pop_front();
  }
}

Result<void> AuditLog::take_object(element json, std::string_view kind, std::string_view version,
                                   Instant at, bool is_delete) {
  const auto object = read_object(json, kind, version);
  if (!object) return reject(text_at(json, "/metadata/name"), object.error().message);
  const Meta& meta = object_meta(*object);
  const std::string path = path_of(meta.name_space, meta.name);
  const auto* pod = std::get_if<Pod>(&*object);
  const bool is_node = std::holds_alternative<NodeObject>(*object);
  if (gone_.contains(meta.uid)) return {};
  if ((pod != nullptr || is_node) && is_older(json)) return {};
  const bool is_gone = (is_delete || has_deletion(json)) && !is_pending(json);
  if (pod != nullptr) {
    const auto last = pod_uids_.find(path);
    // Another pod has its name: it is gone, and the log does not say since when.
    if (last != pod_uids_.end() && last->second != meta.uid) partial_pods_.insert(last->second);
    partial_pods_.erase(meta.uid);
    if (pod->node.empty() && !is_gone) {
      waiting_.insert(meta.uid);
    } else {
      waiting_.erase(meta.uid);
    }
    if (!is_gone && !is_over(*pod)) {
      pod_uids_.insert_or_assign(path, meta.uid);
    } else if (last != pod_uids_.end()) {
      pod_uids_.erase(last);
    }
  }
  if (is_node) {
    partial_nodes_.erase(meta.name);
    if (seen_nodes_.insert(meta.name).second && is_gone) {
      // It was there since its creation, whatever the log has of that.
      state_->apply(*object, at - std::chrono::milliseconds(1));
      TRY(give_until(at - std::chrono::milliseconds(1), false));
    }
  }
  const bool is_kept = is_node || std::holds_alternative<ResourceSlice>(*object);
  const std::string key = kept_key(is_node, meta.name);
  const auto before = is_kept ? others_.find(key) : others_.end();
  if (before != others_.end() && (is_gone || before->second != *object)) {
    TRY(give_until(at - std::chrono::milliseconds(1), false));
  }
  ++changes_kept_;
  if (!is_gone) {
    if (is_kept) others_.insert_or_assign(key, *object);
    state_->apply(*object, at);
    return {};
  }
  state_->apply_deleted(*object, at);
  note_gone(meta.uid, at);
  if (is_kept) others_.erase(key);
  return {};
}

// The answer to a deletion that is done may be a Status, which names what it was.
Result<void> AuditLog::take_deletion(element event, std::string uid, Instant at) {
  const std::string group = text_at(event, "/objectRef/apiGroup");
  const std::string resource = text_at(event, "/objectRef/resource");
  const std::string name = text_at(event, "/objectRef/name");
  if (!decides(group, resource)) {
    state_->end_owner(uid);
    note_gone(uid, at);
    return {};
  }
  if (resource == "pods") {
    const auto found = pod_uids_.find(path_of(text_at(event, "/objectRef/namespace"), name));
    if (uid.empty() && found != pod_uids_.end()) uid = found->second;
    state_->end_pod(uid, at);
    waiting_.erase(uid);
    partial_pods_.erase(uid);
    note_gone(uid, at);
    if (found != pod_uids_.end() && found->second == uid) pod_uids_.erase(found);
    return {};
  }
  const bool is_node = resource == "nodes";
  if (!is_node && resource != "resourceslices") return {};
  const auto found = others_.find(kept_key(is_node, name));
  if (found != others_.end() && !uid.empty() && object_meta(found->second).uid != uid) return {};
  if (is_node) partial_nodes_.erase(name);
  if (found == others_.end()) return is_node ? end_known_node(name, at) : Result<void>{};
  TRY(give_until(at - std::chrono::milliseconds(1), false));
  ++changes_kept_;
  state_->apply_deleted(found->second, at);
  note_gone(object_meta(found->second).uid, at);
  others_.erase(found);
  return {};
}

// A node that the ledger knows, and of which the log has only the end.
Result<void> AuditLog::end_known_node(const std::string& name, Instant at) {
  if (!seen_nodes_.insert(name).second || !known_.node) return {};
  auto last = known_.node(NodeId(name));
  if (!last || last->to) return {};
  last->from = std::max(at, last->from + std::chrono::milliseconds(1));
  last->to = last->from;
  ended_.insert_or_assign(name, *last);
  return options_.give(
      {.holdings = {}, .nodes = {*std::move(last)}, .gpus = {}, .outages = {}, .problems = {}});
}

Result<void> AuditLog::give_until(Instant now, bool is_end) {
  Facts facts = state_->facts(now);
  changes_kept_ = 0;
  std::erase_if(facts.holdings, [&](const Holding& one) {
    return !one.ended && (!is_end || partial_pods_.contains(pod_uid_of(one)));
  });
  if (is_end) {
    for (const HoldingReading& reading : facts.readings) {
      const auto held = Interval::of(reading.holding->held.begin(), reading.until);
      if (!held || partial_pods_.contains(pod_uid_of(*reading.holding))) continue;
      Holding& last = facts.holdings.emplace_back(*reading.holding);
      last.held = *held;
    }
  }
  facts.readings.clear();
  std::erase_if(facts.nodes, [&](const Node& node) {
    const bool is_partial = partial_nodes_.contains(node.name.text());
    if (is_partial) {
      withheld_.insert_or_assign(node.name.text(), node);
    } else {
      withheld_.erase(node.name.text());
    }
    return is_partial;
  });
  std::erase_if(withheld_, [&](const auto& one) {
    const bool is_whole = !partial_nodes_.contains(one.first);
    if (is_whole) facts.nodes.push_back(one.second);
    return is_whole;
  });
  return options_.give(facts);
}

}  // namespace pennyweight::kubernetes
