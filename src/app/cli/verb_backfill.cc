// backfill: imports telemetry of a past window from Prometheus or VictoriaMetrics.
//
// The samples go through an engine and a folder of their own (<data>/<hash of the request>). After
// a kill at any moment, the same command resumes where it stopped.
//
// It also reads margins before and after the window, so that counters and held values are known at
// its borders, but keeps only the rows of the window. Adjacent windows add up without gaps.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "app/audit_events/audit_events.h"
#include "app/cli/verb.h"
#include "app/import/backfill_import.h"
#include "app/import/backfill_state.h"
#include "core/hash.h"
#include "core/http/address.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "telemetry/collect/history_reader.h"
#include "telemetry/live/engine.h"
#include "telemetry/metric_names.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// A value holds for 2.5 intervals of 5 minutes at most.
constexpr milliseconds kMargin{15 * 60'000};
// Bounds the memory that importing a flush takes.
constexpr std::size_t kRowsOfFlush = 200'000;
constexpr milliseconds kAnswerPatience{300'000};

struct BackfillOptions {
  std::string url;
  std::string from;
  std::string to;
  std::string cluster;
  std::string api = "auto";
  std::string match;
  std::string token_file;
  std::string ca_file;
  std::string basic_user;
  std::string basic_password_file;
  std::string data;
  std::uint32_t step_hours = 2;
  bool again = false;
};

// The checked options.
struct BackfillRequest {
  std::string url;
  Interval window;
  Interval read;  // with its margins
  ClusterId cluster;
  milliseconds step;
};

Result<BackfillRequest> parse_request(const BackfillOptions& options, Instant now) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return usage_error("--url: write it as http://prometheus:9090");
  }
  if (options.url.find_first_of("?#") != std::string::npos) {
    return usage_error("--url: leave the query out; further matchers go into --match");
  }
  const auto from = parse_instant(options.from);
  if (!from) return usage_error("--from: " + from.error().message);
  const auto to = parse_instant(options.to);
  if (!to) return usage_error("--to: " + to.error().message);
  const auto window = Interval::of(*from, *to);
  if (!window) return usage_error("--from must be before --to");
  if (*to > now)
    return usage_error("--to is in the future; 'pennyweight serve' collects new telemetry");
  if (*from < kInstantMin + kMargin) return usage_error("--from is too long ago");
  std::string url = options.url;
  while (url.ends_with('/')) url.pop_back();
  return BackfillRequest{
      .url = std::move(url),
      .window = *window,
      .read = Interval(*from - kMargin, std::min(*to + kMargin, std::max(now, *to))),
      .cluster = ClusterId(options.cluster),
      .step = std::chrono::hours(options.step_hours)};
}

Result<std::string> create_folder(const BackfillOptions& options, const BackfillRequest& request,
                                  const Config& config) {
  namespace fs = std::filesystem;
  const std::string data = options.data.empty() ? config.store_path + ".backfill" : options.data;
  Fingerprint print;
  print.add(request.url).add(options.match).add(options.cluster);
  print.add(unix_ms(request.window.begin())).add(unix_ms(request.window.end()));
  const fs::path folder = fs::path(data) / to_text(print.hash()).substr(0, 16);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
  }
  return folder.string();
}

live::EngineOptions engine_options(const Config& config, const BackfillRequest& request,
                                   const std::string& folder) {
  const ServeConfig& serve = config.live.serve;
  return {.folder = folder,
          .stream = {.classification = {.cluster = request.cluster.empty() ? serve.cluster
                                                                           : request.cluster,
                                        .cluster_label = serve.cluster_label,
                                        .outcomes = config.live.outcomes,
                                        .host_usage = config.live.serve.host_usage},
                     .timing = {.resolution_ms = serve.resolution_ms},
                     .limits = {.keys = serve.series_max, .rows_per_flush = kRowsOfFlush}},
          .journal_bytes_max = serve.journal_bytes_max};
}

http::Settings settings_of(const BackfillOptions& options) {
  http::Settings settings;
  settings.bearer_token_file = options.token_file;
  settings.ca_file = options.ca_file;
  settings.basic_user = options.basic_user;
  settings.basic_password_file = options.basic_password_file;
  settings.timeout = kAnswerPatience;
  return settings;
}

// A backfill in progress.
class Backfill {
 public:
  Backfill(Context& context, const BackfillRequest& request, std::string folder,
           live::Engine& engine, BackfillState state)
      : context_(context),
        request_(request),
        folder_(std::move(folder)),
        engine_(engine),
        state_(state),
        name_(fmt::format("backfill {} {} {}", http::shown_address(request.url),
                          to_text(request.window), state.generation)),
        import_(context.config, context.clock,
                {.name = name_, .window = request.window, .generation = state.generation}) {}

  // Whether a part of the window has not been read yet.
  bool is_read() const { return state_.done >= request_.read.end(); }

