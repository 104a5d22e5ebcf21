// The real watcher against the stand-in for the API server: whatever fails heals, nothing is
// missed, and counts of both sides prove that data flowed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "core/check.h"
#include "core/http/client.h"
#include "ingest/schedulers/kubernetes/api_cluster.h"
#include "ingest/schedulers/kubernetes/api_resources.h"
#include "ingest/schedulers/kubernetes/api_watcher.h"

extern char** environ;

namespace pennyweight::kubernetes {
namespace {

using testing::HasSubstr;

constexpr const char* kToken = "a-token-of-the-test";

class RealClock : public Clock {
 public:
  Instant now() override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

// The program kube_api.py, for as long as this lives.
class KubeApi {
 public:
  explicit KubeApi(std::vector<std::string> options = {}, bool tls = false) : tls_(tls) {
    std::vector<std::string> words = {PYTHON, KUBE_API, KUBE_OBJECTS, "--token", kToken};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int in[2];
    int out[2];
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipes");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    CHECK(posix_spawn(&pid_, PYTHON, &actions, nullptr, arguments.data(), environ) == 0,
          "python starts");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    FILE* lines = fdopen(out[0], "r");
    CHECK(lines != nullptr && std::fscanf(lines, "port %d", &port_) == 1, "it says its port");
    std::fclose(lines);
  }
  ~KubeApi() {
    close(stdin_);  // it ends then
    waitpid(pid_, nullptr, 0);
  }
  KubeApi(const KubeApi&) = delete;

  std::string url() const { return fmt::format("http{}://127.0.0.1:{}", tls_ ? "s" : "", port_); }

  void control(const std::string& what, const std::string& body = "{}") {
    const auto response = control_.send(
        {.method = "POST", .url = url() + "/control/" + what, .headers = {}, .body = body});
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->status, 200) << what << " " << body;
  }
  void fault(const std::string& fields) { control("fault", "{" + fields + "}"); }
  void put_pod(const std::string& name, const std::string& phase = "Running") {
    const std::string ended =
        phase == "Running" ? R"({"running":{"startedAt":"2024-05-14T08:00:00Z"}})"
                           : R"({"terminated":{"exitCode":0,"startedAt":"2024-05-14T08:00:00Z",)"
                             R"("finishedAt":"2024-05-14T09:00:00Z"}})";
    control("put", fmt::format(
                       R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}",)"
                       R"("namespace":"ml","creationTimestamp":"2024-05-14T08:00:00Z"}},)"
                       R"("spec":{{"nodeName":"gpu-node-1","containers":[{{"name":"c","image":"i",)"
                       R"("resources":{{"requests":{{"nvidia.com/gpu":"1"}},)"
                       R"("limits":{{"nvidia.com/gpu":"1"}}}}}}]}},"status":{{"phase":"{}",)"
                       R"("startTime":"2024-05-14T08:00:00Z","containerStatuses":[{{"name":"c",)"
                       R"("state":{}}}]}}}})",
                       name, phase, ended));
  }
  void delete_pod(const std::string& name) {
    control("delete",
            fmt::format(R"({{"path":"/api/v1/pods","namespace":"ml","name":"{}"}})", name));
  }

  simdjson::dom::element get(const std::string& what) {
    const auto response = control_.send({.url = url() + "/control/" + what});
    CHECK(response && response->status == 200, "the stand-in answers");
    return parser_.parse(response->body).value();
  }
  std::int64_t stat(const std::string& name) {
    const auto value = get("stats")[name];
    return value.error() ? 0 : std::int64_t(value.get_int64());
  }
  std::map<std::string, std::string> objects(const std::string& path) {
    std::map<std::string, std::string> all;
    simdjson::dom::object things;
    if (get("truth")["objects"][path].get(things)) return all;
    for (const auto& [uid, version] : things) {
      all.emplace(uid, std::string_view(version.get_string()));
    }
    return all;
  }
  std::set<std::string> ended() {
    std::set<std::string> all;
    simdjson::dom::object things;
    CHECK(get("truth")["ended"].get(things) == simdjson::SUCCESS, "the truth has it");
    for (const auto& [uid, name] : things) all.emplace(uid);
    return all;
  }

 private:
  bool tls_ = false;
  pid_t pid_ = 0;
  int stdin_ = -1;
  int port_ = 0;
  http::Client control_{{.insecure_skip_verify = true}};
  simdjson::dom::parser parser_;
};

