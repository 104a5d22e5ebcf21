// The load of bench/ingest.py and tests/real/soak.py: makes remote_write bodies of a synthetic
// fleet, and sends them as fast as the receiver takes them, or at a rate.
//
//   bench_ingest_load make --gpus 10000 --minutes 10 --start-ms 1767225600000 --out FILE
//   bench_ingest_load send --port 9090 --in FILE [--rate SAMPLES_A_SECOND]
//
// Both print one line of JSON. Bodies are made before anything is measured, so that sending costs
// little beside a receiver on the same machine. As in Prometheus a series belongs to one shard and
// a shard to one connection, so that each series stays in order; a body that is refused with 429
// or 5xx is sent again after a pause, and any other refusal ends the run.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ingest_fleet.h"

namespace pennyweight::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBodyBytesMax = 64 << 20;
constexpr int kTriesMax = 1000;

const std::set<std::string> kMakeOptions = {"--gpus",    "--minutes",      "--start-ms",
                                            "--step-ms", "--first-scrape", "--cluster",
                                            "--shards",  "--per-body",     "--out"};
const std::set<std::string> kSendOptions = {"--address", "--port", "--path", "--in", "--rate"};

struct Options {
  std::map<std::string, std::string> given;

  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : found->second;
  }
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const std::string value = text(name, "");
    if (value.empty()) return otherwise;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) {
      std::fprintf(stderr, "--%s %s: not a whole number\n", name.c_str(), value.c_str());
      std::exit(2);
    }
    return number;
  }
};

// A body in the file: this header, then the compressed bytes.
struct BodyHead {
  std::uint32_t shard;
  std::uint32_t samples;
  std::uint32_t bytes;
};

