/*
 * One sign-in, in C: what `auth-apple` is measured against.
 *
 * It does the work of `auth-apple` for POST /auth/apple with the same libraries, and takes no short cut that a program for
 * production could not take: the event is read and parsed strictly (RFC 8259, UTF-8, no name twice), Apple's token is
 * verified against a key set in a file (RS256, iss, aud, exp, iat, sub, nonce), the account is found or inserted, a session
 * opened and the audit written in one SQLite transaction at synchronous=FULL, an access token is signed (ES256), one
 * response and one log line are written. What it leaves out is what a warm request does not touch: other routes, other adapters, the
 * fetching of keys, the making of the schema.
 *
 * Environment, as of auth-apple: AUTH_APPLE_{AUDIENCES,STORE,SIGNING_KEYS_FILE,TOKEN_ISSUER,TOKEN_AUDIENCE}; and
 * PEER_KEY_SET, a file with Apple's key set, in place of the key cache. With GATEWAY_INTERFACE set it is a CGI program; as
 * `peer lines` it serves one event a line until the input ends, and keeps keys, database and prepared statements.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Memory: one arena, which the loop winds back after each event. ---- */

static unsigned char arena[512 * 1024];
static size_t arena_used;

static void *allocate(size_t size) {
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded < size || rounded > sizeof arena - arena_used) {
        fputs("peer: out of memory\n", stderr);
        exit(70);
    }
    void *memory = arena + arena_used;
    arena_used += rounded;
    return memory;
}

typedef struct {
    const char *bytes;
    size_t count;
} Text;

static bool is(Text text, const char *literal) {
    return text.count == strlen(literal) && memcmp(text.bytes, literal, text.count) == 0;
}

/* A whole file of at most `limit` bytes; bytes is NULL when that fails. */
static Text read_all(int descriptor, size_t limit) {
    char *buffer = allocate(limit + 1);
    size_t count = 0;
    for (;;) {
        ssize_t got = read(descriptor, buffer + count, limit + 1 - count);
        if (got < 0 || count + (size_t)got > limit) return (Text){NULL, 0};
        if (got == 0) return (Text){buffer, count};
        count += (size_t)got;
    }
}

/* A file that nobody else may change, as auth-apple demands of the files that it trusts. */
static Text read_trusted_file(const char *path, mode_t forbidden) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return (Text){NULL, 0};
    struct stat status;
    Text text = {NULL, 0};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (status.st_mode & forbidden) == 0)
        text = read_all(descriptor, 65536);
    close(descriptor);
    return text;
}

/* ---- JSON ---- */

typedef enum { JSON_NULL, JSON_BOOL, JSON_INTEGER, JSON_DECIMAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT } Kind;

typedef struct Value {
    Kind kind;
    bool boolean;
    int64_t integer;
    Text string;        /* JSON_STRING, unescaped */
    Text source;        /* as written */
    Text name;          /* of a member of an object */
    struct Value *first, *next;
} Value;

typedef struct {
    const char *at, *end;
    int depth;
} Reader;

static Value *read_value(Reader *reader);

static void skip_space(Reader *reader) {
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\r' || *reader->at == '\t'))
        reader->at++;
}

static bool take(Reader *reader, char character) {
    if (reader->at == reader->end || *reader->at != character) return false;
    reader->at++;
    return true;
}

static bool read_hex_unit(Reader *reader, uint32_t *unit) {
    if (reader->end - reader->at < 4) return false;
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = *reader->at++;
        uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) return false;
        *unit = *unit << 4 | digit;
    }
    return true;
}

static size_t put_utf8(char *out, uint32_t scalar) {
    if (scalar < 0x80) return out[0] = (char)scalar, 1;
    if (scalar < 0x800) return out[0] = (char)(0xC0 | scalar >> 6), out[1] = (char)(0x80 | (scalar & 63)), 2;
    if (scalar < 0x10000) {
        out[0] = (char)(0xE0 | scalar >> 12);
        out[1] = (char)(0x80 | (scalar >> 6 & 63));
        out[2] = (char)(0x80 | (scalar & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | scalar >> 18);
    out[1] = (char)(0x80 | (scalar >> 12 & 63));
    out[2] = (char)(0x80 | (scalar >> 6 & 63));
    out[3] = (char)(0x80 | (scalar & 63));
    return 4;
}

/* The length of the well-formed UTF-8 sequence at the reader (Unicode, table 3-7), or 0. */
static size_t scalar_length(const Reader *reader) {
    const unsigned char *p = (const unsigned char *)reader->at;
    size_t left = (size_t)(reader->end - reader->at);
    unsigned char low = 0x80, high = 0xBF;
    size_t length;
    if (p[0] < 0x80) return 1;
    if (p[0] >= 0xC2 && p[0] <= 0xDF) length = 2;
    else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        length = 3;
        if (p[0] == 0xE0) low = 0xA0;
        if (p[0] == 0xED) high = 0x9F;
    } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        length = 4;
        if (p[0] == 0xF0) low = 0x90;
        if (p[0] == 0xF4) high = 0x8F;
    } else return 0;
    if (left < length || p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xBF) return 0;
    return length;
}

static bool read_escape(Reader *reader, char *out, size_t *count) {
    if (reader->at == reader->end) return false;
    char c = *reader->at++;
    switch (c) {
    case '"': case '\\': case '/': out[(*count)++] = c; return true;
    case 'b': out[(*count)++] = '\b'; return true;
    case 'f': out[(*count)++] = '\f'; return true;
    case 'n': out[(*count)++] = '\n'; return true;
    case 'r': out[(*count)++] = '\r'; return true;
    case 't': out[(*count)++] = '\t'; return true;
    case 'u': {
        uint32_t unit, low;
        if (!read_hex_unit(reader, &unit)) return false;
        if (unit >= 0xDC00 && unit < 0xE000) return false;
        if (unit >= 0xD800 && unit < 0xDC00) {
            if (!take(reader, '\\') || !take(reader, 'u') || !read_hex_unit(reader, &low)) return false;
            if (low < 0xDC00 || low >= 0xE000) return false;
            unit = 0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00));
        }
        *count += put_utf8(out + *count, unit);
        return true;
    }
    default: return false;
    }
}

