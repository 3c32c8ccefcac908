#include "server/workers/confine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <vector>

#include "protocol/base/sanitizers.h"
#include "server/workers/process_memory.h"

namespace kenaz {
namespace {

tl::unexpected<Error> lacks(const char* what) {
  return internal_error(
      fmt::format("a program cannot be confined: {}: {}", what, std::strerror(errno)));
}

// ---- limits

Status limit(int resource, rlim_t most, const char* what) {
  const rlimit both{most, most};
  // The resource's type is an enumeration in C only.
  if (setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0) return lacks(what);
  return {};
}

/// Memory in RAM is watched from outside (see Workers): this is what a process that asks for much
/// at once runs into. Threads' stacks, of which little is used, are addresses as well.
Status limit_resources(const Confinement& how) {
  KENAZ_TRY(limit(RLIMIT_CORE, 0, "RLIMIT_CORE"));
  KENAZ_TRY(limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE"));
  KENAZ_TRY(limit(RLIMIT_MSGQUEUE, 0, "RLIMIT_MSGQUEUE"));
  constexpr rlim_t kForStacks = rlim_t{2} << 30;
  // Sanitizers reserve terabytes.
  const rlim_t has =
      KENAZ_IS_SANITIZED ? 0 : static_cast<rlim_t>(process_memory("self").address_space);
  if (how.memory > 0 && has > 0) {
    KENAZ_TRY(limit(RLIMIT_AS, has + kForStacks + static_cast<rlim_t>(how.memory), "RLIMIT_AS"));
  }
  return {};
}

// ---- files: Landlock, as the kernel's documentation describes it (userspace-api/landlock)

// Not in the headers of older systems, whose kernels may be newer.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kVersionFlag = 1;
constexpr int kRulePathBeneath = 1;
struct Ruleset {
  uint64_t files = 0, network = 0, scoped = 0;
};
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed;
  int32_t folder;
};
constexpr uint64_t kExecute = 1, kWrite = 2, kRead = 4, kReadFolder = 8;
constexpr uint64_t kIoctl = uint64_t{1} << 15;

/// All that this version of Landlock can refuse.
Ruleset everything(long version) {
  Ruleset all;
  constexpr std::array kFileRights{0, 13, 14, 15, 15};  // how many, by version; then all
  constexpr int kAll = 16;
  const auto v = static_cast<size_t>(version);
  all.files = (uint64_t{1} << (v < kFileRights.size() ? kFileRights[v] : kAll)) - 1;
  constexpr long kNetworkSince = 4, kScopesSince = 6;
  if (version >= kNetworkSince) all.network = 3;  // bind, connect
  if (version >= kScopesSince) all.scoped = 3;    // abstract sockets, signals
  return all;
}

void allow_driver_files(int ruleset, uint64_t known) {
  struct {
    const char* path;
    uint64_t rights;
  } const kPaths[] = {{"/dev/dri", kRead | kWrite | kReadFolder | kIoctl},
                      {"/dev/nvidiactl", kRead | kWrite | kIoctl},
                      {"/dev/nvidia-uvm", kRead | kWrite | kIoctl},
                      {"/dev/nvidia-modeset", kRead | kWrite | kIoctl},
                      {"/dev/nvidia0", kRead | kWrite | kIoctl},
                      {"/dev/nvidia1", kRead | kWrite | kIoctl},
                      {"/proc/driver", kRead | kReadFolder},
                      {"/sys", kRead | kReadFolder},
                      {"/usr/lib", kRead | kReadFolder | kExecute}};
  for (const auto& [path, rights] : kPaths) {
    const int folder = open(path, O_PATH | O_CLOEXEC);
    if (folder < 0) continue;
    const PathBeneath rule{rights & known, folder};
    syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0U);
    close(folder);
  }
}

/// Where the kernel has no Landlock, the system calls that are refused must do.
Status close_files(const Confinement& how) {
  const long version = syscall(kCreateRuleset, nullptr, size_t{0}, kVersionFlag);
  if (version < 1) return how.driver_files ? lacks("Landlock") : Status();
  const Ruleset all = everything(version);
  const auto ruleset = static_cast<int>(syscall(kCreateRuleset, &all, sizeof all, 0U));
  if (ruleset < 0) return lacks("Landlock");
  if (how.driver_files) allow_driver_files(ruleset, all.files);
  const bool restricted = syscall(kRestrictSelf, ruleset, 0U) == 0;
  close(ruleset);
  if (!restricted) return lacks("Landlock");
  return {};
}

// ---- system calls

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

/// What computing takes: memory, threads, time, and the descriptors that are open.
constexpr long kAllowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_recvfrom,
    SYS_sendto,

