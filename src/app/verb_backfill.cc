// backfill: telemetry of a past window, read from Prometheus or VictoriaMetrics into the ledger.
//
// The samples go through an engine of their own, in a folder of their own (<data>/<hash of what is
// asked>), as a lane of the past. Killed at any moment, the same command goes on where it was.
//
// A little before and after the window is read as well, so that counters and held values are known
// at its borders; of the rows only the window is kept. Windows side by side add up to the whole.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "app/backfill_import.h"
#include "app/backfill_state.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "collect/backfill.h"
#include "core/hash.h"
#include "http/address.h"
#include "live/engine.h"
#include "telemetry/metric_names.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// A value holds for 2.5 intervals of 5 minutes at most.
constexpr milliseconds kMargin{15 * 60'000};
// So that a flush is imported in moderate memory.
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

// What is asked, checked.
struct Asked {
  std::string url;
  Interval window;
  Interval read;  // with its margins
  ClusterId cluster;
  milliseconds step;
};

Result<Asked> asked_of(const BackfillOptions& options, Instant now) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return wrong_usage("--url: write it as http://prometheus:9090");
  }
  if (options.url.find_first_of("?#") != std::string::npos) {
    return wrong_usage("--url: without a query; further matchers go into --match");
  }
  const auto from = parse_instant(options.from);
  if (!from) return wrong_usage("--from: " + from.error().message);
  const auto to = parse_instant(options.to);
  if (!to) return wrong_usage("--to: " + to.error().message);
  const auto window = Interval::of(*from, *to);
  if (!window) return wrong_usage("--from must be before --to");
  if (*to > now) return wrong_usage("--to is in the future; what is to come 'serve' takes in");
  if (*from < kInstantMin + kMargin) return wrong_usage("--from is too long ago");
  std::string url = options.url;
  while (url.ends_with('/')) url.pop_back();
  return Asked{.url = std::move(url),
               .window = *window,
               .read = Interval(*from - kMargin, std::min(*to + kMargin, std::max(now, *to))),
               .cluster = ClusterId(options.cluster),
               .step = std::chrono::hours(options.step_hours)};
}

Result<std::string> folder_of(const BackfillOptions& options, const Asked& asked,
                              const Config& config) {
  namespace fs = std::filesystem;
  const std::string data = options.data.empty() ? config.store_path + ".backfill" : options.data;
  Fingerprint print;
  print.add(asked.url).add(options.match).add(options.cluster);
  print.add(unix_ms(asked.window.begin())).add(unix_ms(asked.window.end()));
  const fs::path folder = fs::path(data) / to_text(print.hash()).substr(0, 16);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  }
  return folder.string();
}

