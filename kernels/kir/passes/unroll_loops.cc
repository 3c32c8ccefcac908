#include "kernels/kir/passes/unroll_loops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "kernels/kir/passes/rename.h"
#include "kernels/kir/visit.h"
#include "kernels/scalar/ops.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {
namespace {

// A row of 32 numbers and a triangular matrix take 4,400 before they are folded.
constexpr size_t kMostInstructions = 6000;

/// By the number of their index.
using Loops = std::set<uint32_t>;

bool is_arithmetic(const IPrim& i) {
  const bool any = i.op == ScalarOp::kAdd || i.op == ScalarOp::kSub || i.op == ScalarOp::kMul ||
                   i.op == ScalarOp::kConvert;
  return any && is_integer(i.type) && is_integer(result_type(i));
}

/// Which loops have to be written out.
class Wanted {
 public:
  explicit Wanted(const Kernel& kernel) : arrays_(kernel.locals.size()) {
    for_each_body(kernel, [&](const Block& b) { look(b); });
    for (const Array& a : arrays_) {
      if (a.is_known) loops_.insert(a.loops.begin(), a.loops.end());
    }
  }

  bool is_wanted(const IFor& loop) const { return loops_.contains(loop.index.index); }
  bool pays() const {
    return std::ranges::any_of(loops_, [&](uint32_t index) { return known_.at(index).size() > 1; });
  }

 private:
  struct Array {
    bool is_known = true;  // the place of every access is, once these loops are written out
    Loops loops;
  };

  /// Which loops an integer hangs on that is known when they are written out; of others nothing.
  std::optional<Loops> loops_of(const Value& v) const {
    if (v.is_const()) return Loops();
    const auto it = known_.find(v.id().index);
    return it != known_.end() ? std::optional(it->second) : std::nullopt;
  }

  void look(const Block& b) {
    for (const Inst& i : b.insts) {
      std::visit(Overloaded{[&](const IPrim& p) {
                              if (is_arithmetic(p)) note(p.dst, p.args, {});
                            },
                            [&](const IFor& l) {
                              const bool counts = !l.uniform && l.step.is_const();
                              if (counts) note(l.index, {l.from, l.to}, {l.index.index});
                            },
                            [](const auto&) {}},
                 i.op);
      visit_address(i.op, [&](const Address& a) { access(i, a); });
      visit_blocks(i.op, [&](const Block& inner) { look(inner); });
    }
  }

  void note(ValId v, const std::vector<Value>& from, Loops loops) {
    for (const Value& part : from) {
      const auto more = loops_of(part);
      if (!more) return;
      loops.insert(more->begin(), more->end());
    }
    known_.emplace(v.index, std::move(loops));
  }

  void access(const Inst& i, const Address& a) {
    const auto* local = std::get_if<LocalId>(&a.base);
    if (local == nullptr) return;
    Array& array = arrays_[local->index];
    const auto loops = loops_of(a.index);
    const auto* load = std::get_if<ILoad>(&i.op);
    const auto* store = std::get_if<IStore>(&i.op);
    const Type type = load != nullptr ? load->type : store != nullptr ? store->value.type : Type();
    array.is_known = array.is_known && loops && type.lanes == 1;
    if (array.is_known) array.loops.insert(loops->begin(), loops->end());
  }

  std::vector<Array> arrays_;                  // by LocalId
  std::unordered_map<uint32_t, Loops> known_;  // by ValId
  Loops loops_;
};

class UnrollLoops {
 public:
  UnrollLoops(Kernel& kernel, const Wanted& wanted) : kernel_(kernel), wanted_(wanted) {}

  /// False: there would be too many instructions.
  bool in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      const auto* loop = std::get_if<IFor>(&i.op);
      if (loop != nullptr && wanted_.is_wanted(*loop)) {
        Renaming names(kernel_);
        write_out(*loop, names, out);
      } else {
        visit_blocks(i.op, [&](Block& inner) { in(inner); });
        out.push_back(std::move(i));
      }
    }
    b.insts = std::move(out);
    return made_ <= kMostInstructions;
  }

 private:
  void write_out(const IFor& loop, Renaming& names, std::vector<Inst>& out) {
    Value from = loop.from, to = loop.to;
    names.rename(from);
    names.rename(to);
    const int64_t end = to.constant().as_i64(), step = loop.step.constant().as_i64();
    int64_t at = from.constant().as_i64();
    while (at < end && made_ <= kMostInstructions) {
      names.replace(loop.index, PrimValue::of_int(from.type.prim, at));
      copy(loop.body, names, out);
      if (end - at <= step) return;
      at += step;
    }
  }

  void copy(const Block& b, Renaming& names, std::vector<Inst>& out) {
    for (const Inst& i : b.insts) {
      made_++;
      if (const auto* loop = std::get_if<IFor>(&i.op);
          loop != nullptr && wanted_.is_wanted(*loop)) {
        write_out(*loop, names, out);
        continue;
      }
      Inst made = i;
      names.rename(made, [&](Block& inner) {
        std::vector<Inst> insts;
        copy(inner, names, insts);
        inner.insts = std::move(insts);
      });
      if (!fold(i, made, names)) out.push_back(std::move(made));
    }
  }

  /// The bounds of loops inside are known only then.
  static bool fold(const Inst& i, const Inst& made, Renaming& names) {
    const auto* prim = std::get_if<IPrim>(&made.op);
    if (prim == nullptr || !is_arithmetic(*prim)) return false;
    std::vector<PrimValue> args;
    for (const Value& v : prim->args) {
      if (!v.is_const()) return false;
      args.push_back(v.constant());
    }
    names.replace(std::get<IPrim>(i.op).dst, eval_scalar(prim->op, prim->type, prim->to, args));
    return true;
  }

  Kernel& kernel_;
  const Wanted& wanted_;
  size_t made_ = 0;
};

}  // namespace

void unroll_loops(Kernel& kernel) {
  const Wanted wanted(kernel);
  if (!wanted.pays()) return;
  Kernel made = kernel;
  UnrollLoops pass(made, wanted);
  bool fits = true;
  for_each_body(made, [&](Block& b) { fits = fits && pass.in(b); });
  if (fits) kernel = std::move(made);
}

}  // namespace kenaz::kir
