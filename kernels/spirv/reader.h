// One kernel as it is read: what is known of its <id>s, and the kernel IR that is made of it.
#pragma once

#include "kernels/spirv/item.h"
#include "kernels/spirv/memory.h"
#include "kernels/spirv/places.h"
#include "kernels/spirv/read.h"

namespace kenaz::spirv {

class Reader {
 public:
  /// `words` are those of the module.
  Reader(std::span<const uint32_t> words, const Module& module, const ReadOptions& options);
  /// Refuses what is not read.
  ReadKernel run();

  // ---- for the flow of control (flow.cc)
  const Module& module() const { return module_; }
  const Types& types() const { return types_; }
  Items& items() { return items_; }
  kir::Builder& builder() { return k_; }
  /// An instruction that is none of control; calls are inlined.
  void instruction(const Instruction& in);
  /// What is made from now on is made of this instruction.
  void at(const Instruction& in);
  /// Does `read`; what it refuses is about this instruction, unless it says another one.
  template <class F>
  void about(const Instruction& in, F&& read) {
    try {
      read();
    } catch (Refused& refused) {
      if (!refused.has_place) refused.text += places_.text(in);
      refused.has_place = true;
      throw;
    }
  }
  /// What is made in several places, or consists of many scalars, may be much more than the words
  /// of the module: counts `more`, and refuses what becomes too much in all.
  void count(size_t more);
  /// What is inside goes one deeper: a call, a branch or a loop. Refuses what is too deep.
  class Deeper {
   public:
    explicit Deeper(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMostDepth) refuse("calls, branches and loops, too deep");
    }
    ~Deeper() { reader_.depth_--; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Reader& reader_;
  };

 private:
  static constexpr int kMostDepth = 300;
  static constexpr size_t kMostMade = 1 << 20;

  void globals();
  void global(const Instruction& in);
  void constant(const Instruction& in);
  void group_size();
  kir::Values literal(const Instruction& in);
  std::optional<uint64_t> specialised(const Instruction& in);
  void zero(const Instruction& in);
  kir::Values undefined(Ident type);
  /// A value's instruction, at `operands`.
  kir::Values value(spv::Op op, Ident type, std::span<const uint32_t> operands);
  std::optional<kir::Values> composite(spv::Op op, Ident type, std::span<const uint32_t> operands);
  kir::Values shuffled(Ident type, std::span<const uint32_t> operands);
  Part part_at(Ident type, std::span<const uint32_t> indices) const;
  bool accesses(const Instruction& in);
  void read_instruction(const Instruction& in);
  void call(const Instruction& in);
  void define(const Instruction& in, kir::Values values);
  void define_pointer(const Instruction& in, Item pointer);

  const Module& module_;
  const ReadOptions& options_;
  ReadKernel out_;
  kir::Builder k_;
  Types types_;
  Items items_;
  Memory memory_;
  Places places_;
  int depth_ = 0;
  size_t made_ = 0;
};

/// Reads a function's body where it is called, of which parameters are defined; its result's
/// scalars.
kir::Values read_body(Reader& reader, const Function& function);

}  // namespace kenaz::spirv
