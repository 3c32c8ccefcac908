// Control: from blocks that branch to each other to ifs and loops.
//
// SPIR-V's control flow is structured: a header names the block behind its construct, its merge.
// What it has and kernel IR has not is leaving from inside: return, break and continue. Each place
// that can be left to has a number; who leaves puts it into the variable `leaving`, which is 0
// else, and what stands in between is under the condition that it is 0. Where one arm of a branch
// always leaves, what follows stands in the other arm instead.
#include <algorithm>
#include <set>

#include "kernels/kir/visit.h"
#include "kernels/spirv/cases.h"
#include "kernels/spirv/phis.h"
#include "kernels/spirv/reader.h"

namespace kenaz::spirv {

using kir::Block;
using kir::IIf;
using kir::IWhile;
using kir::Value;
using kir::Values;
using kir::Vars;

namespace {

/// How part of a function ends: at the block where it is to end, by leaving to one further out, or
/// both, or (never to be reached) neither.
struct Flow {
  bool falls = false, leaves = false;
  Flow& operator|=(Flow f) {
    falls |= f.falls;
    leaves |= f.leaves;
    return *this;
  }
};

/// Whether threads meet in it.
bool meets(const Block& block) {
  bool found = false;
  kir::for_each_inst(block, [&](const kir::Inst& i) {
    found |=
        std::holds_alternative<kir::IBarrier>(i.op) || std::holds_alternative<kir::ISubgroup>(i.op);
  });
  return found;
}

/// Stands for the end of the function.
constexpr Ident kReturn = 0;

class Body {
 public:
  Body(Reader& reader, const Function& f)
      : r_(reader), k_(reader.builder()), f_(f), phis_(reader) {}

  Values run() {
    if (f_.blocks.empty()) refuse("OpFunctionCall: of a function without body");
    if (r_.types().at(f_.result_type).kind != TypeInfo::kVoid) {
      for (const PrimType t : r_.types().scalars(f_.result_type)) {
        results_.push_back(k_.declare(kir::Type{t}));
      }
    }
    if (f_.blocks.size() > 1) leaving_ = k_.declare(kir::i32(0));
    for (const BasicBlock& b : f_.blocks) phis_.declare(b);
    exits_.push_back({kReturn, new_number()});
    region(f_.blocks[0].label, kReturn);
    return k_.read(results_);
  }

 private:
  struct Exit {
    Ident label;
    int number;
  };
  /// What comes next in a region: a block, or nothing more.
  struct Next {
    Ident label = 0;
    std::optional<Flow> done;
  };
  int new_number() { return ++last_number_; }

  const BasicBlock& block(Ident label) const {
    const auto it = f_.by_label.find(label);
    if (it == f_.by_label.end()) refuse("%{} is no block of the function", label);
    return f_.blocks[it->second];
  }

  void assign_phis(Ident from, Ident to) {
    if (to != kReturn) phis_.assign_from(from, block(to));
  }

  /// The block's phis and instructions.
  void contents(const BasicBlock& b) {
    if (!done_.insert(b.label).second) refuse("control flow without structure, at %{}", b.label);
    bool first = true;
    for (const Instruction& in : b.body) {
      first &= in.op == spv::OpPhi;
      if (in.op == spv::OpPhi && !first) refuse("OpPhi: behind other instructions");
      if (first) {
        phis_.define(in);
      } else {
        r_.instruction(in);
      }
    }
  }

  // ---- regions

  /// From a block up to, and without, the block `stop`. `header`: the first one is a loop's header
  /// whose loop is made already.
  Flow region(Ident label, Ident stop, bool header = false) {
    const Reader::Deeper deeper(r_);
    for (;; header = false) {
      const BasicBlock& b = block(label);
      const Next next = b.continues != 0 && !header ? loop(b, stop) : plain(b, stop);
      if (next.done) return *next.done;
      label = next.label;
    }
  }

  Next plain(const BasicBlock& b, Ident stop) {
    contents(b);
    std::optional<Next> next;
    r_.about(b.end, [&] { next = end_of(b, stop); });
    return *next;
  }
  Next end_of(const BasicBlock& b, Ident stop) {
    r_.at(b.end);
    switch (b.end.op) {
      case spv::OpBranch: return go(b.label, b.end.at(0), stop);
      case spv::OpBranchConditional: return conditional(b, stop);
      case spv::OpSwitch: return choice(b, stop);
      case spv::OpReturn: return go(b.label, kReturn, stop);
      case spv::OpReturnValue:
        assign(r_, b.end, results_, r_.items().values(b.end.at(0)));
        return go(b.label, kReturn, stop);
      case spv::OpUnreachable: return {0, Flow{}};
      default: refuse("{} is not read", name_of(b.end.op));
    }
  }

