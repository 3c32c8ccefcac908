#include "kernels/kir/passes/vectors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kMostLanes = 4;
constexpr int kMostBytes = 16;

/// An index as a sum of `root`, if there is one, and a constant.
struct Sum {
  std::optional<Value> root;
  int64_t constant = 0;
};

/// What is known of the values of all indices.
class Indices {
 public:
  explicit Indices(const Kernel& kernel) {
    for (const Arg& a : kernel.args) {
      if (a.is_block) blocks_.push_back(a.val);
    }
    for_each_inst_of(kernel, [&](const Inst& i) {
      if (const auto* prim = std::get_if<IPrim>(&i.op)) prims_.emplace(prim->dst.index, *prim);
      if (const auto* loop = std::get_if<IFor>(&i.op)) {
        loops_.emplace(loop->index.index, std::pair(loop->from, loop->step));
      }
    });
  }

  bool is_block(const Value& v) const {
    return !v.is_const() && std::find(blocks_.begin(), blocks_.end(), v.id()) != blocks_.end();
  }
  Sum sum(const Value& v) const {
    if (v.is_const()) return {std::nullopt, v.constant().as_i64()};
    const IPrim* p = prim(v);
    if (p != nullptr && p->op == ScalarOp::kAdd) {
      for (const size_t n : {size_t{0}, size_t{1}}) {
        if (!p->args[n].is_const()) continue;
        Sum rest = sum(p->args[1 - n]);
        // A constant that is near overflow is none that a compiler has made of neighbours.
        const int64_t more = p->args[n].constant().as_i64();
        if (std::max(std::abs(more), std::abs(rest.constant)) > kFar) break;
        rest.constant += more;
        return rest;
      }
    }
    return {v, 0};
  }
  /// A power of two up to kMostLanes that divides it.
  int divisor(const Value& v, int depth = 0) const {
    if (v.is_const()) return part(v.constant().as_i64());
    if (depth == kDeepest) return 1;
    if (const auto loop = loops_.find(v.id().index); loop != loops_.end()) {
      const auto& [from, step] = loop->second;
      return std::min(divisor(from, depth + 1), divisor(step, depth + 1));
    }
    const IPrim* p = prim(v);
    if (p == nullptr || !is_integer(p->type)) return 1;
    const auto of = [&](size_t n) { return divisor(p->args[n], depth + 1); };
    switch (p->op) {
      case ScalarOp::kAdd:
      case ScalarOp::kSub:
      case ScalarOp::kMin:
      case ScalarOp::kMax: return std::min(of(0), of(1));
      case ScalarOp::kMul: return std::min(kMostLanes, of(0) * of(1));
      case ScalarOp::kConvert: return is_integer(p->to) && prim_size(p->to) >= 4 ? of(0) : 1;
      default: return 1;
    }
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 30;
  static constexpr int kDeepest = 8;

  static int part(int64_t n) { return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1; }
  const IPrim* prim(const Value& v) const {
    const auto it = prims_.find(v.id().index);
    return it == prims_.end() ? nullptr : &it->second;
  }

  std::vector<ValId> blocks_;
  std::unordered_map<uint32_t, IPrim> prims_;  // copies: the pass moves instructions
  std::unordered_map<uint32_t, std::pair<Value, Value>> loops_;  // from, step
};

/// Accesses of one block of memory by one type around one root: where their instructions stand, by
/// the constant.
using Key = std::tuple<uint32_t, std::optional<uint32_t>, PrimType, bool>;
struct Group {
  std::optional<Value> root;
  PrimType index_type = PrimType::kI64;
  std::map<int64_t, size_t> at;
};

/// One block of instructions, not those inside.
class Neighbours {
 public:
  Neighbours(Kernel& k, const Indices& indices, std::vector<Inst>& insts)
      : k_(k), indices_(indices), insts_(insts), new_(insts.size()), gone_(insts.size()) {}

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
    // A store to other memory keeps the order of stores, which may be to one place.
    const auto keep_order = [&](const std::optional<Key>& key) {
      if (is_store && (groups.size() > 1 || (!groups.empty() && groups.begin()->first != key))) {
        end(groups);
      }
    };
    if (base == nullptr || type == PrimType::kBool || !indices_.is_block(*base)) {
      if (base != nullptr) keep_order(std::nullopt);
      return;
    }
    const Sum sum = indices_.sum(a.index);
    std::optional<uint32_t> root;
    if (sum.root) root = sum.root->id().index;
    const Key key{base->id().index, root, type, is_store};
    keep_order(key);
    Group& g = groups[key];
    if (is_store && g.at.contains(sum.constant)) g.at.clear();
    g.root = sum.root;
    g.index_type = a.index.type.prim;
    g.at.try_emplace(sum.constant, n);
  }

