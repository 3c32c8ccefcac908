#include "client/lib/pipes.h"

#include <fcntl.h>

namespace kenaz::client {

void widen_pipe(int fd) {
  constexpr int kBytes = 256 << 10;  // more than that does not stay in a core's cache
  const int now = ::fcntl(fd, F_GETPIPE_SZ);
  if (now >= 0 && now < kBytes) ::fcntl(fd, F_SETPIPE_SZ, kBytes);
}

}  // namespace kenaz::client