// A listener that keeps the objects, and the pods that it saw end or disappear.
class Mirror : public WatchListener {
 public:
  void list_begins(const ResourceType& type, Instant) override {
    const std::lock_guard lock(mutex_);
    listing_[type.paths[0]].clear();
  }
  void listed(const ResourceType& type, std::string_view, simdjson::dom::element object,
              Instant) override {
    const std::lock_guard lock(mutex_);
    const auto [uid, version] = take(type, object);
    objects_[type.paths[0]][uid] = version;
    listing_[type.paths[0]].insert(uid);
  }
  void list_ends(const ResourceType& type, Instant) override {
    const std::lock_guard lock(mutex_);
    const std::set<std::string>& there = listing_[type.paths[0]];
    std::erase_if(objects_[type.paths[0]], [&](const auto& one) {
      if (there.contains(one.first)) return false;
      if (type.kind == "Pod") ended_.insert(one.first);
      return true;
    });
  }
  void event(const ResourceType& type, std::string_view, EventType event,
             simdjson::dom::element object, Instant) override {
    const std::lock_guard lock(mutex_);
    const auto [uid, version] = take(type, object);
    if (event == EventType::kDeleted) {
      objects_[type.paths[0]].erase(uid);
      if (type.kind == "Pod") ended_.insert(uid);
    } else {
      objects_[type.paths[0]][uid] = version;
    }
  }
  void unavailable(const ResourceType& type, int status, Instant) override {
    const std::lock_guard lock(mutex_);
    unavailable_[type.paths[0]] = status;
  }
  void trouble(const ResourceType&, const std::string& words) override {
    const std::lock_guard lock(mutex_);
    troubles_.push_back(words);
  }

  std::map<std::string, std::string> objects(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return objects_[path];
  }
  std::set<std::string> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  std::set<std::string> known() {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  std::string troubles() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& one : troubles_) all += one + "\n";
    return all;
  }
  int unavailable(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return unavailable_[path];
  }

 private:
  std::pair<std::string, std::string> take(const ResourceType& type,
                                           simdjson::dom::element object) {
    const auto text = [&](const char* pointer) {
      std::string_view found;
      if (object.at_pointer(pointer).get(found)) found = "";
      return std::string(found);
    };
    if (type.kind == "Pod") known_.insert(text("/metadata/uid"));
    const std::string phase = text("/status/phase");
    if (type.kind == "Pod" && (phase == "Succeeded" || phase == "Failed")) {
      ended_.insert(text("/metadata/uid"));
    }
    return {text("/metadata/uid"), text("/metadata/resourceVersion")};
  }

  std::mutex mutex_;  // of all below
  std::map<std::string, std::map<std::string, std::string>> objects_;
  std::map<std::string, std::set<std::string>> listing_;
  std::set<std::string> ended_;
  std::set<std::string> known_;  // pods that it ever saw
  std::vector<std::string> troubles_;
  std::map<std::string, int> unavailable_;
};

// Waits are a hundredth of what they would be.
bool hurried(Milliseconds so_long) {
  std::this_thread::sleep_for(so_long / 100);
  return true;
}

template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

constexpr const char* kPods = "/api/v1/pods";

class KubeWatch : public testing::Test {
 protected:
  void start(KubeApi& api, std::vector<ResourceType> types = {{.kind = "Pod", .paths = {kPods}}}) {
    watcher_.emplace(ApiServer{.url = api.url(), .http = {.bearer_token = kToken}},
                     std::move(types), 1, mirror_, clock_, hurried);
  }
  void TearDown() override {
    if (watcher_) watcher_->stop();
  }
  bool agrees(KubeApi& api, const std::string& path = kPods) {
    return eventually([&] { return mirror_.objects(path) == api.objects(path); });
  }
  const WatchCounts& counts() { return watcher_->watches()[0]->counts(); }

  RealClock clock_;
  Mirror mirror_;
  std::optional<ApiWatcher> watcher_;
};

TEST_F(KubeWatch, ListsInPagesAndFollows) {
  KubeApi api({"--page", "7", "--bookmarks", "0.2"});
  for (int i = 0; i < 40; ++i) api.put_pod(fmt::format("pod-{}", i));
  start(api);
  EXPECT_TRUE(agrees(api));
  EXPECT_EQ(counts().objects_listed, 43u);
  EXPECT_EQ(counts().pages, 7u);
  ASSERT_TRUE(eventually([&] { return counts().is_watching && api.stat("watching") == 1; }));
  for (int i = 0; i < 40; ++i) api.put_pod(fmt::format("pod-{}", i), "Succeeded");
  for (int i = 0; i < 20; ++i) api.delete_pod(fmt::format("pod-{}", i));
  EXPECT_TRUE(agrees(api));
  EXPECT_EQ(counts().events, 60u);
  EXPECT_EQ(counts().lists, 1u);
  EXPECT_EQ(mirror_.ended(), api.ended());
  EXPECT_EQ(api.ended().size(), 40u);
  EXPECT_TRUE(eventually([&] { return counts().bookmarks >= 2; }));
  EXPECT_EQ(mirror_.troubles(), "");
}

