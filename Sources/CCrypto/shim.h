// SHA-256 from OpenSSL's libcrypto, which uses the processor's SHA instructions and does not lengthen the build
// (swift-crypto would add minutes). Only the EVP digest interface, HMAC and a comparison in constant time are used.
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