  void end(Groups& groups) {
    for (const auto& [key, group] : groups) {
      const PrimType type = std::get<PrimType>(key);
      for (int lanes = std::min(kMostLanes, kMostBytes / prim_size(type)); lanes > 1; lanes /= 2) {
        if (group.root && indices_.divisor(*group.root) % lanes != 0) continue;
        for (auto it = group.at.begin(); it != group.at.end(); ++it) {
          if (it->first % lanes != 0) continue;
          std::vector<size_t> members;
          for (int lane = 0; lane < lanes; lane++) {
            const auto found = group.at.find(it->first + lane);
            if (found != group.at.end() && !gone_[found->second]) members.push_back(found->second);
          }
          if (members.size() < static_cast<size_t>(lanes)) continue;
          for (const size_t m : members) gone_[m] = true;
          std::get<bool>(key) ? store(group, it->first, members)
                              : load(group, it->first, type, members);
        }
      }
    }
    groups.clear();
  }

  template <class Op>
  void put(std::vector<Inst>& to, Op op, ir::ProvId prov) {
    to.push_back({std::move(op), prov});
  }
  Value index_of(const Group& g, int64_t constant, ir::ProvId prov, std::vector<Inst>& to) {
    const Value c = PrimValue::of_int(g.index_type, constant);
    if (!g.root) return c;
    if (constant == 0) return *g.root;
    const ValId sum = k_.new_val({g.index_type, 1});
    put(to, IPrim{sum, ScalarOp::kAdd, g.index_type, g.index_type, {*g.root, c}}, prov);
    return {{g.index_type, 1}, sum};
  }
  /// Stands where the first of them did: what the index is made of is known there.
  void load(const Group& g, int64_t constant, PrimType prim, const std::vector<size_t>& members) {
    const size_t where = *std::min_element(members.begin(), members.end());
    const ir::ProvId prov = insts_[where].prov;
    const Type type{prim, static_cast<uint8_t>(members.size())};
    std::vector<Inst>& to = new_[where];
    const Value index = index_of(g, constant, prov, to);
    const ValId all = k_.new_val(type);
    put(to, ILoad{all, type, {std::get<ILoad>(insts_[where].op).from.base, index}, Order::kPlain},
        prov);
    for (size_t lane = 0; lane < members.size(); lane++) {
      const Inst& old = insts_[members[lane]];
      put(to, IExtract{std::get<ILoad>(old.op).dst, {type, all}, static_cast<int>(lane)}, old.prov);
    }
  }
  /// Stands where the last of them did: all values are known there.
  void store(const Group& g, int64_t constant, const std::vector<size_t>& members) {
    const size_t where = *std::max_element(members.begin(), members.end());
    const ir::ProvId prov = insts_[where].prov;
    std::vector<Inst>& to = new_[where];
    const Value index = index_of(g, constant, prov, to);
    std::vector<Value> lanes;
    for (const size_t m : members) lanes.push_back(std::get<IStore>(insts_[m].op).value);
    const Type type{lanes[0].type.prim, static_cast<uint8_t>(lanes.size())};
    const ValId all = k_.new_val(type);
    put(to, ICompose{all, std::move(lanes)}, prov);
    put(to, IStore{{std::get<IStore>(insts_[where].op).to.base, index}, {type, all}, Order::kPlain},
        prov);
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
  const Indices& indices_;
  std::vector<Inst>& insts_;
  std::vector<std::vector<Inst>> new_;  // by the place before which they go
  std::vector<bool> gone_;
  Groups loads_, stores_;
};

void vectors_in(Kernel& k, const Indices& indices, Block& b) {
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [&](Block& inner) { vectors_in(k, indices, inner); });
  }
  Neighbours(k, indices, b.insts).run();
}

}  // namespace

void vectors(Kernel& kernel) {
  const Indices indices(kernel);
  for_each_body(kernel, [&](Block& b) { vectors_in(kernel, indices, b); });
}

}  // namespace kenaz::kir
