// gzip: what is sent, made smaller (RFC 1952), at the least effort.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::clickhouse {

std::string gzipped(std::string_view bytes);

}  // namespace pennyweight::clickhouse