  Result<void> read(collect::HistoryReader& history, collect::HistoryApi api) {
    const auto pieces =
        collect::plan_pieces(Interval(state_.done, request_.read.end()), request_.step);
    pieces_ = pieces.size();
    for (const Interval& piece : pieces) {
      const auto done = history.read(
          api, piece, [&](const Interval& part, collect::SeriesBuffer& buffer) -> Result<void> {
            TRY(take(buffer));
            state_.done = part.end();
            TRY(save_backfill_state(folder_, state_));
            return flush();
          });
      if (!done) return done;
      ++pieces_done_;
      tell(piece);
    }
    return {};
  }

  Result<void> finish() {
    // After a kill at this point the stream may be closed already, which does no harm.
    TRY(engine_.close_stream(name_, request_.read.end()));
    TRY(flush());
    TRY(import_.add_unreported_nodes());
    state_.finished = true;
    return save_backfill_state(folder_, state_);
  }

  // Records what has been imported so far, even if the backfill failed.
  Result<void> record_changes() const {
    return record_backfill(context_, http::shown_address(request_.url), request_.window,
                           import_.totals());
  }

  void summarise(const collect::HistoryCounts& request) const {
    const BackfillTotals& totals = import_.totals();
    std::string text = fmt::format(
        "{} series, {} samples, in {} (requests: {}, retries: {})\n"
        "{} rows of usage, {} of outcomes, {} GPUs and {} nodes are new in the ledger\n",
        series_.size(), samples_, counted(pieces_done_, "piece"), request.requests, request.retries,
        totals.usages, totals.outcomes, totals.gpus, totals.nodes);
    if (totals.usages_covered + totals.outcomes_covered > 0) {
      text += fmt::format(
          "{} rows were in the ledger already, all or in part; these parts were left out\n",
          totals.usages_covered + totals.outcomes_covered);
    }
    if (totals.conflicts > 0) {
      text += counted(totals.conflicts, "row") + " set aside; 'pennyweight doctor' shows them\n";
    }
    // Samples without effect, by reason.
    for (const auto& [name, count] : engine_.counters()) {
      if (count > 0 && is_left_out(name)) text += fmt::format("left out: {} ({})\n", count, name);
    }
    context_.console.print(text);
  }

 private:
  static bool is_left_out(std::string_view name) {
    constexpr std::string_view kNames[] = {
        "duplicates",      "other_source",      "blank_values",  "clamped_shares", "out_of_range",
        "counter_gaps",    "too_old",           "in_future",     "ignored",        "bad_labels",
        "late_components", "series_over_limit", "replay_refused"};
    return name.starts_with("unusable: ") || std::ranges::find(kNames, name) != std::end(kNames);
  }

  Result<void> take(const collect::SeriesBuffer& buffer) {
    for (const collect::RawSeries& series : buffer.series()) {
      Fingerprint print;
      for (const auto& [name, value] : series.labels) print.add(name).add(value);
      series_.insert(print.hash());
    }
    samples_ += buffer.samples();
    return collect::write_bodies(buffer, [&](const std::string& body) -> Result<void> {
      const live::IngestRequest delivery{.content_type = "application/x-protobuf",
                                         .content_encoding = "snappy",
                                         .body = body,
                                         .cluster = request_.cluster,
                                         .stream = name_};
      auto taken = engine_.ingest(delivery);
      if (!taken && taken.error().code == ErrorCode::kLimit) {  // the journal is full
        TRY(flush());
        taken = engine_.ingest(delivery);
      }
      return taken ? Result<void>{} : std::unexpected(taken.error());
    });
  }

  Result<void> flush() {
    while (true) {
      const auto flushed =
          engine_.flush([&](const live::FlushRows& rows) { return import_.import(rows); });
      if (!flushed) return std::unexpected(flushed.error());
      if (!flushed->more) return {};
    }
  }

  // Prints every tenth of the window; a week has 84 pieces.
  void tell(const Interval& piece) {
    const bool is_due = pieces_done_ == pieces_ || pieces_done_ * 10 / pieces_ != printed_tenths_;
    if (!is_due) return;
    printed_tenths_ = pieces_done_ * 10 / pieces_;
    context_.console.say(fmt::format("pennyweight: backfill: {} of {} pieces, until {}, {} samples",
                                     pieces_done_, pieces_, to_text(piece.end()), samples_));
  }

  Context& context_;
  const BackfillRequest& request_;
  std::string folder_;
  live::Engine& engine_;
  BackfillState state_;
  std::string name_;  // of the stream and the imports
  BackfillImport import_;
  std::set<Hash128> series_;
  std::uint64_t samples_ = 0;
  std::size_t pieces_ = 0;
  std::size_t pieces_done_ = 0;
  std::size_t printed_tenths_ = 0;
};

Result<collect::HistoryApi> detect_api(const BackfillOptions& options,
                                       collect::HistoryReader& history) {
  if (options.api == "prometheus") return collect::HistoryApi::kPrometheus;
  if (options.api == "victoriametrics") return collect::HistoryApi::kVictoriaMetrics;
  return history.detect();
}