static bool read_string(Reader *reader, Text *string) {
    if (!take(reader, '"')) return false;
    const char *start = reader->at;
    /* Without an escape the string is a piece of the input. */
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\') {
        size_t length = (unsigned char)*reader->at < 0x20 ? 0 : scalar_length(reader);
        if (length == 0) return false;
        reader->at += length;
    }
    if (reader->at == reader->end) return false;
    if (*reader->at == '"') {
        *string = (Text){start, (size_t)(reader->at++ - start)};
        return true;
    }
    /* An escape never takes more bytes than it is written with. */
    char *out = allocate((size_t)(reader->end - start));
    size_t count = (size_t)(reader->at - start);
    memcpy(out, start, count);
    while (reader->at < reader->end) {
        if (take(reader, '"')) {
            *string = (Text){out, count};
            return true;
        }
        if (take(reader, '\\')) {
            if (!read_escape(reader, out, &count)) return false;
            continue;
        }
        size_t length = (unsigned char)*reader->at < 0x20 ? 0 : scalar_length(reader);
        if (length == 0) return false;
        memcpy(out + count, reader->at, length);
        count += length;
        reader->at += length;
    }
    return false;
}

static bool read_digits(Reader *reader) {
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
    return reader->at > start;
}

static bool read_number(Reader *reader, Value *value) {
    bool negative = take(reader, '-');
    const char *digits = reader->at;
    if (!read_digits(reader)) return false;
    size_t count = (size_t)(reader->at - digits);
    if (*digits == '0' && count > 1) return false;
    value->kind = JSON_INTEGER;
    if (take(reader, '.')) {
        value->kind = JSON_DECIMAL;
        if (!read_digits(reader)) return false;
    }
    if (take(reader, 'e') || take(reader, 'E')) {
        value->kind = JSON_DECIMAL;
        if (!take(reader, '+')) (void)take(reader, '-');
        if (!read_digits(reader)) return false;
    }
    if (value->kind == JSON_INTEGER) {
        for (size_t i = 0; i < count; i++)
            if (__builtin_mul_overflow(value->integer, (int64_t)10, &value->integer) ||
                __builtin_sub_overflow(value->integer, (int64_t)(digits[i] - '0'), &value->integer)) {
                value->kind = JSON_DECIMAL;
                return true;
            }
        if (!negative && __builtin_sub_overflow((int64_t)0, value->integer, &value->integer))
            value->kind = JSON_DECIMAL;
    }
    return true;
}

static bool read_literal(Reader *reader, const char *literal) {
    size_t count = strlen(literal);
    if ((size_t)(reader->end - reader->at) < count || memcmp(reader->at, literal, count) != 0) return false;
    reader->at += count;
    return true;
}

static bool read_members(Reader *reader, Value *value) {
    bool is_object = *reader->at++ == '{';
    char close = is_object ? '}' : ']';
    value->kind = is_object ? JSON_OBJECT : JSON_ARRAY;
    if (++reader->depth > 32) return false;
    skip_space(reader);
    Value **last = &value->first;
    if (!take(reader, close)) {
        do {
            Text name = {NULL, 0};
            if (is_object) {
                skip_space(reader);
                if (!read_string(reader, &name)) return false;
                for (Value *other = value->first; other; other = other->next)
                    if (other->name.count == name.count && memcmp(other->name.bytes, name.bytes, name.count) == 0)
                        return false;
                skip_space(reader);
                if (!take(reader, ':')) return false;
            }
            Value *member = read_value(reader);
            if (!member) return false;
            member->name = name;
            *last = member;
            last = &member->next;
        } while (take(reader, ','));
        if (!take(reader, close)) return false;
    }
    reader->depth--;
    return true;
}

/* A value with the white space around it. */
static Value *read_value(Reader *reader) {
    skip_space(reader);
    if (reader->at == reader->end) return NULL;
    Value *value = allocate(sizeof *value);
    memset(value, 0, sizeof *value);
    const char *start = reader->at;
    bool good;
    switch (*reader->at) {
    case '{': case '[': good = read_members(reader, value); break;
    case '"': value->kind = JSON_STRING; good = read_string(reader, &value->string); break;
    case 't': value->kind = JSON_BOOL; value->boolean = true; good = read_literal(reader, "true"); break;
    case 'f': value->kind = JSON_BOOL; good = read_literal(reader, "false"); break;
    case 'n': value->kind = JSON_NULL; good = read_literal(reader, "null"); break;
    default: good = read_number(reader, value);
    }
    if (!good) return NULL;
    value->source = (Text){start, (size_t)(reader->at - start)};
    skip_space(reader);
    return value;
}

static Value *parse(Text text) {
    if (!text.bytes) return NULL;
    Reader reader = {text.bytes, text.bytes + text.count, 0};
    Value *value = read_value(&reader);
    return value && reader.at == reader.end ? value : NULL;
}

static const Value *member(const Value *object, const char *name) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (const Value *value = object->first; value; value = value->next)
        if (is(value->name, name)) return value;
    return NULL;
}

static Text string_member(const Value *object, const char *name) {
    const Value *value = member(object, name);
    return value && value->kind == JSON_STRING ? value->string : (Text){NULL, 0};
}

/* ---- A growing text, for what is written ---- */

typedef struct {
    char bytes[16384];
    size_t count;
} Output;

/* Outputs are too large for the stack, and begin empty with each event. */
static struct {
    Output header, claims, token, body, response, line;
} outputs;

