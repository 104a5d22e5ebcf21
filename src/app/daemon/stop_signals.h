// StopSignals: the signals that end the program, taken by the one thread that waits for them.
#pragma once

#include <csignal>

namespace pennyweight {

// Blocks SIGTERM and SIGINT in this thread and in all that it starts from here on. Ignores SIGXFSZ:
// a file that may not grow is an Error like a full disk.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  int wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }

 private:
  sigset_t set_{};
};

}  // namespace pennyweight
