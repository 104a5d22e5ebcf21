// ImportNumbers: the numbers of imports by their sessions, since a bill line says by which import
// it came, and its row only the session that wrote it. Some 20 bytes an import: the sessions in
// their order, and the place of each in it by a hash. Less than 2^32 of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pennyweight {

class ImportNumbers {
 public:
  // The session of the import that follows the last one; the first is number 1.
  void add(std::uint64_t session) {
    sessions_.push_back(session);
    if (sessions_.size() * 2 <= places_.size()) return put(sessions_.size());
    places_.assign(places_.empty() ? kPlacesMin : places_.size() * 2, 0);
    for (std::uint64_t number = 1; number <= sessions_.size(); ++number) put(number);
  }
  std::uint64_t count() const { return sessions_.size(); }
  // 0 where it is none of these.
  std::uint64_t of(std::uint64_t session) const {
    return sessions_.empty() ? 0 : places_[place_of(session)];
  }
  // REQUIRES: 1 <= number <= count().
  std::uint64_t session_of(std::uint64_t number) const { return sessions_[number - 1]; }

 private:
  static constexpr std::size_t kPlacesMin = 64;  // a power of two

  // Where it stands, or where it may be put. Half of the places are free.
  std::size_t place_of(std::uint64_t session) const {
    const std::size_t last = places_.size() - 1;
    const int bits = std::countr_zero(places_.size());
    std::size_t place = session * 0x9e3779b97f4a7c15u >> (64 - bits);
    while (places_[place] != 0 && sessions_[places_[place] - 1] != session) {
      place = (place + 1) & last;
    }
    return place;
  }
  void put(std::uint64_t number) {
    places_[place_of(sessions_[number - 1])] = static_cast<std::uint32_t>(number);
  }

  std::vector<std::uint64_t> sessions_;
  std::vector<std::uint32_t> places_;  // numbers; 0: free
};

}  // namespace pennyweight
