#include "kernels/kir/passes/jam_loops.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "kernels/kir/passes/loops.h"
#include "kernels/kir/passes/rename.h"
#include "kernels/kir/varying.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr size_t kMostTogether = 96;  // instructions of the inner loop that are there several times
constexpr size_t kMostByJamming = 1024;  // that a kernel may gain

/// A loop around another one, and which instructions differ from iteration to iteration.
class Nest {
 public:
  explicit Nest(const IFor& outer) : outer_(outer) {
    const auto& insts = outer.body.insts;
    const auto is_loop = [](const Inst& i) { return std::holds_alternative<IFor>(i.op); };
    const auto found = std::find_if(insts.begin(), insts.end(), is_loop);
    at_ = static_cast<size_t>(found - insts.begin());
  }

  size_t inner_at() const { return at_; }
  const IFor& inner() const { return std::get<IFor>(outer_.body.insts[at_].op); }

  bool is_independent() {
    const auto& insts = outer_.body.insts;
    if (!counts_by_one(outer_) || !outer_.from.is_int(0) || at_ == insts.size() ||
        !counts_by_one(inner())) {
      return false;
    }
    for (size_t n = 0; n < insts.size(); n++) {
      if (n != at_ && !is_quiet(insts[n])) return false;
    }
    if (!is_quiet(inner().body)) return false;
    for_each_inst(outer_.body, [&](const Inst& i) {
      if (const auto* declare = std::get_if<IDeclare>(&i.op)) own_vars_.insert(declare->var.index);
    });
    own_vals_.insert(outer_.index.index);
    for (size_t n = 0; n < at_; n++) find_own(insts[n]);
    for (const Inst& i : inner().body.insts) find_own(i);
    return !carries_ && !is_own(inner().from) && !is_own(inner().to);
  }

  /// Whether it is made again in each iteration of the outer loop.
  bool is_own(const Inst& i) const {
    bool own = false;
    visit_operands(i.op, [&](const Value& v) { own = own || is_own(v); });
    visit_var(i.op, [&](VarId) { own = true; });
    visit_blocks(i.op, [&](const Block& b) {
      own = own || std::any_of(b.insts.begin(), b.insts.end(),
                               [&](const Inst& inner) { return is_own(inner); });
    });
    return own;
  }

  /// Whether the inner loop loads elements of the thread's own that the iterations share, and
  /// otherwise what all threads load.
  bool pays(const Varying& varying) const {
    bool shares = false, common = true;
    for (const Inst& i : inner().body.insts) {
      if (!is_own(i)) {
        const auto* load = std::get_if<ILoad>(&i.op);
        shares = shares || (load != nullptr && varying.varies(load->from));
        continue;
      }
      const auto visit = [&](const Inst& part) {
        const auto* load = std::get_if<ILoad>(&part.op);
        if (load != nullptr && varying.varies(load->from)) common = false;
      };
      visit(i);
      visit_blocks(i.op, [&](const Block& b) { for_each_inst(b, visit); });
    }
    return shares && common;
  }

  size_t own_instructions() const {
    size_t n = 0;
    for (const Inst& i : inner().body.insts) {
      if (!is_own(i)) continue;
      n++;
      visit_blocks(i.op, [&](const Block& b) { for_each_inst(b, [&](const Inst&) { n++; }); });
    }
    return n;
  }

 private:
  bool is_own(const Value& v) const { return !v.is_const() && own_vals_.contains(v.id().index); }

  /// Before and in the inner loop.
  void find_own(const Inst& i) {
    const auto check = [&](const Inst& part) {
      visit_var(part.op, [&](VarId v) { carries_ = carries_ || !own_vars_.contains(v.index); });
    };
    check(i);
    visit_blocks(i.op, [&](const Block& b) { for_each_inst(b, check); });
    if (!is_own(i)) return;
    visit_results(i.op, [&](ValId v) { own_vals_.insert(v.index); });
  }

  const IFor& outer_;
  size_t at_ = 0;                          // of the inner loop
  std::unordered_set<uint32_t> own_vals_;  // that differ between iterations of the outer loop
  std::unordered_set<uint32_t> own_vars_;  // that it declares
  bool carries_ = false;  // an iteration may need the one before for what the inner loop does
};

class JamLoops {
 public:
  explicit JamLoops(Kernel& kernel) : kernel_(kernel), varying_(kernel) {}

