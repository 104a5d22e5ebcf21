// Finds the address of the Kubernetes API and our credentials: from a pod's service account, or
// from a kubeconfig.
//
// Source: kubernetes.io/docs/reference/config-api/kubeconfig.v1, and
// kubernetes.io/docs/tasks/run-application/access-api-from-pod.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/schedulers/kubernetes/api_resource_watch.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kKubeconfigBytesMax = 1u << 20;

// The folder of the service account of a pod: the files token and ca.crt.
inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// `host` and `port` are KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; the caller reads the
// environment. The token file is read for each request, since Kubernetes replaces it.
Result<ApiServer> in_cluster(const std::string& host, const std::string& port,
                             const std::string& folder = std::string(kServiceAccountFolder));

// `folder` is that of the file; relative paths begin there. An empty context is the file's current
// one. Refused rather than ignored: `exec` and `auth-provider` plugins, passwords, impersonation
// and proxies.
Result<ApiServer> read_kubeconfig(std::string_view yaml, const std::string& folder,
                                  std::string_view context = {});

// Standard base64 with padding; blanks and line ends are skipped.
Result<std::string> decode_base64(std::string_view text);

}  // namespace pennyweight::kubernetes
