// TracejobReader: what PBS' `tracejob` prints of jobs, as holdings.
//
//   Job: 1234.server
//
//   02/11/2026 20:12:20  L    Considering job to run
//   02/11/2026 20:12:21  A    user=ann group=phys queue=gpu ctime=1770861600 start=1770865200
//                             exec_vnode=(n1:ncpus=8:ngpus=2) end=1770868800 Exit_status=0
//
// Lines of kind A are records of the accounting log (accounting.h) without their type, wrapped at
// blanks. PBS writes a start and an end of runs that ended and of reservations only, and those
// begin with their owner; so the others hold nothing, like all lines of the server (S), the
// scheduler (L) and the nodes (M). A record of which a line's end may have cut a value is set
// aside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::pbs {

class TracejobReader {
 public:
  TracejobReader(accounting::Options options, accounting::Sinks sinks);

  // As RecordReader's.
  Result<void> feed(std::string_view chunk) { return lines_.feed(chunk); }
  Result<void> finish();
  const accounting::Counts& counts() const { return records_.counts(); }

 private:
  struct Entry {
    std::string stamp;
    std::string text;
    std::uint64_t line = 0;
    bool is_cut = false;
  };

  Result<void> read_line(const FedLine& line);
  void append(std::string_view more);
  Result<void> end_entry();

  accounting::RecordReader records_;
  std::uint64_t lines_given_ = 0;  // to `records_`, so that it numbers them as the file does
  std::string job_;
  std::optional<Entry> entry_ = {};  // of kind A
  LineFeeder lines_;
};

// Whether a text is tracejob's and has records of the accounting log.
bool is_tracejob(std::string_view beginning);

}  // namespace pennyweight::pbs
