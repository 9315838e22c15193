// RAND_METHOD is deprecated since OpenSSL 3.0 and works in all of 3.x. See `openssl_shim_start` for why it is used.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "OpenSSLShim.h"

#include <errno.h>
#include <limits.h>
#include <openssl/rand.h>
#include <sys/random.h>

int openssl_shim_random(unsigned char *buffer, size_t count) {
    size_t filled = 0;
    while (filled < count) {
        // getrandom(2): up to 256 bytes come whole once the generator is seeded; more may come in parts, or be
        // interrupted by a signal.
        ssize_t part = getrandom(buffer + filled, count - filled, 0);
        if (part > 0) {
            filled += (size_t)part;
        } else if (part == 0 || errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

static int random_bytes(unsigned char *buffer, int count) {
    return count >= 0 && openssl_shim_random(buffer, (size_t)count);
}

static int always_seeded(void) {
    return 1;
}

// libcurl and libpq use this same library later in the process. OpenSSL 3 looks up by name the digest that a certificate is
// signed with (ASN1_item_verify), and the cipher of an encrypted private key in PEM, which libpq may be told to read.
static int add_names(void) {
    return EVP_add_digest(EVP_sha1()) && EVP_add_digest(EVP_sha224()) && EVP_add_digest(EVP_sha256()) &&
           EVP_add_digest(EVP_sha384()) && EVP_add_digest(EVP_sha512()) && EVP_add_cipher(EVP_aes_128_cbc()) &&
           EVP_add_cipher(EVP_aes_192_cbc()) && EVP_add_cipher(EVP_aes_256_cbc()) &&
           EVP_add_cipher(EVP_des_ede3_cbc());
}

int openssl_shim_start(void) {
    // A program that lives for one request asks for 32 random bytes or so. OpenSSL's own generator fetches and seeds three
    // DRBGs first, which costs a third of a millisecond; the kernel's needs nothing, is what those would be seeded
    // from, and has no state in this process that a fork could copy.
    static const RAND_METHOD kernel = {
        .bytes = random_bytes,
        .pseudorand = random_bytes,
        .status = always_seeded,
    };
    // No configuration file: it costs a read, and may load engines and providers into this process. No error texts: a
    // number says the same (`openssl errstr` explains it). No clean-up at exit: the process ends, and takes it all along.
    // No tables of the 226 ciphers and digests by their old names: to fill them is a fifth of all instructions of a sign-in, and
    // here everything is fetched from the provider. `add_names` has what others need of them.
    const uint64_t options = OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ATEXIT |
                             OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS;
    return OPENSSL_init_crypto(options, NULL) == 1 && add_names() && RAND_set_rand_method(&kernel) == 1;
}
