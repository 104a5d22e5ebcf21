// work: divides what is due, on as many machines as wanted.
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

#include "app/catalog_file.h"
#include "app/heartbeat.h"
#include "app/log.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "app/worker.h"
#include "core/decimal.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeaseMin{1'000}, kPollMin{100}, kSecondsMax{86'400'000};
// After an Error of the ledger it is left alone for a while, longer and longer.
constexpr milliseconds kBackOffFirst{1'000}, kBackOffMax{60'000};
// So often, one after the other, `--once` tries a ledger that answers with Errors.
constexpr int kOnceTries = 5;
// A ledger file is for one at a time: others get a turn between two items.
constexpr milliseconds kBreath{150};
// For how long a signal lets what is being divided come to its end, and what is being kept.
constexpr milliseconds kGraceOfDividing{3'000}, kGraceOfKeeping{30'000}, kGraceOfGivingBack{3'000};

struct WorkOptions {
  std::string name;
  bool once = false;
  std::string lease = "60";  // seconds
  std::string poll = "10";
  std::optional<unsigned> threads;
};

// "0.5": seconds.
Result<milliseconds> duration_of(const std::string& text, const char* option, milliseconds least) {
  constexpr Int128 kTicksOfMs = Decimal::kTicksPerUnit / 1000;
  const auto seconds = parse_decimal(text);
  const Int128 ms = seconds ? seconds->value.ticks() / kTicksOfMs : -1;
  if (ms < least.count() || ms > kSecondsMax.count()) {
    return wrong_usage(fmt::format("{}: write seconds, from {}.{:03} to {}", option,
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

// What a signal and the loop tell each other.
class Stop {
 public:
  enum class Phase { kIdle, kDividing, kKeeping, kOver };

  bool is_wanted() const { return wanted_; }
  void want() {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
    changed_.notify_all();
  }
  // False where it is to stop: then nothing more is kept.
  bool enter(Phase phase) {
    const std::lock_guard lock(mutex_);
    if (phase == Phase::kKeeping && given_up_) return false;
    phase_ = phase;
    changed_.notify_all();
    return true;
  }
  void sleep(milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return wanted_.load(); });
  }
  // Waits for the loop's end; false where it divides for longer than it may.
  bool wait_for_end() {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return phase_ == Phase::kOver; };
    changed_.wait_for(lock, kGraceOfDividing, is_over);
    if (phase_ == Phase::kKeeping) changed_.wait_for(lock, kGraceOfKeeping, is_over);
    if (is_over()) return true;
    given_up_ = true;
    return false;
  }

 private:
  std::atomic<bool> wanted_{false};
  std::mutex mutex_;  // of the following
  std::condition_variable changed_;
  Phase phase_ = Phase::kIdle;
  bool given_up_ = false;
};

// Waits for SIGTERM and SIGINT, which must be blocked in all threads. What is being divided when
// one comes is left where it would take longer than a few seconds: its rows are never seen, and the
// claim is given back.
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
          log.info("stopped", {{"left", std::string("what was being divided")}});
          std::fflush(nullptr);
          std::_Exit(static_cast<int>(ExitCode::kDone));
        }) {}
  ~Signals() {
    done_ = true;
    // It waits for the signal and takes it from there: nothing is ended by it.
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

// Steps until it is told to stop, or with --once until nothing is due.
Result<void> work(Worker& worker, bool once, milliseconds poll, const Config& config, Stop& stop,
                  Log& log) {
  const bool is_shared = is_on_clickhouse(config);
  std::unique_ptr<Store> store;
  milliseconds back_off = kBackOffFirst;
  int failures = 0;
  while (!stop.is_wanted()) {
    Result<Worker::Step> step = [&]() -> Result<Worker::Step> {
      if (!store) {
        auto opened = open_ledger(config);
        if (!opened) return std::unexpected(opened.error());
        store = *std::move(opened);
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
      case Worker::Step::kDivided:
      case Worker::Step::kPlanned:
        if (!is_shared) stop.sleep(kBreath);
        break;
      case Worker::Step::kWaits:
        if (once && worker.given_up() > 0) {
          return fail(
              ErrorCode::kStore,
              fmt::format("{} scopes could not be divided; the log says why", worker.given_up()));
        }
        stop.sleep(poll);
        break;
      case Worker::Step::kNothing:
        if (once) return {};
        stop.sleep(poll);
        break;
    }
  }
  return {};
}

Result<ExitCode> run(const WorkOptions& options, Context& context) {
  const auto lease = duration_of(options.lease, "--lease", kLeaseMin);
  if (!lease) return std::unexpected(lease.error());
  const auto poll = duration_of(options.poll, "--poll", kPollMin);
  if (!poll) return std::unexpected(poll.error());
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const unsigned wanted = options.threads.value_or(context.config.threads);
  const unsigned threads = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
  const std::string name = options.name.empty() ? default_name() : options.name;

  pthread_sigmask(SIG_BLOCK, &Signals::ending(), nullptr);
  Log log(context.clock);
  Stop stop;
  std::optional<Heartbeat> heartbeat;
  if (is_on_clickhouse(context.config)) heartbeat.emplace(context.config, context.clock, log);
  Worker worker(
      context.config, *catalog,
      {.name = name, .lease = *lease, .threads = threads, .once = options.once},
      {.holds =
           [&](const WorkClaim* claim) {
             stop.enter(claim == nullptr ? Stop::Phase::kIdle : Stop::Phase::kDividing);
             if (heartbeat) heartbeat->hold(claim);
           },
       .may_keep = [&]() -> Result<void> {
         if (stop.enter(Stop::Phase::kKeeping)) return {};
         return fail(ErrorCode::kStore, "it was told to stop");
       },
       .divided = [&](const AllocatedScope& done) { return tell_allocated(context, {&done, 1}); }},
      context.clock, log);
  log.info("working", {{"worker", name},
                       {"ledger", ledger_name(context.config)},
                       {"threads", std::uint64_t{threads}}});
  Result<void> done;
  {
    const Signals signals(stop, heartbeat ? &*heartbeat : nullptr, log);
    done = work(worker, options.once, *poll, context.config, stop, log);
    stop.enter(Stop::Phase::kOver);
  }
  if (!done) return std::unexpected(done.error());
  log.info("stopped");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_work(CLI::App& app) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* command =
      app.add_subcommand("work", "Divide what is due again, on as many machines as wanted");
  command->add_option("--worker", options->name, "Its name, nobody else's; else host:process");
  command->add_flag("--once", options->once, "End when nothing is due");
  command
      ->add_option("--lease", options->lease,
                   "Seconds of silence after which others take over what it works on")
      ->capture_default_str();
  command->add_option("--poll", options->poll, "Seconds between two looks for what is due")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: one for each core; it changes no figure")
      ->check(CLI::Range(0, 1024));
  command->footer(examples_of("work"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
