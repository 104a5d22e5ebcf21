// DeliveryTroubles: which receivers are left alone for a while, and which notifications go last or
// alone, since something went wrong before.
//
// A receiver that does not answer costs its time-out with each try, and a notification that one
// refuses must not keep the others from it. In memory only: after a restart everything is tried.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/instant.h"

namespace pennyweight {

// One thread at a time uses it.
class DeliveryTroubles {
 public:
  // How long a receiver that failed is left alone at most.
  static constexpr std::chrono::milliseconds kPauseMax{30'000};

  // A clock that went back ends a pause.
  bool is_paused(const std::string& receiver, Instant now) const;
  // Whether the last message that held the notification failed.
  bool has_failed(const std::string& receiver, const std::string& id) const;
  // Whether the receiver answered that it does not take it, or one of those in the same message.
  bool is_refused(const std::string& receiver, const std::string& id) const;

  // `ids`: of the notifications of one message.
  void note_sent(const std::string& receiver, std::span<const std::string> ids);
  // The receiver did not answer, or not as it should; it is left alone for a while.
  void note_failed(const std::string& receiver, std::span<const std::string> ids, Instant now);
  // The receiver answers, and does not take this message.
  void note_refused(const std::string& receiver, std::span<const std::string> ids);
  // Forgets a notification that waits no longer.
  void forget(const std::string& receiver, const std::string& id);

 private:
  struct Pause {
    std::uint32_t failures = 0;  // in a row
    Instant until = {};
  };
  using Name = std::pair<std::string, std::string>;  // of a receiver, and of a notification
  std::map<std::string, Pause> pauses_;
  std::set<Name> failed_;
  std::set<Name> refused_;
};

}  // namespace pennyweight
