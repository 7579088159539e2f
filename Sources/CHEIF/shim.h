// libheif's encoder. Swift sees all of it; libvips' saver, which uses it too, has colours rounded to YCbCr before 8.15.
#pragma once
#include <libheif/heif.h>
