// Says what of a pod's template is a risk to its node, its cluster or its secrets.
//
// https://kubernetes.io/docs/concepts/security/pod-security-standards/ is what the names follow.
// What a template does not state is judged by Kubernetes' default, which is the riskier one: a
// container that does not say who runs it may run as root.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

enum class RiskKind {
  kPrivileged,     // a privileged container
  kRoot,           // may run as root
  kEscalation,     // allowPrivilegeEscalation is not false
  kCapability,     // adds a capability, or does not drop ALL
  kHostNamespace,  // hostNetwork, hostPID, hostIPC
  kHostPath,       // a volume of the node's files
  kHostPort,       // a port of the node
  kSeccomp,        // no seccomp profile
  kNoDigest,       // an image without a digest, whose content may change
  kSecretInEnv,    // a secret in plain text among the environment variables
  kApiToken,       // a token of the API server is mounted
};
inline constexpr std::string_view kRiskKindWords[] = {
    "privileged", "root",    "escalation", "capability",    "host_namespace", "host_path",
    "host_port",  "seccomp", "no_digest",  "secret_in_env", "api_token"};

struct PodRisk {
  RiskKind kind = RiskKind::kRoot;
  std::string what;        // "the container 'train' may run as root"; plain text, never a secret
  bool is_of_pod = false;  // of all its containers
  std::string image = {};  // of the container, as it states it; empty for one of the pod
  auto operator<=>(const PodRisk&) const = default;
};

// Sorted, and each once.
std::vector<PodRisk> find_pod_risks(const DocumentNode& pod_spec);

// An image with its registry: "nginx" is docker.io/library/nginx.
std::string full_image_name(std::string_view image);

}  // namespace pennyweight::manifests
