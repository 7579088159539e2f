// SHA-256 from OpenSSL's libcrypto, which uses the processor's SHA instructions and does not lengthen the build
// (swift-crypto would add minutes). Only the EVP digest interface is used.
#pragma once
#include <openssl/evp.h>