  void in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      if (const auto* loop = std::get_if<IFor>(&i.op); loop == nullptr || !jam(i, *loop, out)) {
        visit_blocks(i.op, [&](Block& inner) { in(inner); });
        out.push_back(std::move(i));
      }
    }
    b.insts = std::move(out);
  }

 private:
  /// Appends the loops that do the work of this one.
  bool jam(const Inst& i, const IFor& outer, std::vector<Inst>& out) {
    Nest nest(outer);
    if (!nest.is_independent() || !nest.pays(varying_)) return false;
    std::vector<size_t> widths;
    for (const size_t width : {8U, 4U}) {
      if (width * nest.own_instructions() <= kMostTogether) widths.push_back(width);
    }
    size_t size = 0;
    for_each_inst(outer.body, [&](const Inst&) { size++; });
    for (const size_t width : widths) gained_ += width * size;
    if (widths.empty() || gained_ > kMostByJamming) return false;
    Value from = outer.from;
    for (const size_t width : widths) {
      const Value to = whole(outer.to, width, i.prov, out);
      if (to == from) continue;
      out.push_back({together(nest, outer, from, to, width), i.prov});
      from = to;
    }
    IFor rest = outer;
    rest.from = from;
    out.push_back({std::move(rest), i.prov});
    return true;
  }

  Value emit(ScalarOp op, std::vector<Value> args, ir::ProvId prov, std::vector<Inst>& out) {
    const Type type = args[0].type;
    const ValId dst = kernel_.new_val(type);
    out.push_back({IPrim{dst, op, type.prim, type.prim, std::move(args)}, prov});
    return {type, dst};
  }
  /// The greatest multiple of `width` that is not greater, or 0.
  Value whole(const Value& to, size_t width, ir::ProvId prov, std::vector<Inst>& out) {
    const PrimType type = to.type.prim;
    const auto w = static_cast<int64_t>(width);
    if (to.is_const()) {
      return PrimValue::of_int(type, std::max<int64_t>(0, to.constant().as_i64() / w * w));
    }
    const auto mask = PrimValue::of_int(type, -w);
    const Value multiple = emit(ScalarOp::kAnd, {to, mask}, prov, out);
    return emit(ScalarOp::kMax, {multiple, PrimValue::of_int(type, 0)}, prov, out);
  }

  /// One loop whose iterations are `width` ones of the outer loop.
  IFor together(const Nest& nest, const IFor& outer, const Value& from, const Value& to,
                size_t width) {
    const PrimType type = outer.step.type.prim;
    IFor loop{kernel_.new_val({type, 1}),
              from,
              to,
              PrimValue::of_int(type, static_cast<int64_t>(width)),
              {}};
    std::vector<Inst>& out = loop.body.insts;
    const auto& insts = outer.body.insts;
    const Inst& inner = insts[nest.inner_at()];
    std::vector<Renaming> names(width, Renaming(kernel_));
    for (size_t n = 0; n < width; n++) {
      const Value first({type, 1}, loop.index);
      const Value more = PrimValue::of_int(type, static_cast<int64_t>(n));
      names[n].replace(outer.index,
                       n == 0 ? first : emit(ScalarOp::kAdd, {first, more}, inner.prov, out));
    }
    for (size_t n = 0; n < nest.inner_at(); n++) each(nest, insts[n], names, out);
    IFor jammed = nest.inner();
    const ValId index = kernel_.new_val({kernel_.vals[jammed.index.index]});
    for (Renaming& r : names) {
      r.rename(jammed.from);  // shared: any copy has the same
      r.rename(jammed.to);
      r.replace(jammed.index, {kernel_.vals[index.index], index});
    }
    jammed.index = index;
    jammed.body.insts.clear();
    for (const Inst& i : nest.inner().body.insts) each(nest, i, names, jammed.body.insts);
    out.push_back({std::move(jammed), inner.prov});
    for (Renaming& r : names) {
      for (size_t n = nest.inner_at() + 1; n < insts.size(); n++) out.push_back(r.copy(insts[n]));
    }
    return loop;
  }
  /// Copies of an instruction for all iterations, or one that they share.
  void each(const Nest& nest, const Inst& i, std::vector<Renaming>& names, std::vector<Inst>& out) {
    if (nest.is_own(i)) {
      for (Renaming& r : names) out.push_back(r.copy(i));
      return;
    }
    const Inst shared = names[0].copy(i);
    visit_results(i.op, [&](const ValId& old) {
      visit_results(shared.op, [&](const ValId& made) {
        for (Renaming& r : names) r.replace(old, {kernel_.vals[made.index], made});
      });
    });
    out.push_back(shared);
  }

  Kernel& kernel_;
  const Varying varying_;
  size_t gained_ = 0;
};

}  // namespace

void jam_loops(Kernel& kernel) {
  JamLoops pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
}

}  // namespace kenaz::kir
