#include "ingest/manifests/device_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/manifests/pod_template.h"

namespace pennyweight::manifests {
namespace {

constexpr std::string_view kClassPrefix = "deviceclass.resource.kubernetes.io/";
// Words in the names of classes and drivers whose devices are no accelerators, and whole names.
constexpr std::string_view kOtherWords[] = {"net", "nic", "rdma", "roce", "hca",   "sriov",
                                            "efa", "eni", "fuse", "kvm",  "vhost", "tun"};
constexpr std::string_view kOtherNames[] = {"dra.cpu", "dra.memory"};
constexpr std::string_view kComputeDomain = "compute-domain";
// Attributes that decide neither the model nor the part of it.
constexpr std::string_view kHarmless[] = {"brand", "driverVersion", "cudaDriverVersion", "index",
                                          "minor", "parentIndex",   "healthy",           "pcieRoot",
                                          "numa",  "numaNode"};
// Attributes that decide which part of a GPU it is.
constexpr std::string_view kPartAttributes[] = {"profile", "type"};
constexpr std::string_view kModelAttributes[] = {"productName", "model", "product"};

bool is_gpu_class(std::string_view name) {
  return name.starts_with("mig.") || name.find("gpu") != std::string_view::npos;
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_other_class(std::string_view name) {
  if (is_gpu_class(name)) return false;
  return name.starts_with(kComputeDomain) || is_among(kOtherNames, name) ||
         names_other_device(name);
}

std::string_view trimmed(std::string_view text) { return ascii::trim(text, ascii::kWhitespace); }

// The terms of a conjunction. Parentheses and texts in quotes stay whole, and so does an expression
// with an alternative outside of them, which binds less than "and".
std::vector<std::string_view> conjunction(std::string_view expression) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && (c == '?' || expression.substr(i).starts_with("||"))) {
      return {trimmed(expression)};
    }
    if (depth == 0 && expression.substr(i).starts_with("&&")) {
      terms.push_back(trimmed(expression.substr(begin, i - begin)));
      begin = i + 2;
      ++i;
    }
  }
  terms.push_back(trimmed(expression.substr(begin)));
  return terms;
}

// A text in quotes, all of it; nothing where it is none, or has escapes.
std::optional<std::string_view> whole_text(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0]) return {};
  text = text.substr(1, text.size() - 2);
  if (text.find_first_of("'\"\\") != std::string_view::npos) return {};
  return text;
}

// What is compared in a term: `device.driver`, or an attribute of the device, by "==" with a text
// or by a method with one: lowerAscii().matches('^.*a100.*$').
struct Comparison {
  std::string_view attribute;  // "driver", "productName"
  std::string_view method;     // "==", "matches", "contains", "startsWith"
  std::string_view text;
};

std::optional<Comparison> read_comparison(std::string_view term) {
  Comparison found;
  constexpr std::string_view kAttributes = "device.attributes[";
  constexpr std::string_view kDriver = "device.driver";
  if (term.starts_with(kDriver)) {
    found.attribute = "driver";
    term.remove_prefix(kDriver.size());
  } else if (term.starts_with(kAttributes)) {
    const std::size_t close = term.find("].");
    if (close == std::string_view::npos ||
        !whole_text(term.substr(kAttributes.size(), close - kAttributes.size()))) {
      return {};
    }
    term.remove_prefix(close + 2);
    const std::size_t end = std::min(term.find_first_of(".= !<>"), term.size());
    found.attribute = term.substr(0, end);
    term.remove_prefix(end);
  } else {
    return {};
  }
  term = trimmed(term);
  constexpr std::string_view kLower = ".lowerAscii()";
  if (term.starts_with(kLower)) term.remove_prefix(kLower.size());
  term = trimmed(term);
  std::optional<std::string_view> text;
  if (term.starts_with("==")) {
    found.method = "==";
    text = whole_text(term.substr(2));
  } else {
    for (const std::string_view method : {"matches", "contains", "startsWith"}) {
      const std::string call = fmt::format(".{}(", method);
      if (!term.starts_with(call) || !term.ends_with(')')) continue;
      found.method = method;
      text = whole_text(term.substr(call.size(), term.size() - call.size() - 1));
    }
  }
  if (!text) return {};
  found.text = *text;
  return found;
}

