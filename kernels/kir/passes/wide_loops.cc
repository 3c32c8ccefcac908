#include "kernels/kir/passes/wide_loops.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/kir/passes/loops.h"
#include "kernels/kir/passes/rename.h"
#include "kernels/kir/varying.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kMostInRow = 4;  // elements of a vector
constexpr int kBytesOfVector = 16;
constexpr size_t kLongestWide = 256;   // instructions of a loop that is made wide
constexpr size_t kMostByWidth = 1024;  // that a kernel may gain

/// Values that have to be multiples of a number, as far as they are the same for all threads.
class Multiples {
 public:
  Multiples(const Kernel& kernel, const Varying& varying) : varying_(varying) {
    for (const Arg& a : kernel.args) {
      if (a.is_block) blocks_.insert(a.val.index);
    }
    for_each_inst_of(kernel, [&](const Inst& i) {
      if (const auto* prim = std::get_if<IPrim>(&i.op)) prims_.emplace(prim->dst.index, *prim);
    });
  }

  bool is_block(const Value& v) const { return !v.is_const() && blocks_.contains(v.id().index); }

  /// Adds to `needed` what has to be a multiple of a power of two for v to be one. Says whether
  /// that can be: constants must be multiples already.
  bool require(const Value& v, int64_t power, std::vector<Value>& needed) const {
    if (v.is_const()) return v.constant().as_i64() % power == 0;
    const auto made = prims_.find(v.id().index);
    const IPrim* prim = made == prims_.end() ? nullptr : &made->second;
    const auto arg = [&](size_t n) { return require(prim->args[n], power, needed); };
    if (prim != nullptr && (prim->op == ScalarOp::kAdd || prim->op == ScalarOp::kSub)) {
      return arg(0) && arg(1);
    }
    if (prim != nullptr && prim->op == ScalarOp::kMul) {
      const std::vector<Value> before = needed;
      for (const size_t n : {size_t{1}, size_t{0}}) {
        if (arg(n)) return true;
        needed = before;
      }
      return false;
    }
    if (prim != nullptr && prim->op == ScalarOp::kConvert && is_integer(prim->type)) return arg(0);
    if (varying_.varies(v)) return false;
    if (std::find(needed.begin(), needed.end(), v) == needed.end()) needed.push_back(v);
    return true;
  }

 private:
  const Varying& varying_;
  std::unordered_set<uint32_t> blocks_;  // addresses of them
  std::unordered_map<uint32_t, IPrim> prims_;
};

/// How many scalars of the type are loaded at once; 1 for those that cannot be.
int lanes_of(Type type) {
  if (type.lanes != 1 || type.prim == PrimType::kBool) return 1;
  return std::min(kMostInRow, kBytesOfVector / prim_size(type.prim));
}

/// Loads of one block that are so many elements apart from each other.
struct Row {
  Value base;
  PrimType type = PrimType::kI32;
  std::vector<Value> terms;          // whose sum is the place, but for a constant
  std::map<int64_t, ValId> results;  // by the constant
  bool varies = false;               // whether threads have rows of their own
};

/// One loop whose index goes up by the length of vectors.
class WideLoop {
 public:
  WideLoop(Kernel& kernel, const Varying& varying, const Multiples& multiples, IFor& loop,
           int lanes)
      : kernel_(kernel), varying_(varying), multiples_(multiples), loop_(loop), lanes_(lanes) {
    inside_.emplace(loop.index.index, nullptr);
    for_each_inst(loop.body, [&](const Inst& i) {
      const auto* prim = std::get_if<IPrim>(&i.op);
      visit_results(i.op, [&](ValId v) { inside_.emplace(v.index, prim); });
    });
    for (const Inst& i : loop.body.insts) {
      if (const auto* load = std::get_if<ILoad>(&i.op)) note(*load);
    }
  }

  /// Adds to `needed` what has to be a multiple of the length; false if no row of a thread's own
  /// becomes vectors.
  bool find_vectors(std::vector<Value>& needed) {
    bool own = false;
    for (const Row& row : rows_) {
      std::vector<Value> more = needed;
      const bool may_begin = std::all_of(row.terms.begin(), row.terms.end(), [&](const Value& v) {
        return is_index(v) || multiples_.require(v, lanes_, more);
      });
      if (!may_begin || !find_vectors(row)) continue;
      needed = std::move(more);
      own = own || row.varies;
    }
    return own;
  }

