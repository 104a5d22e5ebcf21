// Measures the cost of ingesting samples, step by step and without HTTP: the exposition parser, the
// reader of remote_write, and the engine with and without its journal. bench/ingest.py measures the
// whole.
//
//   bench_ingest_parts --gpus 10000 --minutes 5 --folder /var/tmp/bench
//
// The result of each step is checked before its time is printed: it must have read every sample.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ingest_fleet.h"
#include "telemetry/live/engine.h"
#include "telemetry/prometheus/encoding.h"
#include "telemetry/prometheus/exposition.h"
#include "telemetry/prometheus/remote_write.h"

namespace pennyweight::bench {
namespace {

constexpr std::uint32_t kSamplesOfBody = 2000;
constexpr std::uint32_t kShards = 4;

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Counts samples, and reads every value.
class Counter : public prometheus::SeriesSink {
 public:
  void series(const Hash128& key, const prometheus::EncodedLabels& /*labels*/,
              std::span<const prometheus::Sample> samples) override {
    count += samples.size();
    for (const prometheus::Sample& sample : samples)
      seen ^= key.low ^ static_cast<std::uint64_t>(sample.at_ms);
  }
  std::uint64_t count = 0;
  std::uint64_t seen = 0;
};

struct Stream {
  Fleet fleet;
  std::uint32_t scrapes = 0;
  std::uint64_t samples = 0;
  std::vector<std::string> bodies;  // snappy
  std::uint64_t plain_bytes = 0;
};

Stream stream_of(std::uint32_t gpus, std::uint32_t minutes) {
  Stream stream;
  stream.fleet.gpus = gpus;
  stream.fleet.start_ms = 1'767'225'600'000;
  stream.scrapes = minutes * 60'000 / stream.fleet.step_ms;
  std::vector<prometheus::WriteRequestBuilder> open(kShards);
  std::vector<std::uint32_t> in_open(kShards);
  const auto close = [&](std::uint32_t shard) {
    if (in_open[shard] == 0) return;
    stream.plain_bytes += open[shard].body().size();
    stream.bodies.push_back(open[shard].snappy());
    open[shard].clear();
    in_open[shard] = 0;
  };
  for (std::uint32_t scrape = 0; scrape < stream.scrapes; ++scrape) {
    for (std::uint32_t series = 0; series < gpus * kMetrics; ++series) {
      const std::uint32_t shard = series % kShards;
      add_series(open[shard], stream.fleet, series / kMetrics, series % kMetrics, scrape);
      if (++in_open[shard] == kSamplesOfBody) close(shard);
      ++stream.samples;
    }
    for (std::uint32_t shard = 0; shard < kShards; ++shard) close(shard);
  }
  return stream;
}

bool say(const char* what, bool is_right, std::uint64_t samples, std::uint64_t bytes,
         double seconds) {
  if (!is_right) {
    std::fprintf(stderr, "%s: wrong answer\n", what);
    return false;
  }
  std::printf("%-34s %10.0f samples and %6.0f MB a processor-second, %.2f s\n", what,
              static_cast<double>(samples) / seconds, static_cast<double>(bytes) / 1e6 / seconds,
              seconds);
  return true;
}

bool parse_expositions(const Fleet& fleet) {
  const std::uint32_t nodes = (fleet.gpus + kGpusPerNode - 1) / kGpusPerNode;
  std::vector<std::string> pages;
  std::uint64_t bytes = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    pages.push_back(exposition_of(fleet, node, 1));
    bytes += pages.back().size();
  }
  Counter counter;
  const prometheus::TargetLabels target{{{"instance", "10.0.0.1:9400"}, {"job", "dcgm"}}};
  const double begin = processor_seconds();
  constexpr std::uint64_t kRounds = 5;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (const std::string& page : pages) {
      const auto report =
          prometheus::parse_exposition(prometheus::ExpositionFormat::kText, page, target,
                                       {.scraped_at = from_unix_ms(fleet.start_ms)}, counter);
      if (!report || report->bad > 0) return false;
    }
  }
  const std::uint64_t wanted = kRounds * fleet.gpus * kMetrics;
  return say("exposition, text", counter.count == wanted, wanted, kRounds * bytes,
             processor_seconds() - begin);
}

