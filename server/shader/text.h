// A shader's own text, for reports about it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/kir/eval/machine.h"
#include "kernels/spirv/read.h"

namespace kenaz::shader {

class SourceText {
 public:
  /// `shader` is the module's file. A text that the module does not hold is read by `files`, as it
  /// is named, or from beside the module.
  SourceText(const spirv::ReadKernel& read, const std::string& shader, const SourceReader& files);

  /// Of the texts, by the names that places() has. It may outlive this.
  SourceReader reader() const;
  /// By provenance: backtraces, as program::KernelFailure has them.
  std::vector<std::string> places() const;

 private:
  struct File {
    std::string name;
    bool known = false;
    std::vector<std::string> lines;
  };
  std::string range(const spirv::SourcePlace& place) const;

  const spirv::ReadKernel& read_;
  std::vector<File> files_;
};

/// What the shader did wrong, for people. `places` by provenance.
std::string fault_text(const kir::Fault& fault, const std::vector<std::string>& places);
/// "its buffers: 0,0 (In), 0,1 (Out)"; "its constants: 3 (size, i32)".
std::string buffers_text(const spirv::ReadKernel& read);
std::string constants_text(const spirv::ReadKernel& read);

}  // namespace kenaz::shader
