// libcurl's setters and getters are variadic C functions, which Swift cannot call: here is one `static inline`
// function for each kind of argument they take. The parentheses keep libcurl's type-checking macros of the same names
// out of the way. Constants whose macros hold a cast or an expression are invisible to Swift too and are repeated.
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

// CURLMsg keeps its result in a union that stands behind a pointer-sized one.
static inline CURLcode cameo_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

static const long cameo_curl_global_default = CURL_GLOBAL_DEFAULT;
static const CURLversion cameo_curl_version_now = CURLVERSION_NOW;