int make(const Options& options) {
  Fleet fleet;
  fleet.gpus = static_cast<std::uint32_t>(options.number("gpus", 1000));
  fleet.start_ms = static_cast<std::int64_t>(options.number("start-ms", 1'767'225'600'000));
  fleet.step_ms = static_cast<std::uint32_t>(options.number("step-ms", 30'000));
  fleet.cluster = options.text("cluster", fleet.cluster);
  const std::uint64_t minutes = options.number("minutes", 1);
  // Scrapes before it were sent by an earlier file: a long stream is made part by part.
  const auto first = static_cast<std::uint32_t>(options.number("first-scrape", 0));
  const auto scrapes = static_cast<std::uint32_t>(minutes * 60'000 / fleet.step_ms);
  const auto shards = static_cast<std::uint32_t>(options.number("shards", 4));
  const auto per_body = static_cast<std::uint32_t>(options.number("per-body", 2000));
  const std::uint32_t nodes = (fleet.gpus + kGpusPerNode - 1) / kGpusPerNode;

  std::vector<std::uint32_t> in_order(nodes);
  std::iota(in_order.begin(), in_order.end(), 0);
  std::ranges::sort(in_order, {}, [&](std::uint32_t node) {
    return std::pair(scrape_at_ms(fleet, node, 0), node);
  });

  std::ofstream out(options.text("out", "bodies.bin"), std::ios::binary);
  struct Open {
    prometheus::WriteRequestBuilder body;
    std::uint32_t samples = 0;
  };
  std::vector<Open> open(shards);
  std::uint64_t samples = 0;
  std::uint64_t bodies = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t sent_bytes = 0;
  const auto close = [&](std::uint32_t shard) {
    Open& full = open[shard];
    if (full.samples == 0) return;
    const std::string compressed = full.body.snappy();
    const BodyHead head{shard, full.samples, static_cast<std::uint32_t>(compressed.size())};
    out.write(reinterpret_cast<const char*>(&head), sizeof head);
    out.write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
    samples += full.samples;
    ++bodies;
    plain_bytes += full.body.body().size();
    sent_bytes += compressed.size();
    full.body.clear();
    full.samples = 0;
  };
  for (std::uint32_t scrape = first; scrape < first + scrapes; ++scrape) {
    for (const std::uint32_t node : in_order) {
      const std::uint32_t end = std::min(fleet.gpus, (node + 1) * kGpusPerNode);
      for (std::uint32_t gpu = node * kGpusPerNode; gpu < end; ++gpu) {
        for (std::uint32_t metric = 0; metric < kMetrics; ++metric) {
          const std::uint32_t shard = (gpu * kMetrics + metric) % shards;
          add_series(open[shard].body, fleet, gpu, metric, scrape);
          if (++open[shard].samples == per_body) close(shard);
        }
      }
    }
    // As a sender's deadline would: nothing waits for the next interval.
    for (std::uint32_t shard = 0; shard < shards; ++shard) close(shard);
  }
  out.flush();
  if (!out) {
    std::fprintf(stderr, "cannot write the bodies\n");
    return 1;
  }
  // One series that a receiver is checked for: its value at the last scrape.
  const std::uint32_t gpu = fleet.gpus / 2;
  const std::uint32_t node = gpu / kGpusPerNode;
  const std::uint32_t last = first + scrapes - 1;
  std::printf(
      "{\"samples\": %llu, \"bodies\": %llu, \"plain_bytes\": %llu, \"bytes\": %llu, "
      "\"series\": %llu, \"scrapes\": %u, \"shards\": %u, \"begin_ms\": %lld, "
      "\"probe\": {\"UUID\": \"%s\", \"Hostname\": \"%s\", \"metric\": \"%s\", "
      "\"first_value\": %.17g, \"first_ms\": %lld, \"last_value\": %.17g, \"last_ms\": %lld}}\n",
      static_cast<unsigned long long>(samples), static_cast<unsigned long long>(bodies),
      static_cast<unsigned long long>(plain_bytes), static_cast<unsigned long long>(sent_bytes),
      static_cast<unsigned long long>(fleet.gpus) * kMetrics, scrapes, shards,
      static_cast<long long>(fleet.start_ms), gpu_uuid(gpu).c_str(), node_name(node).c_str(),
      metric_name(3), value_of(gpu, 3, first, fleet),
      static_cast<long long>(scrape_at_ms(fleet, node, first)), value_of(gpu, 3, last, fleet),
      static_cast<long long>(scrape_at_ms(fleet, node, last)));
  return 0;
}

struct Body {
  std::uint32_t samples;
  std::uint64_t before;  // samples of all shards that come before it in the stream
  std::string bytes;
};

// One kept-alive connection to 127.0.0.1 that posts bodies.
class Sender {
 public:
  Sender(std::string address, std::uint16_t port, std::string path)
      : address_(std::move(address)), port_(port), path_(std::move(path)) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() { hang_up(); }

  // The status of the answer; 0 where there was none. `retry_after_s` as the answer says.
  int post(const std::string& body, int& retry_after_s) {
    retry_after_s = 0;
    if (socket_ < 0 && !dial()) return 0;
    std::string request = "POST " + path_ +
                          " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench_ingest_load\r\n"
                          "Content-Encoding: snappy\r\nContent-Type: application/x-protobuf\r\n"
                          "X-Prometheus-Remote-Write-Version: 0.1.0\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n";
    if (!send_all(request) || !send_all(body)) return hang_up();
    return read_answer(retry_after_s);
  }

 private:
  bool dial() {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return false;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    inet_pton(AF_INET, address_.c_str(), &to.sin_addr);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      hang_up();
      return false;
    }
    return true;
  }
  int hang_up() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    return 0;
  }
  bool send_all(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t some = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (some <= 0) return false;
      sent += static_cast<std::size_t>(some);
    }
    return true;
  }
  static std::string header(const std::string& head, const std::string& name) {
    // Names of headers have no case.
    std::string low = head;
    std::ranges::transform(low, low.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto found = low.find("\r\n" + name + ":");
    if (found == std::string::npos) return "";
    const auto begin = low.find_first_not_of(' ', found + name.size() + 3);
    return low.substr(begin, low.find("\r\n", begin) - begin);
  }
  int read_answer(int& retry_after_s) {
    std::string answer;
    std::size_t head_end = std::string::npos;
    while (head_end == std::string::npos) {
      char some[4096];
      const ssize_t got = ::recv(socket_, some, sizeof some, 0);
      if (got <= 0) return hang_up();
      answer.append(some, static_cast<std::size_t>(got));
      head_end = answer.find("\r\n\r\n");
    }
    if (answer.size() < 12) return hang_up();
    const int status = std::atoi(answer.c_str() + 9);
    const std::string head = answer.substr(0, head_end + 2);
    const std::string length = header(head, "content-length");
    retry_after_s = std::atoi(header(head, "retry-after").c_str());
    std::size_t missing = static_cast<std::size_t>(std::atol(length.c_str()));
    missing -= std::min(missing, answer.size() - head_end - 4);
    while (missing > 0) {
      char some[4096];
      const ssize_t got = ::recv(socket_, some, std::min(missing, sizeof some), 0);
      if (got <= 0) return hang_up();
      missing -= static_cast<std::size_t>(got);
    }
    const bool framed = !length.empty() || status == 204 || status == 304;
    if (!framed || header(head, "connection") == "close") hang_up();
    return status;
  }

  std::string address_;
  std::uint16_t port_;
  std::string path_;
  int socket_ = -1;
};

bool read_bodies(const std::string& name, std::vector<std::vector<Body>>& shards) {
  std::ifstream in(name, std::ios::binary);
  BodyHead head{};
  std::uint64_t before = 0;
  while (in.read(reinterpret_cast<char*>(&head), sizeof head)) {
    if (head.bytes > kBodyBytesMax || head.shard > 1000) return false;
    if (shards.size() <= head.shard) shards.resize(head.shard + 1);
    Body body{head.samples, before, std::string(head.bytes, '\0')};
    if (!in.read(body.bytes.data(), head.bytes)) return false;
    before += head.samples;
    shards[head.shard].push_back(std::move(body));
  }
  return before > 0;
}

struct ShardResult {
  std::uint64_t taken = 0;  // samples of acknowledged bodies
  std::uint64_t again = 0;  // posts that had to be repeated
  std::vector<double> milliseconds;
  std::map<int, std::uint64_t> statuses;
};

ShardResult send_shard(const std::vector<Body>& bodies, const Options& options,
                       Clock::time_point begin, std::atomic<bool>& failed) {
  Sender sender(options.text("address", "127.0.0.1"),
                static_cast<std::uint16_t>(options.number("port", 0)),
                options.text("path", "/api/v1/write"));
  const std::uint64_t rate = options.number("rate", 0);
  ShardResult result;
  for (const Body& body : bodies) {
    if (rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(body.before) /
                                              static_cast<double>(rate));
      std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(due));
    }
    for (int tries = 0;; ++tries) {
      if (failed) return result;
      const auto begun = Clock::now();
      int retry_after_s = 0;
      const int status = sender.post(body.bytes, retry_after_s);
      ++result.statuses[status];
      if (status >= 200 && status < 300) {
        const std::chrono::duration<double, std::milli> passed = Clock::now() - begun;
        result.milliseconds.push_back(passed.count());
        result.taken += body.samples;
        break;
      }
      const bool may_repeat = status == 0 || status == 429 || status >= 500;
      if (!may_repeat || tries == kTriesMax) {
        std::fprintf(stderr, "refused with %d\n", status);
        failed = true;
        return result;
      }
      ++result.again;
      std::this_thread::sleep_for(retry_after_s > 0
                                      ? Clock::duration(std::chrono::seconds(retry_after_s))
                                      : Clock::duration(std::chrono::milliseconds(30)));
    }
  }
  return result;
}

