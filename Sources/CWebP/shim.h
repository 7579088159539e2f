// libwebp's encoder. Swift sees all of it; libvips' saver, which uses it too, adds metadata that would have to be taken off.
#pragma once
#include <webp/encode.h>

static inline int cameo_webp_error(const WebPPicture *picture) { return (int)picture->error_code; }
