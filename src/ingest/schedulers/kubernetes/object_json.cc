#include "ingest/schedulers/kubernetes/object_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/gpu/kubernetes_quantity.h"
#include "core/plain_text.h"

namespace pennyweight::kubernetes {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using Path = std::initializer_list<std::string_view>;

constexpr std::string_view kDeviceAnnotations[] = {"hami.io/", "volcano.sh/", "run.ai/"};
constexpr std::string_view kNeverKept[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                           "run.ai/mig.config"};

std::string path_text(Path path) {
  std::string text;
  for (const std::string_view key : path) {
    if (!text.empty()) text += '/';
    text += key;
  }
  return text;
}

// Keeps the first mistake, so that fields can be read one after another.
class Fields {
 public:
  const std::optional<Error>& refusal() const { return refusal_; }

  void refuse(std::string_view where, std::string_view why) {
    if (refusal_) return;
    refusal_ = Error{ErrorCode::kBadValue, fmt::format("{}: {}", printable_text(where, 200), why)};
  }

  // Nothing where it is missing or null.
  std::optional<element> at(element from, Path path) {
    for (const std::string_view key : path) {
      if (from.is_null()) return std::nullopt;
      object inside;
      if (from.get(inside) != simdjson::SUCCESS) {
        refuse(path_text(path), "what should hold it is not an object");
        return std::nullopt;
      }
      if (inside[key].get(from) != simdjson::SUCCESS) return std::nullopt;
    }
    if (from.is_null()) return std::nullopt;
    return from;
  }

  std::string text(element from, Path path, std::size_t bytes_max = kNameBytesMax) {
    const auto value = at(from, path);
    if (!value) return {};
    std::string_view text;
    if (value->get(text) != simdjson::SUCCESS) {
      refuse(path_text(path), "it is not a string");
      return {};
    }
    if (text.size() > bytes_max) {
      refuse(path_text(path), fmt::format("more than {} bytes", bytes_max));
      return {};
    }
    if (!is_plain_text(text)) {
      refuse(path_text(path), "it holds a NUL");
      return {};
    }
    return std::string(text);
  }

  bool flag(element from, Path path) {
    const auto value = at(from, path);
    bool is_on = false;
    if (value && value->get(is_on) != simdjson::SUCCESS) {
      refuse(path_text(path), "it is neither true nor false");
    }
    return is_on;
  }

  std::optional<Instant> time(element from, Path path) {
    const std::string text = this->text(from, path);
    if (text.empty()) return std::nullopt;
    const auto at = parse_time(text);
    if (!at) {
      refuse(path_text(path), at.error().message);
      return std::nullopt;
    }
    return *at;
  }

  // Quantities are texts; numbers are accepted too, as the API server does.
  KubernetesResources resources(element from, Path path) {
    KubernetesResources found;
    each_entry(from, path, [&](std::string_view key, element value) {
      const auto text = quantity_text(value);
      if (!text) return refuse(path_text(path), "a quantity is neither a text nor a number");
      found.emplace(std::string(key), *text);
    });
    return found;
  }

  std::optional<std::uint64_t> bytes(element from, Path path) {
    const auto value = at(from, path);
    if (!value) return std::nullopt;
    const auto text = quantity_text(*value);
    const auto count = text ? parse_quantity(*text, 1) : Result<std::uint64_t>(0);
    if (!text || !count) {
      refuse(path_text(path), text ? count.error().message : "it is not a quantity");
      return std::nullopt;
    }
    return *count;
  }