static void clear_outputs(void) {
    outputs.header.count = outputs.claims.count = outputs.token.count = 0;
    outputs.body.count = outputs.response.count = outputs.line.count = 0;
}

static void put_bytes(Output *output, const char *bytes, size_t count) {
    if (count > sizeof output->bytes - output->count) {
        fputs("peer: answer too large\n", stderr);
        exit(70);
    }
    memcpy(output->bytes + output->count, bytes, count);
    output->count += count;
}

static void put(Output *output, const char *literal) { put_bytes(output, literal, strlen(literal)); }

static void put_integer(Output *output, int64_t integer) {
    char digits[24];
    put_bytes(output, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)integer));
}

static void put_string(Output *output, Text text) {
    if (!text.bytes) {
        put(output, "null");
        return;
    }
    put(output, "\"");
    for (size_t i = 0; i < text.count; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        char escape[8];
        if (c == '"' || c == '\\') put_bytes(output, (char[]){'\\', (char)c}, 2);
        else if (c == '\n') put(output, "\\n");
        else if (c == '\r') put(output, "\\r");
        else if (c == '\t') put(output, "\\t");
        else if (c < 0x20) put_bytes(output, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
        else put_bytes(output, (const char *)&c, 1);
    }
    put(output, "\"");
}

static Text text_of(const Output *output) { return (Text){output->bytes, output->count}; }

static void write_all(int descriptor, Text text) {
    while (text.count > 0) {
        ssize_t written = write(descriptor, text.bytes, text.count);
        if (written < 0) exit(74);
        text.bytes += written;
        text.count -= (size_t)written;
    }
}

/* ---- base64url (RFC 7515 §2), strictly ---- */

static int sextet(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '-'             ? 62
           : c == '_'             ? 63
                                  : -1;
}

static Text decode(Text text) {
    if (!text.bytes || text.count % 4 == 1) return (Text){NULL, 0};
    char *bytes = allocate(text.count * 3 / 4 + 1);
    size_t count = 0;
    uint32_t bits = 0;
    int pending = 0;
    for (size_t i = 0; i < text.count; i++) {
        int value = sextet(text.bytes[i]);
        if (value < 0) return (Text){NULL, 0};
        bits = bits << 6 | (uint32_t)value;
        pending += 6;
        if (pending >= 8) bytes[count++] = (char)(bits >> (pending -= 8));
    }
    if (bits & ((1u << pending) - 1)) return (Text){NULL, 0};
    return (Text){bytes, count};
}

static Text encode(const unsigned char *bytes, size_t count) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char *text = allocate((count * 4 + 2) / 3);
    size_t length = 0;
    uint32_t bits = 0;
    int pending = 0;
    for (size_t i = 0; i < count; i++) {
        bits = bits << 8 | bytes[i];
        for (pending += 8; pending >= 6;) text[length++] = alphabet[bits >> (pending -= 6) & 63];
    }
    if (pending > 0) text[length++] = alphabet[bits << (6 - pending) & 63];
    return (Text){text, length};
}

/* ---- Keys and signatures ---- */

static BIGNUM *number(Text bytes) {
    return bytes.bytes ? BN_bin2bn((const unsigned char *)bytes.bytes, (int)bytes.count, NULL) : NULL;
}

static EVP_PKEY *key_from(OSSL_PARAM_BLD *builder, const char *type, int selection) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!parameters || !context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, selection, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

static EVP_PKEY *rsa_key(const Value *jwk) {
    BIGNUM *n = number(decode(string_member(jwk, "n"))), *e = number(decode(string_member(jwk, "e")));
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (n && e && BN_num_bits(n) >= 2048 && BN_num_bits(n) <= 8192 && BN_num_bits(e) <= 32 && builder &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        key = key_from(builder, "RSA", EVP_PKEY_PUBLIC_KEY);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

static EVP_PKEY *p256_private_key(const Value *jwk) {
    Text x = decode(string_member(jwk, "x")), y = decode(string_member(jwk, "y")), d = decode(string_member(jwk, "d"));
    if (!is(string_member(jwk, "crv"), "P-256") || !x.bytes || !y.bytes || !d.bytes || x.count != 32 || y.count != 32 ||
        d.count != 32)
        return NULL;
    unsigned char point[65] = {4};
    memcpy(point + 1, x.bytes, 32);
    memcpy(point + 33, y.bytes, 32);
    BIGNUM *scalar = BN_secure_new();
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (scalar && builder && BN_bin2bn((const unsigned char *)d.bytes, 32, scalar) &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar) == 1)
        key = key_from(builder, "EC", EVP_PKEY_KEYPAIR);
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(scalar);
    return key;
}

static bool rs256_is_valid(EVP_PKEY *key, Text message, Text signature) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool valid = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                 EVP_DigestVerify(
                     context, (const unsigned char *)signature.bytes, signature.count,
                     (const unsigned char *)message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    return valid;
}

/* ES256 in the form of JWS: r‖s, 32 bytes each (RFC 7518 §3.4). */
static bool es256_sign(EVP_PKEY *key, Text message, unsigned char raw[64]) {
    unsigned char der[80];
    size_t count = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestSign(context, der, &count, (const unsigned char *)message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    if (!good) return false;
    const unsigned char *at = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)count);
    good = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, 32) == 32 &&
           BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + 32, 32) == 32;
    ECDSA_SIG_free(signature);
    return good;
}

static void sha256(const void *bytes, size_t count, unsigned char digest[32]) {
    if (EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL) != 1) exit(70);
}

static void random_bytes(unsigned char *bytes, int count) {
    if (RAND_bytes(bytes, count) != 1) exit(70);
}

static void hmac_sha256(
    const unsigned char *key, int key_count, const unsigned char *bytes, size_t count, unsigned char code[32]) {
    if (!HMAC(EVP_sha256(), key, key_count, bytes, count, code, NULL)) exit(70);
}

