// How much memory a process has.
#pragma once

#include <cstdint>
#include <string>

namespace kenaz {

/// In bytes; 0 where the system does not say.
struct ProcessMemory {
  int64_t address_space = 0;
  int64_t resident = 0;  // in RAM
};

/// `process`: its number, or "self".
ProcessMemory process_memory(const std::string& process);

}  // namespace kenaz
