#include "server/descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace kenaz {

void close_descriptors_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = first; fd < most; ++fd) close(fd);
}

}  // namespace kenaz
