// Weeks of two simulated clusters, drawn from a seed: pods and jobs of two seconds to five days,
// kills, stops and outages of either source at any time, midnights, a month's end, and a change to
// summer time; exporters that answer now and then, mostly while the API is away. An auditor who
// shares no code with `serve` knows what the API and the exporters ever said; of Slurm's
// jobs slurmdbd remembers everything, so there the truth is all that counts.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>

#include "app/daemon/simulated_days_testing.h"
#include "app/daemon/simulated_slurm_testing.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// What is known of a length of time: exact where both are the same.
struct Bounds {
  std::int64_t least = 0, most = 0;
};

constexpr seconds kScrapeEvery{60};
// A value holds for 2.5 intervals at most.
constexpr seconds kHoldMax{150};

// What a Kubernetes API, and telemetry while it was away, ever said about each pod.
class ApiAuditor {
 public:
  struct Known {
    bool is_seen = false, end_is_known = false, is_gone = false;
    Instant last_reading = {}, gone_by = {};
    // Of telemetry: certainly until, and at most until.
    Instant scraped_until = kInstantMin, maybe_until = kInstantMin;

    // What counts of a pod that is gone. Telemetry may be in the ledger some minutes later.
    Instant least_end(Instant now) const {
      if (!is_gone || now < gone_by + minutes(30)) return last_reading;
      return std::max(last_reading, std::min(gone_by, scraped_until));
    }
    Instant most_end() const {
      return is_gone ? std::max(last_reading, std::min(gone_by, maybe_until)) : last_reading;
    }
  };

  // Both outlive this. The cards of each pod, within its node.
  ApiAuditor(const std::vector<SimulatedPod>& pods, const std::vector<std::set<std::size_t>>& cards)
      : pods_(pods), cards_(cards), known_(pods.size()) {}

  // A new process, or a watch that has expired: the next answer is a list.
  void disconnect() { is_connected_ = false; }
  // A cycle at which the API answered. Everything since the last one is known to a watch.
  void hear(Instant now) {
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      const SimulatedPod& pod = pods_[i];
      Known& known = known_[i];
      if (known.end_is_known || known.is_gone || now < pod.begin) continue;
      const bool is_listed = now < pod.end + pod.kept;
      const bool is_witnessed = is_connected_ && heard_ < pod.end + pod.kept;
      if (is_listed || is_witnessed) {
        const Instant news_since = known.is_seen ? known.last_reading : pod.begin;
        if (news_since < std::chrono::floor<days>(now - minutes(10))) old_news_at_ = now;
        known.is_seen = true;
        known.end_is_known = pod.end <= now;
        known.last_reading = std::min(now, pod.end);
      } else if (known.is_seen) {
        known.is_gone = true;
        known.gone_by = now;
        if (known.most_end() > known.last_reading) old_news_at_ = now;
      }
    }
    heard_ = now;
    is_connected_ = true;
  }
  // A scrape that showed these pods.
  void scrape(const std::set<std::size_t>& pods, Instant now) {
    std::set<std::string> names;
    for (const std::size_t pod : pods) {
      known_[pod].scraped_until = now;
      names.insert(pods_[pod].name);
    }
    // A name is all that telemetry knows: a run that the API never saw is not told apart.
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (pods_[i].begin <= now && names.contains(pods_[i].name)) {
        known_[i].maybe_until = now + kHoldMax;
      }
    }
  }
  const Known& known(std::size_t pod) const { return known_[pod]; }
  // When something about a day that was over was last heard.
  Instant old_news_at() const { return old_news_at_; }

  // GPU-milliseconds that were said by `now`, by pod name, within [begin, end).
  std::map<std::string, Bounds> gpu_ms(Instant begin, Instant end, Instant now) const {
    std::map<std::string, Bounds> all;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (!known_[i].is_seen) continue;
      const Instant from = std::max(begin, pods_[i].begin);
      const auto until = [&](Instant at) {
        return std::max<std::int64_t>(0, (std::min(end, at) - from).count()) * pods_[i].gpus;
      };
      if (until(known_[i].most_end()) == 0) continue;
      Bounds& bounds = all[pods_[i].name];
      bounds.least += until(known_[i].least_end(now)) - maybe_shared(i, begin, end);
      bounds.most += until(known_[i].most_end());
    }
    return all;
  }

 private:
  // A pod whose end nobody saw counts up to the scrape that no longer shows it. The next pod on its
  // cards may share them until then.
  std::int64_t maybe_shared(std::size_t pod, Instant begin, Instant end) const {
    std::int64_t ms = 0;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (i == pod || pods_[i].node != pods_[pod].node || known_[i].maybe_until == kInstantMin ||
          !known_[i].is_gone) {
        continue;
      }
      const Instant from = std::max({known_[i].least_end(kInstantMax), pods_[pod].begin, begin});
      const Instant to = std::min({known_[i].most_end(), pods_[pod].end, end});
      if (to <= from) continue;
      for (const std::size_t card : cards_[i]) {
        if (cards_[pod].contains(card)) ms += (to - from).count();
      }
    }
    return ms;
  }

  const std::vector<SimulatedPod>& pods_;
  const std::vector<std::set<std::size_t>>& cards_;
  std::vector<Known> known_;
  bool is_connected_ = false;
  Instant heard_, old_news_at_;
};

