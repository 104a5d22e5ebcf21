// work: runs a worker that allocates what is due; any number may run on any machines.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/audit_events/audit_events.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/log.h"
#include "app/run/heartbeat.h"
#include "app/run/worker.h"
#include "core/decimal.h"
#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeaseMin{1'000}, kPollMin{100}, kSecondsMax{86'400'000};
// The pause after an error of the ledger; it grows with each further error.
constexpr milliseconds kBackOffFirst{1'000}, kBackOffMax{60'000};
// `--once` gives up after this many errors in a row.
constexpr int kOnceTries = 5;
// One program at a time can open a ledger file: others get their turn between two items.
constexpr milliseconds kBreath{150};
// How long a signal waits for the end of an allocation, and of saving its result.
constexpr milliseconds kGraceOfDividing{3'000}, kGraceOfKeeping{30'000}, kGraceOfGivingBack{3'000};

struct WorkOptions {
  std::string name;
  bool once = false;
  std::string lease = "60";  // seconds
  std::string poll = "10";
  std::optional<unsigned> threads;
};

// "0.5": seconds.
Result<milliseconds> parse_duration_option(const std::string& text, const char* option,
                                           milliseconds least) {
  constexpr Int128 kTicksOfMs = Decimal::kTicksPerUnit / 1000;
  const auto seconds = parse_decimal(text);
  const Int128 ms = seconds ? seconds->value.ticks() / kTicksOfMs : -1;
  if (ms < least.count() || ms > kSecondsMax.count()) {
    return usage_error(fmt::format("{}: write seconds, from {}.{:03} to {}", option,
                                   least.count() / 1000, least.count() % 1000,
                                   kSecondsMax.count() / 1000));
  }
  return milliseconds(static_cast<std::int64_t>(ms));
}

std::string default_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("{}:{}", host[0] == '\0' ? "worker" : host.data(), ::getpid());
}

// Coordinates a stop signal with the loop.
class Stop {
 public:
  enum class Phase { kIdle, kAllocating, kSaving, kOver };

  bool is_wanted() const { return wanted_; }
  void want() {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
    changed_.notify_all();
  }
  // False if the worker has to stop; then nothing more is saved.
  bool enter(Phase phase) {
    const std::lock_guard lock(mutex_);
    if (phase == Phase::kSaving && given_up_) return false;
    phase_ = phase;
    changed_.notify_all();
    return true;
  }
  void sleep(milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return wanted_.load(); });
  }
  // Waits for the end of the loop; false if its allocation takes too long.
  bool wait_for_end() {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return phase_ == Phase::kOver; };
    changed_.wait_for(lock, kGraceOfDividing, is_over);
    if (phase_ == Phase::kSaving) changed_.wait_for(lock, kGraceOfKeeping, is_over);
    if (is_over()) return true;
    given_up_ = true;
    return false;
  }

 private:
  std::atomic<bool> wanted_{false};
  std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  Phase phase_ = Phase::kIdle;
  bool given_up_ = false;
};

