// UTF-8 in records: Slurm stores job names and comments as the bytes that users typed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::slurm {

// The text with each byte that is not UTF-8, and each NUL, replaced by '?'; for messages and
// rejected rows.
std::string shown_as_utf8(std::string_view text);

// Replaces each byte that is not UTF-8 by '?', in place, and returns the positions, in order. Stops
// after `most` of them.
std::vector<std::size_t> mask_invalid_utf8(char* bytes, std::size_t size, std::size_t most);

}  // namespace pennyweight::slurm