double at_rank(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

int send(const Options& options) {
  std::vector<std::vector<Body>> shards;
  if (!read_bodies(options.text("in", "bodies.bin"), shards)) {
    std::fprintf(stderr, "cannot read the bodies; make them with `make`\n");
    return 1;
  }
  std::atomic<bool> failed = false;
  std::vector<ShardResult> sent(shards.size());
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      threads.emplace_back(
          [&, shard] { sent[shard] = send_shard(shards[shard], options, begin, failed); });
    }
  }
  const std::chrono::duration<double> passed = Clock::now() - begin;
  ShardResult all;
  for (const ShardResult& one : sent) {
    all.taken += one.taken;
    all.again += one.again;
    all.milliseconds.insert(all.milliseconds.end(), one.milliseconds.begin(),
                            one.milliseconds.end());
    for (const auto& [status, count] : one.statuses) all.statuses[status] += count;
  }
  std::ranges::sort(all.milliseconds);
  std::string statuses;
  for (const auto& [status, count] : all.statuses) {
    statuses += (statuses.empty() ? "\"" : ", \"") + std::to_string(status) +
                "\": " + std::to_string(count);
  }
  std::printf(
      "{\"taken\": %llu, \"again\": %llu, \"seconds\": %.3f, \"statuses\": {%s}, "
      "\"answer_ms\": {\"median\": %.2f, \"p99\": %.2f, \"most\": %.2f}}\n",
      static_cast<unsigned long long>(all.taken), static_cast<unsigned long long>(all.again),
      passed.count(), statuses.c_str(), at_rank(all.milliseconds, 0.5),
      at_rank(all.milliseconds, 0.99), at_rank(all.milliseconds, 1));
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  using namespace pennyweight::bench;
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool makes = verb == "make";
  Options options;
  bool understood = argc % 2 == 0 && (makes || verb == "send");
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    understood &= (makes ? kMakeOptions : kSendOptions).contains(name);
    if (understood) options.given[name.substr(2)] = argv[i + 1];
  }
  if (understood) return makes ? make(options) : send(options);
  std::fprintf(stderr, "usage: bench_ingest_load make|send --option value …\n");
  return 2;
}
