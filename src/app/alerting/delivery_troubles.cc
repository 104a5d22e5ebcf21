#include "app/alerting/delivery_troubles.h"

#include <algorithm>

namespace pennyweight {
namespace {

constexpr std::chrono::milliseconds kPauseFirst{2'000};

}  // namespace

bool DeliveryTroubles::is_paused(const std::string& receiver, Instant now) const {
  const auto pause = pauses_.find(receiver);
  return pause != pauses_.end() && pause->second.until > now &&
         pause->second.until - now <= kPauseMax;
}

bool DeliveryTroubles::has_failed(const std::string& receiver, const std::string& id) const {
  return failed_.contains({receiver, id});
}

bool DeliveryTroubles::is_refused(const std::string& receiver, const std::string& id) const {
  return refused_.contains({receiver, id});
}

void DeliveryTroubles::note_sent(const std::string& receiver, std::span<const std::string> ids) {
  pauses_.erase(receiver);
  for (const std::string& id : ids) forget(receiver, id);
}

void DeliveryTroubles::note_failed(const std::string& receiver, std::span<const std::string> ids,
                                   Instant now) {
  Pause& pause = pauses_[receiver];
  std::chrono::milliseconds wait = kPauseFirst;
  for (std::uint32_t i = 0; i < pause.failures && wait < kPauseMax; ++i) wait *= 2;
  ++pause.failures;
  pause.until = now + std::min(wait, kPauseMax);
  for (const std::string& id : ids) failed_.emplace(receiver, id);
}

void DeliveryTroubles::note_refused(const std::string& receiver, std::span<const std::string> ids) {
  pauses_.erase(receiver);
  for (const std::string& id : ids) {
    failed_.emplace(receiver, id);
    refused_.emplace(receiver, id);
  }
}

void DeliveryTroubles::forget(const std::string& receiver, const std::string& id) {
  failed_.erase({receiver, id});
  refused_.erase({receiver, id});
}

}  // namespace pennyweight
