// TrapCase: a trap as text: what was scraped when, and what must come of it.
//
// `#` begins a comment. A word at the line's begin opens a block, whose lines are indented:
//   target KEY=VALUE… [honor_labels]   labels that Prometheus adds to what it scrapes
//   option cluster_label=NAME          of ClassificationOptions; also host_usage=cadvisor, resource
//   outcome metric= measure= [per=] [keep=A,B] [where=KEY:VALUE]   a counter by configuration
//   at TIME [KEY=VALUE…]               what was scraped then (text format 0.0.4), with further
//                                      labels of the sender
//   ends TIME [KEY=VALUE…]             series that end then: Prometheus sends a stale marker
//   meaning                            what each series is, in the order in which they came
//   readings                           how many samples were values, duplicates, blanks …
//   rows                               what is kept of each minute
// TIME is of 2026-03-01, UTC. A case states some of the last three; UPDATE_TRAPS=1 writes them
// anew, and the diff is then read by a person.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "telemetry/classification.h"

namespace pennyweight::traps {

struct Scrape {
  std::int64_t at_ms;
  bool ends = false;
  std::string text;
  std::vector<prometheus::Label> sender;
};

struct Expected {
  std::string word;   // "meaning", "readings", "rows"
  std::string lines;  // as they stand in the file
};

struct TrapCase {
  std::vector<prometheus::Label> target = {};
  bool honor_labels = false;
  telemetry::ClassificationOptions options;
  std::vector<Scrape> scrapes = {};
  std::vector<Expected> expected = {};
  std::string given = {};  // the file up to what is expected
};

// Throws std::runtime_error with the line's number.
TrapCase read_case(const std::filesystem::path& file);

}  // namespace pennyweight::traps
