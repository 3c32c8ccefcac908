// Host code out of IR: walks a function's body at host level, emits host operations and, for what
// is parallel or touches array elements, kernels (kernels/body, launch.h).
//
// Each class knows the ones before it: HostCode (operations and registers), HostKernels,
// HostVariables, HostArrays, and here control flow and functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/host_code/host_arrays.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/lowered.h"
#include "protocol/base/result.h"

namespace kenaz::host_code {

class HostGen : public HostArrays {
 public:
  /// `recorder` may be null; else it is told what is decided.
  HostGen(const ir::Lowered& lowered, const program::Target& target, program::Program& out,
          explain::Recorder* recorder = nullptr)
      : HostArrays(lowered.ir, target, out, recorder),
        lowered_(lowered),
        uses_(ir::count_uses(lowered.ir)) {}

  /// Generates constants and all entries. The first thing refused is the error.
  Status run();

 private:
  // control flow (host_control.cc)
  void body(const ir::Body& b);
  void stm(const ir::Stm& s, const ir::Stm* behind);
  void check(const ir::Stm& s, const ir::EAssert& e);
  void host_if(const ir::Stm& s, const ir::EIf& e);
  void host_loop(const ir::Stm& s, const ir::ELoop& e);
  void loop_results(const ir::ELoop& e, const std::vector<ScalarReg>& scalars,
                    const std::vector<BlockReg>& blocks);
  void call(const ir::Stm& s, const ir::ECall& e);
  // functions that call themselves (host_calls.cc)
  void find_functions();
  void gen_function(uint32_t id);
  void recursive_call(const ir::Stm& s, const ir::ECall& e);
  // constants and entry points (host_gen.cc)
  void gen_constants();
  void begin_function(const std::string& name);
  void gen_entry(const EntryPoint& entry);
  void entry_params(const EntryPoint& point, const ir::Function& f, program::Entry& out);
  void entry_results(const ir::Function& f, program::Entry& out);
  program::Leaf param_leaf(ir::VarId p);

  const ir::Lowered& lowered_;
  const std::vector<int> uses_;  // of each variable
  int call_depth_ = 0;
  std::map<uint32_t, uint32_t> functions_;  // FunIds to Program::functions
  std::set<uint32_t> functions_tuning_;     // parameters that these read
};

/// Lets registers go of their blocks after the last use, except those in `keep`.
void insert_releases(program::Code& code, const std::set<BlockReg>& keep);

}  // namespace kenaz::host_code