bool read_bodies(const Stream& stream) {
  Counter counter;
  prometheus::BodyDecoder decoder;
  prometheus::WriteRequestReader reader;
  const double begin = processor_seconds();
  for (const std::string& body : stream.bodies) {
    const auto plain = decoder.decode("snappy", body, live::kBodyBytesMax);
    if (!plain || !reader.read(prometheus::WriteProtocol::kV1, *plain)) return false;
    reader.emit(counter);
  }
  return say("remote_write, unpacked and read", counter.count == stream.samples, stream.samples,
             stream.plain_bytes, processor_seconds() - begin);
}

// The whole engine on this thread; rows are read and dropped, as if a ledger had committed them.
bool take_bodies(const char* what, const Stream& stream, const std::string& folder) {
  SimulatedClock clock(from_unix_ms(stream.fleet.start_ms));
  live::EngineOptions options{
      .folder = folder,
      .stream = {.classification = {.cluster = ClusterId("bench"), .outcomes = {}},
                 .timing = {},
                 .limits = {}}};
  auto engine = live::Engine::open(std::move(options), clock);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().message.c_str());
    return false;
  }
  std::uint64_t spans = 0;
  std::uint64_t taken = 0;
  const auto import = [&](const live::FlushRows& rows) -> Result<void> {
    spans += rows.usages;
    return {};
  };
  const double begin = processor_seconds();
  const std::size_t per_scrape = stream.bodies.size() / stream.scrapes;
  for (std::size_t i = 0; i < stream.bodies.size(); ++i) {
    const auto one = (*engine)->ingest({.content_type = "application/x-protobuf",
                                        .content_encoding = "snappy",
                                        .body = stream.bodies[i]});
    if (!one) {
      std::fprintf(stderr, "%s\n", one.error().message.c_str());
      return false;
    }
    taken += one->samples;
    if ((i + 1) % per_scrape == 0) {
      clock.advance(std::chrono::milliseconds(stream.fleet.step_ms));
      if (!(*engine)->flush(import)) return false;
    }
  }
  const double seconds = processor_seconds() - begin;
  // For every GPU at least the completed minutes: one span each, or more if it has parts.
  const std::uint64_t whole_minutes =
      std::uint64_t{stream.scrapes} * stream.fleet.step_ms / 60'000 - 1;
  if (!say(what, taken == stream.samples && spans >= stream.fleet.gpus * whole_minutes,
           stream.samples, stream.plain_bytes, seconds)) {
    std::fprintf(stderr, "%llu samples, %llu spans\n", static_cast<unsigned long long>(taken),
                 static_cast<unsigned long long>(spans));
    return false;
  }
  return true;
}

int run(std::uint32_t gpus, std::uint32_t minutes, const std::string& folder) {
  const Stream stream = stream_of(gpus, minutes);
  std::printf("%u GPUs, %u min: %llu samples, %.0f bytes each before snappy\n", gpus, minutes,
              static_cast<unsigned long long>(stream.samples),
              static_cast<double>(stream.plain_bytes) / static_cast<double>(stream.samples));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const bool all_right = parse_expositions(stream.fleet) && read_bodies(stream) &&
                         take_bodies("engine, nothing durable", stream, "") &&
                         take_bodies("engine with its journal", stream, folder + "/live");
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("%ld MiB at most, the bodies among them\n", use.ru_maxrss / 1024);
  std::filesystem::remove_all(folder);
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  std::uint32_t gpus = 1000;
  std::uint32_t minutes = 5;
  std::string folder = "bench_ingest_parts";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--gpus") == 0) {
      gpus = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    } else if (std::strcmp(argv[i], "--minutes") == 0) {
      minutes = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    } else if (std::strcmp(argv[i], "--folder") == 0) {
      folder = argv[i + 1];
    } else {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (gpus == 0 || minutes < 2) {
    std::fprintf(stderr, "--gpus from 1 on, --minutes from 2 on\n");
    return 2;
  }
  return pennyweight::bench::run(gpus, minutes, folder);
}
