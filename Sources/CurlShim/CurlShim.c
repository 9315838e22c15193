#include "CurlShim.h"

#include <dlfcn.h>

bool curl_shim_open(CurlShimLibrary *library) {
    // RTLD_NOW: a library that lacks something is refused here and does not end the process later.
    void *file = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) return false;

// POSIX makes the conversion from an object pointer to a function pointer valid for dlsym.
#define FIND(name) ((library->name = (__typeof__(name) *)dlsym(file, #name)) != NULL)
    return FIND(curl_global_init) && FIND(curl_version_info) && FIND(curl_easy_init) && FIND(curl_easy_cleanup)
        && FIND(curl_easy_reset) && FIND(curl_easy_perform) && FIND(curl_easy_strerror) && FIND(curl_slist_append)
        && FIND(curl_slist_free_all) && FIND(curl_easy_setopt) && FIND(curl_easy_getinfo);
#undef FIND
}

// The header may define these two names as macros over the functions; here the members of that name are meant.
#undef curl_easy_setopt
#undef curl_easy_getinfo

CURLcode curl_shim_set_long(const CurlShimLibrary *library, CURL *handle, CURLoption option, long value) {
    return library->curl_easy_setopt(handle, option, value);
}

CURLcode curl_shim_set_string(const CurlShimLibrary *library, CURL *handle, CURLoption option, const char *value) {
    return library->curl_easy_setopt(handle, option, value);
}

CURLcode curl_shim_set_pointer(const CurlShimLibrary *library, CURL *handle, CURLoption option, const void *value) {
    return library->curl_easy_setopt(handle, option, value);
}

CURLcode curl_shim_set_receiver(
    const CurlShimLibrary *library, CURL *handle, CURLoption option, CurlShimReceiver receiver) {
    return library->curl_easy_setopt(handle, option, receiver);
}

CURLcode curl_shim_get_long(const CurlShimLibrary *library, CURL *handle, CURLINFO information, long *value) {
    return library->curl_easy_getinfo(handle, information, value);
}
