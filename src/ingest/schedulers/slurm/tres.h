// Reads trackable resources, what a job was given:
// "cpu=64,gres/gpu:a100=4,gres/gpu=4,mem=480G,node=1".
//
// The same GPUs are listed twice, with their type and without: the total is the entry without a
// type where there is one, else the sum over the types, never both
// (https://slurm.schedmd.com/tres.html). Which types are listed depends on AccountingStorageTRES,
// so types may cover only a part of the total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/holding.h"

namespace pennyweight::slurm {

// One entry gres/<name>[:<type>]=<count>.
struct Gres {
  std::string name;  // gpu, shard or mps
  std::string type;  // empty: the total over all types
  std::uint64_t count = 0;
  bool operator==(const Gres&) const = default;
};

struct Tres {
  std::optional<std::uint64_t> cpus;
  std::optional<std::uint64_t> memory_bytes;
  std::vector<Gres> gres;  // those about GPUs, in the order of the text
  bool operator==(const Tres&) const = default;
};

// An empty text is a job without resources. Entries about anything but GPUs, processors and memory
// (billing, energy, fs/disk, licences, gres/gpuutil …) are skipped. A malformed or repeated entry
// is an Error.
Result<Tres> parse_tres(std::string_view text);

// Adds one entry, "gpu:a100" and 4, if it is about GPUs. An Error when it is there already.
Result<void> add_gres(Tres& tres, std::string_view name_and_type, std::uint64_t count);

// "480G", "62.50G", "20000M", "512": units of 1024, MiB without one. Slurm has rounded fractions to
// two digits already, so fractions of a byte are dropped.
Result<std::uint64_t> parse_memory_bytes(std::string_view text);

// Devices of one kind that a job holds; each group becomes a Holding of its own.
struct DeviceGroup {
  std::string name;  // distinguishes it from the job's other groups: "gpu:a100", "shard"
  Device device;
  std::string gpu_model;  // the gres type; empty: any
  std::uint64_t count = 0;
  bool operator==(const DeviceGroup&) const = default;
};

// The groups, sorted by name; none for a job without GPUs. A MIG type ("a100_3g.20gb") becomes
// MigSlices of that model. gres/mps counts hundredths of a GPU (Slurm's default of 100 for each):
// they become CardFractions, one on each of the job's `nodes`, or more where that is above one GPU.
// MPS does not divide memory, so the same fraction of it is taken. An Error when types exceed the
// total.
Result<std::vector<DeviceGroup>> device_groups(const Tres& tres, std::uint64_t nodes);

}  // namespace pennyweight::slurm