TEST_F(KubeWatch, EveryFaultHeals) {
  struct Case {
    const char* fault;
    bool relists;
    const char* words;  // of the problem; empty: none need be reported
  };
  const Case cases[] = {
      {R"("what":"cut","verb":"watch")", false, ""},
      {R"("what":"end","verb":"watch")", false, ""},
      {R"("what":"error_event","code":410)", true, ""},
      {R"("what":"error_event","code":500)", false, "answers 500"},
      {R"("what":"garbage","verb":"watch")", true, "not JSON"},
  };
  KubeApi api({"--bookmarks", "0.2"});
  start(api);
  ASSERT_TRUE(agrees(api));
  int n = 0;
  for (const Case& one : cases) {
    const auto lists = counts().lists.load();
    api.fault(one.fault);
    for (int i = 0; i < 5; ++i) api.put_pod(fmt::format("pod-{}", n++));
    EXPECT_TRUE(agrees(api)) << one.fault;
    EXPECT_EQ(api.stat("faults_left"), 0) << one.fault;
    EXPECT_EQ(counts().lists > lists, one.relists) << one.fault;
    EXPECT_THAT(mirror_.troubles(), HasSubstr(one.words)) << one.fault;
  }
  // The failures of a list: the history is gone, and the list fails first.
  const char* lists[] = {R"("what":"drop")",
                         R"("what":"half","verb":"list")",
                         R"("what":"status","code":500)",
                         R"("what":"status","code":429,"retry_after":3)",
                         R"("what":"status","code":503,"retry_after":0)",
                         R"("what":"status","code":401)",
                         R"("what":"status","code":403)",
                         R"("what":"slow","seconds":0.3)",
                         R"("what":"gone_as_status")"};
  for (const char* fault : lists) {
    api.fault(fault + std::string(R"(,"times":1)"));
    api.put_pod(fmt::format("pod-{}", n++));
    api.control("expire");
    api.put_pod(fmt::format("pod-{}", n++));
    EXPECT_TRUE(agrees(api)) << fault;
    EXPECT_TRUE(eventually([&] { return api.stat("faults_left") == 0; })) << fault;
  }
  EXPECT_THAT(mirror_.troubles(), HasSubstr("give our service account"));
  EXPECT_THAT(mirror_.troubles(), HasSubstr("does not know us"));
  EXPECT_GT(counts().expired, 0u);
  EXPECT_GT(counts().failures, 0u);
}

TEST_F(KubeWatch, PodsThatEndWhileItIsCutOffAreGone) {
  KubeApi api;
  for (int i = 0; i < 10; ++i) api.put_pod(fmt::format("pod-{}", i));
  start(api);
  ASSERT_TRUE(agrees(api));
  api.fault(R"("what":"status","code":503,"times":3)");
  api.control("drop");
  for (int i = 0; i < 5; ++i) api.put_pod(fmt::format("pod-{}", i), "Failed");
  for (int i = 0; i < 8; ++i) api.delete_pod(fmt::format("pod-{}", i));
  api.control("compact");
  EXPECT_TRUE(agrees(api));
  EXPECT_TRUE(eventually([&] { return mirror_.ended() == api.ended(); }));
  EXPECT_EQ(api.ended().size(), 8u);
}

TEST_F(KubeWatch, AServerThatForgetsThePages) {
  KubeApi api({"--page", "5"});
  for (int i = 0; i < 30; ++i) api.put_pod(fmt::format("pod-{}", i));
  // While the second page is waited for, the first page's snapshot is compacted.
  api.fault(R"("what":"slow","seconds":0)");
  api.fault(R"("what":"slow","seconds":1)");
  start(api);
  ASSERT_TRUE(eventually([&] { return api.stat("list requests") == 2; }));
  api.control("compact");
  EXPECT_TRUE(agrees(api));
  EXPECT_EQ(counts().expired, 1u);
  EXPECT_EQ(counts().lists, 1u);
}

