#include "OpenSSLShim.h"