live::EngineOptions engine_options(const Config& config, const Asked& asked,
                                   const std::string& folder) {
  const ServeConfig& serve = config.live.serve;
  return {.folder = folder,
          .lane = {.meaning = {.cluster = asked.cluster.empty() ? serve.cluster : asked.cluster,
                               .cluster_label = serve.cluster_label,
                               .outcomes = config.live.outcomes},
                   .timing = {.resolution_ms = serve.resolution_ms},
                   .limits = {.keys = serve.series_max, .rows_of_flush = kRowsOfFlush}},
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

// One backfill under way.
class Backfill {
 public:
  Backfill(Context& context, const Asked& asked, std::string folder, live::Engine& engine,
           BackfillState state)
      : context_(context),
        asked_(asked),
        folder_(std::move(folder)),
        engine_(engine),
        state_(state),
        name_(fmt::format("backfill {} {} {}", http::shown_address(asked.url),
                          to_text(asked.window), state.generation)),
        import_(context.config, context.clock,
                {.name = name_, .window = asked.window, .generation = state.generation}) {}

  // Whether there is anything that is not read yet.
  bool is_read() const { return state_.done >= asked_.read.end(); }

  Result<void> read(collect::History& history, collect::HistoryApi api) {
    const auto pieces = collect::plan_pieces(Interval(state_.done, asked_.read.end()), asked_.step);
    pieces_ = pieces.size();
    for (const Interval& piece : pieces) {
      const auto done = history.read(
          api, piece, [&](const Interval& part, collect::SeriesPile& pile) -> Result<void> {
            if (auto taken = take(pile); !taken) return taken;
            state_.done = part.end();
            if (auto saved = save_backfill_state(folder_, state_); !saved) return saved;
            return flush();
          });
      if (!done) return done;
      ++pieces_done_;
      tell(piece);
    }
    return {};
  }

  Result<void> finish() {
    // The lane of a backfill that was killed here may be closed already; that is no harm.
    if (auto closed = engine_.close_lane(name_, asked_.read.end()); !closed) return closed;
    if (auto flushed = flush(); !flushed) return flushed;
    if (auto told = import_.tell_nodes(); !told) return told;
    state_.finished = true;
    return save_backfill_state(folder_, state_);
  }

  // Whatever has come of it so far.
  Result<void> tell_of_changes() const {
    return tell_backfilled(context_, http::shown_address(asked_.url), asked_.window,
                           import_.totals());
  }

  void summarise(const collect::HistoryCounts& asked) const {
    const BackfillTotals& totals = import_.totals();
    std::string text = fmt::format(
        "{} series, {} samples, in {} (requests: {}, retries: {})\n"
        "{} rows of usage, {} of outcomes, {} cards and {} nodes are new in the ledger\n",
        series_.size(), samples_,
        pieces_done_ == 1 ? "1 piece" : fmt::format("{} pieces", pieces_done_), asked.requests,
        asked.retries, totals.usages, totals.outcomes, totals.gpus, totals.nodes);
    if (totals.usages_known + totals.outcomes_known > 0) {
      text += fmt::format(
          "{} rows were known to the ledger, all or in part; what was known was left out\n",
          totals.usages_known + totals.outcomes_known);
    }
    if (totals.conflicts > 0) {
      text += fmt::format("{} rows were kept aside; 'pennyweight doctor' shows them\n",
                          totals.conflicts);
    }
    // Samples that came to nothing, by the reason.
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

  Result<void> take(const collect::SeriesPile& pile) {
    for (const collect::RawSeries& series : pile.series()) {
      Fingerprint print;
      for (const auto& [name, value] : series.labels) print.add(name).add(value);
      series_.insert(print.hash());
    }
    samples_ += pile.samples();
    return collect::write_bodies(pile, [&](const std::string& body) -> Result<void> {
      const live::Delivery delivery{.content_type = "application/x-protobuf",
                                    .content_encoding = "snappy",
                                    .body = body,
                                    .cluster = asked_.cluster,
                                    .lane = name_};
      auto taken = engine_.take(delivery);
      if (!taken && taken.error().code == ErrorCode::kLimit) {  // room in the journal
        if (auto flushed = flush(); !flushed) return flushed;
        taken = engine_.take(delivery);
      }
      return taken ? Result<void>{} : std::unexpected(taken.error());
    });
  }

  Result<void> flush() {
    while (true) {
      const auto flushed =
          engine_.flush([&](const live::Rows& rows) { return import_.import(rows); });
      if (!flushed) return std::unexpected(flushed.error());
      if (!flushed->more) return {};
    }
  }

  // Now and then; a week has 84 pieces.
  void tell(const Interval& piece) {
    const bool is_due = pieces_done_ == pieces_ || pieces_done_ * 10 / pieces_ != told_tenths_;
    if (!is_due) return;
    told_tenths_ = pieces_done_ * 10 / pieces_;
    context_.console.say(fmt::format("pennyweight: backfill: {} of {} pieces, until {}, {} samples",
                                     pieces_done_, pieces_, to_text(piece.end()), samples_));
  }

  Context& context_;
  const Asked& asked_;
  std::string folder_;
  live::Engine& engine_;
  BackfillState state_;
  std::string name_;  // of its lane and its imports
  BackfillImport import_;
  std::set<Hash128> series_;
  std::uint64_t samples_ = 0;
  std::size_t pieces_ = 0;
  std::size_t pieces_done_ = 0;
  std::size_t told_tenths_ = 0;
};

Result<collect::HistoryApi> api_of(const BackfillOptions& options, collect::History& history) {
  if (options.api == "prometheus") return collect::HistoryApi::kPrometheus;
  if (options.api == "victoriametrics") return collect::HistoryApi::kVictoriaMetrics;
  return history.detect();
}

Error no_answer(const Error& error) {
  return {error.code, error.message + "; is there a Prometheus or VictoriaMetrics? (--url)"};
}

Result<ExitCode> run(const BackfillOptions& options, Context& context) {
  const Config& config = context.config;
  const auto asked = asked_of(options, context.clock.now());
  if (!asked) return std::unexpected(asked.error());
  const auto folder = folder_of(options, *asked, config);
  if (!folder) return std::unexpected(folder.error());
  const live::EngineOptions with = engine_options(config, *asked, *folder);
  auto engine = live::Engine::open(with, context.clock);
  if (!engine) return std::unexpected(engine.error());

  const auto known = load_backfill_state(*folder);
  if (!known) return std::unexpected(known.error());
  if (*known && (*known)->finished && !options.again) {
    context.console.print(
        fmt::format("{} was backfilled from {} already; nothing was done (--again reads it again, "
                    "for what the ledger has not got)\n",
                    to_text(asked->window), http::shown_address(asked->url)));
    return ExitCode::kDone;
  }
  BackfillState state;
  if (*known && !(*known)->finished) {
    state = **known;
    context.console.say("pennyweight: backfill: going on from " + to_text(state.done));
  } else {
    const auto second =
        static_cast<std::uint64_t>(unix_ms(context.clock.now()) / 1000 - kGenerationEpochS);
    state = {.generation = std::max(second, *known ? (*known)->generation + 1 : 0),
             .done = asked->read.begin()};
    if (auto saved = save_backfill_state(*folder, state); !saved) {
      return std::unexpected(saved.error());
    }
  }

  http::Client client(settings_of(options));
  collect::History history(
      client,
      {.url = asked->url,
       .matchers = options.match,
       .metrics = telemetry::metric_names(with.lane.meaning),
       .limits = {}},
      [](milliseconds pause) { std::this_thread::sleep_for(pause); },
      [&](const std::string& why) { context.console.warn(why); });
  Backfill backfill(context, *asked, *folder, **engine, state);
  if (!backfill.is_read()) {
    const auto api = api_of(options, history);
    if (!api) return std::unexpected(no_answer(api.error()));
    const auto metrics = history.keep_known(asked->read);
    if (!metrics) return std::unexpected(no_answer(metrics.error()));
    if (metrics->empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} knows no metric of GPUs in {}; is it the right server and time?",
                              http::shown_address(asked->url), to_text(asked->window)));
    }
    context.console.say(fmt::format("pennyweight: backfill: {} metrics from {} ({})",
                                    metrics->size(), http::shown_address(asked->url),
                                    collect::to_text(*api)));
    if (auto read = backfill.read(history, *api); !read) {
      const auto told = backfill.tell_of_changes();
      return std::unexpected(told ? read.error() : told.error());
    }
  }
  const auto finished = backfill.finish();
  const auto told = backfill.tell_of_changes();
  if (!finished) return std::unexpected(finished.error());
  if (!told) return std::unexpected(told.error());
  backfill.summarise(history.counts());
  return ExitCode::kDone;
}

}  // namespace