  void build() {
    std::vector<Inst> out;
    std::unordered_map<const Vector*, Value> made;
    for (Inst& i : loop_.body.insts) {
      const auto* load = std::get_if<ILoad>(&i.op);
      const auto part = load == nullptr ? parts_.end() : parts_.find(load->dst.index);
      if (part == parts_.end()) {
        out.push_back(std::move(i));
        continue;
      }
      const auto& [vector, lane] = part->second;
      auto all = made.find(vector);
      if (all == made.end()) all = made.emplace(vector, this->load(*vector, i.prov, out)).first;
      out.push_back({IExtract{load->dst, all->second, lane}, i.prov});
    }
    loop_.body.insts = std::move(out);
  }

 private:
  struct Vector {
    const Row* row;
    int64_t first;  // the constant of its first element
  };

  bool is_index(const Value& v) const { return !v.is_const() && v.id() == loop_.index; }

  void note(const ILoad& load) {
    const auto* base = std::get_if<Value>(&load.from.base);
    if (base == nullptr || !multiples_.is_block(*base) || lanes_of(load.type) < lanes_) return;
    Row row{*base, load.type.prim, {}, {}, false};
    int64_t constant = 0;
    if (!add_terms(load.from.index, row, constant) ||
        std::count_if(row.terms.begin(), row.terms.end(),
                      [&](const Value& v) { return is_index(v); }) != 1) {
      return;
    }
    std::sort(row.terms.begin(), row.terms.end(),
              [](const Value& a, const Value& b) { return a.id().index < b.id().index; });
    auto same = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) {
      return r.base == row.base && r.type == row.type && r.terms == row.terms;
    });
    if (same == rows_.end()) same = rows_.insert(same, std::move(row));
    same->results.try_emplace(constant, load.dst);
  }
  /// Takes a sum apart; false if what the loop makes is not only added.
  bool add_terms(const Value& v, Row& row, int64_t& constant) const {
    if (v.is_const()) {
      constant += v.constant().as_i64();
      return std::abs(constant) < kFar;
    }
    const auto inside = inside_.find(v.id().index);
    if (inside == inside_.end() || is_index(v)) {
      row.terms.push_back(v);
      row.varies = row.varies || (!is_index(v) && varying_.varies(v));
      return true;
    }
    const IPrim* prim = inside->second;
    return prim != nullptr && prim->op == ScalarOp::kAdd &&
           add_terms(prim->args[0], row, constant) && add_terms(prim->args[1], row, constant);
  }

  bool find_vectors(const Row& row) {
    bool any = false;
    for (const auto& [first, result] : row.results) {
      if (first % lanes_ != 0) continue;
      std::vector<ValId> parts;
      for (auto at = row.results.find(first);
           at != row.results.end() && at->first == first + static_cast<int64_t>(parts.size()) &&
           std::ssize(parts) < lanes_;
           ++at) {
        parts.push_back(at->second);
      }
      if (std::ssize(parts) < lanes_) continue;
      vectors_.push_back(std::make_unique<Vector>(Vector{&row, first}));
      for (int lane = 0; lane < lanes_; lane++) {
        parts_.emplace(parts[static_cast<size_t>(lane)].index,
                       std::pair(vectors_.back().get(), lane));
      }
      any = true;
    }
    return any;
  }

  /// Where the first of its elements was loaded: all terms are known there.
  Value load(const Vector& v, ir::ProvId prov, std::vector<Inst>& out) {
    Value place = v.row->terms[0];
    const auto add = [&](const Value& more) {
      const ValId sum = kernel_.new_val(place.type);
      out.push_back(
          {IPrim{sum, ScalarOp::kAdd, place.type.prim, place.type.prim, {place, more}}, prov});
      place = Value(place.type, sum);
    };
    for (size_t n = 1; n < v.row->terms.size(); n++) add(v.row->terms[n]);
    if (v.first != 0) add(PrimValue::of_int(place.type.prim, v.first));
    const Type type{v.row->type, static_cast<uint8_t>(lanes_)};
    const ValId all = kernel_.new_val(type);
    out.push_back({ILoad{all, type, {v.row->base, place}, Order::kPlain}, prov});
    return {type, all};
  }

  // A constant that is near overflow is none that a compiler has made of neighbours.
  static constexpr int64_t kFar = int64_t{1} << 30;

  Kernel& kernel_;
  const Varying& varying_;
  const Multiples& multiples_;
  IFor& loop_;
  const int lanes_;
  std::unordered_map<uint32_t, const IPrim*> inside_;  // values that the loop makes
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<Vector>> vectors_;
  std::unordered_map<uint32_t, std::pair<const Vector*, int>> parts_;  // by results of loads
};

