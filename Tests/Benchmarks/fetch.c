/*
 * One HTTPS GET with libcurl and nothing else, beside which a sign-in that has to fetch Apple's keys is put.
 *
 *   fetch URL CA-BUNDLE
 */
#include <curl/curl.h>
#include <stdio.h>

static size_t pass_over(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

int main(int count, char **arguments) {
    if (count != 3 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return 64;
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, arguments[1]);
    curl_easy_setopt(handle, CURLOPT_CAINFO, arguments[2]);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, pass_over);
    curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
    CURLcode code = curl_easy_perform(handle);
    if (code != CURLE_OK) fprintf(stderr, "fetch: %s\n", curl_easy_strerror(code));
    curl_easy_cleanup(handle);
    return code == CURLE_OK ? 0 : 69;
}