TEST_F(KubeWatch, AnEtcdThatWasRestored) {
  KubeApi api;
  start(api);
  ASSERT_TRUE(agrees(api));
  for (int i = 0; i < 30; ++i) api.put_pod(fmt::format("pod-{}", i));
  ASSERT_TRUE(agrees(api));
  api.control("restore", R"({"by":25})");
  api.put_pod("after");
  EXPECT_TRUE(agrees(api));
  EXPECT_GE(counts().lists, 2u);
}

TEST_F(KubeWatch, AnApiThatComesLater) {
  KubeApi api;
  const std::string path = "/apis/jobset.x-k8s.io/v1alpha2/jobsets";
  start(api, {{.kind = "JobSet", .paths = {path}},
              {.kind = "ResourceClaim",
               .paths = {"/apis/resource.k8s.io/v1/resourceclaims",
                         "/apis/resource.k8s.io/v1beta1/resourceclaims"}}});
  // An older version of the second is found without waiting.
  EXPECT_TRUE(eventually([&] { return mirror_.unavailable(path) == 404; }));
  api.control("install", R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1beta1"})");
  api.control("put", R"({"kind":"JobSet","apiVersion":"jobset.x-k8s.io/v1alpha2",)"
                     R"("metadata":{"name":"a","namespace":"ml"}})");
  EXPECT_TRUE(agrees(api, path));
  EXPECT_EQ(mirror_.objects(path).size(), 1u);
  EXPECT_TRUE(eventually([&] { return watcher_->watches()[1]->counts().lists == 1; }));
  EXPECT_EQ(mirror_.troubles(), "");
}

TEST_F(KubeWatch, ATokenThatIsReplaced) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("kube_watch_test.{}.token", getpid());
  const auto write = [&](const char* token) {
    FILE* out = std::fopen(file.c_str(), "w");
    CHECK(out != nullptr && std::fputs(token, out) >= 0, "a token file");
    std::fclose(out);
  };
  write(kToken);
  KubeApi api;
  watcher_.emplace(ApiServer{.url = api.url(), .http = {.bearer_token_file = file.string()}},
                   std::vector<ResourceType>{{.kind = "Pod", .paths = {kPods}}}, 1, mirror_, clock_,
                   hurried);
  ASSERT_TRUE(agrees(api));
  api.control("token", R"({"token":"the-next"})");
  api.control("drop");
  api.put_pod("later");
  EXPECT_TRUE(eventually([&] { return api.stat("401") > 0; }));
  write("the-next\n");
  EXPECT_TRUE(agrees(api));
  std::filesystem::remove(file);
}

// Pods come, end and go from two sides while everything breaks at random; then it is quiet.
TEST_F(KubeWatch, NothingIsMissedInAStorm) {
  KubeApi api({"--page", "10", "--bookmarks", "0.05"});
  start(api);
  std::mt19937 random(20240514);
  const char* faults[] = {R"("what":"cut")",
                          R"("what":"drop")",
                          R"("what":"end")",
                          R"("what":"garbage")",
                          R"("what":"half")",
                          R"("what":"error_event","code":410)",
                          R"("what":"error_event","code":504)",
                          R"("what":"status","code":429,"retry_after":0)",
                          R"("what":"status","code":410)",
                          R"("what":"status","code":500)"};
  std::map<std::string, bool> pods;  // by name: whether it ended
  for (int i = 0; i < 400; ++i) {
    const std::string name = fmt::format("storm-{}", random() % 60);
    const auto what = random() % 4;
    const auto found = pods.find(name);
    if (found != pods.end() && (found->second || what == 3)) {  // pods don't come back to life
      api.delete_pod(name);
      pods.erase(found);
    } else {
      api.put_pod(name, what == 2 ? "Succeeded" : "Running");
      pods[name] = what == 2;
    }
    if (random() % 12 == 0) api.fault(faults[random() % std::size(faults)]);
    if (random() % 40 == 0) api.control("drop");
    if (random() % 60 == 0) api.control("compact");
    if (i % 20 == 19) {
      ASSERT_TRUE(agrees(api)) << i;
    }
  }
  EXPECT_TRUE(agrees(api));
  // The end of every pod that was ever seen is known, and no pod ended that did not.
  // Some pods came and went between two lists, and were never seen.
  const std::set<std::string> seen = mirror_.ended();
  const std::set<std::string> truth = api.ended();
  const std::set<std::string> known = mirror_.known();
  for (const std::string& uid : seen) EXPECT_TRUE(truth.contains(uid)) << uid;
  for (const std::string& uid : truth) {
    EXPECT_TRUE(seen.contains(uid) || !known.contains(uid)) << uid;
  }
  EXPECT_GT(seen.size(), 50u);
  fmt::print(
      "storm: {} changes; {} events, {} lists, {} watches, {} expired, {} refusals, {} failures, "
      "{} lost; {} of {} ended pods seen\n",
      400, counts().events.load(), counts().lists.load(), counts().watches.load(),
      counts().expired.load(), counts().refusals.load(), counts().failures.load(),
      counts().lost.load(), seen.size(), truth.size());
  EXPECT_GT(counts().events, 20u);
  EXPECT_GT(counts().lists, 2u);
  EXPECT_GT(counts().failures, 2u);
}

