// Where the Kubernetes API is and who we are: from a pod's service account, or from a kubeconfig.
//
// Source: kubernetes.io/docs/reference/config-api/kubeconfig.v1, and
// kubernetes.io/docs/tasks/run-application/access-api-from-pod.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/kubernetes/api_resource_watch.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kKubeconfigBytesMax = 1u << 20;

// Where Kubernetes puts the service account of a pod: files token and ca.crt.
inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// `host` and `port` are KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; the caller reads the
// environment. The token is read anew for each request, as Kubernetes replaces it.
Result<ApiServer> in_cluster(const std::string& host, const std::string& port,
                             const std::string& folder = std::string(kServiceAccountFolder));

// `folder` is that of the file, from which relative paths count. An empty context is the file's
// current one. Refused, and never passed over: `exec` and `auth-provider` plugins, passwords,
// impersonation and proxies.
Result<ApiServer> read_kubeconfig(std::string_view yaml, const std::string& folder,
                                  std::string_view context = {});

// Standard base64 with padding, blanks and line ends passed over.
Result<std::string> decode_base64(std::string_view text);

}  // namespace pennyweight::kubernetes
