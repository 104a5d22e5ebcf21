// serve: takes in what clusters emit while they run, keeps it, and shows what runs and costs now.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <thread>

#include "api/audit_log.h"
#include "api/book_routes.h"
#include "api/data_routes.h"
#include "api/guard.h"
#include "api/openapi.h"
#include "api/parts.h"
#include "api/people_routes.h"
#include "app/catalog_file.h"
#include "app/doors.h"
#include "app/file.h"
#include "app/live_ledger.h"
#include "app/price_files.h"
#include "app/serve_routes.h"
#include "app/serve_trail.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "app/version.h"
#include "collect/scrape_pool.h"
#include "core/check.h"
#include "dashboard/dashboard.h"
#include "ingest/kubernetes/kubeconfig.h"
#include "rollup/rollup.h"
#include "server/server.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kTokenFileBytesMax = 1u << 20;
// How often what runs now is looked at.
constexpr milliseconds kCycle{10'000};
// How often whether a flush is wanted sooner.
constexpr milliseconds kGlance{500};
// Heaps of the C library: the more, the more of what was freed stays with one of them.
constexpr int kHeapsMax = 2;

// Beside the ledger, in the live folder; made again where it is gone.
constexpr const char* kRollupFile = "rollup.duckdb";

struct ServeOptions {
  std::string listen;
};

Result<std::vector<std::string>> tokens_of(const std::string& path) {
  std::vector<std::string> tokens;
  if (path.empty()) return tokens;
  const auto text = read_file(path, kTokenFileBytesMax);
  if (!text) return std::unexpected(text.error().during("serve.token_file"));
  std::size_t begin = 0;
  while (begin < text->size()) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    std::string token = text->substr(begin, end - begin);
    token.erase(token.find_last_not_of(" \t\r") + 1);
    if (!token.empty()) tokens.push_back(std::move(token));
    begin = end + 1;
  }
  if (tokens.empty()) {
    return fail(ErrorCode::kConfig, "serve.token_file: there is no token in " + path);
  }
  return tokens;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<kubernetes::ApiServer> api_server(const KubernetesConfig& config) {
  if (config.kubeconfig.empty()) {
    return kubernetes::in_cluster(variable("KUBERNETES_SERVICE_HOST"),
                                  variable("KUBERNETES_SERVICE_PORT"));
  }
  const auto text = read_file(config.kubeconfig, kubernetes::kKubeconfigBytesMax);
  if (!text) return std::unexpected(text.error());
  return kubernetes::read_kubeconfig(
      *text, std::filesystem::path(config.kubeconfig).parent_path().string(), config.context);
}

// Pods of a watched API that are annotated to be scraped.
class KubernetesTargets : public collect::TargetSource {
 public:
  explicit KubernetesTargets(const KubernetesSource& source) : source_(source) {}
  Result<std::vector<collect::TargetGroup>> groups() override {
    std::vector<collect::TargetGroup> groups;
    for (const kubernetes::ScrapeTarget& target : source_.targets()) {
      groups.push_back(group_of(target.address));
      for (const auto& [name, value] : target.labels) {
        groups.back().labels.push_back({name, value});
      }
    }
    return groups;
  }
  // "host:port", or a URL, whose parts go before the job's.
  static collect::TargetGroup group_of(const std::string& address) {
    collect::TargetGroup group;
    const std::size_t scheme = address.find("://");
    if (scheme == std::string::npos) {
      group.addresses = {address};
      return group;
    }
    const std::size_t path = address.find('/', scheme + 3);
    group.addresses = {address.substr(scheme + 3, path - scheme - 3)};
    group.labels.push_back({"__scheme__", address.substr(0, scheme)});
    if (path != std::string::npos) {
      group.labels.push_back({"__metrics_path__", address.substr(path)});
    }
    return group;
  }

 private:
  const KubernetesSource& source_;
};

// Pods are found through the API of their cluster, so that one has to be watched.
Result<void> scrapes_are_possible(const LiveConfig& config) {
  for (const ScrapeConfig& scrape : config.scrape) {
    const ClusterId& cluster = scrape.cluster.empty() ? config.serve.cluster : scrape.cluster;
    const bool is_watched = std::ranges::any_of(
        config.kubernetes, [&](const KubernetesConfig& api) { return api.cluster == cluster; });
    if (scrape.kubernetes && !is_watched) {
      return wrong_usage(
          fmt::format("scrape: the job {} looks for pods of cluster {}, whose API is "
                      "not watched; name it under kubernetes:",
                      scrape.job, cluster.text()));
    }
  }
  return {};
}

std::vector<collect::PoolJob> jobs_of(
    const LiveConfig& config, const std::map<ClusterId, const KubernetesSource*>& kubernetes) {
  std::vector<collect::PoolJob> jobs;
  for (const ScrapeConfig& scrape : config.scrape) {
    const ClusterId& cluster = scrape.cluster.empty() ? config.serve.cluster : scrape.cluster;
    collect::ScrapeJob job{.name = scrape.job,
                           .scheme = scrape.scheme,
                           .metrics_path = scrape.path,
                           .interval = milliseconds(scrape.interval_ms),
                           .honor_labels = scrape.honor_labels,
                           .http = scrape.http};
    job.http.body_bytes_max = collect::kScrapeBytesMax;
    if (!config.serve.cluster_label.empty()) {
      job.labels.push_back({config.serve.cluster_label, cluster.text()});
    }
    if (!scrape.targets.empty()) {
      std::vector<collect::TargetGroup> groups;
      for (const std::string& target : scrape.targets) {
        groups.push_back(KubernetesTargets::group_of(target));
      }
      jobs.push_back({job, std::make_unique<collect::StaticTargets>(std::move(groups))});
    }
    if (!scrape.targets_file.empty()) {
      jobs.push_back(
          {job, std::make_unique<collect::FileTargets>(std::vector{scrape.targets_file})});
    }
    if (scrape.kubernetes) {
      const auto api = kubernetes.find(cluster);
      CHECK(api != kubernetes.end(), "scrapes_are_possible() has seen to it");
      jobs.push_back({job, std::make_unique<KubernetesTargets>(*api->second)});
    }
  }
  return jobs;
}

live::EngineOptions engine_options(const Config& config, const std::string& folder,
                                   StateMetricsSource& state) {
  const ServeConfig& serve = config.live.serve;
  return {.folder = folder,
          .lane = {.meaning = {.cluster = serve.cluster,
                               .cluster_label = serve.cluster_label,
                               .outcomes = config.live.outcomes},
                   .timing = {.resolution_ms = serve.resolution_ms},
                   .grace_ms = serve.grace_ms,
                   .limits = {.keys = serve.series_max}},
          .body_bytes_max = serve.body_bytes_max,
          .journal_bytes_max = serve.journal_bytes_max,
          .state = &state};
}

void take_scrape(live::Engine& engine, const collect::Target& target,
                 const collect::ScrapedBody& scraped, Log& log) {
  if (!scraped.up) log.warn("scrape", {{"target", target.url}, {"why", scraped.error}});
  const auto taken = engine.take({.kind = live::Delivery::Kind::kExposition,
                                  .content_type = scraped.content_type,
                                  .content_encoding = "",
                                  .body = scraped.body,
                                  .cluster = ClusterId(""),
                                  .scraped_at = scraped.at,
                                  .target = target.labels,
                                  .honor_timestamps = target.honor_timestamps,
                                  .target_id = target.id,
                                  .answered = scraped.up,
                                  .lane = {}});
  if (!taken) {
    log.warn("scrape", {{"target", target.url}, {"why", taken.error().message}});
  } else if (!taken->first_bad.empty()) {
    log.warn("scrape", {{"target", target.url},
                        {"bad_lines", taken->bad},
                        {"first", fmt::format("line {}: {}", taken->first_bad.front().line,
                                              taken->first_bad.front().reason)}});
  }
}

// Lets the ledger's thread run until it is told to stop.
class Cycles {
 public:
  Cycles(LiveLedger& ledger, const live::Engine& engine, milliseconds every)
      : thread_([this, &ledger, &engine, every] {
          std::unique_lock lock(mutex_);
          while (!stopping_) {
            lock.unlock();
            ledger.cycle();
            lock.lock();
            // Sooner where a sender drains a backlog.
            const auto next = std::chrono::steady_clock::now() + every;
            do {
              changed_.wait_for(lock, std::min(every, kGlance), [&] { return stopping_; });
            } while (!stopping_ && !engine.wants_flush() &&
                     std::chrono::steady_clock::now() < next);
          }
        }) {}
  ~Cycles() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Cycles(const Cycles&) = delete;
  Cycles& operator=(const Cycles&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

// Blocks the signals that end the program, for all threads that are begun from here on. A file that
// may not grow is an Error like a full disk, and no signal.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  int wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }

 private:
  sigset_t set_{};
};

Result<void> read_listen(const std::string& text, ServeConfig& serve) {
  const auto parsed = parse_config("serve: {listen: \"" + text + "\"}", "--listen");
  if (!parsed) return wrong_usage("--listen: write it as 127.0.0.1:9595");
  serve.host = parsed->live.serve.host;
  serve.port = parsed->live.serve.port;
  return {};
}

// Read for each answer that needs them, so that new rates are used without a restart.
std::function<Result<ExchangeRates>()> rates_of(const Config& config) {
  if (config.currencies.rates_file.empty()) return {};
  return [file = config.currencies.rates_file] { return load_exchange_rates(file); };
}

// An entry that is in the log is there, also where the accounts can't be told of its end.
Result<void> append(Doors& doors, trail::Entry entry, Log& log) {
  const auto head = doors.trail->append(std::move(entry));
  if (!head) return std::unexpected(head.error());
  if (const auto kept = api::keep_head(*doors.accounts, *head); !kept) {
    log.error("accounts", {{"doing", "keep the audit log's head"}, {"why", kept.error().message}});
  }
  return {};
}

api::GuardLimits limits_of(const ServeConfig& serve) {
  const auto rate = [](const AskingRate& asking) {
    return api::Rate{.per_second = asking.per_second, .burst = asking.burst};
  };
  return {.principal = rate(serve.asker_rate), .address = rate(serve.address_rate)};
}

std::vector<server::AddressBlock> proxies_of(const ServeConfig& serve) {
  std::vector<server::AddressBlock> blocks;
  for (const ProxyAddresses& proxies : serve.trusted_proxies) {
    blocks.push_back({.address = {proxies.address}, .bits = proxies.bits});
  }
  return blocks;
}

std::vector<server::Route> all_routes(const Served& served, const api::Parts& parts) {
  std::vector<server::Route> routes = serve_routes(served);
  for (auto& more : {api::data_routes(parts), api::book_routes(parts), api::people_routes(parts),
                     dashboard::dashboard_routes()}) {
    routes.insert(routes.end(), more.begin(), more.end());
  }
  routes.push_back(api::openapi_route());
  return routes;
}

Result<ExitCode> run(const ServeOptions& options, Context& context) {
  Config& config = context.config;
  ServeConfig& serve = config.live.serve;
  if (!options.listen.empty()) {
    if (auto read = read_listen(options.listen, serve); !read) return std::unexpected(read.error());
  }
  const auto tokens = tokens_of(serve.token_file);
  if (!tokens) return std::unexpected(tokens.error());
  if (auto possible = scrapes_are_possible(config.live); !possible) {
    return std::unexpected(possible.error());
  }
  const auto catalog = load_catalog(config);
  if (!catalog) return std::unexpected(catalog.error());
  RateCard card;
  if (!config.rate_card_file.empty()) {
    auto loaded = load_rate_card(config.rate_card_file);
    if (!loaded) return std::unexpected(loaded.error());
    card = *std::move(loaded);
  }
  ::mallopt(M_ARENA_MAX, kHeapsMax);
  const EndSignals signals;
  Log log(context.clock);
  SharedLedger shared(config);
  LiveLedger ledger(config, *catalog, card, shared, context.clock, log);
  if (auto opened = ledger.open(); !opened) return std::unexpected(opened.error());

  const std::string folder = live_folder(config);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  StateMetricsSource state_metrics(ledger.book());
  for (const KubernetesConfig& kubernetes : config.live.kubernetes) {
    state_metrics.leave_out(kubernetes.cluster);
  }
  auto engine = live::Engine::open(engine_options(config, folder, state_metrics), context.clock);
  if (!engine) return std::unexpected(engine.error());

  std::vector<std::unique_ptr<LiveSource>> owned;
  std::map<ClusterId, const KubernetesSource*> apis;
  for (const KubernetesConfig& kubernetes : config.live.kubernetes) {
    auto server = api_server(kubernetes);
    if (!server) {
      return std::unexpected(server.error().during("kubernetes " + kubernetes.cluster.text()));
    }
    const bool scrapes = std::ranges::any_of(config.live.scrape, &ScrapeConfig::kubernetes);
    auto source =
        std::make_unique<KubernetesSource>(kubernetes, *std::move(server), scrapes, ledger.book(),
                                           static_cast<std::uint64_t>(::getpid()), context.clock);
    apis[kubernetes.cluster] = source.get();
    owned.push_back(std::move(source));
  }
  for (const SlurmConfig& slurm : config.live.slurm) {
    const std::string state =
        (std::filesystem::path(folder) / ("slurm-" + slurm.cluster.text() + ".state")).string();
    owned.push_back(std::make_unique<SlurmSource>(slurm, cluster_config(config, slurm.cluster),
                                                  state, ledger.known(), context.clock, log));
  }
  std::vector<LiveSource*> sources;
  for (const auto& source : owned) sources.push_back(source.get());
  auto rollup =
      rollup::Rollup::open({.path = (std::filesystem::path(folder) / kRollupFile).string(),
                            .memory_bytes_max = config.store_memory_bytes / 2,
                            .threads = config.threads});
  if (!rollup) return std::unexpected(rollup.error());
  auto doors = open_doors(config, context.clock, log);
  if (!doors) return std::unexpected(doors.error());

  std::vector<collect::PoolJob> jobs = jobs_of(config.live, apis);
  std::unique_ptr<collect::ScrapePool> pool;
  if (!jobs.empty()) {
    pool = std::make_unique<collect::ScrapePool>(
        std::move(jobs), context.clock,
        [&](const collect::Target& target, const collect::ScrapedBody& scraped) {
          take_scrape(**engine, target, scraped, log);
        });
  }

  std::unique_ptr<server::Server> http;
  const Served served{.engine = **engine,
                      .ledger = ledger,
                      .state_metrics = state_metrics,
                      .sources = sources,
                      .pool = pool.get(),
                      .clock = context.clock,
                      .route_counts = [&http] {
                        return http ? http->counts() : std::vector<server::RouteCounts>();
                      }};
  const api::Parts parts{.config = config,
                         .catalog = *catalog,
                         .clock = context.clock,
                         .ledger = [&shared](const auto& ask) { return shared.with(ask); },
                         .rollup = **rollup,
                         .accounts = *doors->accounts,
                         .trail = *doors->trail,
                         .oidc = doors->openid.get(),
                         .live = [&ledger] { return ledger.view(); },
                         .rates = rates_of(config),
                         .version = std::string(kProgramVersion),
                         .trail_path = trail_path(config),
                         .machines = {.tokens = *tokens, .trust_loopback = serve.trust_loopback}};
  ServeTrail trail(
      [&doors, &log](trail::Entry entry) { return append(*doors, std::move(entry), log); });
  const auto taken_up =
      shared.with([&](Store& store) { return trail.take_up(store, *doors->trail); });
  if (!taken_up) return std::unexpected(taken_up.error());
  ledger.begin(**engine, state_metrics, sources, rollup->get(), &trail);
  auto started = server::Server::start(
      {.host = serve.host,
       .port = serve.port,
       .body_bytes_max = serve.body_bytes_max,
       .requests_max = serve.requests_max,
       .guard = api::guard(parts, limits_of(serve)),
       .headers = dashboard::kPageHeaders,
       .cert_file = serve.tls_cert_file,
       .key_file = serve.tls_key_file,
       .trusted_proxies = proxies_of(serve),
       .failed =
           [&log](std::string_view path, std::string_view what) {
             log.error("request", {{"path", std::string(path)}, {"why", std::string(what)}});
           }},
      all_routes(served, parts));
  if (!started) return std::unexpected(started.error());
  http = *std::move(started);
  log.info("serving", {{"address", fmt::format("{}:{}", serve.host, http->port())},
                       {"ledger", ledger_name(config)},
                       {"data", folder}});
  {
    const Cycles cycles(ledger, **engine, std::min(kCycle, flush_every(config)));
    const int signal = signals.wait();
    log.info("stopping", {{"signal", std::int64_t{signal}}});
    http->stop();
    if (pool) pool->stop();
  }
  ledger.last_cycle();
  for (const auto& source : owned) source->stop();
  log.info("stopped");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_serve(CLI::App& app) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "Take in what clusters emit while they run, and show what it costs now");
  command->add_option("--listen", options->listen, "ADDRESS:PORT, over serve.listen");
  command->footer(examples_of("serve"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
