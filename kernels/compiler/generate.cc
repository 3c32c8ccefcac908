#include "kernels/compiler.h"
#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/segments.h"
#include "kernels/host_code/host_gen.h"
#include "kernels/host_code/prepare.h"
#include "kernels/host_code/strip_mine.h"
#include "kernels/host_code/turned_loops.h"
#include "kernels/passes/passes.h"

namespace kenaz::compiler {

Result<program::Program> generate(const Lowered& lowered, const program::Target& target,
                                  explain::Report* report) {
  program::Program program;
  program.target = target;
  Lowered cut = lowered;
  // llvmpipe keeps all that threads have in memory across a barrier, and packing has many.
  if (target.reads_ahead) passes::packs_by_scans(cut.ir);
  // .. and so have versions for workgroups.
  if (target.threads >= flatten::kThreadsForGroups) flatten::offer_groups(cut.ir);
  host_code::strip_mine(cut.ir);
  flatten::device_scalars(cut.ir);
  host_code::run_by_one_thread(cut.ir);
  if (target.max_turns > 0) host_code::make_long_elements_apart(cut.ir);
  KENAZ_TRY(schedule(cut.ir));
  if (target.threads >= flatten::kThreadsForGroups) passes::sink_scalars(cut.ir);
  explain::VersionNames names = host_code::choices_as_ifs(cut.ir);
  if (host_code::hides_latency_by_threads(target)) host_code::turn_loops(cut.ir);
  KENAZ_TRY(place(cut.ir));
  std::optional<explain::Recorder> recorder;
  if (report != nullptr) recorder.emplace(cut.ir, std::move(names));
  host_code::HostGen generator(cut, target, program, recorder ? &*recorder : nullptr);
  KENAZ_TRY(generator.run());
  if (report != nullptr) *report = recorder->take();
  return program;
}

Result<program::Program> compile(const std::string& path, const FrontEndOptions& options,
                                 const program::Target& target) {
  KENAZ_ASSIGN(const Source source, check(path, options));
  KENAZ_ASSIGN(Lowered lowered, source.lower());
  KENAZ_TRY(optimise(lowered.ir));
  return generate(lowered, target);
}

}  // namespace kenaz::compiler