  /// A branch without condition.
  Next go(Ident from, Ident to, Ident stop) {
    assign_phis(from, to);
    if (to == stop) return {0, Flow{.falls = true}};
    const auto exit =
        std::find_if(exits_.rbegin(), exits_.rend(), [&](const Exit& e) { return e.label == to; });
    if (exit == exits_.rend()) return {to, {}};
    used_.insert(exit->number);
    if (leaving_) k_.assign(*leaving_, kir::i32(exit->number));
    return {0, Flow{.leaves = true}};
  }
  /// Where a branch leads to, up to `stop`.
  Flow arm(Ident from, Ident to, Ident stop) {
    const Next next = go(from, to, stop);
    return next.done ? *next.done : region(next.label, stop);
  }

  Value not_leaving() { return k_.eq(k_.read(*leaving_), 0); }
  /// Who has left to `number` has arrived.
  void arrive(int number) {
    IIf i;
    i.cond = k_.eq(k_.read(*leaving_), int64_t{number});
    k_.into(i.then_block, [&] { k_.assign(*leaving_, kir::i32(0)); });
    k_.emit(std::move(i));
  }
  /// What follows a construct that ended so.
  Next behind(Flow f, Ident merge, Ident stop) {
    if (!f.falls) return {0, f};
    if (merge == stop) return {0, f};
    if (!f.leaves) return {merge, {}};
    IIf rest;
    rest.cond = not_leaving();
    Flow all;
    k_.into(rest.then_block, [&] { all = region(merge, stop); });
    k_.emit(std::move(rest));
    return {0, Flow{all.falls, true}};
  }

  // ---- branches
  Next conditional(const BasicBlock& b, Ident stop) {
    const Ident yes = b.end.at(1), no = b.end.at(2);
    const Value cond = condition(b.end.at(0));
    if (yes == no) return go(b.label, yes, stop);
    const bool merges = b.merge != 0 && b.continues == 0;
    if (cond.is_const()) {
      const Ident taken = cond.is_bool(true) ? yes : no;
      if (!merges) return go(b.label, taken, stop);
      return behind(arm(b.label, taken, b.merge), b.merge, stop);
    }
    IIf i;
    i.cond = cond;
    Flow y, n;
    const Ident end = merges ? b.merge : stop;
    k_.into(i.then_block, [&] { y = arm(b.label, yes, end); });
    k_.into(i.else_block, [&] { n = arm(b.label, no, end); });
    r_.at(b.end);
    if (!merges) {
      k_.emit(std::move(i));
      return {0, y |= n};
    }
    // What follows goes into the one arm that comes to it, if that is so.
    std::optional<Flow> rest;
    const auto follow = [&](Block& in) {
      k_.into(in, [&] { rest = end == stop ? Flow{true, false} : region(end, stop); });
    };
    if (!y.falls && n.falls && !n.leaves) {
      follow(i.else_block);
    } else if (!n.falls && y.falls && !y.leaves) {
      follow(i.then_block);
    }
    r_.at(b.end);
    k_.emit(std::move(i));
    if (rest) return {0, Flow{rest->falls, rest->leaves || y.leaves || n.leaves}};
    return behind(y |= n, end, stop);
  }

  Value condition(Ident id) {
    const Value& v = r_.items().scalar(id);
    if (v.type.prim != PrimType::kBool) refuse("%{} is no condition", id);
    return v;
  }

  Next choice(const BasicBlock& b, Ident stop) {
    const Value selector = r_.items().scalar(b.end.at(0));
    if (!is_integer(selector.type.prim)) refuse("OpSwitch: of no integer");
    if (b.merge == 0 || b.continues != 0) refuse("OpSwitch: without OpSelectionMerge");
    const int number = new_number();
    exits_.push_back({b.merge, number});
    const std::vector<Case> all = cases_of(b.end, selector.type.prim);
    Flow f = chosen(b, selector, all, 0);
    exits_.pop_back();
    if (used_.contains(number)) {
      arrive(number);
      f.falls = true;
    }
    return behind(f, b.merge, stop);
  }

  Flow chosen(const BasicBlock& b, const Value& selector, const std::vector<Case>& all, size_t n) {
    const Reader::Deeper deeper(r_);
    if (n == all.size()) return arm(b.label, b.end.at(1), b.merge);
    if (all[n].label == b.end.at(1)) return chosen(b, selector, all, n + 1);  // as the default
    IIf i;
    i.cond = kir::boolean(false);
    for (const uint64_t value : all[n].values) {
      i.cond = k_.or_(i.cond, k_.eq(selector, Value(PrimValue{selector.type.prim, value})));
    }
    Flow y, no;
    k_.into(i.then_block, [&] { y = arm(b.label, all[n].label, b.merge); });
    k_.into(i.else_block, [&] { no = chosen(b, selector, all, n + 1); });
    r_.at(b.end);
    k_.emit(std::move(i));
    return y |= no;
  }

  // ---- loops

