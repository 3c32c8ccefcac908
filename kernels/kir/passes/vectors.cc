#include "kernels/kir/passes/vectors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/kir/passes/linear.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kMostLanes = 4;
constexpr int kMostBytes = 16;

/// The kernel's arguments that are blocks: they begin at multiples of 16 bytes.
class Blocks {
 public:
  explicit Blocks(const Kernel& kernel) {
    for (const Arg& a : kernel.args) {
      if (a.is_block) blocks_.push_back(a.val);
    }
  }
  bool contain(uint32_t v) const {
    return std::any_of(blocks_.begin(), blocks_.end(), [&](ValId b) { return b.index == v; });
  }

 private:
  std::vector<ValId> blocks_;
};

/// Accesses of one block of memory by one type, whose places differ by constants: where their
/// instructions stand, by the constant. All in bytes.
using Key = std::tuple<std::vector<std::pair<uint32_t, int64_t>>, PrimType, bool>;
struct Group {
  int divisor = 1;  // of what they have in common
  std::map<int64_t, size_t> at;
};

/// One block of instructions, not those inside.
class Neighbours {
 public:
  Neighbours(Kernel& k, const Blocks& blocks, LinearForms& forms, std::vector<Inst>& insts)
      : k_(k),
        blocks_(blocks),
        forms_(forms),
        insts_(insts),
        new_(insts.size()),
        gone_(insts.size()) {}

  void run() {
    for (size_t n = 0; n < insts_.size(); n++) {
      if (const auto* load = std::get_if<ILoad>(&insts_[n].op)) {
        end(stores_);
        if (load->order == Order::kPlain && load->type.lanes == 1) {
          note(loads_, load->from, load->type.prim, n);
        }
      } else if (const auto* store = std::get_if<IStore>(&insts_[n].op)) {
        end(loads_);
        if (store->order == Order::kPlain && store->value.type.lanes == 1) {
          note(stores_, store->to, store->value.type.prim, n);
        } else {
          end(stores_);
        }
      } else if (!is_pure(insts_[n])) {
        end(loads_);
        end(stores_);
      }
    }
    end(loads_);
    end(stores_);
    build();
  }

 private:
  using Groups = std::map<Key, Group>;

  static bool is_pure(const Inst& i) {
    return std::holds_alternative<IPrim>(i.op) || std::holds_alternative<IBuiltin>(i.op) ||
           std::holds_alternative<ICompose>(i.op) || std::holds_alternative<IExtract>(i.op) ||
           std::holds_alternative<IDeclare>(i.op) || std::holds_alternative<IRead>(i.op) ||
           std::holds_alternative<IAssign>(i.op) || std::holds_alternative<ISubgroup>(i.op);
  }

  void note(Groups& groups, const Address& a, PrimType type, size_t n) {
    const auto* base = std::get_if<Value>(&a.base);
    const bool is_store = &groups == &stores_;
    const auto place = base == nullptr || type == PrimType::kBool
                           ? std::nullopt
                           : place_of(*base, a.index, prim_size(type));
    std::optional<Key> key;
    if (place) key = Key{place->terms, type, is_store};
    // A store to other memory keeps the order of stores, which may be to one place.
    if (is_store && base != nullptr &&
        (groups.size() > 1 || (!groups.empty() && groups.begin()->first != key))) {
      end(groups);
    }
    if (!key) return;
    Group& g = groups[*key];
    if (is_store && g.at.contains(place->constant)) g.at.clear();
    g.divisor = divisor(*place);
    g.at.try_emplace(place->constant, n);
  }
  /// In bytes; one of the terms is a block.
  std::optional<Linear> place_of(const Value& base, const Value& index, int size) {
    Linear place = forms_.of(base);
    const auto is_block = [&](const auto& t) { return blocks_.contain(t.first); };
    const auto block = std::find_if(place.terms.begin(), place.terms.end(), is_block);
    if (block == place.terms.end() || block->second != 1) return {};
    return sum(place, forms_.of(index), size);
  }
  /// Of what is added to the block's address.
  int divisor(Linear place) const {
    std::erase_if(place.terms, [&](const auto& t) { return blocks_.contain(t.first); });
    return forms_.divisor(place);
  }

