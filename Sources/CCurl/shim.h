// libcurl's setters and getters are variadic C functions, which Swift cannot call: here is one `static inline`
// function for each kind of argument they take. The parentheses keep libcurl's type-checking macros of the same names
// out of the way. Constants are repeated with the type that their function takes: some are macros that hold a cast or an
// expression, which Swift cannot see, and some are an enum's in one version of libcurl and numbers in another.
#pragma once
#include <curl/curl.h>

static inline CURLcode cameo_curl_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode cameo_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(easy, option, value);
}

// libcurl copies the string; NULL takes the option back.
static inline CURLcode cameo_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}

// Not copied: the pointer must outlive its use by the transfer.
static inline CURLcode cameo_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

// Not copied: the list must outlive the transfer.
static inline CURLcode cameo_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode cameo_curl_set_write_function(CURL *easy, curl_write_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_WRITEFUNCTION, function);
}

static inline CURLcode cameo_curl_set_open_socket_function(CURL *easy, curl_opensocket_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode cameo_curl_set_progress_function(CURL *easy, curl_xferinfo_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode cameo_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode cameo_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

// The string belongs to the handle and lives until its next transfer.
static inline CURLcode cameo_curl_get_string(CURL *easy, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLMcode cameo_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

// The list is the caller's, to be freed by curl_slist_free_all.
static inline CURLcode cameo_curl_get_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return (curl_easy_getinfo)(easy, info, value);
}

// CURLMsg keeps its result in a union that stands behind a pointer-sized one.
static inline CURLcode cameo_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

static const long cameo_curl_global_default = CURL_GLOBAL_DEFAULT;
static const long cameo_curl_netrc_ignored = CURL_NETRC_IGNORED;
static const long cameo_curl_http_1_1 = CURL_HTTP_VERSION_1_1;
static const long cameo_curl_http_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const int cameo_curl_has_async_dns = CURL_VERSION_ASYNCHDNS;
static const int cameo_curl_is_thread_safe = CURL_VERSION_THREADSAFE;
static const size_t cameo_curl_write_pauses = CURL_WRITEFUNC_PAUSE;
static const int cameo_curl_pause_ends = CURLPAUSE_CONT;
static const unsigned int cameo_curl_header_of_response = CURLH_HEADER;
static const unsigned int cameo_curl_url_decodes = CURLU_URLDECODE;
static const unsigned int cameo_curl_url_has_default_port = CURLU_DEFAULT_PORT;
static const CURLversion cameo_curl_version_now = CURLVERSION_NOW;
