// AnswerPipe: the pieces of a long answer on their way from the thread that makes them to the
// network thread. It holds a bounded number of bytes: a slow client slows its writer down, and its
// answer takes no more memory than a fast one's.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace pennyweight::server {

class AnswerPipe {
 public:
  enum class State { kOpen, kWhole, kCut };

  // `wake` tells the network thread that there is something to take, or that the answer has ended.
  explicit AnswerPipe(std::function<void()> wake) : wake_(std::move(wake)) {}

  // For the writer. Waits for room; false once the pipe is cut.
  bool write(std::string_view piece);
  void end(bool is_whole);

  // For the network thread. Takes everything that is there; `state` is kOpen while more may come.
  std::string take(State& state);
  // Lets the writer go: nobody takes anything any more.
  void cut();

  static constexpr std::size_t kBytesMax = 256u << 10;

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;  // guards the next three
  std::condition_variable changed_;
  std::string held_;
  State state_ = State::kOpen;
};

}  // namespace pennyweight::server
