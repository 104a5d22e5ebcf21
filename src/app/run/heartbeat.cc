#include "app/run/heartbeat.h"

#include <utility>

#include "app/context/context.h"

namespace pennyweight {

Heartbeat::Heartbeat(const Config& config, Clock& clock, Log& log)
    : config_(config), clock_(clock), log_(log), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Heartbeat::hold(const WorkClaim* claim) {
  {
    const std::lock_guard lock(mutex_);
    held_ = claim == nullptr ? std::nullopt : std::optional(*claim);
  }
  changed_.notify_all();
}

void Heartbeat::give_back(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  if (!held_) return;
  giving_back_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, at_most, [&] { return !giving_back_; });
}

void Heartbeat::sign(const WorkClaim& claim, bool over) {
  if (!store_) {
    auto opened = open_ledger(config_);
    if (!opened) return log_.warn("heartbeat", {{"why", opened.error().message}});
    store_ = *std::move(opened);
  }
  const auto done =
      over ? store_->release_claim(claim, clock_.now()) : store_->renew_claim(claim, clock_.now());
  if (done) return;
  log_.warn("heartbeat", {{"claim", claim.number}, {"why", done.error().message}});
  store_.reset();
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!held_) {
      changed_.wait(lock, [&] { return stopping_ || held_; });
      continue;
    }
    const WorkClaim claim = *held_;
    const auto is_news = [&] {
      return stopping_ || giving_back_ || !held_ || held_->number != claim.number;
    };
    const bool news = changed_.wait_for(lock, claim.lease / 3, is_news);
    if (news && !giving_back_) continue;
    const bool over = giving_back_;
    lock.unlock();
    sign(claim, over);
    lock.lock();
    if (!over) continue;
    giving_back_ = false;
    held_.reset();
    changed_.notify_all();
  }
}

}  // namespace pennyweight
