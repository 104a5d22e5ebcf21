#include "telemetry/live/usage_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <tuple>

namespace pennyweight::live {
namespace {

using telemetry::Quantity;

constexpr std::uint64_t kWhole = 1'000'000;

std::uint64_t piece_mean(const AggregatePiece& piece) {
  const auto length = static_cast<std::uint64_t>(piece.to - piece.from);
  return static_cast<std::uint64_t>((piece.sum + length / 2) / length);
}

}  // namespace

void sort_by_time(std::vector<MemberPiece>& parts) {
  std::ranges::sort(parts, [](const MemberPiece& a, const MemberPiece& b) {
    return std::tie(a.piece.from, a.piece.to, a.quantity) <
           std::tie(b.piece.from, b.piece.to, b.quantity);
  });
}

void merge_components(std::vector<MemberPiece>& parts) {
  std::ranges::sort(parts, [](const MemberPiece& a, const MemberPiece& b) {
    return std::tie(a.quantity, a.piece.from, a.piece.to) <
           std::tie(b.quantity, b.piece.from, b.piece.to);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    MemberPiece& last = parts[kept == 0 ? 0 : kept - 1];
    const MemberPiece part = parts[i];
    if (kept > 0 && last.quantity == part.quantity && part.piece.from < last.piece.to) {
      last.piece.to = std::max(last.piece.to, part.piece.to);
      last.piece.sum += part.piece.sum;
      last.piece.max += part.piece.max;  // an upper bound: the maxima need not coincide
      if (part.piece.last != 0) last.piece.last = part.piece.last;
    } else {
      parts[kept++] = part;
    }
  }
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(kept), parts.end());
  sort_by_time(parts);
}

void make_usages(const Usage& device, std::span<const MemberPiece> parts,
                 const std::function<void(Usage&)>& give) {
  Usage usage = device;
  for (std::size_t i = 0; i < parts.size();) {
    const std::int64_t from = parts[i].piece.from;
    const std::int64_t to = parts[i].piece.to;
    usage = device;
    usage.at = from_unix_ms(from);
    usage.span_ms = static_cast<std::uint32_t>(to - from);
    std::array<std::optional<std::uint64_t>, 3> most;  // of engine, SM, GPU_UTIL
    std::optional<std::uint64_t> free;
    std::optional<std::uint64_t> cycles;
    std::optional<std::uint64_t> active_cycles;
    std::optional<std::uint64_t> sticky;
    bool any = false;
    for (; i < parts.size() && parts[i].piece.from == from && parts[i].piece.to == to; ++i) {
      const AggregatePiece& piece = parts[i].piece;
      const auto share = [&] { return std::min(piece_mean(piece), kWhole); };
      bool is_column = true;
      switch (parts[i].quantity) {
        case Quantity::kGpuUtil:
          usage.gpu_util_ppm = share();
          most[2] = std::min(piece.max, kWhole);
          break;
        case Quantity::kEngineActive:
          usage.engine_active_ppm = share();
          most[0] = std::min(piece.max, kWhole);
          break;
        case Quantity::kSmActive:
          usage.sm_active_ppm = share();
          most[1] = std::min(piece.max, kWhole);
          break;
        case Quantity::kTensorActive:
          usage.tensor_active_ppm = share();
          break;
        case Quantity::kDramActive:
          usage.dram_active_ppm = share();
          break;
        case Quantity::kMemoryUsed:
          usage.memory_used_bytes = piece_mean(piece);
          usage.memory_used_max_bytes = piece.max;
          break;
        case Quantity::kMemoryFree:
          free = piece_mean(piece);
          is_column = false;
          break;
        case Quantity::kMemoryReserved:
          usage.memory_reserved_bytes = piece_mean(piece);
          break;
        case Quantity::kMemoryTotal:
          usage.memory_total_bytes = piece_mean(piece);
          break;
        case Quantity::kPower:
          usage.power_milliwatts = piece_mean(piece);
          usage.power_max_milliwatts = piece.max;
          break;
        case Quantity::kEnergy:
          usage.energy_used_millijoules = whole(piece);
          break;
        case Quantity::kTemperature:
          usage.temperature_celsius = piece_mean(piece);
          break;
        case Quantity::kSmClock:
          usage.sm_clock_mhz = piece_mean(piece);
          break;
        case Quantity::kThrottle:
          usage.throttled_ms = whole(piece);
          break;
        case Quantity::kPcie:
          usage.pcie_bytes_per_second = piece_mean(piece);
          break;
        case Quantity::kNvlink:
          usage.nvlink_bytes_per_second = piece_mean(piece);
          break;
        case Quantity::kXid:
          sticky = whole(piece);
          if (piece.last != 0) usage.last_xid = piece.last;
          break;
        case Quantity::kXidCount:
          usage.xid_errors = whole(piece);
          if (piece.last != 0 && !usage.last_xid) usage.last_xid = piece.last;
          break;
        case Quantity::kEccErrors:
          usage.ecc_errors = whole(piece);
          break;
        case Quantity::kSmCyclesElapsed:
          cycles = whole(piece);
          is_column = false;
          break;
        case Quantity::kSmCyclesActive:
          active_cycles = whole(piece);
          is_column = false;
          break;
      }
      any |= is_column;
    }
    if (!usage.xid_errors) usage.xid_errors = sticky;
    if (cycles && active_cycles && *cycles > 0) {
      const UInt128 scaled = UInt128{*active_cycles} * kWhole + *cycles / 2;
      usage.sm_active_ppm = std::min(static_cast<std::uint64_t>(scaled / *cycles), kWhole);
      most[1] = usage.sm_active_ppm;
      any = true;
    }
    // Without the reserved memory, the sum is less than the GPU has.
    if (!usage.memory_total_bytes && usage.memory_used_bytes && usage.memory_reserved_bytes &&
        free) {
      usage.memory_total_bytes = *usage.memory_used_bytes + *free + *usage.memory_reserved_bytes;
    }
    for (const auto& share : most) {
      if (!usage.activity_max_ppm) usage.activity_max_ppm = share;
    }
    if (any) give(usage);
  }
}

}  // namespace pennyweight::live