// The words between "^.*" and ".*$" of a pattern that has nothing else to it.
std::optional<std::string> plain_pattern(std::string_view pattern) {
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with('$')) pattern.remove_suffix(1);
  if (pattern.starts_with(".*")) pattern.remove_prefix(2);
  if (pattern.ends_with(".*")) pattern.remove_suffix(2);
  const bool is_plain = !pattern.empty() && std::ranges::all_of(pattern, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ' ' || c == '_';
  });
  if (!is_plain) return {};
  return std::string(pattern);
}

// What the selectors of a class and of a request say together.
struct Selection {
  std::string model;
  std::string profile;
  std::string driver;
  bool is_mig = false;
  std::string unclear;       // a term that may decide the model, and is not understood
  std::string unclear_part;  // one that may decide which part of a GPU it is
  std::string problem;
};

void set_model(Selection& selection, std::string model) {
  if (selection.model.empty() || selection.model == model) {
    selection.model = std::move(model);
    return;
  }
  selection.problem = fmt::format("its selectors name two GPU models, '{}' and '{}'",
                                  printable_text(selection.model, 80), printable_text(model, 80));
}

void set_unclear(std::string_view term, Selection& selection) {
  const bool is_of_part = std::ranges::any_of(kPartAttributes, [&](std::string_view name) {
    return term.find(fmt::format("].{}", name)) != std::string_view::npos;
  });
  (is_of_part ? selection.unclear_part : selection.unclear) = printable_text(term, 160);
}

void read_term(std::string_view term, Selection& selection) {
  const auto unclear = [&] { set_unclear(term, selection); };
  // That a device states something at all says nothing about its value.
  if (term.find(" in device.attributes") != std::string_view::npos &&
      term.find("==") == std::string_view::npos) {
    return;
  }
  const auto compared = read_comparison(term);
  if (!compared) {
    // A number, such as an index.
    const bool is_harmless = std::ranges::any_of(kHarmless, [&](std::string_view name) {
      return term.starts_with("device.attributes[") &&
             term.find(fmt::format("].{} ", name)) != std::string_view::npos;
    });
    if (!is_harmless) unclear();
    return;
  }
  const auto& [attribute, method, text] = *compared;
  if (attribute == "driver" && method == "==") {
    selection.driver = text;
  } else if (std::ranges::find(kModelAttributes, attribute) != std::end(kModelAttributes)) {
    if (method == "==") {
      set_model(selection, std::string(text));
    } else if (auto plain = plain_pattern(text)) {
      set_model(selection, std::move(*plain));
    } else {
      unclear();
    }
  } else if (attribute == "profile" && method == "==") {
    selection.profile = text;
    selection.is_mig = true;
  } else if (attribute == "type" && method == "==") {
    selection.is_mig = selection.is_mig || text == "mig";
  } else if (std::ranges::find(kHarmless, attribute) == std::end(kHarmless)) {
    unclear();
  }
}

void read_selectors(const DocumentNode& selectors, Selection& selection) {
  for (const DocumentNode& selector : selectors.items) {
    const std::string& expression = selector.at("cel.expression").scalar;
    for (const std::string_view term : conjunction(expression)) {
      // An alternative is one term, which says no single thing.
      if (term.find("||") != std::string_view::npos || term.find('?') != std::string_view::npos ||
          term.starts_with('!')) {
        set_unclear(term, selection);
      } else {
        read_term(term, selection);
      }
    }
  }
}

// So many devices of a class, picked by the selectors of a request too.
ClaimedGpus read_devices(std::string_view device_class, std::uint64_t count,
                         const DocumentNode& selectors, const DeviceClaims& known) {
  ClaimedGpus claimed;
  Selection selection;
  const auto stated = known.classes.find(device_class);
  if (stated != known.classes.end()) read_selectors((*stated->second)["selectors"], selection);
  read_selectors(selectors, selection);
  const bool is_gpu = is_gpu_class(device_class) || is_gpu_class(selection.driver) ||
                      !selection.model.empty() || selection.is_mig;
  if (!is_gpu) {
    if (is_other_class(selection.driver.empty() ? device_class : selection.driver)) return claimed;
    claimed.problem = fmt::format(
        "it asks for {} device{} of the class '{}', and nothing says what these are{}", count,
        count == 1 ? "" : "s", printable_text(device_class, 120),
        stated == known.classes.end() ? "; give the file with its DeviceClass too" : "");
    return claimed;
  }
  RequestedDevice device;
  device.count = count;
  if (selection.is_mig || device_class.starts_with("mig.")) {
    device.kind = RequestedDevice::Kind::kMigSlice;
    device.mig_profile = selection.profile;
    if (selection.profile.empty()) {
      selection.problem = "it asks for a MIG device without saying which profile";
    }
  }
  claimed.gpu_model = selection.model;
  claimed.gpu_vendor = gpu_vendor_of(selection.driver.empty() ? device_class : selection.driver);
  claimed.problem = selection.problem;
  if (claimed.problem.empty() && !selection.unclear.empty() && selection.model.empty()) {
    claimed.problem = fmt::format(
        "its selector {} may decide the GPU model, and is not understood; compare productName with "
        "a text, too",
        selection.unclear);
  }
  if (claimed.problem.empty() && !selection.unclear_part.empty() && !selection.is_mig) {
    claimed.problem = fmt::format(
        "its selector {} may decide which part of a GPU it is, and is not understood; compare "
        "profile or type with a text",
        selection.unclear_part);
  }
  if (count > 0) claimed.gpus.push_back(std::move(device));
  return claimed;
}

}  // namespace

