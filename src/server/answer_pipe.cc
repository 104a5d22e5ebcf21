#include "server/answer_pipe.h"

#include <utility>

namespace pennyweight::server {

bool AnswerPipe::write(std::string_view piece) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() < kBytesMax || state_ != State::kOpen; });
    if (state_ != State::kOpen) return false;
    if (piece.empty()) return true;
    const bool was_empty = held_.empty();
    held_ += piece;
    if (!was_empty) return true;
  }
  wake_();
  return true;
}

void AnswerPipe::end(bool is_whole) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kOpen) state_ = is_whole ? State::kWhole : State::kCut;
  }
  wake_();
}

std::string AnswerPipe::take(State& state) {
  std::string taken;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
    taken = std::exchange(held_, {});
  }
  changed_.notify_one();
  return taken;
}

void AnswerPipe::cut() {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kCut;
    held_.clear();
  }
  changed_.notify_one();
}

}  // namespace pennyweight::server
