// Asio as this folder uses it.
#pragma once

#include "server/transport/openssl.h"

// After OpenSSL.
#include <asio.hpp>
#include <asio/ssl.hpp>
