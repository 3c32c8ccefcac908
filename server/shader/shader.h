// Runs a compute shader that somebody else has made, on the interpreter, and tells what it does to
// memory.
#pragma once

#include <functional>
#include <string>

#include "kernels/diagnostics/source_reader.h"
#include "protocol/base/result.h"
#include "server/device/interpreter/interpreter_device.h"
#include "server/device/interpreter/observations.h"
#include "server/shader/arguments.h"

namespace kenaz::shader {

struct Observed {
  device::interpreter::Observations seen;
  SourceReader read;  // the shader's text, for reports
  Error fault;        // what the shader did wrong; its message is empty if it did nothing wrong
  std::string notes;  // for the user, lines
};

/// Reads the shader, runs it once and writes the buffers that the user wants. Fails if it cannot be
/// run; what it then does wrong is Observed::fault, and what it has done up to there is told.
/// `device`: subgroup_size, seed and groups count. `read`: files that the module names.
Result<Observed> observe(const Command& command, const device::InterpreterOptions& device,
                         const SourceReader& read);

}  // namespace kenaz::shader