class WideLoops {
 public:
  explicit WideLoops(Kernel& kernel)
      : kernel_(kernel), varying_(kernel), multiples_(kernel, varying_) {}

  void in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      visit_blocks(i.op, [&](Block& inner) { in(inner); });
      if (!widen(i, out)) out.push_back(std::move(i));
    }
    b.insts = std::move(out);
  }

 private:
  bool widen(Inst& i, std::vector<Inst>& out) {
    const auto* loop = std::get_if<IFor>(&i.op);
    if (loop == nullptr || loop->uniform || !is_quiet(loop->body)) return false;
    const int lanes = lanes_of_rows(*loop);
    std::vector<Value> needed;
    if (lanes < 2 || !loop->from.is_const() || !multiples_.require(loop->from, lanes, needed)) {
      return false;
    }
    size_t size = 0;
    for_each_inst(loop->body, [&](const Inst&) { size++; });
    IFor copy;
    if (counts_by_one(*loop)) {
      if (!multiples_.require(loop->to, lanes, needed)) return false;
      size *= static_cast<size_t>(lanes);
      copy = several(*loop, lanes, i.prov);
    } else if (loop->step.is_int(lanes)) {
      copy = std::get<IFor>(Renaming(kernel_).copy(i).op);
    } else {
      return false;
    }
    if (size > kLongestWide || gained_ + size > kMostByWidth) return false;
    WideLoop wide(kernel_, varying_, multiples_, copy, lanes);
    if (!wide.find_vectors(needed)) return false;
    wide.build();
    gained_ += size;
    if (needed.empty()) {
      out.push_back({std::move(copy), i.prov});
      return true;
    }
    IIf branch;
    branch.cond = condition(needed, lanes, i.prov, out);
    branch.then_block.insts.push_back({std::move(copy), i.prov});
    const ir::ProvId prov = i.prov;
    branch.else_block.insts.push_back(std::move(i));
    out.push_back({std::move(branch), prov});
    return true;
  }

  /// How many elements of what the loop loads for its thread are a vector; 0 if there are none.
  int lanes_of_rows(const IFor& loop) const {
    int lanes = 0;
    for (const Inst& i : loop.body.insts) {
      const auto* load = std::get_if<ILoad>(&i.op);
      if (load == nullptr || !varying_.varies(load->from)) continue;
      lanes = std::max(lanes, lanes_of(load->type));
    }
    return lanes;
  }

  Value emit(ScalarOp op, PrimType type, std::vector<Value> args, ir::ProvId prov,
             std::vector<Inst>& out) {
    const Type result{scalar_op_result(op, type, type), 1};
    const ValId dst = kernel_.new_val(result);
    out.push_back({IPrim{dst, op, type, type, std::move(args)}, prov});
    return {result, dst};
  }

  /// That all values are multiples: only their last bits count.
  Value condition(const std::vector<Value>& needed, int lanes, ir::ProvId prov,
                  std::vector<Inst>& out) {
    std::optional<Value> all;
    for (const Value& v : needed) {
      const PrimType type = v.type.prim;
      const Value last =
          emit(ScalarOp::kAnd, type, {v, PrimValue::of_int(type, lanes - 1)}, prov, out);
      const Value holds = emit(ScalarOp::kEq, type, {last, PrimValue::of_int(type, 0)}, prov, out);
      all = all ? emit(ScalarOp::kAnd, PrimType::kBool, {*all, holds}, prov, out) : holds;
    }
    return *all;
  }

  /// A loop that does so many iterations of this one in each of its own.
  IFor several(const IFor& loop, int lanes, ir::ProvId prov) {
    const PrimType type = loop.step.type.prim;
    IFor wide{kernel_.new_val({type, 1}), loop.from, loop.to, PrimValue::of_int(type, lanes), {}};
    std::vector<Inst>& out = wide.body.insts;
    const Value first({type, 1}, wide.index);
    for (int lane = 0; lane < lanes; lane++) {
      Renaming names(kernel_);
      names.replace(loop.index, lane == 0
                                    ? first
                                    : emit(ScalarOp::kAdd, type,
                                           {first, PrimValue::of_int(type, lane)}, prov, out));
      for (const Inst& i : loop.body.insts) out.push_back(names.copy(i));
    }
    return wide;
  }

  Kernel& kernel_;
  const Varying varying_;
  const Multiples multiples_;
  size_t gained_ = 0;
};

}  // namespace

void wide_loops(Kernel& kernel) {
  WideLoops pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
}

}  // namespace kenaz::kir
