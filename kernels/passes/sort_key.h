// The key by which a loop sorts whose turns are stable partitions: the class of the last turn
// decides first, and where it is the same that of the turn before, and so on. So the key is the
// classes side by side, the first turn's lowest.
//
// The usual classes are bits of a word, some of them inverted, or inverted where another bit is set
// (numbers with a sign): their keys are made of a whole word by a few operations, for which each
// bit of the key is seen as the exclusive or of bits of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/passes/emitter.h"

namespace kenaz::passes {

class SortKey {
 public:
  explicit SortKey(const ir::Terms& terms) : terms_(terms) {}

  /// The partition of the next turn. False if the key would have more than 64 bits.
  bool add(const Classes& classes);

  /// Of the smallest size that the key fits in.
  PrimType type() const;
  /// The word that is the key, if one is as it stands.
  std::optional<ir::TermId> word() const;
  bool needs(Emitter& emitter) const;
  ir::Atom emit(ir::Builder& b, const std::vector<ir::VarId>& params, Emitter& emitter) const;

 private:
  /// A bit of a word.
  struct Bit {
    ir::TermId word;
    int at;
    friend bool operator<(const Bit& a, const Bit& b) {
      return std::pair(a.word, a.at) < std::pair(b.word, b.at);
    }
  };
  struct Turn {
    Classes classes;
    int at;
  };
  /// What all bits of a word add to the key.
  struct Share {
    std::map<int, uint64_t> shifted;  // by how far to the left: these bits of the word
    std::map<int, uint64_t> spread;   // by bit of the word: the bits of the key that it inverts
  };

  /// Whether each bit of the classes is an exclusive or of bits of words, and noted.
  bool add_bits(const Classes& classes, int bits);
  /// The bits of a decider, the lowest first, if it is a part of a word.
  std::optional<std::vector<Bit>> bits_of(const Decider& d) const;
  std::map<ir::TermId, Share> shares() const;

  const ir::Terms& terms_;
  int bits_ = 0;
  std::map<Bit, uint64_t> inverts_;  // the bits of the key that it inverts
  uint64_t ones_ = 0;                // what is inverted in any case
  std::vector<Turn> others_;         // turns by whatever else
};

}  // namespace kenaz::passes
