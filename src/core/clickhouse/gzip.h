// gzip (RFC 1952) for request bodies, at the fastest level.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::clickhouse {

std::string gzipped(std::string_view bytes);

}  // namespace pennyweight::clickhouse