/* RFC 9562 §5.7 */
static void make_uuid(unsigned char uuid[16], int64_t milliseconds) {
    random_bytes(uuid + 6, 10);
    for (int i = 0; i < 6; i++) uuid[i] = (unsigned char)(milliseconds >> (40 - 8 * i));
    uuid[6] = (uuid[6] & 0x0F) | 0x70;
    uuid[8] = (uuid[8] & 0x3F) | 0x80;
}

static Text uuid_text(const unsigned char uuid[16]) {
    char *text = allocate(37), *at = text;
    for (int i = 0; i < 16; i++) at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
    return (Text){text, 36};
}

/* ---- The request ---- */

typedef struct {
    Text token, nonce, full_name, contact_email, device_info;
} Request;

typedef struct {
    Text subject, client_id, email;
    int email_verified, is_private_email; /* -1 when unknown */
} Identity;

typedef struct {
    unsigned char account[16], session[16];
    unsigned char salt[32], secret[32], tag[16]; /* of the refresh token */
    bool is_new;
    Text full_name, email;
    int email_verified, is_private_email;
} SignIn;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    if (!value || !*value) {
        fprintf(stderr, "peer: %s is not set\n", name);
        exit(78);
    }
    return value;
}

/* Apple's Booleans come as Boolean or as string. */
static int apple_bool(const Value *value) {
    if (!value) return -1;
    if (value->kind == JSON_BOOL) return value->boolean;
    if (value->kind == JSON_STRING) return is(value->string, "true") ? 1 : is(value->string, "false") ? 0 : -1;
    return -1;
}

/* Unverified text: at most 200 scalars, control characters dropped; nothing when nothing is left. */
static Text name_text(Text text) {
    if (!text.bytes) return text;
    char *out = allocate(text.count + 1);
    size_t count = 0, scalars = 0;
    for (Reader reader = {text.bytes, text.bytes + text.count, 0}; reader.at < reader.end && scalars < 200;) {
        size_t length = scalar_length(&reader);
        unsigned char c = (unsigned char)reader.at[0];
        bool control = c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)reader.at[1] < 0xA0);
        if (!control) {
            memcpy(out + count, reader.at, length);
            count += length;
            scalars++;
        }
        reader.at += length;
    }
    while (count > 0 && out[count - 1] == ' ') count--;
    while (count > 0 && *out == ' ') out++, count--;
    return count > 0 ? (Text){out, count} : (Text){NULL, 0};
}

static Text full_name(const Value *value) {
    if (!value || value->kind == JSON_STRING) return name_text(value ? value->string : (Text){NULL, 0});
    Text given = string_member(value, "givenName"), family = string_member(value, "familyName");
    if (!given.bytes) given = string_member(value, "given_name");
    if (!family.bytes) family = string_member(value, "family_name");
    given = name_text(given);
    family = name_text(family);
    if (!given.bytes || !family.bytes) return given.bytes ? given : family;
    char *joined = allocate(given.count + family.count + 1);
    memcpy(joined, given.bytes, given.count);
    joined[given.count] = ' ';
    memcpy(joined + given.count + 1, family.bytes, family.count);
    return (Text){joined, given.count + family.count + 1};
}

/* The HTTP status: 0 when the request is good. */
static bool is_cgi(void) { return getenv("GATEWAY_INTERFACE") != NULL; }

static Text variable(const char *name) {
    const char *value = getenv(name);
    return value ? (Text){value, strlen(value)} : (Text){NULL, 0};
}

/* The body as a web server hands it over (RFC 3875): CONTENT_LENGTH bytes of standard input, and no more. */
static int read_cgi(Text *body) {
    Text script = variable("SCRIPT_NAME"), rest = variable("PATH_INFO"), length = variable("CONTENT_LENGTH");
    char *path = allocate(script.count + rest.count + 1);
    if (script.count) memcpy(path, script.bytes, script.count);
    if (rest.count) memcpy(path + script.count, rest.bytes, rest.count);
    if (!is((Text){path, script.count + rest.count}, "/auth/apple")) return 404;
    if (!is(variable("REQUEST_METHOD"), "POST")) return 405;
    Text type = variable("CONTENT_TYPE");
    if (type.count < 16 || memcmp(type.bytes, "application/json", 16) != 0) return 415;
    size_t wanted = 0;
    for (size_t i = 0; i < length.count; i++) {
        if (length.bytes[i] < '0' || length.bytes[i] > '9') return 400;
        wanted = wanted * 10 + (size_t)(length.bytes[i] - '0');
        if (wanted > 65536) return 413;
    }
    char *buffer = allocate(wanted + 1);
    size_t count = 0;
    while (count < wanted) {
        ssize_t got = read(STDIN_FILENO, buffer + count, wanted - count);
        if (got <= 0) return 400;
        count += (size_t)got;
    }
    *body = (Text){buffer, count};
    return 0;
}

static int read_event(Text text, Text *body) {
    const Value *event = parse(text);
    if (!event) return 400;
    if (!is(string_member(event, "path"), "/auth/apple")) return 404;
    if (!is(string_member(event, "method"), "POST")) return 405;
    Text type = string_member(member(event, "headers"), "content-type");
    if (type.count < 16 || memcmp(type.bytes, "application/json", 16) != 0) return 415;
    *body = string_member(event, "body");
    return body->count > 65536 ? 413 : 0;
}

static int read_request(Text event, Request *request) {
    Text text = {NULL, 0};
    int status = is_cgi() ? read_cgi(&text) : read_event(event, &text);
    if (status != 0) return status;
    const Value *body = parse(text);
    const Value *device = member(body, "deviceInfo");
    request->token = string_member(body, "identity_token");
    if (!request->token.bytes || !device || device->kind != JSON_OBJECT || device->source.count > 4096) return 400;
    request->device_info = device->source;
    request->nonce = string_member(body, "nonce");
    request->full_name = full_name(member(body, "full_name"));
    request->contact_email = name_text(string_member(body, "email"));
    return 0;
}

