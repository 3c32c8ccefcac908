// Asio as this folder uses it.
#pragma once

#include <asio.hpp>
#include <asio/ssl.hpp>