  void end(Groups& groups) {
    for (const auto& [key, group] : groups) {
      const PrimType type = std::get<PrimType>(key);
      const int size = prim_size(type);
      for (int lanes = std::min(kMostLanes, kMostBytes / size); lanes > 1; lanes /= 2) {
        if (group.divisor % (lanes * size) != 0) continue;
        for (const auto& [place, first] : group.at) {
          if (place % (lanes * size) != 0) continue;
          std::vector<size_t> members;
          for (int lane = 0; lane < lanes; lane++) {
            const auto found = group.at.find(place + int64_t{lane} * size);
            if (found != group.at.end() && !gone_[found->second]) members.push_back(found->second);
          }
          if (members.size() < static_cast<size_t>(lanes)) continue;
          for (const size_t m : members) gone_[m] = true;
          std::get<bool>(key) ? store(members) : load(type, members);
        }
      }
    }
    groups.clear();
  }

  template <class Op>
  void put(std::vector<Inst>& to, Op op, ir::ProvId prov) {
    to.push_back({std::move(op), prov});
  }
  /// So many elements before the address of an instruction, which stands behind it.
  Address before(Address a, size_t lanes, ir::ProvId prov, std::vector<Inst>& to) {
    if (lanes == 0) return a;
    const Type type = a.index.type;
    const Value less = PrimValue::of_int(type.prim, -static_cast<int64_t>(lanes));
    if (a.index.is_const()) {
      const int64_t index = a.index.constant().as_i64() + less.constant().as_i64();
      a.index = PrimValue::of_int(type.prim, index);
      return a;
    }
    const ValId index = k_.new_val(type);
    put(to, IPrim{index, ScalarOp::kAdd, type.prim, type.prim, {a.index, less}}, prov);
    a.index = {type, index};
    return a;
  }
  /// Stands where the first of them did: what the index is made of is known there.
  void load(PrimType prim, const std::vector<size_t>& members) {
    const auto where = std::min_element(members.begin(), members.end());
    const Inst& first = insts_[*where];
    const Type type{prim, static_cast<uint8_t>(members.size())};
    std::vector<Inst>& to = new_[*where];
    const auto lanes = static_cast<size_t>(where - members.begin());
    const Address from = before(std::get<ILoad>(first.op).from, lanes, first.prov, to);
    const ValId all = k_.new_val(type);
    put(to, ILoad{all, type, from, Order::kPlain}, first.prov);
    for (size_t lane = 0; lane < members.size(); lane++) {
      const Inst& old = insts_[members[lane]];
      put(to, IExtract{std::get<ILoad>(old.op).dst, {type, all}, static_cast<int>(lane)}, old.prov);
    }
  }
  /// Stands where the last of them did: all values are known there, and so is the first place.
  void store(const std::vector<size_t>& members) {
    const size_t where = *std::max_element(members.begin(), members.end());
    const ir::ProvId prov = insts_[where].prov;
    std::vector<Inst>& to = new_[where];
    std::vector<Value> lanes;
    for (const size_t m : members) lanes.push_back(std::get<IStore>(insts_[m].op).value);
    const Type type{lanes[0].type.prim, static_cast<uint8_t>(lanes.size())};
    const ValId all = k_.new_val(type);
    put(to, ICompose{all, std::move(lanes)}, prov);
    const Address& at = std::get<IStore>(insts_[members[0]].op).to;
    put(to, IStore{at, {type, all}, Order::kPlain}, prov);
  }

  void build() {
    std::vector<Inst> out;
    for (size_t n = 0; n < insts_.size(); n++) {
      for (Inst& i : new_[n]) out.push_back(std::move(i));
      if (!gone_[n]) out.push_back(std::move(insts_[n]));
    }
    insts_ = std::move(out);
  }

  Kernel& k_;
  const Blocks& blocks_;
  LinearForms& forms_;
  std::vector<Inst>& insts_;
  std::vector<std::vector<Inst>> new_;  // by the place before which they go
  std::vector<bool> gone_;
  Groups loads_, stores_;
};

void vectors_in(Kernel& k, const Blocks& blocks, LinearForms& forms, Block& b) {
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [&](Block& inner) { vectors_in(k, blocks, forms, inner); });
  }
  Neighbours(k, blocks, forms, b.insts).run();
}

}  // namespace

void vectors(Kernel& kernel) {
  const Blocks blocks(kernel);
  LinearForms forms(kernel);
  for_each_body(kernel, [&](Block& b) { vectors_in(kernel, blocks, forms, b); });
}

}  // namespace kenaz::kir