static const Value *key_set(void) {
    static const Value *keys;
    if (!keys) keys = member(parse(read_trusted_file(setting("PEER_KEY_SET"), 022)), "keys");
    return keys;
}

static const Value *key_named(Text key_id) {
    const Value *keys = key_set();
    const Value *found = NULL;
    if (!keys || keys->kind != JSON_ARRAY) return NULL;
    for (const Value *key = keys->first; key; key = key->next) {
        Text name = string_member(key, "kid");
        if (!name.bytes || name.count != key_id.count || memcmp(name.bytes, key_id.bytes, name.count) != 0) continue;
        if (found) return NULL;
        found = key;
    }
    Text use = string_member(found, "use"), algorithm = string_member(found, "alg");
    bool usable = is(string_member(found, "kty"), "RSA") && (!use.bytes || is(use, "sig")) &&
                  (!algorithm.bytes || is(algorithm, "RS256"));
    return usable ? found : NULL;
}

/* The key that verifies what `jwk` signed. The last one is kept: Apple signs with one key for months. */
static EVP_PKEY *verification_key(const Value *jwk) {
    static const Value *last;
    static EVP_PKEY *key;
    if (!jwk || jwk == last) return jwk ? key : NULL;
    EVP_PKEY_free(key);
    key = rsa_key(jwk);
    last = jwk;
    return key;
}

static bool audience_is_ours(Text audience) {
    for (const char *at = setting("AUTH_APPLE_AUDIENCES"); *at;) {
        size_t count = strcspn(at, ",");
        if (count == audience.count && memcmp(at, audience.bytes, count) == 0) return true;
        at += count + (at[count] == ',');
    }
    return false;
}

static bool nonce_matches(const Value *claims, Text nonce) {
    const Value *claim = member(claims, "nonce");
    if (!claim) return !nonce.bytes || apple_bool(member(claims, "nonce_supported")) == 0;
    if (claim->kind != JSON_STRING) return false;
    if (!nonce.bytes) return true;
    if (claim->string.count == nonce.count && CRYPTO_memcmp(claim->string.bytes, nonce.bytes, nonce.count) == 0)
        return true;
    unsigned char digest[32], decoded[32];
    sha256(nonce.bytes, nonce.count, digest);
    if (claim->string.count == 64) {
        for (size_t i = 0; i < 64; i++) {
            char c = claim->string.bytes[i];
            int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
            if (digit < 0) return false;
            decoded[i / 2] = (unsigned char)(i % 2 ? decoded[i / 2] | digit : digit << 4);
        }
        return CRYPTO_memcmp(decoded, digest, 32) == 0;
    }
    Text bytes = decode(claim->string);
    return bytes.bytes && bytes.count == 32 && CRYPTO_memcmp(bytes.bytes, digest, 32) == 0;
}

static bool verify(const Request *request, int64_t now, Identity *identity) {
    Text token = request->token;
    if (token.count > 8192) return false;
    const char *first = memchr(token.bytes, '.', token.count);
    if (!first) return false;
    const char *end = token.bytes + token.count, *second = memchr(first + 1, '.', (size_t)(end - first - 1));
    if (!second || memchr(second + 1, '.', (size_t)(end - second - 1))) return false;
    Text header_bytes = decode((Text){token.bytes, (size_t)(first - token.bytes)});
    Text payload = decode((Text){first + 1, (size_t)(second - first - 1)});
    Text signature = decode((Text){second + 1, (size_t)(end - second - 1)});
    const Value *header = parse(header_bytes);
    if (!header || !payload.bytes || !signature.bytes) return false;
    if (!is(string_member(header, "alg"), "RS256") || member(header, "crit")) return false;
    Text key_id = string_member(header, "kid");
    if (!key_id.bytes || key_id.count == 0 || key_id.count > 64) return false;

    EVP_PKEY *key = verification_key(key_named(key_id));
    if (!key || !rs256_is_valid(key, (Text){token.bytes, (size_t)(second - token.bytes)}, signature)) return false;

    const Value *claims = parse(payload);
    if (!is(string_member(claims, "iss"), "https://appleid.apple.com")) return false;
    const Value *audience = member(claims, "aud");
    bool ours = false;
    if (audience && audience->kind == JSON_STRING) {
        ours = audience_is_ours(audience->string);
        identity->client_id = audience->string;
    }
    if (audience && audience->kind == JSON_ARRAY)
        for (const Value *each = audience->first; each; each = each->next) {
            if (each->kind != JSON_STRING) return false;
            if (!ours && audience_is_ours(each->string)) {
                ours = true;
                identity->client_id = each->string;
            }
        }
    if (!ours) return false;
    const Value *expiry = member(claims, "exp"), *issued = member(claims, "iat");
    if (!expiry || !issued || expiry->kind != JSON_INTEGER || issued->kind != JSON_INTEGER) return false;
    if (now - 60 >= expiry->integer || issued->integer > now + 60 || issued->integer < now - 86400 - 60) return false;
    identity->subject = string_member(claims, "sub");
    if (!identity->subject.bytes || identity->subject.count == 0 || identity->subject.count > 255) return false;
    if (!nonce_matches(claims, request->nonce)) return false;
    identity->email = string_member(claims, "email");
    identity->email_verified = apple_bool(member(claims, "email_verified"));
    /* Not said is not private. */
    identity->is_private_email = !identity->email.bytes ? -1 : apple_bool(member(claims, "is_private_email")) == 1;
    return true;
}

/* ---- The store ---- */

static void check(int result, sqlite3 *database) {
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
    fprintf(stderr, "peer: store: %s\n", database ? sqlite3_errmsg(database) : sqlite3_errstr(result));
    exit(75);
}