  Texts texts(element from, Path path) {
    Texts found;
    each_entry(from, path, [&](std::string_view key, element value) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) {
        return refuse(path_text(path), "one of its values is not a string");
      }
      if (is_plain_text(text)) found.emplace(std::string(key), std::string(text));
    });
    return found;
  }

  template <class Act>
  void each_entry(element from, Path path, Act act) {
    const auto value = at(from, path);
    if (!value) return;
    object entries;
    if (value->get(entries) != simdjson::SUCCESS) return refuse(path_text(path), "not an object");
    std::size_t count = 0;
    for (const auto [key, entry] : entries) {
      if (++count > kEntriesMax) {
        return refuse(path_text(path), fmt::format("more than {} entries", kEntriesMax));
      }
      if (key.size() > kNameBytesMax || !is_plain_text(key)) {
        return refuse(path_text(path), "a key that is too long, or holds a NUL");
      }
      act(key, entry);
    }
  }

  template <class Act>
  void each(element from, Path path, Act act) {
    const auto value = at(from, path);
    if (!value) return;
    array items;
    if (value->get(items) != simdjson::SUCCESS) return refuse(path_text(path), "not a list");
    std::size_t count = 0;
    for (const element item : items) {
      if (++count > kEntriesMax) {
        return refuse(path_text(path), fmt::format("more than {} entries", kEntriesMax));
      }
      if (!item.is_object()) return refuse(path_text(path), "one of its items is not an object");
      act(item);
    }
  }

 private:
  static std::optional<std::string> quantity_text(element value) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      if (text.size() > 64) return std::nullopt;
      return std::string(text);
    }
    std::uint64_t number{};
    if (value.get(number) == simdjson::SUCCESS) return std::to_string(number);
    return std::nullopt;
  }

  std::optional<Error> refusal_;
};

bool is_kept(std::string_view key, std::size_t bytes) {
  if (std::ranges::find(kNeverKept, key) != std::end(kNeverKept)) return false;
  if (bytes <= kAnnotationBytesMax) return true;
  return bytes <= kDeviceAnnotationBytesMax &&
         std::ranges::any_of(kDeviceAnnotations,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

Meta read_meta(Fields& fields, element json, std::string_view kind, std::string_view api_version) {
  Meta meta;
  meta.kind = fields.text(json, {"kind"});
  if (meta.kind.empty()) meta.kind = kind;
  meta.api_version = fields.text(json, {"apiVersion"});
  if (meta.api_version.empty()) meta.api_version = api_version;
  meta.name = fields.text(json, {"metadata", "name"});
  meta.name_space = fields.text(json, {"metadata", "namespace"});
  meta.uid = fields.text(json, {"metadata", "uid"});
  meta.labels = fields.texts(json, {"metadata", "labels"});
  fields.each_entry(json, {"metadata", "annotations"}, [&](std::string_view key, element value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
      return fields.refuse("metadata/annotations", "one of its values is not a string");
    }
    if (is_kept(key, text.size()) && is_plain_text(text)) {
      meta.annotations.emplace(std::string(key), std::string(text));
    }
  });
  fields.each(json, {"metadata", "ownerReferences"}, [&](element owner) {
    meta.owners.push_back({.api_version = fields.text(owner, {"apiVersion"}),
                           .kind = fields.text(owner, {"kind"}),
                           .name = fields.text(owner, {"name"}),
                           .uid = fields.text(owner, {"uid"}),
                           .is_controller = fields.flag(owner, {"controller"})});
  });
  meta.created = fields.time(json, {"metadata", "creationTimestamp"});
  meta.deletion = fields.time(json, {"metadata", "deletionTimestamp"});
  if (meta.kind.empty()) fields.refuse("kind", "it is missing");
  if (meta.name.empty()) fields.refuse("metadata/name", "it is missing");
  if (meta.uid.empty()) fields.refuse("metadata/uid", "it is missing");
  return meta;
}

std::vector<Container> read_containers(Fields& fields, element json, std::string_view list) {
  std::vector<Container> containers;
  fields.each(json, {"spec", list}, [&](element container) {
    containers.push_back({.name = fields.text(container, {"name"}),
                          .image = fields.text(container, {"image"}),
                          .requests = fields.resources(container, {"resources", "requests"}),
                          .limits = fields.resources(container, {"resources", "limits"}),
                          .is_sidecar = fields.text(container, {"restartPolicy"}) == "Always"});
  });
  return containers;
}

// When the last container ended; nothing while one has not, or where there is no status.
std::optional<Instant> all_terminated(Fields& fields, element json, std::size_t containers) {
  std::optional<Instant> last;
  std::size_t ended = 0;
  fields.each(json, {"status", "containerStatuses"}, [&](element status) {
    const auto at = fields.time(status, {"state", "terminated", "finishedAt"});
    if (!at) return;
    ++ended;
    last = last ? std::max(*last, *at) : *at;
  });
  return ended == containers && ended > 0 ? last : std::nullopt;
}

// Containers that end now or ended before they were started again.
std::vector<KilledContainer> killed_containers(Fields& fields, element json) {
  std::vector<KilledContainer> killed;
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    fields.each(json, {"status", list}, [&](element status) {
      for (const std::string_view state : {"state", "lastState"}) {
        if (fields.text(status, {state, "terminated", "reason"}) != "OOMKilled") continue;
        killed.push_back({.name = fields.text(status, {"name"}),
                          .at = fields.time(status, {state, "terminated", "finishedAt"})});
      }
    });
  }
  return killed;
}

