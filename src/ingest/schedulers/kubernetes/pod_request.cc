#include "ingest/schedulers/kubernetes/pod_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/gpu/kubernetes_quantity.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::kubernetes {
namespace {

// More of either than any machine has, and small enough that the sums of a pod stay far below 2^64.
constexpr std::uint64_t kAmountMax = std::uint64_t{1} << 50;

struct Amounts {
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;

  void add(const Amounts& other) {
    cpu_milli += other.cpu_milli;
    memory_bytes += other.memory_bytes;
  }
  void raise_to(const Amounts& other) {
    cpu_milli = std::max(cpu_milli, other.cpu_milli);
    memory_bytes = std::max(memory_bytes, other.memory_bytes);
  }
};

const std::string* find(const KubernetesResources& resources, std::string_view name) {
  const auto at = resources.find(name);
  return at == resources.end() ? nullptr : &at->second;
}

// Rounded up to a whole unit: a request of "100m" bytes is legal.
Result<std::uint64_t> parse_amount(const std::string& text, std::uint64_t units) {
  auto count = parse_quantity(text, units);
  if (!count) {
    if (const auto finer = parse_quantity(text, units * 1000)) count = (*finer + 999) / 1000;
  }
  if (count && *count > kAmountMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} is more than any machine has", printable_text(text, 60)));
  }
  return count;
}

Result<Amounts> container_amounts(const KubernetesResources& requests,
                                  const KubernetesResources& limits) {
  Amounts amounts;
  const auto read = [&](std::string_view name, std::uint64_t units, std::uint64_t& into) {
    const std::string* text = find(requests, name);
    if (text == nullptr) text = find(limits, name);
    if (text == nullptr) return Result<void>();
    const auto amount = parse_amount(*text, units);
    if (!amount) return Result<void>(std::unexpected(amount.error().during(name)));
    into = *amount;
    return Result<void>();
  };
  TRY(read("cpu", 1000, amounts.cpu_milli));
  TRY(read("memory", 1, amounts.memory_bytes));
  return amounts;
}

// The resources of vendors' domains. Those of kubernetes.io (batch.kubernetes.io/…) are no devices.
KubernetesResources extended_resources(const Container& container) {
  KubernetesResources found;
  for (const auto* resources : {&container.requests, &container.limits}) {
    for (const auto& [name, quantity] : *resources) {
      if (name.find('/') == std::string::npos || quantity == "0") continue;
      found.emplace(name, quantity);
    }
  }
  return found;
}

// What init containers request of a resource beyond all containers that stay. Resources that
// describe a vGPU (gpumem) are not counts, and are left out.
KubernetesResources beyond(const std::vector<KubernetesResources>& stay,
                           const std::vector<KubernetesResources>& init) {
  KubernetesResources extra;
  for (const KubernetesResources& one : init) {
    for (const auto& [name, quantity] : one) {
      if (name.find("gpumem") != std::string::npos || name.find("gpucores") != std::string::npos ||
          name.find("vgpu-") != std::string::npos) {
        continue;
      }
      const auto wanted = parse_quantity(quantity, 1);
      if (!wanted) continue;  // requested_devices() names it where it is a GPU
      std::uint64_t there = 0;
      for (const KubernetesResources& other : stay) {
        const std::string* text = find(other, name);
        const auto count = text == nullptr ? Result<std::uint64_t>(0) : parse_quantity(*text, 1);
        if (count) there += std::min(*count, kAmountMax);
      }
      const std::string* before = find(extra, name);
      const auto had = before == nullptr ? Result<std::uint64_t>(0) : parse_quantity(*before, 1);
      if (*wanted > there && *wanted - there > had.value_or(0)) {
        extra.insert_or_assign(name, std::to_string(*wanted - there));
      }
    }
  }
  return extra;
}

}  // namespace

Result<PodRequest> pod_request(const Pod& pod) {
  const auto read = [](const Container& container) {
    auto amounts = container_amounts(container.requests, container.limits);
    if (amounts) return amounts;
    return Result<Amounts>(std::unexpected(
        amounts.error().during(fmt::format("container {}", printable_text(container.name, 100)))));
  };
  Amounts together, alone, sidecars;
  std::vector<KubernetesResources> stay, init;
  for (const Container& container : pod.init_containers) {
    const auto amounts = TRY(read(container));
    Amounts at_once = sidecars;
    at_once.add(amounts);
    alone.raise_to(at_once);
    if (container.is_sidecar) sidecars = at_once;
    (container.is_sidecar ? stay : init).push_back(extended_resources(container));
  }
  together = sidecars;
  for (const Container& container : pod.containers) {
    const auto amounts = TRY(read(container));
    together.add(amounts);
    stay.push_back(extended_resources(container));
  }
  together.raise_to(alone);
  const auto whole = container_amounts(pod.requests, {});
  if (!whole) return std::unexpected(whole.error().during("spec.resources"));
  if (pod.requests.contains("cpu")) together.cpu_milli = whole->cpu_milli;
  if (pod.requests.contains("memory")) together.memory_bytes = whole->memory_bytes;
  const auto overhead = container_amounts(pod.overhead, {});
  if (!overhead) return std::unexpected(overhead.error().during("spec.overhead"));
  together.add(*overhead);

  PodRequest request{.cpu_milli = together.cpu_milli, .memory_bytes = together.memory_bytes};
  KubernetesResources extra = beyond(stay, init);
  for (KubernetesResources& resources : stay) {
    if (!resources.empty()) request.extended.push_back(std::move(resources));
  }
  if (!extra.empty()) request.extended.push_back(std::move(extra));
  return request;
}

}  // namespace pennyweight::kubernetes
