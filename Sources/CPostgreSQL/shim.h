// The folder of libpq's headers differs between systems; pkg-config names it.
#pragma once
#include <libpq-fe.h>