/* The statement of a slot, prepared when it is first wanted. */
static sqlite3_stmt *prepared(sqlite3_stmt **slot, sqlite3 *database, const char *sql) {
    if (!*slot) check(sqlite3_prepare_v2(database, sql, -1, slot, NULL), database);
    return *slot;
}

static void execute(sqlite3 *database, const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL), database);
}

static void bind_text(sqlite3_stmt *statement, int index, Text text) {
    if (text.bytes) check(sqlite3_bind_text(statement, index, text.bytes, (int)text.count, SQLITE_STATIC), NULL);
    else check(sqlite3_bind_null(statement, index), NULL);
}

static void bind_flag(sqlite3_stmt *statement, int index, int flag) {
    if (flag >= 0) check(sqlite3_bind_int(statement, index, flag), NULL);
    else check(sqlite3_bind_null(statement, index), NULL);
}

static void bind_blob(sqlite3_stmt *statement, int index, const unsigned char *bytes, int count) {
    check(sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC), NULL);
}

static Text column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    if (!text) return (Text){NULL, 0};
    size_t count = (size_t)sqlite3_column_bytes(statement, column);
    char *copy = allocate(count + 1);
    memcpy(copy, text, count);
    return (Text){copy, count};
}

static int column_flag(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? -1 : sqlite3_column_int(statement, column);
}

static void finish(sqlite3 *database, sqlite3_stmt *statement) {
    check(sqlite3_step(statement), database);
    check(sqlite3_reset(statement), database);
}

/* Keeps the log short, as auth-apple does: else every process would copy all of it again, once it is long. */
static int limit_log(void *context, sqlite3 *database, const char *name, int pages) {
    (void)context;
    if (pages >= 250) sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return SQLITE_OK;
}

static sqlite3 *database;

static void open_store(void) {
    if (database) return;
    const char *url = setting("AUTH_APPLE_STORE");
    if (strncmp(url, "sqlite:", 7) != 0) exit(78);
    check(sqlite3_open_v2(url + 7, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL), database);
    check(sqlite3_busy_timeout(database, 5000), database);
    /* The last to close would checkpoint and delete the log; the next start would make it again. */
    check(sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), database);
    int persist = 1;
    check(sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &persist), database);
    sqlite3_wal_hook(database, limit_log, NULL);
    execute(database, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;");
    sqlite3_stmt *version = NULL;
    check(sqlite3_step(prepared(&version, database, "PRAGMA user_version")), database);
    if (sqlite3_column_int(version, 0) < 1) {
        fputs("peer: the store has no schema\n", stderr);
        exit(75);
    }
    check(sqlite3_finalize(version), database);
}

static void close_store(void) {
    if (!database) return;
    for (sqlite3_stmt *statement; (statement = sqlite3_next_stmt(database, NULL));) sqlite3_finalize(statement);
    check(sqlite3_close(database), NULL);
}

static void insert_account(
    const Identity *identity, const Request *request, int64_t now, SignIn *outcome) {
    make_uuid(outcome->account, now);
    outcome->is_new = true;
    outcome->full_name = request->full_name;
    outcome->email = identity->email;
    outcome->email_verified = identity->email_verified;
    outcome->is_private_email = identity->is_private_email;
    static sqlite3_stmt *kept;
    sqlite3_stmt *insert = prepared(
        &kept, database,
        "INSERT INTO accounts (id, apple_sub, full_name, email, email_verified, is_private_email, contact_email,"
        " created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)");
    bind_blob(insert, 1, outcome->account, 16);
    bind_text(insert, 2, identity->subject);
    bind_text(insert, 3, outcome->full_name);
    bind_text(insert, 4, outcome->email);
    bind_flag(insert, 5, outcome->email_verified);
    bind_flag(insert, 6, outcome->is_private_email);
    bind_text(insert, 7, identity->email.bytes ? (Text){NULL, 0} : request->contact_email);
    check(sqlite3_bind_int64(insert, 8, now), database);
    finish(database, insert);
}

static bool differs(Text left, Text right) {
    return left.count != right.count || (left.count > 0 && memcmp(left.bytes, right.bytes, left.count) != 0);
}

/* The account that `select` stands on learns what was empty; Apple's address follows Apple. */
static void update_account(
    sqlite3_stmt *select, const Identity *identity, const Request *request, int64_t now, SignIn *outcome) {
    if (sqlite3_column_bytes(select, 0) != 16) exit(75);
    memcpy(outcome->account, sqlite3_column_blob(select, 0), 16);
    Text name = column_text(select, 1), email = column_text(select, 2), contact = column_text(select, 5);
    int verified = column_flag(select, 3), private = column_flag(select, 4);
    outcome->full_name = name.bytes ? name : request->full_name;
    outcome->email = identity->email.bytes ? identity->email : email;
    outcome->email_verified = identity->email.bytes ? identity->email_verified : verified;
    outcome->is_private_email = identity->email.bytes ? identity->is_private_email : private;
    Text new_contact = contact.bytes || identity->email.bytes ? contact : request->contact_email;
    if (!differs(outcome->full_name, name) && !differs(outcome->email, email) && !differs(new_contact, contact) &&
        outcome->email_verified == verified && outcome->is_private_email == private)
        return;
    static sqlite3_stmt *kept;
    sqlite3_stmt *update = prepared(
        &kept, database,
        "UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,"
        " contact_email = ?6, updated_at = ?7 WHERE id = ?1");
    bind_blob(update, 1, outcome->account, 16);
    bind_text(update, 2, outcome->full_name);
    bind_text(update, 3, outcome->email);
    bind_flag(update, 4, outcome->email_verified);
    bind_flag(update, 5, outcome->is_private_email);
    bind_text(update, 6, new_contact);
    check(sqlite3_bind_int64(update, 7, now), database);
    finish(database, update);
}

