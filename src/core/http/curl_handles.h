// libcurl's handles, each closed by its own function.
#pragma once

#include <curl/curl.h>

#include <memory>

namespace pennyweight::http {

template <auto close>
struct CloseWith {
  void operator()(auto* handle) const { close(handle); }
};

using CurlEasy = std::unique_ptr<CURL, CloseWith<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CloseWith<curl_multi_cleanup>>;
using CurlUrl = std::unique_ptr<CURLU, CloseWith<curl_url_cleanup>>;
using CurlList = std::unique_ptr<curl_slist, CloseWith<curl_slist_free_all>>;
using CurlText = std::unique_ptr<char, CloseWith<curl_free>>;

}  // namespace pennyweight::http
