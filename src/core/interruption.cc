#include "core/interruption.h"

#include <algorithm>
#include <utility>

namespace pennyweight {
namespace {

using Steady = std::chrono::steady_clock;

// A query that is just beginning forgets that it was interrupted, so it is told again.
constexpr std::chrono::milliseconds kTellAgain{20};

Interruption*& of_this_thread() {
  thread_local Interruption* interruption = nullptr;
  return interruption;
}

}  // namespace

Interruption::Scope::Scope(Interruption& interruption)
    : outer_(std::exchange(of_this_thread(), &interruption)) {}

Interruption::Scope::~Scope() { of_this_thread() = outer_; }

Interruption::~Interruption() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Interruption::interrupt(std::chrono::milliseconds after) {
  const std::lock_guard lock(mutex_);
  const auto begins_at = Steady::now() + after;
  begins_at_ = std::min(begins_at_.value_or(begins_at), begins_at);
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

bool Interruption::has_begun() const { return begins_at_ && Steady::now() >= *begins_at_; }

void Interruption::run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    if (!has_begun()) {
      const auto begins_at = *begins_at_;
      changed_.wait_until(lock, begins_at);
      continue;
    }
    for (const std::function<void()>* const end : under_way_) (*end)();
    changed_.wait_for(lock, kTellAgain);
  }
}

bool Interruption::is_here() {
  Interruption* const here = of_this_thread();
  if (here == nullptr) return false;
  const std::lock_guard lock(here->mutex_);
  return here->has_begun();
}

Error interrupted_error() {
  return {ErrorCode::kIo, "the program is stopping; ask again once it has started"};
}

Interruptible::Interruptible(std::function<void()> end)
    : interruption_(of_this_thread()), end_(std::move(end)) {
  if (interruption_ == nullptr) return;
  const std::lock_guard lock(interruption_->mutex_);
  interruption_->under_way_.push_back(&end_);
}

Interruptible::~Interruptible() {
  if (interruption_ == nullptr) return;
  const std::lock_guard lock(interruption_->mutex_);
  std::erase(interruption_->under_way_, &end_);
}

}  // namespace pennyweight
