// libcurl, opened when it is first needed.
//
// Linking Debian's libcurl costs 5 ms at every start, called or not, and a request whose keys are cached never calls it.
// So nothing here links it: only its header is used, and from it the type of every function is taken.

#ifndef CURL_SHIM_H
#define CURL_SHIM_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/// A pointer to the libcurl function of that name, with the type that its own header declares.
#define CURL_SHIM_FUNCTION(name) __typeof__(name) *_Nonnull name

/// libcurl's functions, found in the library. Swift calls them directly, but for the two that take variable arguments.
typedef struct {
    CURL_SHIM_FUNCTION(curl_global_init);
    CURL_SHIM_FUNCTION(curl_version_info);
    CURL_SHIM_FUNCTION(curl_easy_init);
    CURL_SHIM_FUNCTION(curl_easy_cleanup);
    CURL_SHIM_FUNCTION(curl_easy_reset);
    CURL_SHIM_FUNCTION(curl_easy_perform);
    CURL_SHIM_FUNCTION(curl_easy_strerror);
    CURL_SHIM_FUNCTION(curl_slist_append);
    CURL_SHIM_FUNCTION(curl_slist_free_all);
    CURL_SHIM_FUNCTION(curl_easy_setopt);
    CURL_SHIM_FUNCTION(curl_easy_getinfo);
} CurlShimLibrary;

/// Opens libcurl.so.4 and finds every function of `library`. False when the library, or a function in it, is missing;
/// `library` must not be used then. The library stays open until the process ends.
bool curl_shim_open(CurlShimLibrary *_Nonnull library);

// curl_easy_setopt and curl_easy_getinfo take variable arguments, which Swift cannot pass; and the type that libcurl then
// reads from the stack depends on the option. So there is one function a type, and the option must be of that type.

/// For options whose argument is a `long` (CURLOPTTYPE_LONG).
CURLcode curl_shim_set_long(
    const CurlShimLibrary *_Nonnull library, CURL *_Nonnull handle, CURLoption option, long value);

/// For options whose argument is a string that libcurl copies (CURLOPTTYPE_STRINGPOINT), or NULL for its default.
CURLcode curl_shim_set_string(
    const CurlShimLibrary *_Nonnull library, CURL *_Nonnull handle, CURLoption option, const char *_Nullable value);

/// For options whose argument is a pointer that libcurl keeps (CURLOPTTYPE_OBJECTPOINT, _SLISTPOINT, _CBPOINT): what it
/// points to must live until the transfer ends.
CURLcode curl_shim_set_pointer(
    const CurlShimLibrary *_Nonnull library, CURL *_Nonnull handle, CURLoption option, const void *_Nullable value);

/// The type of CURLOPT_WRITEFUNCTION's and CURLOPT_HEADERFUNCTION's argument.
typedef size_t (*CurlShimReceiver)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);

/// For the options whose argument is a receiving function (CURLOPTTYPE_FUNCTIONPOINT).
CURLcode curl_shim_set_receiver(
    const CurlShimLibrary *_Nonnull library, CURL *_Nonnull handle, CURLoption option,
    CurlShimReceiver _Nonnull receiver);

/// For information that is a `long` (CURLINFO_LONG).
CURLcode curl_shim_get_long(
    const CurlShimLibrary *_Nonnull library, CURL *_Nonnull handle, CURLINFO information, long *_Nonnull value);

#endif