struct WeekPlan {
  Instant begin, end;
  TimeZone zone;
  std::uint64_t seed;
  milliseconds step_max;
};

class SimulatedWeek : public SimulatedDays {
 protected:
  enum class What : std::uint8_t {
    kKill,
    kStop,
    kStart,
    kDown,
    kExpired,
    kUp,
    kSlurmDown,
    kSlurmUp,
    kExporterUp,
    kExporterDown
  };

  // From `low` to `high`, between any two powers of two as often.
  milliseconds log_uniform(milliseconds low, milliseconds high) {
    const auto doublings = std::bit_width(static_cast<std::uint64_t>(high / low));
    const milliseconds floor =
        low * (std::int64_t{1} << below(static_cast<std::uint64_t>(doublings)));
    const auto more = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(floor.count())));
    return std::min(high, floor + milliseconds(more));
  }
  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
  }

  // No node ever runs more than it has GPUs.
  void draw_pods(const WeekPlan& plan) {
    for (const std::string& node : nodes_) {
      std::array<std::pair<Instant, std::size_t>, kGpusOfANode> free;  // until when, and which card
      for (std::size_t card = 0; card < free.size(); ++card) {
        free[card] = {plan.begin - hours(20), card};
      }
      std::map<std::string, Instant> sets;  // by name, when the last pod ends
      for (int number = 0;; ++number) {
        const auto gpus = static_cast<std::uint32_t>(1 + below(below(3) == 0 ? kGpusOfANode : 2));
        std::ranges::shuffle(free, random_);
        Instant begin = std::max_element(free.begin(), free.begin() + gpus)->first;
        if (below(3) != 0) begin += log_uniform(seconds(1), hours(6));
        if (begin >= plan.end) break;
        const Instant end = begin + log_uniform(seconds(2), below(3) == 0 ? days(5) : hours(4));
        std::set<std::size_t>& cards = pod_cards_.emplace_back();
        for (std::uint32_t i = 0; i < gpus; ++i) {
          free[i].first = end;
          cards.insert(free[i].second);
        }
        // Pods of a set follow one another.
        const std::string of_set = node + "-set-" + std::to_string(below(3));
        Instant& set_is_free = sets.try_emplace(of_set, kInstantMin).first->second;
        const bool is_of_a_set = below(4) == 0 && set_is_free < begin;
        if (is_of_a_set) set_is_free = end;
        pods_.push_back(
            {.name = is_of_a_set ? of_set : node + "-pod-" + std::to_string(number),
             .gpus = gpus,
             .begin = begin,
             .end = end,
             .kept = below(2) == 0 ? milliseconds(0) : log_uniform(seconds(10), days(2)),
             .node = node});
      }
    }
  }

  void draw_jobs(const WeekPlan& plan) {
    std::array<Instant, kGpusOfANode> free;
    free.fill(plan.begin - hours(20));
    std::array<std::uint32_t, kGpusOfANode> cards = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int number = 0;; ++number) {
      const auto gpus = 1 + below(below(3) == 0 ? kGpusOfANode : 2);
      std::ranges::shuffle(cards, random_);
      SimulatedJob job{.id = 1001 + number, .begin = kInstantMin, .end = {}, .cards = {}};
      job.cards.assign(cards.begin(), cards.begin() + static_cast<std::ptrdiff_t>(gpus));
      std::ranges::sort(job.cards);
      for (const std::uint32_t card : job.cards) job.begin = std::max(job.begin, free[card]);
      if (below(3) != 0) job.begin += log_uniform(seconds(1), hours(6));
      job.begin = std::chrono::ceil<seconds>(job.begin);
      if (job.begin >= plan.end) break;
      job.end = std::chrono::ceil<seconds>(
          job.begin + log_uniform(seconds(2), below(3) == 0 ? days(5) : hours(4)));
      for (const std::uint32_t card : job.cards) free[card] = job.end;
      jobs_.push_back(std::move(job));
    }
  }
  LiveSource* start_other_source() override {
    slurm_ =
        std::make_unique<SimulatedSlurm>(jobs_, folder_ / "slurm", jobs_since_,
                                         ledger_->gpu_lookup(), slurm_state_, clock_, slurm_every_);
    slurm_->set_down(is_slurm_down_);
    return slurm_.get();
  }

  // Absences of the process and of the API, many of them around a midnight.
  std::multimap<Instant, What> draw_absences(const WeekPlan& plan) {
    std::multimap<Instant, What> events;
    const auto when = [&](Instant drawn) {
      if (below(2) != 0) return drawn;
      return std::chrono::floor<days>(drawn) + days(1) - minutes(20) +
             milliseconds(below(std::uint64_t{40} * 60'000));
    };
    Instant free = plan.begin;
    while (true) {
      const Instant away = when(free + log_uniform(minutes(5), hours(16)));
      if (away <= free) continue;
      const Instant back = away + log_uniform(seconds(1), hours(14));
      if (back >= plan.end) break;
      events.emplace(away, below(2) == 0 ? What::kKill : What::kStop);
      events.emplace(back, What::kStart);
      free = back;
    }
    // The exporters answer now and then, half of the times while the API is away.
    const auto add_scrapes = [&](Instant begin) {
      events.emplace(begin, What::kExporterUp);
      events.emplace(begin + log_uniform(minutes(2), minutes(6)), What::kExporterDown);
    };
    for (Instant at = plan.begin; at < plan.end; at += log_uniform(hours(4), hours(20))) {
      add_scrapes(at);
    }
    for (const bool is_slurm : {false, true}) {
      free = plan.begin;
      while (true) {
        const Instant away = when(free + log_uniform(minutes(5), hours(16)));
        if (away <= free) continue;
        const Instant back = away + log_uniform(seconds(1), hours(14));
        if (back >= plan.end) break;
        const What api_is_away = below(2) == 0 ? What::kDown : What::kExpired;
        events.emplace(away, is_slurm ? What::kSlurmDown : api_is_away);
        events.emplace(back, is_slurm ? What::kSlurmUp : What::kUp);
        if (!is_slurm && below(3) == 0) add_scrapes(away - minutes(1));
        free = back;
      }
    }
    return events;
  }

  void happen(What what) {
    switch (what) {
      case What::kKill:
        kill();
        return;
      case What::kStop:
        if (!is_down_) auditor_->hear(clock_.now());
        stop();
        return;
      case What::kStart:
        start();
        api_->set_down(is_down_);
        auditor_->disconnect();
        return;
      case What::kDown:
      case What::kExpired:
        is_down_ = true;
        if (what == What::kExpired) auditor_->disconnect();
        if (api_) api_->set_down(true, what == What::kExpired);
        return;
      case What::kSlurmDown:
      case What::kSlurmUp:
        is_slurm_down_ = what == What::kSlurmDown;
        if (ledger_) slurm_->set_down(is_slurm_down_);
        return;
      case What::kExporterUp:
      case What::kExporterDown:
        is_exporter_up_ = what == What::kExporterUp;
        return;
      case What::kUp:
        is_down_ = false;
        if (api_) api_->set_down(false);
        return;
    }
  }

  // Cards of the first node's pods, and of Slurm's node.
  void scrape_exporters() {
    std::set<std::size_t> shown;
    std::vector<std::string> names(kGpusOfANode);
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      const SimulatedPod& pod = pods_[i];
      if (pod.node != nodes_[0] || clock_.now() < pod.begin || pod.end <= clock_.now()) continue;
      for (const std::size_t card : pod_cards_[i]) names[card] = pod.name;
      shown.insert(i);
    }
    scrape_cards(names, nodes_[0]);
    scrape_cards(std::vector<std::string>(kGpusOfANode), "h1", kSimulatedSlurm);
    auditor_->scrape(shown, clock_.now());
    ++scrapes_;
  }

  void cycle() {
    if (!ledger_) return;
    if (is_exporter_up_) scrape_exporters();
    if (!is_down_) auditor_->hear(clock_.now());
    ledger_->cycle();
    if (!HasFailure()) check_jobs();
    if (is_down_ || HasFailure()) return;
    check_today();
    check_month();
  }

  void expect_costs(const std::map<std::string, Money>& actual,
                    const std::map<std::string, Bounds>& gpu_ms, const std::string& what) {
    constexpr Int128 kRounded = 100'000;
    for (const auto& [pod, bounds] : gpu_ms) {
      const auto found = actual.find(pod);
      const Money cost = found == actual.end() ? Money::zero(kEur) : found->second;
      const Money least = price(1, milliseconds(bounds.least));
      const Money most = price(1, milliseconds(bounds.most));
      EXPECT_TRUE(least.ticks() - kRounded <= cost.ticks() &&
                  cost.ticks() <= most.ticks() + kRounded)
          << what << ", " << pod << ": " << to_text(cost.amount()) << " and not "
          << to_text(least.amount())
          << (bounds.least == bounds.most ? "" : " to " + to_text(most.amount()));
      bounds.least == bounds.most ? ++exact_checks_ : ++bounded_checks_;
    }
    for (const auto& [pod, cost] : actual) {
      EXPECT_TRUE(pod.empty() || gpu_ms.contains(pod) || cost.ticks() == 0)
          << what << ", " << pod << ": " << to_text(cost.amount()) << " and not 0";
    }
  }

  // Truth, once Slurm has answered: sacct remembers whatever ran while nobody watched.
  std::map<std::string, Bounds> job_gpu_ms(Instant begin, Instant end) {
    std::map<std::string, Bounds> all;
    for (const SimulatedJob& job : jobs_) {
      const Instant from = std::max(begin, job.begin), to = std::min(end, job.end);
      if (from < to) {
        const auto ms = (to - from).count() * static_cast<std::int64_t>(job.cards.size());
        // The end of a job reaches slurmdbd a little later.
        const bool is_certain = clock_.now() < job.end || clock_.now() - job.end > minutes(2);
        all[std::to_string(job.id)] = {.least = is_certain ? ms : 0, .most = ms};
      }
    }
    return all;
  }

  // The same of the jobs, where Slurm has just answered.
  void check_jobs() {
    const auto view = ledger_->view();
    const auto cluster = view->clusters.find(kSimulatedSlurm);
    if (cluster == view->clusters.end() || !cluster->second.today) return;
    const Interval& today = cluster->second.today->window;
    if (today.end() != clock_.now() || slurm_->answered_at() != clock_.now()) return;
    std::map<std::string, Money> costs;
    for (const LiveShare& share : cluster->second.today->shares) {
      costs.emplace(share.workload.text(), *share.cost);
    }
    expect_costs(costs, job_gpu_ms(today.begin(), today.end()), "jobs at " + to_text(today.end()));
    ++jobs_checked_;
    if (!slurm_->answers_since() || clock_.now() - *slurm_->answers_since() < hours(1)) return;
    if (cluster->second.earlier) {
      for (const auto& [workload, earlier] : *cluster->second.earlier) {
        const auto [entry, is_new] = costs.try_emplace(workload.text(), earlier.cost);
        if (!is_new) entry->second += earlier.cost;
      }
    }
    const Instant month = start_of_month(today.begin(), config_.policy.time_zone);
    expect_costs(costs, job_gpu_ms(std::max(month, jobs_since_), today.end()),
                 "jobs this month at " + to_text(today.end()));
    ++job_months_checked_;
  }

  // Today as of now, if this cycle has allocated it.
  void check_today() {
    const auto view = ledger_->view();
    const auto cluster = view->clusters.find(kSimulated);
    if (cluster == view->clusters.end() || !cluster->second.today) return;
    const LiveCosts& today = *cluster->second.today;
    if (today.window.end() != clock_.now()) return;
    std::map<std::string, Money> costs;
    for (const LiveShare& share : today.shares) {
      const auto [entry, is_new] = costs.try_emplace(name_of(share.workload.text()), *share.cost);
      if (!is_new) entry->second += *share.cost;
    }
    expect_costs(costs, auditor_->gpu_ms(today.window.begin(), today.window.end(), clock_.now()),
                 "today at " + to_text(clock_.now()));
    ++todays_checked_;
  }

  // This month as of now, once what was heard late is settled.
  void check_month() {
    const auto view = ledger_->view();
    const auto cluster = view->clusters.find(kSimulated);
    if (cluster == view->clusters.end() || !cluster->second.today) return;
    const Interval& today = cluster->second.today->window;
    if (today.end() != clock_.now() || clock_.now() - auditor_->old_news_at() < hours(1)) return;
    const Instant month = start_of_month(today.begin(), config_.policy.time_zone);
    expect_costs(shown_this_month(), auditor_->gpu_ms(month, today.end(), clock_.now()),
                 "this month at " + to_text(clock_.now()));
    ++months_checked_;
  }

  void restart_all() {
    TearDown();
    SetUp();
    pods_.clear();
    jobs_.clear();
    slurm_state_.clear();
    is_down_ = is_slurm_down_ = false;
    is_exporter_up_ = false;
    pod_cards_.clear();
    todays_checked_ = months_checked_ = jobs_checked_ = job_months_checked_ = 0;
    exact_checks_ = bounded_checks_ = scrapes_ = 0;
  }

  void run_week(const WeekPlan& plan) {
    random_.seed(plan.seed);
    config_.policy.time_zone = plan.zone;
    clock_ = SimulatedClock(plan.begin);
    nodes_ = {"n1", "n2"};
    draw_pods(plan);
    draw_jobs(plan);
    jobs_since_ = plan.begin - hours(24);
    slurm_every_ = plan.step_max / 2;
    engine_folder_ = (folder_ / "engine").string();
    auditor_.emplace(pods_, pod_cards_);
    std::multimap<Instant, What> events = draw_absences(plan);
    start();
    milliseconds step = plan.step_max / 10;
    while (clock_.now() < plan.end && !HasFailure()) {
      if (below(20) == 0) step = log_uniform(plan.step_max / 240, plan.step_max);
      Instant next = std::min(clock_.now() + step, plan.end);
      const Instant midnight = start_of_day(clock_.now(), plan.zone);
      for (const Instant after : std::initializer_list<Instant>{
               midnight + days(1) + seconds(1), midnight + hours(23) + seconds(1),
               std::chrono::floor<days>(clock_.now()) + days(1) + seconds(1)}) {
        if (clock_.now() < after) next = std::min(next, after);
      }
      if (!events.empty()) next = std::min(next, events.begin()->first);
      if (is_exporter_up_ && ledger_) next = std::min(next, clock_.now() + kScrapeEvery);
      clock_.advance(next - clock_.now());
      while (!events.empty() && events.begin()->first <= clock_.now()) {
        happen(events.begin()->second);
        events.erase(events.begin());
      }
      cycle();
    }
    // What was heard late is settled.
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      clock_.advance(minutes(5));
      cycle();
    }
    if (HasFailure()) return;
    check_ledger(plan);
    check_unknown_ends();
    std::printf(
        "seed %llu: %zu pods, %zu jobs, %d todays, %d months, jobs: %d todays, %d months, "
        "%zu ends unknown, %d scrapes; costs: %d exact, %d within bounds\n",
        static_cast<unsigned long long>(plan.seed), pods_.size(), jobs_.size(), todays_checked_,
        months_checked_, jobs_checked_, job_months_checked_, set_aside().size(), scrapes_,
        exact_checks_, bounded_checks_);
  }

  // Each pod's each day, and the money as a whole.
  void check_ledger(const WeekPlan& plan) {
    const Instant settled_until = std::chrono::floor<days>(clock_.now());
    const SummaryQuery query{.bucket = TimeBucket::kDay, .group_by = {"cluster", "workload"}};
    std::map<Instant, std::map<std::string, Money>> by_day;
    Money all = Money::zero(kEur);
    for (const SummaryRow& row : in_ledger([&](Store& store) { return store.summarise(query); })) {
      by_day[*row.bucket].emplace(name_of(row.keys[1]), row.costs.effective);
      if (row.keys[0] == kSimulated.text()) all += row.costs.effective;
    }
    Instant day = start_of_day(at("2026-03-01T12:00:00Z"), plan.zone);
    const Instant first = at("2026-03-01T00:00:00Z");
    while (day < settled_until) {
      const Instant next = start_of_day(day + hours(30), plan.zone);
      const auto date =
          std::chrono::floor<days>(*parse_instant(local_date(day + hours(2), plan.zone)));
      const Instant from = std::max(day, first), to = std::min(next, settled_until);
      auto gpu_ms = auditor_->gpu_ms(from, to, clock_.now());
      gpu_ms.merge(job_gpu_ms(from, to));
      expect_costs(by_day[date], gpu_ms, "the ledger's " + to_text(Instant(date)).substr(0, 10));
      day = next;
    }
    EXPECT_EQ(to_text(all.amount()),
              to_text(price(kGpusOfANode * static_cast<std::uint32_t>(nodes_.size()),
                            settled_until - first)
                          .amount()));
  }

  // What no source saw is listed with its money: once for each pod, and not less than is missing.
  void check_unknown_ends() {
    std::vector<RejectedRow> rows = set_aside();
    std::erase_if(rows, [](const RejectedRow& row) {
      return !row.reason.contains(" of cluster " + kSimulated.text() + " ");
    });
    std::size_t expected = 0;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      const ApiAuditor::Known& known = auditor_->known(i);
      if (!known.is_gone || known.gone_by <= known.last_reading) continue;
      constexpr std::string_view kLastSeen = " was last seen at ";
      const auto last_seen = [&](const RejectedRow& one) -> std::optional<Instant> {
        const std::size_t begin = one.reason.find(kLastSeen);
        if (!one.reason.starts_with("team/" + pods_[i].name + " ") || begin == std::string::npos) {
          return {};
        }
        const std::size_t from = begin + kLastSeen.size();
        const auto seen = parse_instant(one.reason.substr(from, one.reason.find(' ', from) - from));
        return seen ? std::optional(*seen) : std::nullopt;
      };
      const Instant least = known.least_end(kInstantMax), most = known.most_end();
      const auto row = std::ranges::find_if(rows, [&](const RejectedRow& one) {
        const auto seen = last_seen(one);
        return seen && least <= *seen && *seen <= most;
      });
      if (row == rows.end()) {
        EXPECT_EQ(most, known.gone_by)
            << pods_[i].name << ", last seen at " << to_text(least) << ", is not listed";
        continue;
      }
      ++expected;
      const std::string_view kAtMost = "at most ";
      const std::size_t begin = row->reason.find(kAtMost);
      ASSERT_NE(begin, std::string::npos) << row->reason;
      const auto amount = parse_exact_decimal(row->reason.substr(
          begin + kAtMost.size(),
          row->reason.find(' ', begin + kAtMost.size()) - begin - kAtMost.size()));
      ASSERT_TRUE(amount) << row->reason;
      const Money missing = price(
          pods_[i].gpus,
          std::max(milliseconds(0), std::min(pods_[i].end, known.gone_by) - *last_seen(*row)));
      EXPECT_GE(amount->ticks() + 100'000, missing.ticks()) << row->reason;
    }
    std::string all;
    for (const RejectedRow& row : rows) all += row.reason + ": " + row.text + "\n";
    EXPECT_EQ(rows.size(), expected) << all;
  }

  void TearDown() override {
    slurm_.reset();
    SimulatedDays::TearDown();
  }

  std::mt19937_64 random_;
  std::vector<SimulatedJob> jobs_;
  Instant jobs_since_;
  milliseconds slurm_every_{0};
  std::string slurm_state_;
  std::unique_ptr<SimulatedSlurm> slurm_;
  bool is_slurm_down_ = false;
  std::optional<ApiAuditor> auditor_;
  bool is_down_ = false, is_exporter_up_ = false;
  std::vector<std::set<std::size_t>> pod_cards_;
  int exact_checks_ = 0, bounded_checks_ = 0, scrapes_ = 0;
  int todays_checked_ = 0, months_checked_ = 0, jobs_checked_ = 0, job_months_checked_ = 0;
};

