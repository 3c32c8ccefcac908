// Which lines a kernel's instructions are made of.
#pragma once

#include <map>
#include <vector>

#include "kernels/spirv/module.h"
#include "kernels/spirv/read.h"

namespace kenaz::spirv {

class Places {
 public:
  /// Lines of the text that the module was compiled from, or if it does not say, of a listing.
  Places(std::span<const uint32_t> words, const Module& module);

  /// Of an instruction, in the calls that have been entered.
  ir::ProvId of(const Instruction& in);
  /// " (instruction 12, a.comp:3)".
  std::string text(const Instruction& in) const;
  void enter(const Instruction& call) { calls_.push_back(place(call)); }
  void leave() { calls_.pop_back(); }

  std::vector<std::vector<SourcePlace>> take_places() { return std::move(places_); }
  std::vector<SourceFile> take_files() { return std::move(files_); }

 private:
  /// Its line is 0 if it is not known.
  SourcePlace place(const Instruction& in) const;

  std::vector<SourceFile> files_;
  std::map<Ident, size_t> numbers_;  // of files, by OpString; empty: there is a listing
  std::vector<SourcePlace> calls_;   // innermost last
  std::vector<std::vector<SourcePlace>> places_;
  std::map<std::vector<std::pair<size_t, uint32_t>>, ir::ProvId> known_;
};

/// The instructions of a module that was parsed, one in a line.
std::string listing(std::span<const uint32_t> words);

}  // namespace kenaz::spirv