/* A session with its first refresh token: random, and with a tag under the session's salt that shows that we made it. */
static void insert_session(const Identity *identity, const Request *request, int64_t now, SignIn *outcome) {
    unsigned char digest[32], named[48], code[32];
    make_uuid(outcome->session, now);
    random_bytes(outcome->salt, sizeof outcome->salt);
    random_bytes(outcome->secret, sizeof outcome->secret);
    memcpy(named, outcome->session, 16);
    memcpy(named + 16, outcome->secret, 32);
    hmac_sha256(outcome->salt, sizeof outcome->salt, named, sizeof named, code);
    memcpy(outcome->tag, code, sizeof outcome->tag);
    sha256(outcome->secret, sizeof outcome->secret, digest);
    static sqlite3_stmt *kept;
    sqlite3_stmt *insert = prepared(
        &kept, database,
        "INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at,"
        " created_at, last_used_at, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)");
    bind_blob(insert, 1, outcome->session, 16);
    bind_blob(insert, 2, outcome->account, 16);
    bind_text(insert, 3, identity->client_id);
    bind_text(insert, 4, request->device_info);
    bind_blob(insert, 5, outcome->salt, sizeof outcome->salt);
    bind_blob(insert, 6, digest, sizeof digest);
    check(sqlite3_bind_int64(insert, 7, now + 2592000000), database);
    check(sqlite3_bind_int64(insert, 8, now), database);
    check(sqlite3_bind_int64(insert, 9, now + 31536000000), database);
    finish(database, insert);
}

/* What happened, for the audit: the account was created, if it was, and somebody signed in. */
static void append_audit(Text request_id, int64_t now, const SignIn *outcome) {
    static sqlite3_stmt *kept;
    sqlite3_stmt *insert = prepared(
        &kept, database,
        "INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?1,"
        " 1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5)");
    for (int signed_in = outcome->is_new ? 0 : 1; signed_in <= 1; signed_in++) {
        bind_blob(insert, 1, outcome->account, 16);
        check(sqlite3_bind_int64(insert, 2, now), database);
        bind_text(insert, 3, signed_in ? (Text){"signed_in", 9} : (Text){"account_created", 15});
        if (signed_in) bind_blob(insert, 4, outcome->session, 16);
        else check(sqlite3_bind_null(insert, 4), database);
        bind_text(insert, 5, request_id);
        finish(database, insert);
    }
}

static void sign_in(
    const Identity *identity, const Request *request, Text request_id, int64_t now, SignIn *outcome) {
    open_store();
    execute(database, "BEGIN IMMEDIATE");
    static sqlite3_stmt *kept;
    sqlite3_stmt *select = prepared(
        &kept, database,
        "SELECT id, full_name, email, email_verified, is_private_email, contact_email, disabled_at FROM accounts"
        " WHERE apple_sub = ?1");
    bind_text(select, 1, identity->subject);
    int row = sqlite3_step(select);
    check(row, database);
    if (row == SQLITE_ROW) {
        if (sqlite3_column_type(select, 6) != SQLITE_NULL) exit(77); /* a disabled account; never in a benchmark */
        update_account(select, identity, request, now, outcome);
    } else {
        insert_account(identity, request, now, outcome);
    }
    check(sqlite3_reset(select), database);
    insert_session(identity, request, now, outcome);
    append_audit(request_id, now, outcome);
    execute(database, "COMMIT");
}

/* ---- The answer ---- */

typedef struct {
    Text key_id;
    EVP_PKEY *key;
} SigningKey;

static const SigningKey *signing_key(void) {
    static SigningKey signing;
    if (signing.key) return &signing;
    const Value *file = parse(read_trusted_file(setting("AUTH_APPLE_SIGNING_KEYS_FILE"), 077));
    const Value *keys = member(file, "keys");
    const Value *jwk = keys && keys->kind == JSON_ARRAY ? keys->first : file;
    /* Of several keys the current one signs. */
    while (keys && jwk && !is(string_member(jwk, "state"), "current")) jwk = jwk->next;
    signing = (SigningKey){string_member(jwk, "kid"), p256_private_key(jwk)};
    if (!signing.key) {
        fputs("peer: no signing key\n", stderr);
        exit(78);
    }
    return &signing;
}

static Text access_token(const Identity *identity, const SignIn *outcome, int64_t now) {
    const SigningKey *signing = signing_key();
    unsigned char identifier[16];
    make_uuid(identifier, now);

    Output *header = &outputs.header, *claims = &outputs.claims, *token = &outputs.token;
    put(header, "{\"alg\":\"ES256\",\"kid\":");
    put_string(header, signing->key_id);
    put(header, ",\"typ\":\"at+jwt\"}");
    put(claims, "{\"iss\":");
    const char *issuer = setting("AUTH_APPLE_TOKEN_ISSUER"), *audience = setting("AUTH_APPLE_TOKEN_AUDIENCE");
    put_string(claims, (Text){issuer, strlen(issuer)});
    put(claims, ",\"aud\":");
    put_string(claims, (Text){audience, strlen(audience)});
    put(claims, ",\"sub\":");
    put_string(claims, uuid_text(outcome->account));
    put(claims, ",\"client_id\":");
    put_string(claims, identity->client_id);
    put(claims, ",\"sid\":");
    put_string(claims, uuid_text(outcome->session));
    put(claims, ",\"iat\":");
    put_integer(claims, now / 1000);
    put(claims, ",\"exp\":");
    put_integer(claims, now / 1000 + 900);
    put(claims, ",\"jti\":");
    put_string(claims, uuid_text(identifier));
    put(claims, "}");

    Text part = encode((const unsigned char *)header->bytes, header->count);
    put_bytes(token, part.bytes, part.count);
    put(token, ".");
    part = encode((const unsigned char *)claims->bytes, claims->count);
    put_bytes(token, part.bytes, part.count);
    unsigned char signature[64];
    if (!es256_sign(signing->key, text_of(token), signature)) exit(70);
    put(token, ".");
    part = encode(signature, sizeof signature);
    put_bytes(token, part.bytes, part.count);
    return text_of(token);
}

