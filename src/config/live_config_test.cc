#include "config/live_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LiveConfig read(std::string_view yaml) {
  const auto config = parse_config(yaml, "etc/p.yaml");
  EXPECT_TRUE(config) << (config ? "" : config.error().message);
  return config ? config->live : LiveConfig();
}

std::string mistake(std::string_view yaml) {
  const auto config = parse_config(yaml, "p.yaml");
  return config ? "" : config.error().message;
}

TEST(LiveConfig, HasDefaults) {
  const LiveConfig live = default_config().live;
  EXPECT_EQ(live.serve.host, "127.0.0.1");
  EXPECT_EQ(live.serve.port, 9595);
  EXPECT_EQ(live.serve.resolution_ms, 60'000u);
  EXPECT_TRUE(live.scrape.empty());
}

TEST(LiveConfig, ReadsAllOfServe) {
  const ServeConfig serve = read(R"(
serve:
  listen: 0.0.0.0:8080
  data: live
  cluster: prod
  cluster_label: ""
  resolution: 30s
  grace: 30s
  flush_every: 5s
  news_every: 30s
  allocate_every: 1m
  allocate: workers
  reading_every: 10m
  token_file: tokens
  trust_loopback: true
  hosts: [gpu.example.com, "*.corp.example"]
  tls: {cert_file: c.pem, key_file: k.pem}
  trusted_proxies: [10.0.0.7, 192.0.2.0/24, "2001:db8::/32"]
  limits: {body: 1MiB, journal: 2GiB, series: 10, requests: 3, asker_per_second: 5, asker_burst: 6,
           address_per_second: 7, address_burst: 1000000, connections: 8,
           connections_per_address: 9, streams_per_user: 10}
)")
                                .serve;
  EXPECT_EQ(serve.host, "0.0.0.0");
  EXPECT_EQ(serve.port, 8080);
  EXPECT_EQ(serve.data, "etc/live");
  EXPECT_EQ(serve.cluster, ClusterId("prod"));
  EXPECT_EQ(serve.cluster_label, "");
  EXPECT_EQ(serve.resolution_ms, 30'000u);
  EXPECT_EQ(serve.grace_ms, 30'000u);
  EXPECT_EQ(serve.flush_ms, 5'000u);
  EXPECT_EQ(serve.news_ms, 30'000u);
  EXPECT_EQ(serve.allocate_ms, 60'000u);
  EXPECT_TRUE(serve.leaves_to_workers);
  EXPECT_EQ(serve.reading_ms, 600'000u);
  EXPECT_EQ(serve.token_file, "etc/tokens");
  EXPECT_TRUE(serve.trust_loopback);
  EXPECT_FALSE(ServeConfig().trust_loopback);
  EXPECT_EQ(serve.hosts, (std::vector<std::string>{"gpu.example.com", "*.corp.example"}));
  EXPECT_EQ(serve.connections_max, 8u);
  EXPECT_EQ(serve.connections_per_address_max, 9u);
  EXPECT_EQ(serve.streams_per_user_max, 10u);
  EXPECT_EQ(serve.tls_cert_file, "etc/c.pem");
  EXPECT_EQ(serve.tls_key_file, "etc/k.pem");
  ASSERT_EQ(serve.trusted_proxies.size(), 3u);
  EXPECT_EQ(serve.trusted_proxies[0],
            (ProxyAddresses{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 7}, 128}));
  EXPECT_EQ(serve.trusted_proxies[1],
            (ProxyAddresses{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 0}, 120}));
  EXPECT_EQ(serve.trusted_proxies[2], (ProxyAddresses{{0x20, 1, 0x0d, 0xb8}, 32}));
  EXPECT_EQ(serve.body_bytes_max, 1u << 20);
  EXPECT_EQ(serve.journal_bytes_max, std::uint64_t{2} << 30);
  EXPECT_EQ(serve.series_max, 10u);
  EXPECT_EQ(serve.requests_max, 3u);
  EXPECT_EQ(serve.asker_rate.per_second, 5u);
  EXPECT_EQ(serve.asker_rate.burst, 6u);
  EXPECT_EQ(serve.address_rate.per_second, 7u);
  EXPECT_EQ(serve.address_rate.burst, 1'000'000u);
}

TEST(LiveConfig, FlushesMoreSeldomWhereEachFlushIsACommit) {
  const auto flush = [](std::string_view yaml) {
    const auto config = parse_config(yaml, "etc/p.yaml");
    EXPECT_TRUE(config) << (config ? "" : config.error().message);
    return config ? flush_every(*config).count() : 0;
  };
  EXPECT_EQ(flush_every(default_config()).count(), 60'000);
  EXPECT_EQ(flush("store: {path: a.duckdb}"), 60'000);
  EXPECT_EQ(flush("store: clickhouse://ch-1/pennyweight"), 300'000);
  EXPECT_EQ(flush("store: {address: 'clickhouse://ch-1/pennyweight'}"), 300'000);
  // A stated value holds for any store.
  EXPECT_EQ(flush("{store: clickhouse://ch-1/pennyweight, serve: {flush_every: 1m}}"), 60'000);
  EXPECT_EQ(flush("serve: {flush_every: 10m}"), 600'000);
  EXPECT_THAT(mistake("serve: {flush_every: 15m}"), HasSubstr("serve.flush_every"));
  // As `--store` does, after the configuration was read.
  Config config = default_config();
  config.store_address = "clickhouse://ch-1/pennyweight";
  EXPECT_EQ(flush_every(config).count(), 300'000);
  EXPECT_EQ(news_every(config).count(), 60'000);
  config.live.serve.news_ms = 10'000;
  EXPECT_EQ(news_every(config).count(), 10'000);
  EXPECT_EQ(news_every(default_config()).count(), 0);
  EXPECT_THAT(mistake("serve: {news_every: 11m}"), HasSubstr("serve.news_every"));
}

TEST(LiveConfig, ReadsSources) {
  const LiveConfig live = read(R"(
scrape:
  - job: dcgm
    cluster: prod
    targets: [n1:9400, "https://n2:9400/m"]
    interval: 15s
    timeout: 5s
    honor_labels: true
    bearer_token_file: token
    tls: {ca_file: ca.pem, insecure_skip_verify: true}
    basic_auth: {username: u, password_file: pw}
  - {job: file, targets_file: sd.yaml, scheme: https, path: /m}
kubernetes:
  - {cluster: prod, kubeconfig: kc, context: x}
slurm:
  - {cluster: hpc, sacct: /opt/sacct, scontrol: /opt/scontrol, sacctmgr: /opt/sacctmgr,
     interval: 1m}
outcomes:
  - {metric: images_total, measure: images, labels: [user], per: 4, where: {status: ok}}
)");
  ASSERT_EQ(live.scrape.size(), 2u);
  EXPECT_THAT(live.scrape[0].targets, ElementsAre("n1:9400", "https://n2:9400/m"));
  EXPECT_EQ(live.scrape[0].interval_ms, 15'000u);
  EXPECT_EQ(live.scrape[0].http.timeout, std::chrono::seconds(5));
  EXPECT_TRUE(live.scrape[0].honor_labels);
  EXPECT_TRUE(live.scrape[0].http.insecure_skip_verify);
  EXPECT_EQ(live.scrape[0].http.basic_password_file, "etc/pw");
  EXPECT_EQ(live.scrape[1].targets_file, "etc/sd.yaml");
  ASSERT_EQ(live.kubernetes.size(), 1u);
  EXPECT_EQ(live.kubernetes[0].kubeconfig, "etc/kc");
  ASSERT_EQ(live.slurm.size(), 1u);
  EXPECT_EQ(live.slurm[0].scontrol, "/opt/scontrol");
  EXPECT_EQ(live.slurm[0].sacctmgr, "/opt/sacctmgr");
  ASSERT_EQ(live.outcomes.size(), 1u);
  EXPECT_EQ(live.outcomes[0].per, 4u);
  EXPECT_EQ(live.outcomes[0].where[0].value, "ok");
}

TEST(LiveConfig, SaysWhatIsWrong) {
  EXPECT_THAT(mistake("serve: {listen: here}"), HasSubstr("write it as 127.0.0.1:9595"));
  EXPECT_THAT(mistake("serve: {listen: \"h:70000\"}"), HasSubstr("write it as 127.0.0.1:9595"));
  EXPECT_THAT(mistake("serve: {resolution: 7s}"), HasSubstr("a multiple of it"));
  EXPECT_THAT(mistake("serve: {tls: {cert_file: a}}"), HasSubstr("both cert_file and key_file"));
  for (const char* const none : {"proxy.example", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "/8",
                                 "10.0.0.0/8x", "2001:db8::/129", "10.0.0.7:80"}) {
    EXPECT_THAT(mistake(fmt::format("serve: {{trusted_proxies: [\"{}\"]}}", none)),
                HasSubstr("write it as 10.0.0.7"))
        << none;
  }
  for (const char* const everybody : {"0.0.0.0/0", "::/0", "::/64", "::ffff:0:0/96"}) {
    EXPECT_THAT(mistake(fmt::format("serve: {{trusted_proxies: [\"{}\"]}}", everybody)),
                HasSubstr("these are all addresses"));
  }
  EXPECT_THAT(mistake("serve: {trusted_proxies: [10.0.0.1/8]}"),
              HasSubstr("bits set beyond its prefix"));
  EXPECT_THAT(mistake("serve: {trusted_proxies: 10.0.0.1}"), HasSubstr("serve.trusted_proxies"));
  EXPECT_THAT(mistake("serve: {hosts: [\"https://gpu.example.com\"]}"), HasSubstr("serve.hosts"));
  EXPECT_THAT(mistake("serve: {hosts: [\"a.*.example\"]}"), HasSubstr("serve.hosts"));
  EXPECT_THAT(mistake("serve: {limits: {body: much}}"), HasSubstr("serve.limits.body"));
  for (const char* const name :
       {"requests", "asker_per_second", "asker_burst", "address_per_second", "address_burst"}) {
    for (const char* const value : {"0", "-1", "1000001", "many", "1.5"}) {
      EXPECT_THAT(mistake(fmt::format("serve: {{limits: {{{}: {}}}}}", name, value)),
                  HasSubstr(fmt::format("serve.limits.{}", name)))
          << value;
    }
  }
  EXPECT_THAT(mistake("scrape: [{targets: [a]}]"), HasSubstr("give it a name"));
  EXPECT_THAT(mistake("scrape: [{job: a}]"), HasSubstr("name what to scrape"));
  EXPECT_THAT(mistake("scrape: [{job: a, targets: [x]}, {job: a, targets: [y]}]"),
              HasSubstr("two entries have the job a"));
  EXPECT_THAT(mistake("kubernetes: [{}]"), HasSubstr("name the cluster"));
  EXPECT_THAT(mistake("slurm: [{}]"), HasSubstr("name the cluster"));
  EXPECT_THAT(mistake("outcomes: [{metric: a}]"), HasSubstr("what it counts"));
}

}  // namespace
}  // namespace pennyweight