Verb declare_backfill(CLI::App& app) {
  const auto options = std::make_shared<BackfillOptions>();
  CLI::App* command = app.add_subcommand(
      "backfill", "Read telemetry of a past window from Prometheus or VictoriaMetrics");
  command->add_option("--url", options->url, "Of the server, such as http://prometheus:9090")
      ->required();
  command->add_option("--from", options->from, "The window's begin: 2026-03-01, or with a time")
      ->required();
  command->add_option("--to", options->to, "Its end, which is not in it")->required();
  command->add_option("--cluster", options->cluster,
                      "Of series without a cluster label; else serve.cluster");
  command->add_option("--api", options->api, "auto, prometheus or victoriametrics")
      ->check(CLI::IsMember({"auto", "prometheus", "victoriametrics"}))
      ->capture_default_str();
  command->add_option("--match", options->match,
                      "Only series with these labels, as PromQL has them: cluster=\"prod\"");
  command->add_option("--token-file", options->token_file, "A bearer token for the server");
  command->add_option("--ca-file", options->ca_file, "Who signed its certificate");
  command->add_option("--basic-user", options->basic_user, "A name for it, with a password");
  command->add_option("--basic-password-file", options->basic_password_file, "The password");
  command->add_option("--step-hours", options->step_hours, "How much is asked for at once")
      ->check(CLI::Range(1, 168))
      ->capture_default_str();
  command->add_option("--data", options->data,
                      "Folder of what is under way; else <ledger>.backfill");
  command->add_flag("--again", options->again, "Also where this window was backfilled before");
  command->footer(examples_of("backfill"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
