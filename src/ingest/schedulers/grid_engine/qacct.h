// What `qacct -j` prints of ended jobs, as holdings: the records of the accounting file
// (accounting.h) as names and values, each record after a line of '='.
//
//   ==============================================================
//   qname        gpu.q
//   hostname     n68
//   owner        ann
//   jobnumber    2313760
//   start_time   Fri Mar 27 22:06:57 2020
//   …
//   category     -l gpu=2 -q gpu.q
//
// Times are local ones of the cluster, also as "06/11/2020 13:22:37.680"; values may have units
// ("6.401s", "29.088MBs"). A version that prints no `category` does not say what was requested: its
// records are set aside, since GPUs would be missing without a word.
#pragma once

#include <optional>
#include <string_view>

#include "ingest/schedulers/accounting/record_reader.h"

namespace pennyweight::grid_engine {

// For accounting::RecordReader: a record is the lines after one of '='.
accounting::Read<std::optional<accounting::Run>> read_qacct_record(
    std::string_view record, const accounting::Options& options);
bool is_qacct_separator(std::string_view line);

// Whether a text begins with such a record.
bool is_qacct(std::string_view beginning);

}  // namespace pennyweight::grid_engine