ClaimedGpus read_claim(const DocumentNode& claim_spec, const DeviceClaims& known) {
  ClaimedGpus all;
  const auto& requests = claim_spec.at("devices.requests").items;
  if (requests.size() > kClaimRequestsMax) {
    all.problem = fmt::format("it has {} requests, and Kubernetes takes {} at most",
                              requests.size(), kClaimRequestsMax);
    return all;
  }
  for (const DocumentNode& item : requests) {
    if (item.has("firstAvailable")) {
      all.problem = "it offers alternatives (firstAvailable), which cost differently";
      return all;
    }
    // resource.k8s.io/v1 and v1beta2 put the request under `exactly`.
    const DocumentNode& request = item.has("exactly") ? item["exactly"] : item;
    if (request["adminAccess"].scalar == "true") continue;  // it observes and holds nothing
    const auto count = read_whole(request, "count", 1, limits::kGpusPerHoldingMax);
    if (!count) {
      all.problem = count.error().message;
      return all;
    }
    const ClaimedGpus one =
        read_devices(request["deviceClassName"].scalar, *count, request["selectors"], known);
    if (!one.gpus.empty() && request["allocationMode"].scalar == "All") {
      all.problem = "it asks for all GPUs of a node, however many these are";
      return all;
    }
    join_claims(all, one);
    if (!all.problem.empty()) return all;
  }
  return all;
}

bool names_other_device(std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of(".-/_", begin), name.size());
    if (is_among(kOtherWords, name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

std::string claim_key(bool is_shared, std::string_view scoped_name) {
  return fmt::format("{}/{}", is_shared ? "claim" : "template", scoped_name);
}

std::string class_of_resource(std::string_view resource, const DeviceClaims& known) {
  if (resource.starts_with(kClassPrefix)) {
    return std::string(resource.substr(kClassPrefix.size()));
  }
  for (const auto& [name, spec] : known.classes) {
    if (!resource.empty() && (*spec)["extendedResourceName"].scalar == resource) return name;
  }
  return "";
}

ClaimedGpus read_class(std::string_view device_class, std::uint64_t count,
                       const DeviceClaims& known) {
  return read_devices(device_class, count, DocumentNode(), known);
}

std::string gpu_vendor_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kVendors[] = {
      {"nvidia.com", "NVIDIA"}, {"amd.com", "AMD"}, {"intel.com", "Intel"}};
  for (const auto& [domain, vendor] : kVendors) {
    const std::size_t at = name.find(domain);
    if (at != std::string_view::npos && (at == 0 || name[at - 1] == '.')) {
      return std::string(vendor);
    }
  }
  return "";
}

void join_claims(ClaimedGpus& all, const ClaimedGpus& more) {
  if (!all.problem.empty()) return;
  all.problem = more.problem;
  if (all.gpu_vendor.empty()) all.gpu_vendor = more.gpu_vendor;
  if (all.gpu_model.empty() || more.gpus.empty()) {
    if (!all.gpus.empty() && all.gpu_model != more.gpu_model && !more.gpus.empty()) {
      all.problem = "it asks for GPUs of a model and for others of any model";
    }
    if (!more.gpu_model.empty()) all.gpu_model = more.gpu_model;
  } else if (all.gpu_model != more.gpu_model) {
    all.problem =
        fmt::format("it asks for GPUs of two models, '{}' and '{}'",
                    printable_text(all.gpu_model, 80), printable_text(more.gpu_model, 80));
  }
  all.gpus.insert(all.gpus.end(), more.gpus.begin(), more.gpus.end());
}

}  // namespace pennyweight::manifests
