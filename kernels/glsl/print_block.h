// Kernel IR's instructions as statements of GLSL.
//
// A thread that has failed, or is to stop, goes on to its end with `going` false: its loops end,
// and it touches no memory any more. It does not return, because a return in the middle makes
// everything behind it a branch, a level deeper for each check, and llvmpipe silently ignores
// conditions that are nested more than 80 deep; and because all threads of a workgroup must come to
// its barriers. Where no thread can have stopped yet, nothing is said of `going`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/glsl/library.h"
#include "kernels/glsl/print_facts.h"
#include "kernels/glsl/print_head.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/glsl/print_names.h"
#include "kernels/glsl/print_text.h"
#include "kernels/kir/kir.h"

namespace kenaz::glsl {

/// A function, and what its calls say of it.
struct PrintedFunction {
  std::string name;
  bool is_called = false;
  bool called_by_stopped = false;  // by threads that may have stopped
  /// How deep in conditions and loops the calls stand, at most: drivers put functions there.
  int depth = 0;
};

/// What is the same for all functions of a kernel.
struct KernelContext {
  const kir::Kernel& kernel;
  const PrintOptions& options;
  const Facts& facts;
  Head head;
  Library library;
  std::vector<std::string> shared, locals;  // names, by SharedId and LocalId
  std::vector<PrintedFunction> functions;   // by FunctionId
  int depth = 0;                            // of the function that is being printed
  /// Threads pass over statements by `going`, also where none can stop.
  bool masks_threads = false;
  std::optional<kir::ValId> says_small;  // see kir::Spec
};

/// An expression that records failure `number`, if none was recorded before; it is 0 then.
std::string record_failure(Head& head, int number);

class BlockPrinter {
 public:
  /// `may_have_stopped`: the threads that come to what is printed first.
  BlockPrinter(KernelContext& context, Names& names, Text& out, bool may_have_stopped)
      : c_(context), names_(names), out_(out), may_have_stopped_(may_have_stopped) {}

  void block(const kir::Block& b) { insts(b.insts); }
  void insts(std::span<const kir::Inst> insts);

 private:
  void inst(const kir::Inst& inst);
  // values (print_block.cc)
  void print(const kir::IPrim& i);
  void print(const kir::IBuiltin& i);
  void print(const kir::ICompose& i);
  void print(const kir::IExtract& i);
  void print(const kir::IDeclare& i);
  void print(const kir::IRead& i);
  void print(const kir::IAssign& i);
  // memory (print_memory.cc)
  void print(const kir::ILoad& i);
  void print(const kir::IStore& i);
  void print(const kir::IAtomic& i);
  std::string device_place(const kir::Value& base, const kir::Value& index, kir::Type memory,
                           bool coherent);
  std::vector<std::string> array_places(const kir::Address& a, int lanes);
  bool is_local(const kir::Address& a) const;
  /// Of an array whose elements are vectors.
  bool holds_vectors(const kir::Address& a) const;
  /// A statement that stopped threads leave out.
  void guarded(const std::string& statement);
  /// Binds a value that has effects or depends on memory; stopped threads get zero.
  void guarded_value(kir::ValId dst, kir::Type type, const std::string& value);
  // threads together (print_together.cc)
  void print(const kir::ISubgroup& i);
  void print(const kir::IBarrier& i);
  void print(const kir::IFence& i);
  std::string combine(const kir::ISubgroup& i, const std::string& value);
  std::string extremum_of_numbers(const kir::ISubgroup& i, const std::string& text,
                                  const std::string& value);
  std::string moved(const kir::ISubgroup& i, const std::string& value);
  std::string vote(const kir::ISubgroup& i, const std::string& value);
  // control (print_control.cc)
  void print_if(const kir::IIf& i, const std::string& cond);
  static bool is_long_chain(const kir::IIf& i);
  void print_chain(const kir::Inst& inst, const std::string& first_cond);
  void lead_to(const std::vector<const kir::Block*>& branches, size_t first, size_t last,
               const std::string& branch);
  /// Whether the loop is printed as one in another.
  bool in_chunks(const kir::Inst& loop, const kir::Block& body, bool uniform) const;
  void print_for(const kir::Inst& inst, const kir::IFor& i);
  void print_while(const kir::Inst& inst, const kir::IWhile& i);
  void print_chunk(const std::string& head, const kir::Block& body);
  void fail_if_cut(const kir::Inst& loop, const std::string& condition);
  void print(const kir::ICall& i);
  void print(const kir::IFail& i);
  void print(const kir::IStop& i);

  KernelContext& c_;
  Names& names_;
  Text& out_;
  bool may_have_stopped_;  // before what is printed next: `going` may be false there
};

}  // namespace kenaz::glsl