  /// The block at the end of a loop's head, if that is a straight way to a condition on which the
  /// loop ends: what `while (c)` and `for (..; c; ..)` are.
  const BasicBlock* end_of_head(const BasicBlock& header) const {
    const BasicBlock* b = &header;
    for (size_t n = 0; n < f_.blocks.size(); n++) {
      if (b != &header && b->merge != 0) return nullptr;
      if (b->end.op == spv::OpBranchConditional) {
        const bool ends = (b->end.at(1) == header.merge) != (b->end.at(2) == header.merge);
        const std::vector<Instruction>& behind = block(header.merge).body;
        const bool phis = !behind.empty() && behind[0].op == spv::OpPhi;
        return ends && !phis ? b : nullptr;
      }
      const Ident next = b->end.at(0);
      if (b->end.op != spv::OpBranch || next == header.merge || next == header.continues ||
          next == header.label) {
        return nullptr;
      }
      b = &block(next);
    }
    return nullptr;
  }

  /// What a loop's construct is made with.
  struct Loop {
    const BasicBlock& header;
    int breaks, continues;  // numbers of exits
  };

  Next loop(const BasicBlock& header, Ident stop) {
    const Loop l{header, new_number(), new_number()};
    exits_.push_back({header.merge, l.breaks});
    exits_.push_back({header.continues, l.continues});
    IWhile w;
    Flow f;
    const BasicBlock* head = end_of_head(header);
    if (head != nullptr) {
      f = with_head(l, *head, w);
    } else {
      k_.into(w.head, [&] { w.cond = not_leaving(); });
      k_.into(w.body, [&] {
        f = iteration(l, [&] { return region(header.label, header.continues, true); });
      });
    }
    exits_.resize(exits_.size() - 2);
    w.uniform = meets(w.head) || meets(w.body);
    r_.at(head != nullptr ? head->end : header.end);
    k_.emit(std::move(w));
    if (used_.contains(l.breaks)) {
      arrive(l.breaks);
      f.falls = true;
    }
    return behind(f, header.merge, stop);
  }

  /// Whether an iteration leaves the loop, otherwise than by the head's condition.
  Flow with_head(const Loop& l, const BasicBlock& end, IWhile& w) {
    const bool on_true = end.end.at(2) == l.header.merge;  // the loop goes on
    k_.into(w.head, [&] {
      for (const BasicBlock* b = &l.header;; b = &block(b->end.at(0))) {
        contents(*b);
        if (b == &end) break;
        assign_phis(b->label, b->end.at(0));
      }
      const Value cond = condition(end.end.at(0));
      w.cond = on_true ? cond : k_.not_(cond);
    });
    const Ident body = end.end.at(on_true ? 1 : 2);
    Flow f;
    k_.into(w.body,
            [&] { f = iteration(l, [&] { return arm(end.label, body, l.header.continues); }); });
    if (f.leaves || used_.contains(l.breaks)) ask_before_head(l, w);
    f.falls = true;
    return f;
  }

  /// The head must not run once more when an iteration has left the loop.
  void ask_before_head(const Loop& l, IWhile& w) {
    IIf i;
    i.cond = w.cond;
    i.then_block = std::move(w.body);
    k_.into(i.else_block, [&] { k_.assign(*leaving_, kir::i32(l.breaks)); });
    used_.insert(l.breaks);
    w.body = std::move(w.head);
    w.body.insts.push_back({std::move(i), k_.prov()});
    w.head = {};
    k_.into(w.head, [&] { w.cond = not_leaving(); });
  }

  /// The body by `body`, then the continue construct. What it says of leaving is about exits
  /// further out than the loop.
  template <class F>
  Flow iteration(const Loop& l, F&& body) {
    Flow f = body();
    const bool continued = used_.contains(l.continues);
    if (continued) arrive(l.continues);
    const bool leaves = leaves_further();
    const auto rest = [&] { f |= region(l.header.continues, l.header.label); };
    if (f.falls || continued) {
      if (f.leaves && (leaves || used_.contains(l.breaks))) {
        IIf i;
        i.cond = not_leaving();
        k_.into(i.then_block, rest);
        k_.emit(std::move(i));
      } else {
        rest();
      }
    }
    return {false, leaves_further()};
  }

  /// Whether something inside of the innermost loop leaves to an exit around it. (An exit around it
  /// may have been used before the loop, too: then conditions are asked that need not be.)
  bool leaves_further() const {
    return std::any_of(exits_.begin(), exits_.end() - 2,
                       [&](const Exit& e) { return used_.contains(e.number); });
  }

  Reader& r_;
  kir::Builder& k_;
  const Function& f_;
  Vars results_;
  std::optional<kir::Var> leaving_;
  Phis phis_;
  std::set<Ident> done_;
  std::vector<Exit> exits_;
  std::set<int> used_;  // numbers of exits
  int last_number_ = 0;
};

}  // namespace

Values read_body(Reader& reader, const Function& function) { return Body(reader, function).run(); }

}  // namespace kenaz::spirv
