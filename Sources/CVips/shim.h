// libvips' operations are variadic C functions, which Swift cannot call. Each wrapper in these headers fixes the
// options that Cameo uses, so that the option names (strings that the compiler cannot check) are in one place.
//
// All return libvips' own result: 0, or -1 with text in vips_error_buffer(). `out` is a new reference, which the caller
// drops with g_object_unref. Written for libvips 8.14 to 8.17; renamed options are behind CAMEO_VIPS_AT_LEAST.
#pragma once
#include <vips/vips.h>

#define CAMEO_VIPS_AT_LEAST(major, minor)                                                                              \
    (VIPS_MAJOR_VERSION > (major) || (VIPS_MAJOR_VERSION == (major) && VIPS_MINOR_VERSION >= (minor)))

#include "compute.h"
#include "load.h"
#include "look.h"
#include "operate.h"
#include "pixels.h"
#include "save.h"
#include "text.h"
