// The alerts of `serve` and what is still to be delivered, in one file that is replaced whole.
//
// Both are in one file so that no alert can begin without its notification: after a crash either
// both are there or neither is, and then the next evaluation finds the alert again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "insight/alerts/running_alerts.h"

namespace pennyweight {

struct OutboxEntry {
  std::string receiver;  // its name
  AlertNotification notification;
  std::uint32_t attempts = 0;
  Instant next = {};         // not before
  std::string problem = {};  // why the last attempt failed
};

struct AlertState {
  AlertBook book;
  std::deque<OutboxEntry> outbox;  // oldest first
  std::deque<OutboxEntry> dead;    // given up, newest last
  std::deque<Alert> ended;         // newest last
  std::vector<PutSilence> silences;
};

struct OutboxLimits {
  std::size_t of_receiver = 10'000;
  std::size_t of_all = 20'000;  // so that the file, which is written whole, stays small
};

// Gives up the oldest of what is too much: of a receiver with more than its share first, so that
// one that can't be reached takes no room from the others; then of the one with the most.
void limit_outbox(AlertState& state, const OutboxLimits& limits = {});

// The text of the file, and back. An Error says what is wrong with a file.
std::string to_json(const AlertState& state);
Result<AlertState> parse_alert_state(const std::string& text);

// Where `serve` keeps it.
std::string alert_state_path(const Config& config);

// An empty state where there is no file. A file that can't be read is an Error: starting with
// nothing would tell everybody of everything again.
Result<AlertState> load_alert_state(const std::string& path);
Result<void> save_alert_state(const AlertState& state, const std::string& path);

}  // namespace pennyweight
