#include "client/lib/pipes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kenaz::client {
namespace {

TEST(Pipes, AreWidenedAndNeverMadeSmaller) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const int first = ::fcntl(fds[0], F_GETPIPE_SZ);
  widen_pipe(fds[0]);
  const int wide = ::fcntl(fds[1], F_GETPIPE_SZ);
  if (wide == first) GTEST_SKIP() << "pipes may not grow here";
  EXPECT_EQ(wide, 256 << 10);
  const int wider = ::fcntl(fds[1], F_SETPIPE_SZ, 512 << 10);
  widen_pipe(fds[1]);
  EXPECT_EQ(::fcntl(fds[0], F_GETPIPE_SZ), wider);
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST(Pipes, WhatIsNoPipeIsLeftAlone) {
  widen_pipe(-1);
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  widen_pipe(file);
  char byte = 0;
  EXPECT_EQ(::write(file, &byte, 1), 1);
  ::close(file);
}

}  // namespace
}  // namespace kenaz::client