std::vector<PodClaim> read_claims(Fields& fields, element json) {
  std::vector<PodClaim> claims;
  fields.each(json, {"spec", "resourceClaims"}, [&](element claim) {
    PodClaim named{.name = fields.text(claim, {"name"}),
                   .claim = fields.text(claim, {"resourceClaimName"})};
    // Before v1beta1 the name was one level deeper.
    if (named.claim.empty()) named.claim = fields.text(claim, {"source", "resourceClaimName"});
    claims.push_back(std::move(named));
  });
  // The status names claims that were made from a template.
  fields.each(json, {"status", "resourceClaimStatuses"}, [&](element status) {
    const std::string name = fields.text(status, {"name"});
    const std::string claim = fields.text(status, {"resourceClaimName"});
    for (PodClaim& named : claims) {
      if (named.name == name && named.claim.empty()) named.claim = claim;
    }
  });
  return claims;
}

Pod read_pod(Fields& fields, element json, Meta meta) {
  Pod pod;
  pod.meta = std::move(meta);
  pod.node = fields.text(json, {"spec", "nodeName"});
  pod.service_account = fields.text(json, {"spec", "serviceAccountName"});
  pod.priority_class = fields.text(json, {"spec", "priorityClassName"});
  pod.phase = fields.text(json, {"status", "phase"});
  pod.containers = read_containers(fields, json, "containers");
  pod.init_containers = read_containers(fields, json, "initContainers");
  pod.requests = fields.resources(json, {"spec", "resources", "requests"});
  pod.overhead = fields.resources(json, {"spec", "overhead"});
  pod.claims = read_claims(fields, json);
  pod.started = fields.time(json, {"status", "startTime"});
  fields.each(json, {"status", "conditions"}, [&](element condition) {
    const auto changed = fields.time(condition, {"lastTransitionTime"});
    if (!changed) return;
    pod.changed = pod.changed ? std::max(*pod.changed, *changed) : *changed;
    if (fields.text(condition, {"type"}) == "PodScheduled" &&
        fields.text(condition, {"status"}) == "True") {
      pod.scheduled = changed;
    }
  });
  pod.terminated = all_terminated(fields, json, pod.containers.size());
  pod.killed = killed_containers(fields, json);
  return pod;
}

NodeObject read_node(Fields& fields, element json, Meta meta) {
  NodeObject node;
  node.meta = std::move(meta);
  node.provider_id = fields.text(json, {"spec", "providerID"});
  node.is_unschedulable = fields.flag(json, {"spec", "unschedulable"});
  fields.each(json, {"spec", "taints"}, [&](element taint) {
    node.taints.push_back({.key = fields.text(taint, {"key"}),
                           .effect = fields.text(taint, {"effect"}),
                           .added = fields.time(taint, {"timeAdded"})});
  });
  node.capacity = fields.resources(json, {"status", "capacity"});
  fields.each(json, {"status", "conditions"}, [&](element condition) {
    if (fields.text(condition, {"type"}) != "Ready") return;
    node.is_ready = fields.text(condition, {"status"}) == "True";
    node.ready_changed = fields.time(condition, {"lastTransitionTime"});
  });
  return node;
}