Error no_answer(const Error& error) {
  return {error.code, error.message + "; is there a Prometheus or VictoriaMetrics? (--url)"};
}

Result<ExitCode> backfill_window(const BackfillOptions& options, Context& context) {
  const Config& config = context.config;
  const auto request = TRY(parse_request(options, context.clock.now()));
  const auto folder = TRY(create_folder(options, request, config));
  const live::EngineOptions with = engine_options(config, request, folder);
  auto engine = TRY(live::Engine::open(with, context.clock));

  const auto known = load_backfill_state(folder);
  if (!known) return std::unexpected(known.error());
  if (*known && (*known)->finished && !options.again) {
    context.console.print(fmt::format(
        "{} was backfilled from {} already, so nothing was done (--again reads it again, "
        "for what the ledger lacks)\n",
        to_text(request.window), http::shown_address(request.url)));
    return ExitCode::kDone;
  }
  BackfillState state;
  if (*known && !(*known)->finished) {
    state = **known;
    context.console.say("pennyweight: backfill: resuming at " + to_text(state.done));
  } else {
    const auto second =
        static_cast<std::uint64_t>(unix_ms(context.clock.now()) / 1000 - kGenerationEpochS);
    state = {.generation = std::max(second, *known ? (*known)->generation + 1 : 0),
             .done = request.read.begin()};
    TRY(save_backfill_state(folder, state));
  }

  http::Client client(settings_of(options));
  collect::HistoryReader history(
      client,
      {.url = request.url,
       .matchers = options.match,
       .metrics = telemetry::metric_names(with.stream.classification),
       .limits = {}},
      [](milliseconds pause) { std::this_thread::sleep_for(pause); },
      [&](const std::string& why) { context.console.warn(why); });
  Backfill backfill(context, request, folder, *engine, state);
  if (!backfill.is_read()) {
    const auto api = detect_api(options, history);
    if (!api) return std::unexpected(no_answer(api.error()));
    const auto metrics = history.keep_available_metrics(request.read);
    if (!metrics) return std::unexpected(no_answer(metrics.error()));
    if (metrics->empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} has no GPU metrics in {}; is it the right server and time?",
                              http::shown_address(request.url), to_text(request.window)));
    }
    context.console.say(fmt::format("pennyweight: backfill: {} metrics from {} ({})",
                                    metrics->size(), http::shown_address(request.url),
                                    collect::to_text(*api)));
    if (auto read = backfill.read(history, *api); !read) {
      const auto recorded = backfill.record_changes();
      return std::unexpected(recorded ? read.error() : recorded.error());
    }
  }
  const auto finished = backfill.finish();
  const auto recorded = backfill.record_changes();
  if (!finished) return std::unexpected(finished.error());
  if (!recorded) return std::unexpected(recorded.error());
  backfill.summarise(history.counts());
  return ExitCode::kDone;
}

Result<ExitCode> run(const BackfillOptions& options, Context& context) {
  const auto request = TRY(parse_request(options, context.clock.now()));
  return with_intent(context, "backfill", to_text(request.window),
                     JsonObjectBuilder().text("from", http::shown_address(request.url)).json(),
                     [&] { return backfill_window(options, context); });
}

}  // namespace

Verb declare_backfill(CLI::App& app) {
  const auto options = std::make_shared<BackfillOptions>();
  CLI::App* command = app.add_subcommand(
      "backfill", "Read telemetry of a past window from Prometheus or VictoriaMetrics");
  command
      ->add_option("--url", options->url, "The URL of the server, such as http://prometheus:9090")
      ->required();
  command
      ->add_option("--from", options->from, "The start of the window: 2026-03-01, or with a time")
      ->required();
  command->add_option("--to", options->to, "The end of the window, exclusive")->required();
  command->add_option("--cluster", options->cluster,
                      "The cluster of series without a cluster label; default: serve.cluster");
  command->add_option("--api", options->api, "auto, prometheus or victoriametrics")
      ->check(CLI::IsMember({"auto", "prometheus", "victoriametrics"}))
      ->capture_default_str();
  command->add_option("--match", options->match,
                      "Only series that match, in PromQL's syntax: cluster=\"prod\"");
  command->add_option("--token-file", options->token_file,
                      "A file with a bearer token for the server");
  command->add_option("--ca-file", options->ca_file, "The authorities for its certificate");
  command->add_option("--basic-user", options->basic_user,
                      "A user name for the server, with a password");
  command->add_option("--basic-password-file", options->basic_password_file,
                      "A file with the password");
  command->add_option("--step-hours", options->step_hours, "Hours per request")
      ->check(CLI::Range(1, 168))
      ->capture_default_str();
  command->add_option("--data", options->data,
                      "A folder for the progress; default: <ledger>.backfill");
  command->add_flag("--again", options->again, "Even if this window was backfilled before");
  command->footer(examples_footer("backfill"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
