// Figures for people.
#pragma once

#include <cstdint>
#include <string>

namespace kenaz::bench {

/// "12 us", "12.5 ms"; servers count whole microseconds, so "< 1 us" if it is less.
std::string duration_text(double microseconds);
/// "512 B", "16.0 MiB".
std::string bytes_text(double bytes);
/// Gigabytes (10^9 bytes) a second, without the unit; "-" if there is no time or nothing was moved.
std::string rate_text(double bytes, double microseconds);

}  // namespace kenaz::bench
