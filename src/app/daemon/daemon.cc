#include "app/daemon/daemon.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "app/alerting/limit_conditions.h"
#include "app/context/catalog_file.h"
#include "app/context/context.h"
#include "app/context/paths.h"
#include "app/context/price_files.h"
#include "app/context/version.h"
#include "app/daemon/ledger_thread.h"
#include "app/daemon/pull_thread.h"
#include "app/daemon/recent_purchases.h"
#include "app/daemon/recent_reconciliation.h"
#include "app/daemon/scheduled_views.h"
#include "app/daemon/scrape_jobs.h"
#include "app/daemon/service_manager.h"
#include "app/daemon/upload_import.h"
#include "config/guardrail_config.h"
#include "core/base_encoding.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/crypto/secret.h"
#include "core/files/file.h"
#include "core/try.h"
#include "ingest/schedulers/kubernetes/kubeconfig.h"
#include "insight/queries/commitment_use.h"
#include "insight/queries/spot_use.h"
#include "insight/queries/what_if_query.h"
#include "reporting/queries/reconcile.h"
#include "server/access/principal.h"
#include "server/access/private_file.h"
#include "server/annotation_book/annotation_book.h"
#include "server/anomaly_book/anomaly_book.h"
#include "server/api/approval_links.h"
#include "server/api/audit_log.h"
#include "server/api/guard.h"
#include "server/api/routes.h"
#include "server/api/scoped_queries.h"
#include "server/api/what_if_runs.h"
#include "server/budget_book/budget_book.h"
#include "server/dashboard/dashboard.h"
#include "server/event_book/event_book.h"
#include "server/forecast_book/forecast_book.h"
#include "server/known_hosts.h"
#include "server/tls.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kTokenFileBytesMax = 1u << 20;
constexpr std::size_t kMachineTokenBytes = 32;
// How often the live view is made anew.
constexpr milliseconds kCycle{10'000};
// How long answers and cycles may go on once serve is told to stop, and then its last cycle. What
// that can't write in time stays in the journal for the next start.
constexpr milliseconds kAnswersEndAfter{2'000};
constexpr milliseconds kCyclesEndAfter{3'000};
constexpr milliseconds kLastCycleEndsAfter{4'000};
// Heaps of the C library: the more there are, the more freed memory stays with one of them.
constexpr int kHeapsMax = 2;
// Larger pieces have pages of their own, which go back when they are freed. The C library would
// raise this bound to the largest piece that was ever freed: the rows of one flush.
constexpr int kOwnPagesFrom = 256 << 10;
// What is free at the end of the heap beyond this goes back.
constexpr int kFreeKept = 1 << 20;

// Beside the ledger, in the live folder; made again where it is gone.
constexpr const char* kRollupFile = "rollup.duckdb";

// The token of programs on this machine, made where there is none.
Result<std::string> machine_token(const Config& config) {
  const std::string path = machine_token_path(config);
  std::error_code ignored;
  std::filesystem::create_directories(live_folder(config), ignored);
  const auto random = TRY(random_bytes(kMachineTokenBytes));
  std::ignore = TRY(access::create_private_file(path, "pwm_" + to_hex(random) + "\n"));
  const auto text = TRY(access::read_private_file(path, kTokenFileBytesMax));
  std::string token = text.value_or("");
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty()) {
    return fail(ErrorCode::kConfig, path + " is empty; remove it, and serve writes a new one");
  }
  return token;
}

Result<std::vector<std::string>> read_tokens(const Config& config) {
  const std::string& path = config.live.serve.token_file;
  std::vector<std::string> tokens;
  if (path.empty() && config.live.serve.trust_loopback) return tokens;
  if (path.empty()) {
    tokens.push_back(TRY(machine_token(config)));
    return tokens;
  }
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

// Ledgers of former versions could be read by everybody.
void remove_access_of_others(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::permissions(path, fs::perms::others_all | fs::perms::group_write,
                  fs::perm_options::remove | fs::perm_options::nofollow, ignored);
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<kubernetes::ApiServer> api_server(const KubernetesConfig& config) {
  if (config.kubeconfig.empty()) {
    return kubernetes::in_cluster(environment_variable("KUBERNETES_SERVICE_HOST"),
                                  environment_variable("KUBERNETES_SERVICE_PORT"));
  }
  const auto text = TRY(read_file(config.kubeconfig, kubernetes::kKubeconfigBytesMax));
  return kubernetes::read_kubeconfig(
      text, std::filesystem::path(config.kubeconfig).parent_path().string(), config.context);
}

// A device that sends what is old has sent all of it when a whole flush passes without more.
milliseconds order_wait(const Config& config) {
  constexpr milliseconds kOrderWaitMin{5'000};
  return std::max(kOrderWaitMin, flush_every(config));
}

live::EngineOptions engine_options(const Config& config, const std::string& folder,
                                   live::StateSink& state) {
  const ServeConfig& serve = config.live.serve;
  return {.folder = folder,
          .stream = {.classification = {.cluster = serve.cluster,
                                        .cluster_label = serve.cluster_label,
                                        .outcomes = config.live.outcomes,
                                        .host_usage = serve.host_usage},
                     .timing = {.resolution_ms = serve.resolution_ms},
                     .grace_ms = serve.grace_ms,
                     .order_wait_ms = order_wait(config).count(),
                     .limits = {.keys = serve.series_max}},
          .body_bytes_max = serve.body_bytes_max,
          .journal_bytes_max = serve.journal_bytes_max,
          .state = &state};
}

// Exchange rates are read for each answer that needs them, so new ones count without a restart.
std::function<Result<ExchangeRates>()> exchange_rates_reader(const Config& config) {
  if (config.currencies.rates_file.empty()) return {};
  return [file = config.currencies.rates_file] { return load_exchange_rates(file); };
}

// An entry that is in the log counts even where the accounts can't store the log's new head.
Result<void> append_entry(SecurityServices& security, audit_log::Entry entry, Log& log) {
  const auto head = security.audit_log->append(std::move(entry));
  if (!head) return std::unexpected(head.error());
  if (const auto kept = api::save_known_head(*security.accounts, *head); !kept) {
    log.error("accounts", {{"doing", "keep the audit log's head"}, {"why", kept.error().message}});
  }
  return {};
}

api::GuardLimits guard_limits(const ServeConfig& serve) {
  const auto rate = [](const RequestRate& asking) {
    return api::Rate{.per_second = asking.per_second, .burst = asking.burst};
  };
  return {.principal = rate(serve.asker_rate), .address = rate(serve.address_rate)};
}

std::vector<server::AddressBlock> trusted_proxies(const ServeConfig& serve) {
  std::vector<server::AddressBlock> blocks;
  for (const ProxyAddresses& proxies : serve.trusted_proxies) {
    blocks.push_back({.address = {proxies.address}, .bits = proxies.bits});
  }
  return blocks;
}

// The names of the configuration, this machine's, those of the certificate, and the one to which an
// OpenID provider sends browsers back. Nobody else can have them lead here.
Result<server::KnownHosts> known_hosts(const ServeConfig& serve) {
  std::vector<std::string> names = serve.hosts;
  std::array<char, HOST_NAME_MAX + 1> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) == 0) names.emplace_back(machine.data());
  if (!serve.tls_cert_file.empty()) {
    const auto certified = TRY(server::certificate_names(serve.tls_cert_file));
    names.insert(names.end(), certified.begin(), certified.end());
  }
  std::string_view back = serve.openid.redirect_url;
  if (const std::size_t scheme = back.find("://"); scheme != std::string_view::npos) {
    back.remove_prefix(scheme + 3);
    names.emplace_back(back.substr(0, back.find_first_of(":/?#")));
  }
  return server::KnownHosts(std::move(names));
}

std::vector<server::Route> all_routes(const ServeRouteContext& context,
                                      const api::Services& services, Interruption& answering) {
  std::vector<server::Route> routes = serve_routes(context);
  for (auto& more : {api::api_routes(services), api::approval_link_routes(services),
                     dashboard::dashboard_routes()}) {
    routes.insert(routes.end(), more.begin(), more.end());
  }
  for (server::Route& route : routes) {
    route.handler = [handler = std::move(route.handler),
                     &answering](const server::Request& request) {
      const Interruption::Scope scope(answering);
      return handler(request);
    };
  }
  return routes;
}

}  // namespace

Daemon::Daemon(Inputs inputs, const Config& config, Clock& clock)
    : config_(config),
      clock_(clock),
      inputs_(std::move(inputs)),
      log_(clock),
      shared_(config),
      ledger_(config, inputs_.catalog, inputs_.card, shared_, clock, log_),
      folder_(live_folder(config)),
      state_metrics_(ledger_.inventory()),
      latency_watch_(latency_rule(config.alerts.thresholds), state_metrics_) {}

Result<std::unique_ptr<Daemon>> Daemon::start(const Config& config, Clock& clock) {
  auto tokens = TRY(read_tokens(config));
  TRY(check_scrape_jobs(config.live));
  auto catalog = TRY(load_catalog(config));
  RateCard card;
  if (!config.rate_card_file.empty()) card = TRY(load_rate_card(config.rate_card_file));
  ::mallopt(M_ARENA_MAX, kHeapsMax);
  ::mallopt(M_MMAP_THRESHOLD, kOwnPagesFrom);
  ::mallopt(M_TRIM_THRESHOLD, kFreeKept);
  auto daemon = std::make_unique<Daemon>(
      Inputs{.tokens = std::move(tokens), .catalog = std::move(catalog), .card = std::move(card)},
      config, clock);
  TRY(daemon->open());
  return daemon;
}

Result<void> Daemon::open() {
  TRY(ledger_.open());
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  for (const KubernetesConfig& kubernetes : config_.live.kubernetes) {
    state_metrics_.exclude_cluster(kubernetes.cluster);
  }
  engine_ = TRY(live::Engine::open(engine_options(config_, folder_, latency_watch_), clock_));
  TRY(be_only_serve());
  TRY(open_sources());
  rollup_ =
      TRY(rollup::Rollup::open({.path = (std::filesystem::path(folder_) / kRollupFile).string(),
                                .memory_bytes_max = config_.store_memory_bytes / 2,
                                .threads = config_.threads}));
  remove_access_of_others(config_.store_path);
  remove_access_of_others((std::filesystem::path(folder_) / kRollupFile).string());
  security_ = TRY(open_security_services(config_, clock_, log_));
  start_scraping();
  TRY(start_admission());
  return start_server();
}

// Two that receive the same samples would both write them, and their energy and outcomes would
// count twice. Of a ledger on ClickHouse each serve must have clusters of its own.
Result<void> Daemon::be_only_serve() {
  if (!config_.store_address.empty()) return {};
  // However the file is named: by a link too.
  std::error_code unknown;
  std::string path = std::filesystem::weakly_canonical(config_.store_path, unknown).string();
  if (unknown) path = config_.store_path;
  auto lock = TRY(FileLock::try_beside(path + ".serve"));
  if (lock) {
    writes_alone_.emplace(*std::move(lock));
    return {};
  }
  return fail(ErrorCode::kConflict,
              "another serve writes into the ledger " + config_.store_path +
                  ", and what both receive would count twice; stop it, or give this one a ledger "
                  "of its own");
}

Result<void> Daemon::start_admission() {
  approvals_ = std::make_shared<ApprovalBook>(
      approval_book_path(config_), approval_key_path(config_), config_.guardrails->approvals);
  // A book that can't be read is told now rather than at each review.
  std::ignore = TRY(approvals_->approvals());
  approval_desk_ = std::make_unique<BookedApprovals>(
      *approvals_, clock_,
      [this](audit_log::Entry entry) { return append_entry(security_, std::move(entry), log_); });
  limits_ = std::make_unique<LimitWatch>(config_, clock_, log_);
  cluster_listing_ = std::make_unique<ClusterListing>(config_, clock_, log_);
  TRY(cluster_listing_->start());
  if (!config_.guardrails->slurm.socket.empty()) {
    slurm_gate_ =
        TRY(SlurmGate::start(config_, inputs_.catalog, *approval_desk_, *limits_, clock_, log_));
  }
  if (config_.guardrails->admission.host.empty()) return {};
  admission_ = TRY(AdmissionService::start(config_, inputs_.catalog, *approval_desk_, *limits_,
                                           *cluster_listing_, clock_, log_));
  return {};
}

Result<void> Daemon::open_sources() {
  for (const KubernetesConfig& kubernetes : config_.live.kubernetes) {
    auto server = api_server(kubernetes);
    if (!server) {
      return std::unexpected(server.error().during("kubernetes " + kubernetes.cluster.text()));
    }
    const bool scrapes = std::ranges::any_of(config_.live.scrape, &ScrapeConfig::kubernetes);
    auto source = std::make_unique<KubernetesSource>(
        kubernetes, *std::move(server), scrapes, ledger_.inventory(),
        static_cast<std::uint64_t>(::getpid()), clock_);
    apis_[kubernetes.cluster] = source.get();
    owned_sources_.push_back(std::move(source));
  }
  for (const SlurmConfig& slurm : config_.live.slurm) {
    const std::string state =
        (std::filesystem::path(folder_) / ("slurm-" + slurm.cluster.text() + ".state")).string();
    owned_sources_.push_back(std::make_unique<SlurmSource>(
        slurm, cluster_config(config_, slurm.cluster), state, ledger_.gpu_lookup(), clock_, log_));
  }
  for (const auto& source : owned_sources_) sources_.push_back(source.get());
  return {};
}

void Daemon::start_scraping() {
  std::vector<collect::PoolJob> jobs = make_scrape_jobs(config_.live, apis_);
  if (jobs.empty()) return;
  pool_ = std::make_unique<collect::ScrapePool>(
      std::move(jobs), clock_,
      [this](const collect::Target& target, const collect::ScrapedBody& scraped) {
        ingest_scrape(*engine_, target, scraped, log_);
      });
}

namespace {

// The ledger is held while it is read, and not while it is replayed.
Result<api::WhatIfAnswer> answer_what_if(const WhatIfQuery& query,
                                         what_if::WhatIfProgress& progress, SharedLedger& ledger,
                                         const Config& config, const Catalog& catalog) {
  std::optional<WhatIfMonth> month;
  TRY(ledger.with([&](Store& store) -> Result<void> {
    month = TRY(load_what_if_month(query, config.policy, config.join_rules, store));
    return {};
  }));
  CHECK(month.has_value(), "the ledger was read");
  const what_if::WhatIf found =
      TRY(run_what_if(query, *month, config.policy, catalog, config.join_rules, &progress,
                      [&](Currency from, Currency to, Date day) -> Result<FoundRate> {
                        const std::string& file = config.currencies.rates_file;
                        if (file.empty()) {
                          return fail(ErrorCode::kConfig,
                                      fmt::format("there are no exchange rates to convert a list "
                                                  "price from {} into {}; set currencies.rates in "
                                                  "the configuration",
                                                  from.text(), to.text()));
                        }
                        const auto rates = TRY(load_exchange_rates(file));
                        return rates.rate_on(from, to, day, rate_search(config));
                      }));
  return api::WhatIfAnswer{.cluster = month->cluster.text(),
                           .last_import = month->last_import,
                           .tables = what_if_tables(query, *month, found)};
}

}  // namespace

Result<void> Daemon::start_server() {
  const ServeConfig& serve = config_.live.serve;
  const ServeRouteContext context{
      .engine = *engine_,
      .ledger = ledger_,
      .state_metrics = state_metrics_,
      .sources = sources_,
      .pool = pool_.get(),
      .admission = admission_.get(),
      .slurm_gate = slurm_gate_.get(),
      .clock = clock_,
      .route_counts =
          [this] { return http_ ? http_->counts() : std::vector<server::RouteCounts>(); },
      .connection_counts =
          [this] { return http_ ? http_->connection_counts() : server::ConnectionCounts(); },
      .budgets =
          [this] {
            return running_alerts_.load() != nullptr
                       ? alerts_->budgets()
                       : std::shared_ptr<const std::vector<BudgetStatus>>();
          },
      .month_forecast =
          [this] {
            return running_alerts_.load() != nullptr ? forecast_keeper_->month()
                                                     : std::shared_ptr<const MonthForecast>();
          },
      .alerts =
          [this] {
            const RunningAlerts* const running = running_alerts_.load();
            return running != nullptr ? running->now().alerts : std::vector<Alert>();
          },
      .advice_savings =
          [this] { return services_ ? services_->advice_cache->savings() : SavingsByTeam(); },
      .latencies = [this] { return latency_watch_.readings(clock_.now()); }};
  services_.emplace(api::Services{
      .config = config_,
      .catalog = inputs_.catalog,
      .clock = clock_,
      .ledger = [this](const auto& ask) { return shared_.with(ask); },
      .rollup = *rollup_,
      .accounts = *security_.accounts,
      .audit_log = *security_.audit_log,
      .oidc = security_.openid.get(),
      .live = [this] { return ledger_.fresh_view(kCycle); },
      .rates = exchange_rates_reader(config_),
      .version = std::string(kProgramVersion),
      .audit_files = audit_log_files(config_),
      .machine_clients = {.tokens = inputs_.tokens,
                          .trust_loopback = config_.live.serve.trust_loopback},
      .budget_book = std::make_shared<BudgetBook>(budget_book_path(config_)),
      .anomaly_book = std::make_shared<AnomalyBook>(anomaly_book_path(config_)),
      .annotation_book = std::make_shared<AnnotationBook>(annotation_book_path(config_)),
      .event_book = std::make_shared<EventBook>(event_book_path(config_)),
      .approval_book = approvals_,
      .cluster_objects = [this] { return cluster_listing_->current(); },
      .forecast_book = std::make_shared<ForecastBook>(forecast_book_path(config_)),
      .what_if_runs = std::make_shared<api::WhatIfRuns>(
          clock_,
          [this](const WhatIfQuery& query, what_if::WhatIfProgress& progress) {
            return answer_what_if(query, progress, shared_, config_, inputs_.catalog);
          },
          [this](const api::WhatIfRun& run, std::string_view why) {
            log_.error("what_if", {{"run", run.id},
                                   {"user", run.asked.user},
                                   {"scenario", run.asked.scenario},
                                   {"why", std::string(why)}});
          }),
      .alerts = [this]() -> RunningAlerts* { return running_alerts_.load(); },
      .limit_stops = [this] { return limits_->stops(); },
      .import_upload =
          [this](const api::FileUpload& upload) {
            return import_upload(upload, shared_, config_, clock_);
          },
      .allocate =
          [this](const std::string& month) {
            return allocate_on_request(month, shared_, config_, inputs_.catalog, clock_);
          }});
  audit_log_.emplace(
      [this](audit_log::Entry entry) { return append_entry(security_, std::move(entry), log_); });
  audit_log_->also_record([this](Instant now, bool all) -> Result<void> {
    TRY(forget_first_password(*security_.accounts, config_));
    return services_->failed_sign_ins->record_due(now, all, [this](audit_log::Entry entry) {
      return append_entry(security_, std::move(entry), log_);
    });
  });
  TRY(shared_.with([&](Store& store) {
    return audit_log_->find_unrecorded_imports(store, *security_.audit_log);
  }));
  ledger_.make_views_on_demand();
  ledger_.begin(*engine_, state_metrics_, sources_, rollup_.get(), &*audit_log_);
  const server::KnownHosts hosts = TRY(known_hosts(serve));
  http_ = TRY(server::Server::start(
      {.host = serve.host,
       .port = serve.port,
       .body_bytes_max = serve.body_bytes_max,
       .requests_max = serve.requests_max,
       .streams_per_user_max = serve.streams_per_user_max,
       .connections = {.connections_max = serve.connections_max,
                       .connections_per_address_max = serve.connections_per_address_max},
       .guard = api::guard(*services_, guard_limits(serve)),
       .headers = dashboard::kPageHeaders,
       .missing_page = dashboard::missing_page(),
       .cert_file = serve.tls_cert_file,
       .key_file = serve.tls_key_file,
       .trusted_proxies = trusted_proxies(serve),
       .is_known_host = [hosts](std::string_view host) { return hosts.contains(host); },
       .failed =
           [this](std::string_view path, std::string_view what) {
             log_.error("request", {{"path", std::string(path)}, {"why", std::string(what)}});
           }},
      all_routes(context, *services_, answering_)));
  const bool is_local =
      serve.host.starts_with("127.") || serve.host == "::1" || serve.host == "localhost";
  if (serve.tls_cert_file.empty() && !is_local) {
    log_.warn("plain_http", {{"address", serve.host},
                             {"why",
                              "passwords and tokens cross the network readable, unless a "
                              "proxy with TLS is all that reaches this address"},
                             {"remedy", "set serve.tls, or listen on 127.0.0.1 behind the proxy"}});
  }
  if (serve.token_file.empty() && !serve.trust_loopback) {
    log_.info("machine_token",
              {{"in", machine_token_path(config_)},
               {"for", "programs on this machine that send telemetry or read /metrics"}});
  }
  log_.info("serving", {{"address", fmt::format("{}:{}", serve.host, http_->port())},
                        {"ledger", ledger_name(config_)},
                        {"data", folder_}});
  return start_alerts();
}

namespace {

Result<void> scan_clusters(SharedLedger& ledger, const Config& config, const Interval& during,
                           const std::function<void(std::span<const Usage>)>& sink) {
  return ledger.with([&](Store& store) -> Result<void> {
    for (const ClusterConfig& cluster : config.clusters) {
      TRY(store.scan_usage(cluster.name, during, UsageDetail::kAll,
                           [&](std::span<const Usage> batch) {
                             sink(batch);
                             return true;
                           }));
    }
    return {};
  });
}

Result<void> scan_outcomes(SharedLedger& ledger, const Config& config, const Interval& during,
                           const std::function<void(std::span<const Outcome>)>& sink) {
  return ledger.with([&](Store& store) -> Result<void> {
    for (const ClusterConfig& cluster : config.clusters) {
      TRY(store.scan_outcomes(cluster.name, during, [&](std::span<const Outcome> batch) {
        sink(batch);
        return true;
      }));
    }
    return {};
  });
}

}  // namespace

Result<void> Daemon::start_alerts() {
  // A book that can't be read is told now rather than at each evaluation.
  std::ignore = TRY(services_->budget_book->budgets());
  std::ignore = TRY(services_->event_book->events());
  const KnownEventSource events = [this] { return services_->event_book->with(config_.events); };
  const SummarySource summarise = [this](const SummaryQuery& query) {
    const Interruption::Scope scope(answering_);
    const access::Principal everything;
    return api::ScopedQueries(*services_, everything).summarise(query);
  };
  forecast_keeper_ =
      std::make_unique<ForecastKeeper>(config_, summarise, events, *services_->forecast_book, log_);
  const auto purchases = std::make_shared<RecentPurchases>(config_.join_rules);
  const AlertSources sources{
      .summarise = summarise,
      .live = [this] { return ledger_.fresh_view(kCycle); },
      .postings =
          [this](const SummaryQuery& query, std::uint64_t at_most) {
            const Interruption::Scope scope(answering_);
            const access::Principal everything;
            return api::ScopedQueries(*services_, everything).postings(query, at_most);
          },
      // While the rollup is behind, the ledger answers, and its changes don't show in this version.
      .version = [this]() -> std::optional<std::uint64_t> {
        if (ledger_.rollup_trouble()) return std::nullopt;
        return services_->rollup.version();
      },
      .usage =
          [this](const Interval& during, const auto& sink) {
            const Interruption::Scope scope(answering_);
            return scan_clusters(shared_, config_, during, sink);
          },
      .live_usage =
          [this](Instant since) {
            std::vector<Usage> usages = engine_->readings();
            for (const ClusterConfig& cluster : config_.clusters) {
              std::ranges::move(engine_->recent(cluster.name, since), std::back_inserter(usages));
            }
            return usages;
          },
      .outcomes =
          [this](const Interval& during, const auto& sink) {
            const Interruption::Scope scope(answering_);
            return scan_outcomes(shared_, config_, during, sink);
          },
      .reconcile =
          [this, kept = std::make_shared<RecentReconciliation>()] {
            const Interruption::Scope scope(answering_);
            return kept->query(shared_, clock_.now());
          },
      .commitments =
          [this, purchases] {
            const Interruption::Scope scope(answering_);
            return purchases->commitments(shared_, clock_.now());
          },
      .spot =
          [this, purchases] {
            const Interruption::Scope scope(answering_);
            return purchases->spot(shared_, ledger_.signals().spot_nodes(), clock_.now());
          },
      .oom_kills = [this] { return ledger_.signals().kills(); },
      .latencies = [this](Instant now) { return latency_watch_.readings(now); },
      .keep_forecasts = [this](Date today) { forecast_keeper_->keep(today); },
      .kept_forecasts =
          [this](const std::string& by) { return services_->forecast_book->kept(by); },
      .budgets = [this] { return services_->budget_book->with(config_.budgets); },
      .events = events,
      .verdicts = [this] { return services_->anomaly_book->verdicts(); },
      .approvals = [this] { return approvals_->approvals(); },
      .approver_check = [this] { return api::approver_check(*services_); },
      .limit_stops = [this] { return limits_->stops(); },
      .approval_link = [this](const std::string& id,
                              const std::string& approver) -> Result<std::string> {
        const auto& terms = approvals_->terms();
        const auto approval = TRY(approvals_->find(id));
        TRY(api::check_link_account(*services_, approver, approval.request));
        const auto link = TRY(approvals_->link(
            approval, approver, clock_.now() + std::chrono::milliseconds(terms.link_ms)));
        return fmt::format("{}/approve/{}", terms.link_address, link);
      }};
  alerts_ =
      std::make_unique<AlertService>(config_, sources, clock_, log_, alert_state_path(config_));
  TRY(alerts_->start());
  running_alerts_ = alerts_.get();
  // Last: its thread uses services_, which ends before it where serve fails to start.
  limits_->start(summarise, [this] { return services_->budget_book->with(config_.budgets); },
                 {.told =
                      [this] {
                        const RunningAlerts* const running = running_alerts_.load();
                        return running == nullptr
                                   ? std::map<std::string, Instant>()
                                   : told_stop_notices(running->now(), config_.alerts);
                      },
                  .record =
                      [this](const AuditEvent& change) {
                        return append_entry(security_,
                                            {.actor = "serve",
                                             .action = change.action,
                                             .subject = change.subject,
                                             .before = change.before,
                                             .after = change.after},
                                            log_);
                      }});
  return {};
}

void Daemon::run_until_stopped() {
  {
    const PullThread pulls(
        config_, shared_, clock_, log_,
        [this](const AuditEvent& change) {
          return append_entry(security_,
                              {.actor = "serve",
                               .action = change.action,
                               .subject = change.subject,
                               .before = change.before,
                               .after = change.after},
                              log_);
        },
        cycling_);
    const ScheduledViews views(config_, *services_, log_, answering_);
    const LedgerThread thread(ledger_, *engine_, std::min(kCycle, flush_every(config_)), cycling_);
    notify_service_manager("READY=1");
    const int signal = signals_.wait();
    notify_service_manager("STOPPING=1");
    log_.info("stopping", {{"signal", std::int64_t{signal}}});
    ledger_.end_refresh();
    answering_.interrupt(kAnswersEndAfter);
    cycling_.interrupt(kCyclesEndAfter);
    services_->what_if_runs->interrupt();
    http_->stop();
    if (admission_) admission_->stop();
    if (slurm_gate_) slurm_gate_->stop();
    limits_->stop();
    if (alerts_) alerts_->stop();
    if (pool_) pool_->stop();
  }
  {
    Interruption last;
    const Interruption::Scope scope(last);
    last.interrupt(kLastCycleEndsAfter);
    ledger_.last_cycle();
  }
  services_->what_if_runs->stop();
  for (const auto& source : owned_sources_) source->stop();
  log_.info("stopped");
}

}  // namespace pennyweight
