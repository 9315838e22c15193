/*
 * What libcrypto itself takes for the two signatures of a sign-in: one RSA-2048 verification and one P-256 signature, keys and
 * methods warm, over messages as long as an identity token's and an access token's. No sign-in with these can be faster.
 *
 *   bound PAIRS      prints a line of JSON, with medians in microseconds
 */
#define _POSIX_C_SOURCE 200809L
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void must(int good) {
    if (good == 1) return;
    fputs("bound: libcrypto failed\n", stderr);
    exit(70);
}

static void sign(EVP_PKEY *key, const unsigned char *message, size_t count, unsigned char *signature, size_t *length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    must(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key));
    must(EVP_DigestSign(context, signature, length, message, count));
    EVP_MD_CTX_free(context);
}

static void verify(EVP_PKEY *key, const unsigned char *message, size_t count, const unsigned char *signature, size_t length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    must(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key));
    must(EVP_DigestVerify(context, signature, length, message, count));
    EVP_MD_CTX_free(context);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    int pairs = count == 2 ? atoi(arguments[1]) : 0;
    if (pairs < 1) return 64;
    double *verifying = calloc((size_t)pairs, sizeof(double)), *signing = calloc((size_t)pairs, sizeof(double));
    EVP_PKEY *rsa = EVP_RSA_gen(2048), *p256 = EVP_EC_gen("P-256");
    if (!verifying || !signing || !rsa || !p256) return 70;
    static const unsigned char identity[550], access[450];
    unsigned char signature[256], other[80];
    size_t length = sizeof signature;
    sign(rsa, identity, sizeof identity, signature, &length);
    for (int pair = -100; pair < pairs; pair++) {
        size_t other_length = sizeof other;
        double first = now();
        verify(rsa, identity, sizeof identity, signature, length);
        double second = now();
        sign(p256, access, sizeof access, other, &other_length);
        double third = now();
        if (pair < 0) continue;
        verifying[pair] = second - first;
        signing[pair] = third - second;
    }
    qsort(verifying, (size_t)pairs, sizeof(double), compare);
    qsort(signing, (size_t)pairs, sizeof(double), compare);
    printf("{\"verify\":%.3f,\"sign\":%.3f}\n", verifying[pairs / 2], signing[pairs / 2]);
    return 0;
}
