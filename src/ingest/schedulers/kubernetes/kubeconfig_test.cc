#include "ingest/schedulers/kubernetes/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::kubernetes {
namespace {

using testing::HasSubstr;

// As kubectl writes it, with several clusters and users.
constexpr std::string_view kConfig = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: training
clusters:
- name: gpu
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority: pki/ca.crt
- name: kind
  cluster:
    server: https://127.0.0.1:33445
    certificate-authority-data: LS0tLS1CRUdJTi0tLS0tCg==
    tls-server-name: kubernetes
- name: careless
  cluster:
    server: http://127.0.0.1:8001
    insecure-skip-tls-verify: true
users:
- name: robot
  user:
    tokenFile: token
    token: older
- name: admin
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
- name: by-file
  user: {client-certificate: /etc/c.crt, client-key: c.key}
- name: eks
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}
- name: half
  user: {client-certificate: c.crt}
- name: other
  user: {as: somebody, token: t}
contexts:
- {name: training, context: {cluster: gpu, user: robot, namespace: ml}}
- {name: local, context: {cluster: kind, user: admin}}
- {name: files, context: {cluster: gpu, user: by-file}}
- {name: proxy, context: {cluster: careless, user: ""}}
- {name: eks, context: {cluster: gpu, user: eks}}
- {name: half, context: {cluster: gpu, user: half}}
- {name: other, context: {cluster: gpu, user: other}}
- {name: nobody, context: {cluster: gpu, user: unknown}}
- {name: nowhere, context: {cluster: unknown, user: robot}}
)";

TEST(Kubeconfig, ReadsTheCurrentContextOrTheOneAskedFor) {
  const auto current = read_kubeconfig(kConfig, "/home/u/.kube");
  ASSERT_TRUE(current) << current.error().message;
  EXPECT_EQ(current->url, "https://10.0.0.1:6443");
  EXPECT_EQ(current->http.ca_file, "/home/u/.kube/pki/ca.crt");
  EXPECT_EQ(current->http.bearer_token_file, "/home/u/.kube/token");
  EXPECT_EQ(current->http.bearer_token, "");
  EXPECT_FALSE(current->http.insecure_skip_verify);

  const auto local = read_kubeconfig(kConfig, "/k", "local");
  ASSERT_TRUE(local) << local.error().message;
  EXPECT_EQ(local->http.ca_pem, "-----BEGIN-----\n");
  EXPECT_EQ(local->http.server_name, "kubernetes");
  EXPECT_EQ(local->http.cert_pem, "cert");
  EXPECT_EQ(local->http.key_pem, "key");

  const auto files = read_kubeconfig(kConfig, "/k/", "files");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->http.cert_file, "/etc/c.crt");
  EXPECT_EQ(files->http.key_file, "/k/c.key");

  const auto proxy = read_kubeconfig(kConfig, "/k", "proxy");
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_TRUE(proxy->http.insecure_skip_verify);
}

TEST(Kubeconfig, RefusesWhatItWouldHaveToIgnore) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"eks", "user eks: exec: programs are not run"},
      {"half", "client-certificate and client-key belong together"},
      {"other", "impersonation"},
      {"nobody", "users has none of the name \"unknown\""},
      {"nowhere", "clusters has none of the name \"unknown\""},
      {"absent", "contexts has none of the name \"absent\""},
  };
  for (const auto& [context, words] : cases) {
    const auto server = read_kubeconfig(kConfig, "/k", context);
    ASSERT_FALSE(server) << context;
    EXPECT_THAT(server.error().message, HasSubstr(words));
    EXPECT_EQ(server.error().code, ErrorCode::kConfig);
  }
}

TEST(Kubeconfig, RefusesMalformedFiles) {
  const auto one = [](std::string_view cluster, std::string_view user) {
    return "{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}], "
           "clusters: [{name: k, cluster: " +
           std::string(cluster) + "}], users: [{name: u, user: " + std::string(user) + "}]}";
  };
  ASSERT_TRUE(read_kubeconfig(one("{server: 'https://h'}", "{token: t}"), ""));
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "it is not a map"},
      {"- a", "it is not a map"},
      {"{", "line 1"},
      {"a: b", "no current-context"},
      {"current-context: [a]", "not a text"},
      {"{current-context: c, contexts: 5}", "no list of contexts"},
      {"{current-context: c, contexts: [5]}", "not a map"},
      {"{current-context: c, contexts: [{name: c}]}", "has no context"},
      {one("{server: 'ftp://h'}", "{}"), "not an http:// or https://"},
      {one("{}", "{}"), "not an http:// or https://"},
      {one("{server: 'https://h', proxy-url: 'http://p'}", "{}"), "proxy-url"},
      {one("{server: 'https://h', insecure-skip-tls-verify: maybe}", "{}"), "true nor false"},
      {one("{server: 'https://h', certificate-authority-data: '%%'}", "{}"), "not base64"},
      {one("{server: 'https://h'}", "{username: u, password: p}"), "passwords"},
      {one("{server: 'https://h'}", "{auth-provider: {name: gcp}}"), "auth-provider"},
      {one("{server: 'https://h'}", "{client-key-data: abc}"), "cut off"},
      {std::string(kKubeconfigBytesMax + 1, ' '), "more than 1048576 bytes"},
  };
  for (const auto& [text, words] : cases) {
    const auto server = read_kubeconfig(text, "");
    ASSERT_FALSE(server) << text;
    EXPECT_THAT(server.error().message, HasSubstr(words)) << text;
  }
}

TEST(Kubeconfig, AServiceAccountOfAPod) {
  const auto server = in_cluster("10.96.0.1", "443");
  ASSERT_TRUE(server);
  EXPECT_EQ(server->url, "https://10.96.0.1:443");
  EXPECT_EQ(server->http.bearer_token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(server->http.ca_file, "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  EXPECT_EQ(in_cluster("fd00::1", "443")->url, "https://[fd00::1]:443");
  EXPECT_THAT(in_cluster("", "443").error().message, HasSubstr("this is not a pod"));
}

TEST(Base64, ReadsWhatIsWhole) {
  // RFC 4648, section 10.
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"Zg==", "f"},
                                                                 {"Zm8=", "fo"},
                                                                 {"Zm9v", "foo"},
                                                                 {"Zm9vYg==", "foob"},
                                                                 {"Zm9vYmE=", "fooba"},
                                                                 {"Zm9v\n Ym Fy\n", "foobar"}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(decode_base64(text), bytes) << text;
  EXPECT_EQ(decode_base64("//79"), "\xff\xfe\xfd");
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "=", "Zg==Zg==", "Zm9v=", "Z-_g", "\x80"}) {
    EXPECT_FALSE(decode_base64(bad)) << bad;
  }
}

}  // namespace
}  // namespace pennyweight::kubernetes
