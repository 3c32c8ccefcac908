#include "server/workers/process_memory.h"

#include <unistd.h>

#include <cstdio>

namespace kenaz {

ProcessMemory process_memory(const std::string& process) {
  std::FILE* file = std::fopen(("/proc/" + process + "/statm").c_str(), "re");
  if (file == nullptr) return {};
  long size = 0, resident = 0;  // in pages
  const bool read = std::fscanf(file, "%ld %ld", &size, &resident) == 2;
  std::fclose(file);
  if (!read) return {};
  const int64_t page = sysconf(_SC_PAGESIZE);
  return {size * page, resident * page};
}

}  // namespace kenaz