ResourceClaim read_claim(Fields& fields, element json, Meta meta) {
  ResourceClaim claim;
  claim.meta = std::move(meta);
  fields.each(json, {"status", "allocation", "devices", "results"}, [&](element result) {
    claim.devices.push_back({.driver = fields.text(result, {"driver"}),
                             .pool = fields.text(result, {"pool"}),
                             .device = fields.text(result, {"device"}),
                             .is_admin_access = fields.flag(result, {"adminAccess"}),
                             .memory_bytes = fields.bytes(result, {"consumedCapacity", "memory"})});
  });
  return claim;
}

// v1 has attributes beside the name; v1beta1 has them in "basic".
SliceDevice read_slice_device(Fields& fields, element json) {
  SliceDevice device;
  device.name = fields.text(json, {"name"});
  const element from = fields.at(json, {"basic"}).value_or(json);
  const auto attribute = [&](std::string_view name) {
    return fields.text(from, {"attributes", name, "string"});
  };
  device.type = attribute("type");
  device.uuid = attribute("uuid");
  device.parent_uuid = attribute("parentUUID");
  device.profile = attribute("profile");
  device.product = attribute("productName");
  device.memory_bytes = fields.bytes(from, {"capacity", "memory", "value"});
  if (const auto minor = fields.at(from, {"attributes", "minor", "int"})) {
    std::uint64_t number{};
    if (minor->get(number) == simdjson::SUCCESS) {
      device.minor = number;
    } else {
      fields.refuse("attributes/minor", "it is not a number");
    }
  }
  return device;
}

ResourceSlice read_slice(Fields& fields, element json, Meta meta) {
  ResourceSlice slice;
  slice.meta = std::move(meta);
  slice.driver = fields.text(json, {"spec", "driver"});
  slice.node = fields.text(json, {"spec", "nodeName"});
  slice.pool = fields.text(json, {"spec", "pool", "name"});
  fields.each(json, {"spec", "devices"},
              [&](element device) { slice.devices.push_back(read_slice_device(fields, device)); });
  return slice;
}

Object read_as(Fields& fields, element json, Meta meta) {
  if (meta.kind == "Pod") return read_pod(fields, json, std::move(meta));
  if (meta.kind == "Node") return read_node(fields, json, std::move(meta));
  if (meta.kind == "Namespace") return Namespace{std::move(meta)};
  if (meta.kind == "ResourceClaim") return read_claim(fields, json, std::move(meta));
  if (meta.kind == "ResourceSlice") return read_slice(fields, json, std::move(meta));
  return Workload{std::move(meta)};
}

}  // namespace

Result<Instant> parse_time(std::string_view text) {
  std::string cut;
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    cut = text.substr(0, std::min(point + 4, end));
    cut += text.substr(end);
    text = cut;
  }
  return parse_instant(text);
}

Result<Object> read_object(element json, std::string_view kind, std::string_view api_version) {
  if (!json.is_object()) return fail(ErrorCode::kBadValue, "a Kubernetes object is a JSON object");
  Fields fields;
  Meta meta = read_meta(fields, json, kind, api_version);
  const std::string name = fmt::format("{} {}{}{}", meta.kind, meta.name_space,
                                       meta.name_space.empty() ? "" : "/", meta.name);
  Object object = read_as(fields, json, std::move(meta));
  if (fields.refusal()) {
    return std::unexpected(fields.refusal()->during(printable_text(name, 200)));
  }
  return object;
}

Result<Object> ObjectReader::read(std::string_view json, std::string_view kind,
                                  std::string_view api_version) {
  if (json.size() > kObjectBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("a Kubernetes object of {} bytes; at most {} are read", json.size(),
                            kObjectBytesMax));
  }
  element root;
  if (const auto error = parser_.parse(json.data(), json.size()).get(root)) {
    return fail(ErrorCode::kBadValue, fmt::format("not JSON: {}", simdjson::error_message(error)));
  }
  return read_object(root, kind, api_version);
}

}  // namespace pennyweight::kubernetes