static void put_flag(Output *output, bool flag) { put(output, flag ? "true" : "false"); }

static void put_session(Output *body, const SignIn *outcome, Text access, Text refresh) {
    put(body, "{\"access_token\":");
    put_string(body, access);
    put(body, ",\"token_type\":\"Bearer\",\"expires_in\":900,\"refresh_token\":");
    put_string(body, refresh);
    put(body, ",\"refresh_expires_in\":2592000,\"is_new\":");
    put_flag(body, outcome->is_new);
    put(body, ",\"user\":{\"id\":");
    put_string(body, uuid_text(outcome->account));
    put(body, ",\"full_name\":");
    put_string(body, outcome->full_name);
    put(body, ",\"email\":");
    put_string(body, outcome->email);
    put(body, ",\"email_verified\":");
    put_flag(body, outcome->email_verified == 1);
    put(body, ",\"is_private_email\":");
    put_flag(body, outcome->is_private_email == 1);
    put(body, "},\"session\":{\"id\":");
    put_string(body, uuid_text(outcome->session));
    put(body, "}}");
}

static void respond(int status, const char *type, Text body) {
    Output *response = &outputs.response;
    if (is_cgi()) {
        put(response, "Status: ");
        put_integer(response, status);
        put(response, " \r\nContent-Type: ");
        put(response, type);
        put(response, "\r\nCache-Control: no-store\r\n\r\n");
        put_bytes(response, body.bytes, body.count);
        write_all(STDOUT_FILENO, text_of(response));
        return;
    }
    put(response, "{\"statusCode\":");
    put_integer(response, status);
    put(response, ",\"headers\":{\"content-type\":\"");
    put(response, type);
    put(response, "\",\"cache-control\":\"no-store\"},\"body\":");
    put_string(response, body);
    put(response, ",\"isBase64Encoded\":false}\n");
    write_all(STDOUT_FILENO, text_of(response));
}

static void log_line(
    int status, const Identity *identity, Text request_id, bool is_new, const struct timespec *began) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double milliseconds =
        (double)(now.tv_sec - began->tv_sec) * 1e3 + (double)(now.tv_nsec - began->tv_nsec) / 1e6;
    unsigned char digest[32] = {0};
    if (identity->subject.bytes) sha256(identity->subject.bytes, identity->subject.count, digest);
    Output *line = &outputs.line;
    char text[160], date[32];
    struct tm parts;
    gmtime_r(&now.tv_sec, &parts);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    put_bytes(line, text, (size_t)snprintf(
        text, sizeof text, "{\"time\":\"%s.%03ldZ\",\"route\":\"POST /auth/apple\",\"status\":%d,\"ms\":%.3f,", date,
        now.tv_nsec / 1000000, status, milliseconds));
    put(line, "\"request_id\":");
    put_string(line, request_id);
    put(line, ",\"sub\":");
    put_string(line, encode(digest, 16));
    put(line, is_new ? ",\"created\":true}\n" : ",\"created\":false}\n");
    write_all(STDERR_FILENO, text_of(line));
}


/* One event in, one response out, one line in the log. */
static void serve(Text event) {
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    int64_t now = (int64_t)began.tv_sec * 1000 + began.tv_nsec / 1000000;
    Request request = {0};
    Identity identity = {0};
    SignIn outcome = {0};
    unsigned char request_number[16];
    random_bytes(request_number, sizeof request_number);
    Text request_id = encode(request_number, sizeof request_number);
    int status = read_request(event, &request);
    if (status == 0 && !verify(&request, now / 1000, &identity)) status = 401;
    if (status != 0) {
        const char *problem = "{\"type\":\"about:blank\",\"title\":\"The request was refused\"}";
        respond(status, "application/problem+json", (Text){problem, strlen(problem)});
    } else {
        sign_in(&identity, &request, request_id, now, &outcome);
        status = outcome.is_new ? 201 : 200;
        /* The refresh token names its session. */
        unsigned char refresh[64];
        memcpy(refresh, outcome.session, 16);
        memcpy(refresh + 16, outcome.secret, 32);
        memcpy(refresh + 48, outcome.tag, 16);
        Text access = access_token(&identity, &outcome, now);
        put_session(&outputs.body, &outcome, access, encode(refresh, sizeof refresh));
        respond(status, "application/json", text_of(&outputs.body));
    }
    log_line(status, &identity, request_id, outcome.is_new, &began);
}

/* One event a line. What is kept from one to the next is read first, below the mark that the arena goes back to. */
static int serve_lines(void) {
    static char buffer[131072];
    size_t count = 0;
    (void)key_set();
    (void)signing_key();
    size_t mark = arena_used;
    for (;;) {
        char *end = memchr(buffer, '\n', count);
        if (end) {
            serve((Text){buffer, (size_t)(end - buffer)});
            arena_used = mark;
            clear_outputs();
            count -= (size_t)(end + 1 - buffer);
            memmove(buffer, end + 1, count);
            continue;
        }
        ssize_t got = count < sizeof buffer ? read(STDIN_FILENO, buffer + count, sizeof buffer - count) : -1;
        if (got < 0) return 74;
        if (got == 0) return 0;
        count += (size_t)got;
    }
}

int main(int count, char **arguments) {
    /* As auth-apple does: openssl.cnf is not read. */
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1) return 70;
    int status = 0;
    if (count == 2 && strcmp(arguments[1], "lines") == 0) status = serve_lines();
    else serve(is_cgi() ? (Text){NULL, 0} : read_all(STDIN_FILENO, 131072));
    close_store();
    return status;
}
