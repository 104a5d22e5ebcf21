// Interruption: ends what some threads do, once a program stops and can't wait for it.
//
// Queries over a large ledger take minutes, and a program that is told to stop has seconds. What is
// interrupted fails with kIo, and its transaction can only be rolled back, as after a full disk; so
// it must bear any failure. DuckDB's queries can be interrupted (core/duckdb); those to ClickHouse
// have time-outs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/error.h"

namespace pennyweight {

class Interruption {
 public:
  Interruption() = default;
  // REQUIRES: no Scope of it is left.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // While it lives, `interruption` ends what this thread does. Scopes nest; the innermost counts.
  class Scope {
   public:
    explicit Scope(Interruption& interruption);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interruption* const outer_;
  };

  // After this time, what is interruptible in its scopes fails: what is under way, soon; the rest
  // before it begins. Does not wait. From any thread; a second call can only make it sooner.
  void interrupt(std::chrono::milliseconds after = std::chrono::milliseconds(0));
  // Whether this thread is interrupted.
  static bool is_here();

 private:
  friend class Interruptible;
  void run();
  // REQUIRES: mutex_ is held.
  bool has_begun() const;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<const std::function<void()>*> under_way_;
  std::optional<std::chrono::steady_clock::time_point> begins_at_;
  bool is_ending_ = false;
  std::thread thread_;
};

// What is interrupted fails with this.
Error interrupted_error();

// While it lives, this thread does what `end` ends. An interruption calls `end` from a thread of
// its own, again and again until it has ended; it must be quick.
class Interruptible {
 public:
  explicit Interruptible(std::function<void()> end);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Interruption* const interruption_;
  const std::function<void()> end_;
};

}  // namespace pennyweight
