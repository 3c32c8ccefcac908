#include <cstring>

#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"

namespace kenaz::kir {

using eval::kDefined;
using eval::Space;

namespace {

/// Copies 1, 2, 4 or 8 bytes, with a constant size each.
void copy_scalar(void* to, const void* from, int bytes) {
  switch (bytes) {
    case 1: std::memcpy(to, from, 1); break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    default: std::memcpy(to, from, 8); break;
  }
}

uint64_t read_bits(const std::byte* from, int bytes) {
  uint64_t bits = 0;
  copy_scalar(&bits, from, bytes);
  return bits;
}

uint8_t read_known(const uint8_t* from, int bytes) {
  uint64_t known = ~uint64_t{0};
  copy_scalar(&known, from, bytes);
  if (known == ~uint64_t{0}) return kDefined;
  uint8_t out = kDefined;
  for (int k = 0; k < bytes; k++) {
    if (from[k] == 0) out &= static_cast<uint8_t>(~(1 << k));
  }
  return out;
}

void write_scalar(std::byte* to, uint8_t* to_known, uint64_t bits, uint8_t known, int bytes) {
  copy_scalar(to, &bits, bytes);
  const uint64_t all = ~uint64_t{0};
  if (known == kDefined) return copy_scalar(to_known, &all, bytes);
  for (int k = 0; k < bytes; k++) to_known[k] = (known >> k & 1) != 0 ? 0xff : 0;
}

}  // namespace

/// The block that the address points into or just behind, with a shadow; null if there is none.
Memory::Block* Machine::block_at(uint64_t base) {
  Memory::Block* block = last_block_;
  if (block == nullptr || base - block->address > block->data.size()) {
    auto it = memory_.blocks_.upper_bound(base);
    block = it == memory_.blocks_.begin() ? nullptr : std::prev(it)->second.get();
    if (block == nullptr || base - block->address > block->data.size()) return nullptr;
    last_block_ = block;
  }
  if (!block->shadow) block->shadow = std::make_unique<eval::Shadow>(block->data.size());
  return block;
}

bool Machine::locate_device(const Group& g, const Thread& t, const Op& op, int64_t index,
                            Place& place) {
  if (!defined(g, t, op, op.a, "the address")) return false;
  const uint64_t base = t.bits[op.a];
  Memory::Block* const block = block_at(base);
  if (block == nullptr) {
    return fault(FaultKind::kOutOfBlock, g, t, op,
                 fmt::format("the address {:#x} is in no block", base));
  }
  const __int128 offset =
      static_cast<__int128>(base - block->address) + static_cast<__int128>(index) * op.bytes;
  const __int128 size = block->data.size();
  if (offset < 0 || offset + op.bytes * op.lanes > size) {
    return fault(FaultKind::kOutOfBlock, g, t, op,
                 fmt::format("index {} from byte {} of a block of {} bytes", index,
                             base - block->address, block->data.size()));
  }
  place.offset = static_cast<uint64_t>(offset);
  place.address = block->address + place.offset;
  place.data = block->data.data() + place.offset;
  place.known = block->known.data() + place.offset;
  place.shadow = block->shadow.get();
  return true;
}

bool Machine::locate(Group& g, Thread& t, const Op& op, Place& place) {
  if (!defined(g, t, op, op.b, "the index")) return false;
  const int64_t index = op.wide_index ? static_cast<int64_t>(t.bits[op.b])
                                      : static_cast<int32_t>(static_cast<uint32_t>(t.bits[op.b]));
  if (op.space == Space::kDevice) {
    if (!locate_device(g, t, op, index, place)) return false;
  } else {
    const bool shared = op.space == Space::kShared;
    const eval::ArrayPlace& array = (shared ? code_.shared : code_.locals)[op.array];
    const int64_t count = static_cast<int64_t>(array.bytes) / op.bytes / op.unit;
    if (index < 0 || index > count - op.lanes / op.unit) {
      return fault(FaultKind::kOutOfBlock, g, t, op,
                   fmt::format("index {} of an array of {}", index, count));
    }
    place.address = static_cast<uint64_t>(index) * op.bytes * op.unit;
    place.offset = array.offset + place.address;
    place.data = (shared ? g.data.data() : t.local) + place.offset;
    place.known = (shared ? g.known.data() : t.local_known) + place.offset;
    place.shadow = shared ? &g.shadow : nullptr;
  }
  if (place.offset % (op.bytes * op.lanes) != 0) {
    return fault(
        FaultKind::kMisaligned, g, t, op,
        fmt::format("byte {} for an access of {} bytes", place.offset, op.bytes * op.lanes));
  }
  return true;
}

/// Whether it is a plain store of what is there.
bool Machine::stores_the_same(const Thread& t, const Op& op, const Place& place) const {
  if (op.code != eval::OpCode::kStore) return false;
  for (int k = 0; k < op.lanes; k++) {
    const int at = k * op.bytes;
    if (read_known(place.known + at, op.bytes) != kDefined || t.known[op.c + k] != kDefined) {
      return false;
    }
    uint64_t value = 0;
    copy_scalar(&value, &t.bits[op.c + k], op.bytes);
    if (value != read_bits(place.data + at, op.bytes)) return false;
  }
  return true;
}

bool Machine::access(Group& g, Thread& t, const Op& op, const Place& place, bool write) {
  if (place.shadow == nullptr) return true;
  const int bytes = op.bytes * op.lanes;
  const bool shared = op.space == Space::kShared;
  if (observer_ != nullptr) {
    observer_->on_access(*op.inst, place_of(g, t), shared, write, place.address, bytes);
  }
  if (!shared && !write && options_.set_once != 0 && place.address == options_.set_once)
    return true;
  eval::Races::Conflict conflict;
  if (races_.access(*place.shadow, g.clock, t.clock,
                    {place.offset, bytes, op.bytes, number_of(op), write, op.coherent,
                     op.code == eval::OpCode::kAtomic, shared},
                    conflict)) {
    return true;
  }
  if (!options_.equal_stores_race && conflict.was_write && stores_the_same(t, op, place)) {
    return true;
  }
  return race(g, t, op, fmt::format("byte {}", shared ? place.address : place.offset), conflict);
}

bool Machine::load(Group& g, Thread& t, const Op& op) {
  if (t.stopped) {
    for (int k = 0; k < op.lanes; k++) t.bits[op.dst + k] = 0, t.known[op.dst + k] = kDefined;
    return true;
  }
  Place place;
  if (!locate(g, t, op, place) || !access(g, t, op, place, false)) return false;
  for (int k = 0; k < op.lanes; k++) {
    t.bits[op.dst + k] = read_bits(place.data + k * op.bytes, op.bytes);
    const uint8_t* const known = place.known + k * op.bytes;
    t.known[op.dst + k] = read_known(known, op.bytes);
    if (t.known[op.dst + k] == kDefined) continue;
    const eval::Origins& stored = origins(g, op);
    const auto it = stored.find(known);
    t.origin[op.dst + k] = it != stored.end() ? it->second : number_of(op) + 1;
  }
  return true;
}

bool Machine::store(Group& g, Thread& t, const Op& op) {
  if (t.stopped) return true;
  Place place;
  if (!locate(g, t, op, place) || !access(g, t, op, place, true)) return false;
  for (int k = 0; k < op.lanes; k++) {
    write_scalar(place.data + k * op.bytes, place.known + k * op.bytes, t.bits[op.c + k],
                 t.known[op.c + k], op.bytes);
    if (t.known[op.c + k] != kDefined) {
      origins(g, op)[place.known + k * op.bytes] = t.origin[op.c + k];
    }
  }
  return true;
}

bool Machine::atomic(Group& g, Thread& t, const Op& op) {
  if (t.stopped) {
    t.bits[op.dst] = 0;
    t.known[op.dst] = kDefined;
    return true;
  }
  const auto& e = std::get<IAtomic>(op.inst->op);
  const bool reads = e.op != AtomicOp::kStore;
  Place place;
  if (!locate(g, t, op, place)) return false;
  const uint64_t old = read_bits(place.data, op.bytes);
  const uint8_t known = read_known(place.known, op.bytes);
  if (e.op != AtomicOp::kLoad && !defined(g, t, op, op.c, "the operand")) return false;
  if (e.op == AtomicOp::kCas && !defined(g, t, op, op.d, "the compared value")) return false;
  const bool depends = op.fn != nullptr || e.op == AtomicOp::kCas;
  const bool writes = e.op != AtomicOp::kLoad && (e.op != AtomicOp::kCas || old == t.bits[op.d]);
  if (!access(g, t, op, place, writes)) return false;
  if (depends && known != kDefined) {
    return fault(FaultKind::kUndefined, g, t, op, "the value in memory is undefined");
  }
  if (writes) {
    const uint64_t value = op.fn != nullptr ? op.fn(old, t.bits[op.c], 0) : t.bits[op.c];
    write_scalar(place.data, place.known, value, kDefined, op.bytes);
  }
  if (reads) {
    t.bits[op.dst] = old;
    t.known[op.dst] = known;
    t.origin[op.dst] = number_of(op) + 1;
  }
  const bool shared = op.space == Space::kShared;
  races_.atomic(shared ? g.clock.shared : races_.device(), shared ? place.offset : place.address,
                shared, g.clock, t.clock, reads, writes, e.order);
  return true;
}

}  // namespace kenaz::kir
