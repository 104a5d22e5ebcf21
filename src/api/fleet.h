// The machines as tiles: each node with its cards, who holds them and how busy they are.
//
// Who holds which card: where the holding names it, or telemetry saw the workload on it. A holding
// that names only a node and a number is shown on the free cards of that node, in their order, and
// the tile says that its place is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/desk.h"
#include "core/instant.h"
#include "live/view/live_lines.h"

namespace pennyweight::api {

struct CardHolder {
  std::string workload;  // empty: somebody else, who is not named
  std::string share;     // of the card: "1", "0.5", "1g.10gb"
  std::string owner;     // his user, else his team; may be empty
  bool is_placed = true;
};

struct Card {
  std::uint32_t index = 0;
  std::string uuid, model;
  std::vector<std::string> mig;
  std::vector<CardHolder> holders;
  // Of the last minutes, of one; nothing: not seen.
  std::optional<std::string> busy, memory;
};

struct Machine {
  const Node* node = nullptr;
  std::vector<Card> cards;
  std::optional<Money> price_per_hour;  // nothing: none is known, or it is not for who asks
};

struct FleetQuestion {
  const FleetFacts& facts;
  // Whether a workload may be named.
  std::function<bool(const ClusterId&, const LiveShare&)> sees;
  bool is_cut = false;  // prices are told only as the part that is paid
};

// By cluster and node.
std::vector<Machine> machines_of(const FleetQuestion& question);

}  // namespace pennyweight::api
