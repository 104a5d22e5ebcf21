// FileParser: takes the bytes of one file of one format and puts the facts in it into a sink.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/rate_card.h"
#include "app/import/importer.h"
#include "app/import/session_sink.h"
#include "config/config.h"
#include "core/error.h"

namespace pennyweight {

struct FileParser {
  std::function<Result<void>(std::string_view)> feed;
  std::function<Result<void>()> finish;
};

struct ParserInput {
  std::string path;  // at which it is opened; "-": standard input
  std::string file;  // its name, for messages and the ledger: never opened
  const ImportOptions& options;
  ClusterConfig cluster;  // its name may be empty
  Instant now;
  const RateCard* card;  // for bills without money; null: there is none. Outlives the parser
  SessionSink& sink;     // these three outlive the parser
  Store& store;
  std::vector<std::string>& remarks;
  BillStatement& statement;
  // When the file was last changed; absent for standard input, and where a sender does not say.
  std::optional<Instant> changed = {};
};

// An Error of wrong usage if the format needs what was not given, such as a cluster or an origin,
// or if the cluster is of another kind.
Result<FileParser> open_parser(const InputFormat& format, const ParserInput& input);

}  // namespace pennyweight
