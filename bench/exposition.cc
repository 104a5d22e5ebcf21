// Measures how fast samples are read on one core, before they are classified.
//
//   bench_exposition --gpus 1000 --runs 20
//
// Generates documents as dcgm-exporter writes them (12 metrics a GPU, 8 GPUs a node), and from the
// same series remote_write bodies of 2,000 samples, as Prometheus sends them. Then
//   text, openmetrics       the exposition parser alone, in bytes and samples a second,
//   remote_write            protobuf read and checked, each series' key hashed and handed on,
//   remote_write 2.0        the same with symbols, which refer to texts,
//   snappy + remote_write   with the decoding in front, as it is received.
// The best of the runs counts, in CPU time. The result is compared with what was generated: the
// same number of samples, with the same sum, under as many keys; else the exit code is 1.
#include "telemetry/prometheus/exposition.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "telemetry/prometheus/encoded_label.h"
#include "telemetry/prometheus/encoding.h"
#include "telemetry/prometheus/remote_write.h"
#include "telemetry/prometheus/write_request.h"

namespace pennyweight::prometheus {
namespace {

constexpr const char* kMetrics[] = {"DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                                    "DCGM_FI_PROF_SM_ACTIVE",
                                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                                    "DCGM_FI_PROF_DRAM_ACTIVE",
                                    "DCGM_FI_DEV_GPU_UTIL",
                                    "DCGM_FI_DEV_FB_USED",
                                    "DCGM_FI_DEV_FB_FREE",
                                    "DCGM_FI_DEV_POWER_USAGE",
                                    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                                    "DCGM_FI_DEV_GPU_TEMP",
                                    "DCGM_FI_DEV_SM_CLOCK",
                                    "DCGM_FI_DEV_XID_ERRORS"};
constexpr std::size_t kSamplesABody = 2000;
constexpr std::int64_t kAtMs = 1'772'323'200'000;

struct Made {
  std::vector<Label> labels;
  std::string value;  // as text
};

std::vector<Made> make(std::size_t gpus) {
  std::vector<Made> made;
  for (const char* const metric : kMetrics) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      const std::size_t mixed = gpu * 7919 + made.size() * 104'729;
      const bool is_share = std::string_view(metric).starts_with("DCGM_FI_PROF");
      made.push_back(
          {.labels = {{"__name__", metric},
                      {"DCGM_FI_DRIVER_VERSION", "550.90.07"},
                      {"Hostname", fmt::format("gpu-node-{:05}", gpu / 8)},
                      {"UUID", fmt::format("GPU-{:08x}-5a0c-4c1e-9d2b-0123456789ab", gpu)},
                      {"container", "trainer"},
                      {"device", fmt::format("nvidia{}", gpu % 8)},
                      {"gpu", fmt::format("{}", gpu % 8)},
                      {"modelName", "NVIDIA H100 80GB HBM3"},
                      {"namespace", fmt::format("team-{}", gpu % 37)},
                      {"pci_bus_id", fmt::format("00000000:{:02X}:00.0", gpu % 256)},
                      {"pod", fmt::format("llm-pretrain-{:06}-worker-{}", gpu / 64, gpu % 64)}},
           .value = is_share ? fmt::format("0.{:06}", mixed % 1'000'000)
                             : fmt::format("{}", mixed % 80'000)});
    }
  }
  return made;
}

double number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string text_of(const std::vector<Made>& made, bool is_open_metrics) {
  std::string text;
  std::string_view last;
  for (const Made& one : made) {
    const std::string& metric = one.labels.front().value;
    if (metric != last) {
      text += fmt::format("# HELP {0} Made up for a measurement.\n# TYPE {0} gauge\n", metric);
    }
    last = metric;
    text += metric + '{';
    for (std::size_t i = 1; i < one.labels.size(); ++i) {
      text += fmt::format("{}{}=\"{}\"", i > 1 ? "," : "", one.labels[i].name, one.labels[i].value);
    }
    text += "} " + one.value + '\n';
  }
  if (is_open_metrics) text += "# EOF\n";
  return text;
}

std::vector<WriteRequestBuilder> bodies_of(const std::vector<Made>& made) {
  std::vector<WriteRequestBuilder> bodies;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (i % kSamplesABody == 0) bodies.emplace_back();
    const Sample sample = {.at_ms = kAtMs, .value = number(made[i].value)};
    bodies.back().add(made[i].labels, std::span(&sample, 1));
  }
  return bodies;
}

void put_bytes(std::string& out, char tag, std::string_view bytes) {
  out += tag;
  put_varint(out, bytes.size());
  out += bytes;
}

// The same series as requests of 2.0: io.prometheus.write.v2.Request.
std::vector<std::string> requests_of(const std::vector<Made>& made) {
  std::vector<std::string> requests;
  for (std::size_t begin = 0; begin < made.size(); begin += kSamplesABody) {
    std::map<std::string, std::size_t> numbers;
    std::string symbols;
    put_bytes(symbols, 0x22, "");
    std::string all;
    const auto add_ref = [&](std::string& refs, const std::string& text) {
      const auto [known, is_new] = numbers.try_emplace(text, numbers.size() + 1);
      if (is_new) put_bytes(symbols, 0x22, text);
      put_varint(refs, known->second);
    };
    for (std::size_t i = begin; i < std::min(made.size(), begin + kSamplesABody); ++i) {
      std::string refs;
      for (const Label& label : made[i].labels) {
        add_ref(refs, label.name);
        add_ref(refs, label.value);
      }
      std::string sample(1, 0x09);
      const auto bits = std::bit_cast<std::uint64_t>(number(made[i].value));
      for (unsigned shift = 0; shift < 64; shift += 8) {
        sample += static_cast<char>((bits >> shift) & 0xff);
      }
      sample += 0x10;
      put_varint(sample, kAtMs);
      std::string series;
      put_bytes(series, 0x0a, refs);
      put_bytes(series, 0x12, sample);
      put_bytes(all, 0x2a, series);
    }
    requests.push_back(symbols + all);
  }
  return requests;
}

class CountingSink final : public SeriesSink {
 public:
  void series(const Hash128& key, const EncodedLabels&, std::span<const Sample> samples) override {
    keys ^= key.low;
    for (const Sample& sample : samples) {
      ++count;
      sum += sample.value;
    }
  }
  std::uint64_t count = 0;
  double sum = 0;
  std::uint64_t keys = 0;
};

class KeySink final : public SeriesSink {
 public:
  void series(const Hash128& key, const EncodedLabels& labels, std::span<const Sample>) override {
    keys.insert(key);
    CHECK(labels.decode(decoded), "what is made can be decoded");
    CHECK(decoded.size() == 11, "all labels are there");
  }
  std::set<Hash128> keys;
  std::vector<Label> decoded;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Load {
  std::size_t samples;
  double sum;
  std::size_t runs;
};

void measure(std::string_view name, std::size_t bytes, const Load& load,
             const std::function<void(SeriesSink&)>& once) {
  KeySink keys;
  once(keys);
  CHECK(keys.keys.size() == load.samples, "each series has a key of its own");
  double best = 1e9;
  std::uint64_t first_keys = 0;
  for (std::size_t run = 0; run < load.runs; ++run) {
    CountingSink sink;
    const double begin = cpu_seconds();
    once(sink);
    best = std::min(best, cpu_seconds() - begin);
    CHECK(sink.count == load.samples, "every sample is handed on");
    CHECK(sink.sum == load.sum, "with its value");
    CHECK(run == 0 || sink.keys == first_keys, "and the same key each time");
    first_keys = sink.keys;
  }
  fmt::print("{:<24}{:>8.2f} GB/s {:>8.1f} M samples/s {:>7.0f} ns and {} bytes a sample\n", name,
             static_cast<double>(bytes) / best / 1e9,
             static_cast<double>(load.samples) / best / 1e6,
             best * 1e9 / static_cast<double>(load.samples), bytes / load.samples);
}

void run(std::size_t gpus, std::size_t runs) {
  const std::vector<Made> made = make(gpus);
  Load load = {.samples = made.size(), .sum = 0, .runs = runs};
  for (const Made& one : made) load.sum += number(one.value);
  const ExpositionOptions options = {.scraped_at = from_unix_ms(kAtMs)};
  for (const bool is_open_metrics : {false, true}) {
    const std::string text = text_of(made, is_open_metrics);
    const TargetLabels none;
    measure(is_open_metrics ? "openmetrics" : "text", text.size(), load, [&](SeriesSink& sink) {
      const auto report = parse_exposition(
          is_open_metrics ? ExpositionFormat::kOpenMetrics : ExpositionFormat::kText, text, none,
          options, sink);
      CHECK(report && report->bad == 0, "what is made can be read");
    });
  }
  const std::vector<WriteRequestBuilder> bodies = bodies_of(made);
  std::vector<std::string> packed;
  std::size_t bytes = 0;
  std::size_t packed_bytes = 0;
  for (const WriteRequestBuilder& body : bodies) {
    packed.push_back(body.snappy());
    bytes += body.body().size();
    packed_bytes += packed.back().size();
  }
  WriteRequestReader reader;
  measure("remote_write", bytes, load, [&](SeriesSink& sink) {
    for (const WriteRequestBuilder& body : bodies) {
      CHECK(reader.read(WriteProtocol::kV1, body.body()), "what is made can be read");
      reader.emit(sink);
    }
  });
  std::size_t request_bytes = 0;
  const std::vector<std::string> requests = requests_of(made);
  for (const std::string& request : requests) request_bytes += request.size();
  measure("remote_write 2.0", request_bytes, load, [&](SeriesSink& sink) {
    for (const std::string& request : requests) {
      CHECK(reader.read(WriteProtocol::kV2, request), "what is made can be read");
      reader.emit(sink);
    }
  });
  BodyDecoder decoder;
  measure("snappy + remote_write", bytes, load, [&](SeriesSink& sink) {
    for (const std::string& body : packed) {
      const auto decoded = decoder.decode("snappy", body, 64u << 20);
      CHECK(decoded && reader.read(WriteProtocol::kV1, *decoded), "what is made can be read");
      reader.emit(sink);
    }
  });
  fmt::print("compressed: {} bytes a sample\n", packed_bytes / load.samples);
}

}  // namespace
}  // namespace pennyweight::prometheus

int main(int count, char** arguments) {
  std::size_t gpus = 1000;
  std::size_t runs = 20;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    const std::string_view value = arguments[i + 1];
    std::size_t* const option = name == "--gpus" ? &gpus : name == "--runs" ? &runs : nullptr;
    if (option == nullptr ||
        std::from_chars(value.data(), value.data() + value.size(), *option).ec != std::errc{}) {
      fmt::print(stderr, "usage: bench_exposition [--gpus N] [--runs N]\n");
      return 2;
    }
  }
  try {
    pennyweight::prometheus::run(gpus, runs);
  } catch (const pennyweight::InvariantError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
