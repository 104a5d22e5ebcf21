// Fiber: blocking code that a scheduler runs step by step. The simulation of CommitLog makes every
// append, read and sleep a step. Everything runs on one thread, so the same choices give the same
// run. For tests only.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define PENNYWEIGHT_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENNYWEIGHT_FIBER_ASAN
#endif
#endif
#ifdef PENNYWEIGHT_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace pennyweight::commit_log {

#ifdef PENNYWEIGHT_FIBER_ASAN
inline constexpr bool kSlowFibers = true;
#else
inline constexpr bool kSlowFibers = false;
#endif

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256u << 10;

  // `body` runs on its own stack, inside resume(). It must not throw.
  explicit Fiber(std::function<void()> body)
      : body_(std::move(body)), stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it calls yield() or ends.
  void resume() {
    CHECK(!done_, "a fiber that ended does not go on");
    if (!begun_) {
      begun_ = true;
      CHECK(getcontext(&inside_) == 0, "contexts are always to be had");
      inside_.uc_stack.ss_sp = stack_.get();
      inside_.uc_stack.ss_size = kStackBytes;
      inside_.uc_link = nullptr;
      const auto self = reinterpret_cast<std::uintptr_t>(this);
      makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                  static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
    }
    enter_stack(&outside_fake_, stack_.get(), kStackBytes);
    swapcontext(&outside_, &inside_);
    leave_stack(outside_fake_, nullptr, nullptr);
  }
  // Called by the body: returns to the caller of resume().
  void yield() {
    enter_stack(&inside_fake_, outside_stack_, outside_bytes_);
    swapcontext(&inside_, &outside_);
    leave_stack(inside_fake_, &outside_stack_, &outside_bytes_);
  }
  bool done() const { return done_; }

 private:
  static void enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
    self->run();
  }
  void run() {
    leave_stack(nullptr, &outside_stack_, &outside_bytes_);
    body_();
    done_ = true;
    enter_stack(nullptr, outside_stack_, outside_bytes_);
    swapcontext(&inside_, &outside_);
  }
  // The address sanitizer must be informed of every change of stack.
  static void enter_stack([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                          [[maybe_unused]] std::size_t bytes) {
#ifdef PENNYWEIGHT_FIBER_ASAN
    __sanitizer_start_switch_fiber(fake, bottom, bytes);
#endif
  }
  static void leave_stack([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                          [[maybe_unused]] std::size_t* bytes) {
#ifdef PENNYWEIGHT_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake, bottom, bytes);
#endif
  }

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t outside_{}, inside_{};
  void* outside_fake_ = nullptr;
  void* inside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
  bool begun_ = false, done_ = false;
};

}  // namespace pennyweight::commit_log