TimeZone zone_of(std::uint64_t seed) {
  return seed % 2 == 0 ? TimeZone::utc() : *TimeZone::parse("Europe/Berlin");
}

std::uint64_t number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

// PENNYWEIGHT_WEEKS=20 PENNYWEIGHT_FIRST_WEEK=100 runs that many whole weeks, in smaller steps,
// from that seed on. Otherwise it is four days in large ones.
TEST_F(SimulatedWeek, LiveIsWhatTheLedgerSaysAndBothAreTheTruth) {
  const std::uint64_t weeks = number_of("PENNYWEIGHT_WEEKS");
  const std::uint64_t first = std::max<std::uint64_t>(1, number_of("PENNYWEIGHT_FIRST_WEEK"));
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(1, weeks) && !HasFailure(); ++i) {
    SCOPED_TRACE("PENNYWEIGHT_WEEKS=1 PENNYWEIGHT_FIRST_WEEK=" + std::to_string(first + i));
    if (i > 0) restart_all();
    run_week({.begin = weeks > 0 ? at("2026-03-26T20:00:00Z") : at("2026-03-28T20:00:00Z"),
              .end = weeks > 0 ? at("2026-04-02T20:00:00Z") : at("2026-04-01T20:00:00Z"),
              .zone = zone_of(first + i),
              .seed = first + i,
              .step_max = weeks == 0 ? minutes(120) : minutes((first + i) % 4 == 0 ? 20 : 60)});
  }
}

}  // namespace
}  // namespace pennyweight
