// SHA-256 by OpenSSL's libcrypto: it uses the processor's SHA instructions and adds nothing to the build
// (swift-crypto would add minutes). Only the EVP digest interface is used.
#pragma once
#include <openssl/evp.h>