    SYS_close,
    SYS_lseek,
    SYS_ppoll,
    SYS_shutdown,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_membarrier,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_getpid,
    SYS_gettid,
    SYS_getrandom,
    SYS_sysinfo,
    SYS_uname,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_times,
    SYS_getcpu,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_time
    SYS_time,
#endif
#ifdef SYS_getrlimit
    SYS_getrlimit,
#endif
};

/// And what drivers of GPUs do, on files that Landlock lets them open.
constexpr long kOfDrivers[] = {
    SYS_ioctl,
    SYS_openat,
    SYS_newfstatat,
    SYS_fstat,
    SYS_fcntl,
    SYS_dup,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_mlock,
    SYS_munlock,
    SYS_memfd_create,
    SYS_sched_setaffinity,
#ifdef SYS_open
    SYS_open,
    SYS_stat,
    SYS_access,
    SYS_readlink,
    SYS_select,
#endif
};

class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }

  void allow(long number) {
    if_call(number);
    answer(SECCOMP_RET_ALLOW);
  }
  void refuse(long number, int error) {
    if_call(number);
    answer(refusal(error));
  }
  /// If the argument, of 32 bits, is `value`; or has all of these bits.
  void allow_if(long number, int argument, uint32_t value, bool bits = false) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 4));
    load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(argument));
    const uint16_t test = bits ? BPF_JSET : BPF_JEQ;
    program_.push_back(BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 1));
    answer(SECCOMP_RET_ALLOW);
    answer(refusal(EPERM));
  }

  /// All others are refused. For all threads.
  bool install() {
    answer(refusal(EPERM));
    sock_fprog program{static_cast<uint16_t>(program_.size()), program_.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  static uint32_t refusal(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }
  void load(size_t offset) {
    program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  /// The next statement is for this call only.
  void if_call(long number) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
  }
  void answer(uint32_t what) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }

  std::vector<sock_filter> program_;
};

Status refuse_calls(const Confinement& how) {
  if (kArchitecture == 0) return internal_error("a program cannot be confined on this processor");
  Filter filter;
  for (const long number : kAllowed) filter.allow(number);
  if (how.driver_files) {
    for (const long number : kOfDrivers) filter.allow(number);
  }
  // Threads, but no processes. Which of them clone3 is to make cannot be seen here, and whoever
  // finds that there is none takes the older call.
  constexpr uint32_t kCloneThread = 0x10000;
  filter.refuse(SYS_clone3, ENOSYS);
  filter.allow_if(SYS_clone, 0, kCloneThread, true);
  const auto self = static_cast<uint32_t>(getpid());
  filter.allow_if(SYS_tgkill, 0, self);  // as abort() does
  filter.allow_if(SYS_prctl, 0, PR_SET_NAME);
  if (!filter.install()) return lacks("seccomp");
  return {};
}

}  // namespace

Status confine(const Confinement& how) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return lacks("no_new_privs");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return lacks("dumpable");
  KENAZ_TRY(limit_resources(how));
  KENAZ_TRY(close_files(how));
  return refuse_calls(how);
}

}  // namespace kenaz
