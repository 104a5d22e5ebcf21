#include "ingest/schedulers/kubernetes/kubeconfig.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/try.h"

namespace pennyweight::kubernetes {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

Result<std::string> yaml_text(const YAML::Node& map, const char* key, const std::string& where) {
  const YAML::Node value = map[key];
  if (!value || value.IsNull()) return std::string();
  if (!value.IsScalar()) return wrong(fmt::format("{}: {} is not a text", where, key));
  return value.Scalar();
}

Result<bool> yaml_flag(const YAML::Node& map, const char* key, const std::string& where) {
  const YAML::Node value = map[key];
  if (!value || value.IsNull()) return false;
  if (value.IsScalar() && value.Scalar() == "true") return true;
  if (value.IsScalar() && value.Scalar() == "false") return false;
  return wrong(fmt::format("{}: {} is neither true nor false", where, key));
}

// The entry of that name in `clusters`, `users` or `contexts`: its part `inner`.
Result<YAML::Node> entry(const YAML::Node& root, const char* list, const char* inner,
                         const std::string& name) {
  const YAML::Node all = root[list];
  if (!all || !all.IsSequence()) return wrong(fmt::format("there is no list of {}", list));
  for (const YAML::Node& one : all) {
    if (!one.IsMap()) return wrong(fmt::format("an entry of {} is not a map", list));
    const YAML::Node its_name = one["name"];
    if (!its_name || !its_name.IsScalar() || its_name.Scalar() != name) continue;
    const YAML::Node value = one[inner];
    if (!value || !value.IsMap()) {
      return wrong(fmt::format("{} of the name \"{}\" has no {}", list, name, inner));
    }
    return value;
  }
  return wrong(fmt::format("{} has none of the name \"{}\"", list, name));
}

std::string path_from(const std::string& folder, const std::string& path) {
  if (path.empty() || path.starts_with('/') || folder.empty()) return path;
  return folder + (folder.ends_with('/') ? "" : "/") + path;
}

// A file, or its content in base64, which wins as in kubectl.
Result<void> file_or_data(const YAML::Node& map, const char* key, const std::string& where,
                          const std::string& folder, std::string& file, std::string& pem) {
  const std::string data_key = std::string(key) + "-data";
  auto path = TRY(yaml_text(map, key, where));
  auto data = TRY(yaml_text(map, data_key.c_str(), where));
  if (data.empty()) {
    file = path_from(folder, path);
    return {};
  }
  auto decoded = decode_base64(data);
  if (!decoded) return std::unexpected(decoded.error().during(where + ": " + data_key));
  pem = std::move(*decoded);
  return {};
}

Result<void> read_cluster(const YAML::Node& cluster, const std::string& where,
                          const std::string& folder, ApiServer& server) {
  auto url = yaml_text(cluster, "server", where);
  if (!url) return std::unexpected(url.error());
  if (!url->starts_with("https://") && !url->starts_with("http://")) {
    return wrong(where + ": server is not an http:// or https:// address");
  }
  server.url = std::move(*url);
  auto proxy = yaml_text(cluster, "proxy-url", where);
  if (!proxy) return std::unexpected(proxy.error());
  if (!proxy->empty()) return wrong(where + ": proxy-url is not supported; give a direct address");
  auto name = TRY(yaml_text(cluster, "tls-server-name", where));
  server.http.server_name = std::move(name);
  const auto insecure = TRY(yaml_flag(cluster, "insecure-skip-tls-verify", where));
  server.http.insecure_skip_verify = insecure;
  return file_or_data(cluster, "certificate-authority", where, folder, server.http.ca_file,
                      server.http.ca_pem);
}

Result<void> read_user(const YAML::Node& user, const std::string& where, const std::string& folder,
                       ApiServer& server) {
  // What is not supported must not end as "no credentials".
  const std::pair<const char*, const char*> refused[] = {
      {"exec",
       "programs are not run for credentials; use a service account's token "
       "(kubectl create token) or a client certificate"},
      {"auth-provider", "Kubernetes 1.26 removed it; use a service account's token"},
      {"username", "passwords were taken out of Kubernetes 1.19; use a token or a certificate"},
      {"password", "passwords were taken out of Kubernetes 1.19; use a token or a certificate"},
      {"as", "impersonation is not supported; use a service account of its own"},
  };
  for (const auto& [key, why] : refused) {
    const YAML::Node value = user[key];
    if (value && !value.IsNull()) return wrong(fmt::format("{}: {}: {}", where, key, why));
  }
  auto token = TRY(yaml_text(user, "token", where));
  auto token_file = yaml_text(user, "tokenFile", where);
  if (!token_file) return std::unexpected(token_file.error());
  // As in kubectl, the file wins: it may be newer.
  if (!token_file->empty()) {
    server.http.bearer_token_file = path_from(folder, *token_file);
  } else {
    server.http.bearer_token = std::move(token);
  }
  auto certificate = file_or_data(user, "client-certificate", where, folder, server.http.cert_file,
                                  server.http.cert_pem);
  if (!certificate) return certificate;
  auto key =
      file_or_data(user, "client-key", where, folder, server.http.key_file, server.http.key_pem);
  if (!key) return key;
  const bool has_certificate = !server.http.cert_file.empty() || !server.http.cert_pem.empty();
  const bool has_key = !server.http.key_file.empty() || !server.http.key_pem.empty();
  if (has_certificate != has_key) {
    return wrong(where + ": client-certificate and client-key belong together; one is missing");
  }
  return {};
}

Result<ApiServer> read(const YAML::Node& root, const std::string& folder, std::string_view wanted) {
  if (!root.IsMap()) return wrong("it is not a map");
  std::string name(wanted);
  if (name.empty()) {
    auto current = TRY(yaml_text(root, "current-context", "the file"));
    name = std::move(current);
  }
  if (name.empty()) return wrong("it has no current-context; name the context to use");
  const auto context = entry(root, "contexts", "context", name);
  if (!context) return std::unexpected(context.error());
  const auto cluster_name = TRY(yaml_text(*context, "cluster", "context " + name));
  const auto user_name = yaml_text(*context, "user", "context " + name);
  if (!user_name) return std::unexpected(user_name.error());

  ApiServer server;
  const auto cluster = entry(root, "clusters", "cluster", cluster_name);
  if (!cluster) return std::unexpected(cluster.error());
  auto done = read_cluster(*cluster, "cluster " + cluster_name, folder, server);
  if (!done) return std::unexpected(done.error());
  if (!user_name->empty()) {
    const auto user = entry(root, "users", "user", *user_name);
    if (!user) return std::unexpected(user.error());
    done = read_user(*user, "user " + *user_name, folder, server);
    if (!done) return std::unexpected(done.error());
  }
  return server;
}

std::optional<unsigned> base64_digit(char c) {
  if (ascii::is_upper(c)) return static_cast<unsigned>(c - 'A');
  if (ascii::is_lower(c)) return static_cast<unsigned>(c - 'a' + 26);
  if (ascii::is_digit(c)) return static_cast<unsigned>(c - '0' + 52);
  if (c == '+') return 62u;
  if (c == '/') return 63u;
  return {};
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const auto digit = base64_digit(c);
    if (!digit || padding > 0) return fail(ErrorCode::kBadValue, "this is not base64");
    bits = (bits << 6 | *digit) & 0xFFFFFFu;
    if (++digits % 4 == 0) {
      for (const unsigned shift : {16u, 8u, 0u}) out += static_cast<char>(bits >> shift & 0xFFu);
    }
  }
  const std::size_t rest = digits % 4;
  if (rest == 1 || (digits + padding) % 4 != 0 || padding > 2) {
    return fail(ErrorCode::kBadValue, "this base64 is cut off");
  }
  if (rest >= 2) out += static_cast<char>(bits >> (rest == 2 ? 4 : 10) & 0xFFu);
  if (rest == 3) out += static_cast<char>(bits >> 2 & 0xFFu);
  return out;
}

Result<ApiServer> in_cluster(const std::string& host, const std::string& port,
                             const std::string& folder) {
  if (host.empty() || port.empty()) {
    return wrong(
        "KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set: this is not a pod; "
        "configure a kubeconfig");
  }
  const bool is_ipv6 = host.find(':') != std::string::npos;
  ApiServer server;
  server.url = fmt::format("https://{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
  server.http.bearer_token_file = path_from(folder, "token");
  server.http.ca_file = path_from(folder, "ca.crt");
  return server;
}

Result<ApiServer> read_kubeconfig(std::string_view yaml, const std::string& folder,
                                  std::string_view context) {
  const std::string doing = "cannot use the kubeconfig";
  if (yaml.size() > kKubeconfigBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: it has more than {} bytes", doing, kKubeconfigBytesMax));
  }
  try {
    auto server = read(YAML::Load(std::string(yaml)), folder, context);
    if (!server) return std::unexpected(server.error().during(doing));
    return server;
  } catch (const YAML::Exception& problem) {
    return wrong(fmt::format("{}: line {}: {}", doing, problem.mark.line + 1, problem.msg));
  }
}

}  // namespace pennyweight::kubernetes
