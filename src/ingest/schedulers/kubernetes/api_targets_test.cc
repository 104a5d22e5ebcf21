#include "ingest/schedulers/kubernetes/api_targets.h"

#include <gtest/gtest.h>

namespace pennyweight::kubernetes {
namespace {

std::vector<std::string> addresses(const std::string& pod, const std::vector<TargetRule>& rules) {
  simdjson::dom::parser parser;
  std::vector<std::string> all;
  for (const ScrapeTarget& target : pod_targets(parser.parse(pod).value(), rules)) {
    all.push_back(target.address);
  }
  return all;
}

std::string target_pod(const std::string& annotations,
                       const std::string& status = R"("phase":"Running","podIP":"10.1.2.3")") {
  return R"({"metadata":{"name":"p","namespace":"ml","uid":"u","labels":{"app":"vllm"},)"
         R"("annotations":{)" +
         annotations +
         R"(}},"spec":{"nodeName":"n1","containers":[)"
         R"({"name":"a","ports":[{"name":"http","containerPort":8000},)"
         R"({"name":"dns","containerPort":53,"protocol":"UDP"}]},)"
         R"({"name":"b","ports":[{"containerPort":9400,"protocol":"TCP"}]}]},"status":{)" +
         status + "}}";
}

using Addresses = std::vector<std::string>;
const std::string kScrape = R"("prometheus.io/scrape":"true")";

TEST(Targets, OfAnnotations) {
  const std::vector<TargetRule> rules = {TargetRule{}};
  EXPECT_EQ(addresses(target_pod(""), rules), Addresses{});
  EXPECT_EQ(addresses(target_pod(R"("prometheus.io/scrape":"false")"), rules), Addresses{});
  EXPECT_EQ(addresses(target_pod(kScrape), rules),
            (Addresses{"http://10.1.2.3:8000/metrics", "http://10.1.2.3:9400/metrics"}));
  EXPECT_EQ(
      addresses(target_pod(kScrape + R"(,"prometheus.io/port":"9400","prometheus.io/path":"m?a=b",)"
                                     R"("prometheus.io/scheme":"https")"),
                rules),
      Addresses{"https://10.1.2.3:9400/m?a=b"});
  // A port need not be declared when it is given by number; a name must be.
  EXPECT_EQ(addresses(target_pod(kScrape + R"(,"prometheus.io/port":"7777")"), rules),
            Addresses{"http://10.1.2.3:7777/metrics"});
  for (const char* bad : {R"(,"prometheus.io/port":"none")", R"(,"prometheus.io/port":"0")",
                          R"(,"prometheus.io/port":"65536")", R"(,"prometheus.io/scheme":"file")",
                          R"(,"prometheus.io/port":"1@evil")", R"(,"prometheus.io/path":"/a b")"}) {
    EXPECT_EQ(addresses(target_pod(kScrape + bad), rules), Addresses{}) << bad;
  }
}

TEST(Targets, OfALabelAndAPort) {
  const auto rule = [](std::string port, std::string name_space = {}) {
    return std::vector<TargetRule>{{.match_labels = {{"app", "vllm"}},
                                    .name_space = std::move(name_space),
                                    .port = std::move(port)}};
  };
  EXPECT_EQ(addresses(target_pod(""), rule("http")), Addresses{"http://10.1.2.3:8000/metrics"});
  EXPECT_EQ(addresses(target_pod(""), rule("http", "ml")),
            Addresses{"http://10.1.2.3:8000/metrics"});
  EXPECT_EQ(addresses(target_pod(""), rule("http", "other")), Addresses{});
  EXPECT_EQ(addresses(target_pod(""), rule("absent")), Addresses{});
  EXPECT_EQ(addresses(target_pod(""), {{.match_labels = {{"app", "triton"}}}}), Addresses{});
  // Two equal rules give one target.
  std::vector<TargetRule> twice = rule("8000");
  twice.push_back(twice[0]);
  EXPECT_EQ(addresses(target_pod(""), twice).size(), 1u);
}

TEST(Targets, OnlyOfPodsThatRunAndHaveAnAddress) {
  const std::vector<TargetRule> rules = {{.match_labels = {{"app", "vllm"}}, .port = "http"}};
  EXPECT_EQ(addresses(target_pod("", R"("phase":"Running","podIP":"fd00::7")"), rules),
            Addresses{"http://[fd00::7]:8000/metrics"});
  for (const char* status : {R"("phase":"Pending","podIP":"10.1.2.3")", R"("phase":"Running")",
                             R"("phase":"Running","podIP":"")", R"("podIP":"10.1.2.3")",
                             R"("phase":"Running","podIP":"evil.example/")"}) {
    EXPECT_EQ(addresses(target_pod("", status), rules), Addresses{}) << status;
  }
  for (const char* other :
       {"null", "[]", "{}", R"({"status":{"phase":"Running","podIP":"1.2.3.4"}})"}) {
    EXPECT_EQ(addresses(other, rules), Addresses{}) << other;
  }
}

TEST(Targets, SayWhichPodInNamesOfTheirOwn) {
  simdjson::dom::parser parser;
  const auto targets = pod_targets(parser.parse(target_pod("")).value(),
                                   {{.match_labels = {{"app", "vllm"}}, .port = "http"}});
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].labels,
            (std::map<std::string, std::string>{{"kubernetes_namespace", "ml"},
                                                {"kubernetes_pod_name", "p"},
                                                {"kubernetes_node", "n1"},
                                                {"kubernetes_container", "a"},
                                                {"kubernetes_port_name", "http"}}));
}

}  // namespace
}  // namespace pennyweight::kubernetes
