#include "ingest/manifests/pod_security.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/plain_text.h"

namespace pennyweight::manifests {
namespace {

// Words in the names of variables that hold secrets, and ends of names that only say where one is.
constexpr std::string_view kSecretWords[] = {"PASSWORD",   "PASSWD",      "SECRET",
                                             "TOKEN",      "API_KEY",     "APIKEY",
                                             "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"};
constexpr std::string_view kPlaceEnds[] = {"_FILE", "_PATH", "_DIR", "_NAME", "_URL", "_ID"};
// How secrets of well-known issuers begin.
constexpr std::string_view kSecretBeginnings[] = {"-----BEGIN ", "AKIA",  "ASIA",        "ghp_",
                                                  "gho_",        "ghs_",  "github_pat_", "glpat-",
                                                  "hf_",         "xoxb-", "sk-",         "nvapi-"};
constexpr std::size_t kSecretLengthMin = 16;

bool ends_in_place(std::string_view name) {
  return std::ranges::any_of(kPlaceEnds, [&](std::string_view end) { return name.ends_with(end); });
}

// "$(OTHER)" takes the value of another variable.
bool is_reference(std::string_view value) {
  return value.starts_with("$(") && value.ends_with(')');
}

bool is_secret(std::string_view name, std::string_view value) {
  if (value.empty() || is_reference(value)) return false;
  const bool looks_like_one = std::ranges::any_of(kSecretBeginnings, [&](std::string_view begin) {
    return value.starts_with(begin) && value.size() >= kSecretLengthMin;
  });
  if (looks_like_one) return true;
  const std::string upper = ascii::upper_case(std::string(name));
  if (ends_in_place(upper)) return false;
  return std::ranges::any_of(
      kSecretWords, [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

class RiskFinder {
 public:
  explicit RiskFinder(const DocumentNode& pod_spec)
      : spec_(pod_spec), pod_context_(pod_spec["securityContext"]) {}

  std::vector<PodRisk> run() {
    for (const std::string_view key : {"hostNetwork", "hostPID", "hostIPC"}) {
      if (!is_false(spec_[key]))
        add_of_pod(RiskKind::kHostNamespace, fmt::format("it uses {}", key));
    }
    for (const DocumentNode& volume : spec_["volumes"].items) {
      if (!volume.has("hostPath")) continue;
      add_of_pod(RiskKind::kHostPath,
                 fmt::format("it mounts '{}' of the node",
                             printable_text(volume.at("hostPath.path").scalar, 4096)));
    }
    // Only an explicit `false` keeps the token of the service account out.
    if (spec_["automountServiceAccountToken"].scalar != "false") {
      add_of_pod(RiskKind::kApiToken, "a token of the API server is mounted");
    }
    for (const std::string_view key : {"initContainers", "containers", "ephemeralContainers"}) {
      for (const DocumentNode& container : spec_[key].items) check_container(container);
    }
    std::ranges::sort(risks_);
    const auto again = std::ranges::unique(risks_);
    risks_.erase(again.begin(), again.end());
    return std::move(risks_);
  }

 private:
  static std::string shown(std::string_view text) { return printable_text(text, 120); }
  static bool is_false(const DocumentNode& node) { return !node || node.scalar == "false"; }
  static bool is_true(const DocumentNode& node) { return node.scalar == "true"; }

  void add_of_pod(RiskKind kind, std::string what) {
    risks_.push_back({.kind = kind, .what = std::move(what), .is_of_pod = true});
  }
  void add(RiskKind kind, std::string what) {
    risks_.push_back({.kind = kind, .what = std::move(what), .image = image_});
  }

  // What a container states itself comes before what its pod states.
  const DocumentNode& effective(const DocumentNode& context, std::string_view key) const {
    return context.has(key) ? context[key] : pod_context_[key];
  }

  void check_container(const DocumentNode& container) {
    const DocumentNode& context = container["securityContext"];
    image_ = container["image"].scalar;
    const std::string who = fmt::format("the container '{}'", shown(container["name"].scalar));
    if (!is_false(context["privileged"])) {
      add(RiskKind::kPrivileged, who + " is privileged");
    }
    if (!is_false(effective(context, "windowsOptions")["hostProcess"])) {
      add(RiskKind::kPrivileged, who + " is a process of the node");
    }
    const std::string& proc_mount = context["procMount"].scalar;
    if (!proc_mount.empty() && proc_mount != "Default") {
      add(RiskKind::kPrivileged, who + " sees all of /proc");
    }
    if (may_be_root(context)) add(RiskKind::kRoot, who + " may run as root");
    if (context["allowPrivilegeEscalation"].scalar != "false") {
      add(RiskKind::kEscalation, who + " may gain privileges");
    }
    check_capabilities(context["capabilities"], who);
    const std::string& profile = effective(context, "seccompProfile")["type"].scalar;
    if (profile != "RuntimeDefault" && profile != "Localhost") {
      add(RiskKind::kSeccomp, who + " has no seccomp profile");
    }
    for (const DocumentNode& port : container["ports"].items) {
      const std::string& number = port["hostPort"].scalar;
      if (number.empty() || number == "0") continue;
      add(RiskKind::kHostPort, fmt::format("{} takes the port {} of the node", who, shown(number)));
    }
    if (image_.find("@sha256:") == std::string::npos) {
      add(RiskKind::kNoDigest, fmt::format("the image '{}' has no digest", shown(image_)));
    }
    for (const DocumentNode& variable : container["env"].items) {
      if (!is_secret(variable["name"].scalar, variable["value"].scalar)) continue;
      add(RiskKind::kSecretInEnv,
          fmt::format("{} has a secret in its variable '{}'", who, shown(variable["name"].scalar)));
    }
  }

  bool may_be_root(const DocumentNode& context) const {
    const std::string& user = effective(context, "runAsUser").scalar;
    // "00" is 0 in some versions of YAML, and what is no number may be.
    if (!user.empty()) {
      return user.front() == '0' || user.find_first_not_of("0123456789") != user.npos;
    }
    return !is_true(effective(context, "runAsNonRoot"));
  }

  void check_capabilities(const DocumentNode& capabilities, const std::string& who) {
    // The only one that the standard lets a container add.
    constexpr std::string_view kAddable = "NET_BIND_SERVICE";
    for (const DocumentNode& added : capabilities["add"].items) {
      if (added.scalar == kAddable) continue;
      add(RiskKind::kCapability, fmt::format("{} adds {}", who, shown(added.scalar)));
    }
    const bool drops_all = std::ranges::any_of(
        capabilities["drop"].items, [](const DocumentNode& one) { return one.scalar == "ALL"; });
    if (!drops_all) add(RiskKind::kCapability, who + " does not drop ALL capabilities");
  }

  const DocumentNode& spec_;
  const DocumentNode& pod_context_;
  std::string image_;  // of the container that is looked at
  std::vector<PodRisk> risks_;
};

}  // namespace

std::vector<PodRisk> find_pod_risks(const DocumentNode& pod_spec) {
  return RiskFinder(pod_spec).run();
}

std::string full_image_name(std::string_view image) {
  constexpr std::string_view kIndex = "index.";  // in the older name of Docker's registry
  if (image.empty()) return "";
  if (image.starts_with("index.docker.io/")) image.remove_prefix(kIndex.size());
  const std::size_t slash = image.find('/');
  if (slash == std::string_view::npos) return fmt::format("docker.io/library/{}", image);
  // A registry has a dot or a port in its name; otherwise it is a folder of Docker's.
  const std::string_view first = image.substr(0, slash);
  const bool is_registry = first.find_first_of(".:") != first.npos || first == "localhost";
  const std::string_view rest = image.substr(slash + 1);
  if (first == "docker.io" && !rest.contains('/')) return fmt::format("docker.io/library/{}", rest);
  return is_registry ? std::string(image) : fmt::format("docker.io/{}", image);
}

}  // namespace pennyweight::manifests
