/// The part of libcrypto that `OpenSSLCrypto` calls, and the little C that Swift cannot say.
#ifndef OPENSSL_SHIM_H
#define OPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

/// Which parts of a key are meant: EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR, macros over macros that Swift does not import.
static const int openssl_shim_public_key = EVP_PKEY_PUBLIC_KEY;
static const int openssl_shim_key_pair = EVP_PKEY_KEYPAIR;

/// Makes libcrypto ready for this process; call it once, before anything else. 1 on success.
///
/// In C because the way to name another source of randomness (RAND_set_rand_method) is marked deprecated, which Swift
/// can neither silence nor, with warnings as errors, compile; and because its table of functions must be static.
int openssl_shim_start(void);

/// Fills `buffer` from the kernel's generator, getrandom(2). 1 on success; on failure the buffer holds nothing to use.
///
/// In C because libcrypto calls it too.
int openssl_shim_random(unsigned char *buffer, size_t count);

#endif