TEST_F(KubeWatch, OverTlsWithALargeCluster) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("kube_watch_test.{}", getpid());
  std::filesystem::create_directory(folder);
  const std::string command =
      "cd " + folder.string() +
      " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
      "-subj /CN=kube -addext subjectAltName=DNS:kubernetes -keyout k.key -out k.crt >log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  KubeApi api({"--cert", folder / "k.crt", "--key", folder / "k.key"}, true);
  for (int i = 0; i < 600; ++i) api.put_pod(fmt::format("pod-{}", i));
  watcher_.emplace(ApiServer{.url = api.url(),
                             .http = {.bearer_token = kToken,
                                      .ca_file = folder / "k.crt",
                                      .server_name = "kubernetes"}},
                   std::vector<ResourceType>{{.kind = "Pod", .paths = {kPods}}}, 1, mirror_, clock_,
                   hurried);
  EXPECT_TRUE(agrees(api));
  EXPECT_EQ(counts().pages, 2u);
  EXPECT_EQ(api.stat("gzipped"), 1);
  EXPECT_EQ(mirror_.troubles(), "");
  std::filesystem::remove_all(folder);
}

TEST_F(KubeWatch, StopsAtOnce) {
  KubeApi api;
  start(api, holder_resources());
  ASSERT_TRUE(agrees(api));
  ASSERT_TRUE(eventually([&] { return api.stat("watching") == 3; }));
  const auto begin = std::chrono::steady_clock::now();
  watcher_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// From the API to facts, with the state of a cluster between.
TEST(KubeCluster, HoldsWhatTheApiSays) {
  KubeApi api({"--bookmarks", "0.1"});
  RealClock clock;
  std::vector<ResourceType> types = holder_resources();
  for (ResourceType& type : owner_resources()) types.push_back(std::move(type));
  ApiCluster cluster(
      {.server = {.url = api.url(), .http = {.bearer_token = kToken}},
       .types = types,
       .cluster = {.cluster = ClusterId("c"),
                   .wait_for = {"Pod", "Node", "Namespace", "Job", "ReplicaSet"}},
       .targets = {{}, {.match_labels = {{"app", "nvidia-dcgm-exporter"}}, .port = "metrics"}},
       .seed = 7,
       .wait = hurried},
      clock);
  Facts facts;
  ASSERT_TRUE(eventually([&] {
    facts = cluster.facts();
    return facts.holdings.size() >= 2;
  }));
  EXPECT_EQ(cluster.counts().cluster.nodes, 2u);
  EXPECT_EQ(cluster.counts().unreadable, 0u);
  const auto targets = cluster.targets();
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].address, "http://10.244.1.3:9400/metrics");
  EXPECT_EQ(targets[0].labels.at("kubernetes_node"), "gpu-node-1");
  EXPECT_EQ(targets[1].address, "http://10.244.2.9:8000/metrics");

  api.put_pod("next");
  ASSERT_TRUE(eventually([&] { return cluster.counts().cluster.pods == 4; }));
  api.put_pod("next", "Succeeded");
  ASSERT_TRUE(eventually([&] {
    static_cast<void>(cluster.facts());
    return cluster.counts().cluster.ended == 1;
  }));
  api.delete_pod("next");
  api.delete_pod("detector-train-7-x2x5q");
  ASSERT_TRUE(eventually([&] {
    static_cast<void>(cluster.facts());
    return cluster.counts().cluster.ended == 2;
  }));
  // While it is cut off, time that is known stands still.
  EXPECT_TRUE(cluster.is_listed());
  const Instant before = clock.now();
  api.fault(R"("what":"status","code":503,"times":1000000,"path":"/api/v1/pods")");
  api.control("drop");
  ASSERT_TRUE(eventually([&] { return cluster.counts().refusals > 3; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cluster.known_until(), clock.now() - std::chrono::milliseconds(100));
  EXPECT_GE(cluster.known_until() + std::chrono::seconds(5), before);
  cluster.stop();
}

}  // namespace
}  // namespace pennyweight::kubernetes
