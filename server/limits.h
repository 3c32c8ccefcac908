// What clients of sockets may use of the server. 0 means "no limit" unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kenaz {

struct Limits {
  int connections = 2000;  // at least 1; also of named sessions
  size_t variables = 100'000;
  int64_t session_bytes = 0;
  int64_t client_bytes = 0;  // on sockets kSocketClientBytes unless the user says otherwise
  size_t line_bytes = size_t{1} << 20;  // at least 1
  int64_t upload_bytes = int64_t{16} << 30;
  double call_seconds = 0;     // on sockets kSocketCallSeconds unless the user says otherwise
  double upload_seconds = 60;  // in which a hundredth of an upload must come
  int loaded = 4;              // programs of clients at a time; at least 1
  int loaded_each = 0;         // .. of one client; 0: all but one
  int64_t loaded_bytes = int64_t{1} << 30;  // of memory, of each
  double load_seconds = 60;                 // for the compilation of one
  double idle_seconds = 3600;               // of a connection without a command
  double session_seconds = 600;             // of a named session without a connection
  double drain_seconds = 30;                // after SIGTERM; 0: at once
};

inline constexpr double kSocketCallSeconds = 300;
inline constexpr int64_t kSocketClientBytes = int64_t{1} << 30;

}  // namespace kenaz
