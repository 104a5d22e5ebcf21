#include "faults.h"

#include <utility>

#include "testing/generate/random.h"

namespace pennyweight::sim {
namespace {

bool of_one_split(const Posting& a, const Posting& b) {
  return a.charge == b.charge && a.component == b.component;
}

// The first place at or after a random one where `fits` holds.
template <class Fits>
std::optional<std::size_t> find_place(std::uint64_t seed, std::size_t count, const Fits& fits) {
  if (count == 0) return std::nullopt;
  const std::uint64_t first = Random(seed, "fault").between(0, count - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = (first + i) % count;
    if (fits(place)) return place;
  }
  return std::nullopt;
}

// A naive implementation: shares by double, the rest to the last one.
void divide_by_float(std::vector<Posting>& postings, std::size_t first) {
  std::size_t last = first;
  Int128 total = 0;
  double weights = 0;
  while (first > 0 && of_one_split(postings[first - 1], postings[last])) --first;
  while (last + 1 < postings.size() && of_one_split(postings[last + 1], postings[first])) ++last;
  for (std::size_t i = first; i <= last; ++i) {
    total += postings[i].costs.effective.ticks();
    weights += static_cast<double>(postings[i].weight);
  }
  Int128 given = 0;
  for (std::size_t i = first; i <= last; ++i) {
    const double share =
        static_cast<double>(total) * static_cast<double>(postings[i].weight) / weights;
    const Int128 ticks = i == last ? total - given : static_cast<Int128>(share);
    given += ticks;
    Money& effective = postings[i].costs.effective;
    effective = Money::from_ticks(ticks, effective.currency());
  }
}

}  // namespace

std::optional<Fault> parse_fault(std::string_view text) {
  for (const Fault fault : {Fault::kDropPosting, Fault::kSwapShares, Fault::kFloat}) {
    if (text == fault_name(fault)) return fault;
  }
  return std::nullopt;
}

std::string_view fault_name(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "none";
    case Fault::kDropPosting:
      return "drop_posting";
    case Fault::kSwapShares:
      return "swap_shares";
    case Fault::kFloat:
      return "float";
  }
  return "";
}

void plant(Fault fault, std::uint64_t seed, std::vector<Posting>& postings) {
  const auto place = find_place(seed, postings.size(), [&](std::size_t i) {
    if (fault == Fault::kNone || fault == Fault::kDropPosting) return true;
    const bool has_neighbour =
        i + 1 < postings.size() && of_one_split(postings[i], postings[i + 1]);
    return has_neighbour && !(postings[i].costs == postings[i + 1].costs);
  });
  if (!place) return;
  switch (fault) {
    case Fault::kNone:
      break;
    case Fault::kDropPosting:
      postings.erase(postings.begin() + static_cast<std::ptrdiff_t>(*place));
      break;
    case Fault::kSwapShares:
      std::swap(postings[*place].costs, postings[*place + 1].costs);
      break;
    case Fault::kFloat:
      divide_by_float(postings, *place);
      break;
  }
}

}  // namespace pennyweight::sim
