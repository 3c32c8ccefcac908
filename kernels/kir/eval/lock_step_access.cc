// Loads and stores of threads in lock step: what is usual of them, without a look at each thread.
// Whatever is not usual is left to access.cc, thread by thread, which does the same once more.
#include <array>
#include <cstring>
#include <utility>

#include "kernels/kir/eval/interpreter.h"

namespace kenaz::kir {

using eval::kDefined;
using eval::OpCode;
using eval::Space;

namespace {

/// Far from overflows when it is multiplied by the size of an element.
constexpr int64_t kLargestIndex = int64_t{1} << 48;
/// Of a vector.
constexpr size_t kMostLanes = 4;

}  // namespace

/// Where a lane's access goes. False if that is out of bounds, misaligned or undefined.
template <Space kSpace>
bool Machine::quick_place(Group& g, const Op& op, const AddressSlots& at, size_t lane,
                          Place& place) {
  if (at.index_known[lane] != kDefined) return false;
  const uint64_t bits = at.index[lane];
  int64_t index = static_cast<int64_t>(bits);
  if (!op.wide_index) index = static_cast<int32_t>(static_cast<uint32_t>(bits));
  if (index < -kLargestIndex || index > kLargestIndex) return false;
  int64_t offset = index * (op.bytes * op.unit);
  const int64_t size = op.bytes * op.lanes;
  if constexpr (kSpace == Space::kDevice) {
    if (at.base_known[lane] != kDefined) return false;
    const uint64_t base = at.base[lane];
    Memory::Block* const found = block_at(base);
    if (found == nullptr) return false;
    Memory::Block& block = *found;
    const auto bytes = static_cast<int64_t>(block.data.size());
    offset += static_cast<int64_t>(base - block.address);
    if (offset < 0 || offset > bytes - size) return false;
    place = {block.data.data() + offset, block.known.data() + offset, block.shadow.get(),
             static_cast<uint64_t>(offset), 0};
  } else {
    constexpr bool kIsShared = kSpace == Space::kShared;
    const eval::ArrayPlace& array = (kIsShared ? code_.shared : code_.locals)[op.array];
    if (offset < 0 || offset > static_cast<int64_t>(array.bytes) - size) return false;
    offset += static_cast<int64_t>(array.offset);
    const eval::Thread& t = g.threads[lane];
    place = {(kIsShared ? g.data.data() : t.local) + offset,
             (kIsShared ? g.known.data() : t.local_known) + offset, kIsShared ? &g.shadow : nullptr,
             static_cast<uint64_t>(offset), 0};
  }
  return (place.offset & static_cast<uint64_t>(size - 1)) == 0;  // of a power of two
}

/// False if a lane does what is not usual; some lanes may have done theirs.
template <class Word, Space kSpace>
bool Machine::quick_accesses(Group& g, const Op& op) {
  constexpr auto kAll = static_cast<Word>(~Word{0});
  const bool write = op.code == OpCode::kStore;
  const eval::Races::Access what{0,     op.bytes * op.lanes, op.bytes, number_of(op),
                                 write, op.coherent,         false,    kSpace == Space::kShared};
  // Local, since nothing that is stored below changes them, which the compiler cannot know.
  const AddressSlots at{g.bits(op.a), g.bits(op.b), g.known_of(op.a), g.known_of(op.b)};
  const eval::Slot value = write ? op.c : op.dst;
  std::array<uint64_t*, kMostLanes> bits{};
  std::array<uint8_t*, kMostLanes> bits_known{};
  for (eval::Slot k = 0; k < op.lanes; k++) {
    bits[k] = g.bits(value + k);
    bits_known[k] = g.known_of(value + k);
  }
  const std::byte *before = nullptr, *last = nullptr;  // what the two lanes before accessed
  for (const uint16_t lane : g.convoy.lanes) {
    Place place;
    if (!quick_place<kSpace>(g, op, at, lane, place)) return false;
    const bool two_told = !write && place.data == last && last == before && !g.clock.releases;
    before = std::exchange(last, place.data);
    const bool is_word_of_host = kSpace == Space::kDevice && !write && options_.set_once != 0 &&
                                 last_block_->address + place.offset == options_.set_once;
    if (kSpace != Space::kLocal && !is_word_of_host && !two_told) {
      eval::Races::Access a = what;
      a.offset = place.offset;
      eval::Races::Conflict conflict;
      if (!races_.quick(*place.shadow, g.clock, lane, a) &&
          !races_.access(*place.shadow, g.clock, g.threads[lane].clock, a, conflict)) {
        return false;
      }
    }
    for (eval::Slot k = 0; k < op.lanes; k++) {
      std::byte* const data = place.data + k * sizeof(Word);
      uint8_t* const known = place.known + k * sizeof(Word);
      if (write) {
        if (bits_known[k][lane] != kDefined) return false;
        const auto word = static_cast<Word>(bits[k][lane]);
        std::memcpy(data, &word, sizeof word);
        std::memcpy(known, &kAll, sizeof kAll);
      } else {
        Word word = 0, defined = 0;
        std::memcpy(&defined, known, sizeof defined);
        if (defined != kAll) return false;
        std::memcpy(&word, data, sizeof word);
        bits[k][lane] = word;
        bits_known[k][lane] = kDefined;
      }
    }
  }
  return true;
}

template <class Word>
bool Machine::quick_accesses(Group& g, const Op& op) {
  switch (op.space) {
    case Space::kDevice: return quick_accesses<Word, Space::kDevice>(g, op);
    case Space::kShared: return quick_accesses<Word, Space::kShared>(g, op);
    default: return quick_accesses<Word, Space::kLocal>(g, op);
  }
}

Machine::Way Machine::accesses(Group& g, const Op& op, const Op*& next) {
  if (!g.convoy.goes || observer_ != nullptr) {
    return one_by_one(g, op, next);
  }
  const auto quick = [&] {
    switch (op.bytes) {
      case 1: return quick_accesses<uint8_t>(g, op);
      case 2: return quick_accesses<uint16_t>(g, op);
      case 4: return quick_accesses<uint32_t>(g, op);
      default: return quick_accesses<uint64_t>(g, op);
    }
  };
  return quick() ? Way::kTogether : one_by_one(g, op, next);
}

}  // namespace kenaz::kir