// Waits for SIGTERM and SIGINT. REQUIRES: they are blocked in all threads. An allocation that would
// take longer than a few seconds is abandoned: its rows never become visible, and the claim is
// released.
class Signals {
 public:
  Signals(Stop& stop, Heartbeat* heartbeat, Log& log)
      : thread_([this, &stop, heartbeat, &log] {
          int signal = 0;
          sigwait(&ending(), &signal);
          if (done_) return;
          log.info("stopping", {{"signal", std::int64_t{signal}}});
          stop.want();
          if (stop.wait_for_end()) return;
          if (heartbeat != nullptr) heartbeat->give_back(kGraceOfGivingBack);
          log.info("stopped", {{"left", std::string("the allocation under way")}});
          std::fflush(nullptr);
          std::_Exit(static_cast<int>(ExitCode::kDone));
        }) {}
  ~Signals() {
    done_ = true;
    // The thread waits for the signal and consumes it, so it does not end the process.
    // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  static const sigset_t& ending() {
    static const sigset_t kSet = [] {
      sigset_t set{};
      sigemptyset(&set);
      sigaddset(&set, SIGTERM);
      sigaddset(&set, SIGINT);
      return set;
    }();
    return kSet;
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Works until a signal stops it or, with --once, until nothing is due.
Result<void> work(Worker& worker, bool once, milliseconds poll, const Config& config, Stop& stop,
                  Log& log) {
  const bool is_shared = is_on_clickhouse(config);
  std::unique_ptr<Store> store;
  milliseconds back_off = kBackOffFirst;
  int failures = 0;
  while (!stop.is_wanted()) {
    Result<Worker::Step> step = [&]() -> Result<Worker::Step> {
      if (!store) {
        auto opened = TRY(open_ledger(config));
        store = std::move(opened);
      }
      return worker.step(*store);
    }();
    if (!is_shared || !step) store.reset();
    if (!step) {
      if (step.error().code == ErrorCode::kConfig) return std::unexpected(step.error());
      if (once && ++failures >= kOnceTries) return std::unexpected(step.error());
      log.warn("ledger",
               {{"why", step.error().message}, {"again_in_ms", std::int64_t{back_off.count()}}});
      stop.sleep(back_off);
      back_off = std::min(kBackOffMax, back_off * 2);
      continue;
    }
    back_off = kBackOffFirst;
    failures = 0;
    switch (*step) {
      case Worker::Step::kAllocated:
      case Worker::Step::kPlanned:
        if (!is_shared) stop.sleep(kBreath);
        break;
      case Worker::Step::kWaiting:
        if (once && worker.given_up() > 0) {
          return fail(ErrorCode::kStore, counted(worker.given_up(), "scope") +
                                             " could not be allocated; the log says why");
        }
        stop.sleep(poll);
        break;
      case Worker::Step::kNothingDue:
        if (once) return {};
        stop.sleep(poll);
        break;
    }
  }
  return {};
}

Result<ExitCode> run(const WorkOptions& options, Context& context) {
  const auto lease = TRY(parse_duration_option(options.lease, "--lease", kLeaseMin));
  const auto poll = TRY(parse_duration_option(options.poll, "--poll", kPollMin));
  const auto catalog = TRY(load_catalog(context.config));
  const unsigned threads = resolve_threads(options.threads, context.config);
  const std::string name = options.name.empty() ? default_name() : options.name;

  pthread_sigmask(SIG_BLOCK, &Signals::ending(), nullptr);
  Log log(context.clock);
  Stop stop;
  std::optional<Heartbeat> heartbeat;
  if (is_on_clickhouse(context.config)) heartbeat.emplace(context.config, context.clock, log);
  Worker worker(
      context.config, catalog,
      {.name = name, .lease = lease, .threads = threads, .once = options.once},
      {.on_claim =
           [&](const WorkClaim* claim) {
             stop.enter(claim == nullptr ? Stop::Phase::kIdle : Stop::Phase::kAllocating);
             if (heartbeat) heartbeat->hold(claim);
           },
       .before_commit = [&]() -> Result<void> {
         if (stop.enter(Stop::Phase::kSaving)) return {};
         return fail(ErrorCode::kStore, "the worker was asked to stop");
       },
       .on_run =
           [&](const AllocatedScope& done) { return record_allocation(context, {&done, 1}); }},
      context.clock, log);
  log.info("working", {{"worker", name},
                       {"ledger", ledger_name(context.config)},
                       {"threads", std::uint64_t{threads}}});
  Result<void> done;
  {
    const Signals signals(stop, heartbeat ? &*heartbeat : nullptr, log);
    done = work(worker, options.once, poll, context.config, stop, log);
    stop.enter(Stop::Phase::kOver);
  }
  if (!done) return std::unexpected(done.error());
  log.info("stopped");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_work(CLI::App& app) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* command = app.add_subcommand(
      "work", "Run a worker that allocates what is due; any number may run on any machines");
  command->add_option("--worker", options->name, "The worker's unique name; default: host:process");
  command->add_flag("--once", options->once, "Stop when nothing is due");
  command
      ->add_option("--lease", options->lease,
                   "Seconds without a sign of life after which other workers take over")
      ->capture_default_str();
  command->add_option("--poll", options->poll, "Seconds between checks for what is due")
      ->capture_default_str();
  add_threads_option(*command, options->threads);
  command->footer(examples_footer("work"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
