// Branches inside a thread.
#include <algorithm>

#include "kernels/body/statements.h"
#include "kernels/body/thread.h"
#include "kernels/kir/visit.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

/// Two branches, and the values that depend on which of them is taken.
class Join {
 public:
  explicit Join(kir::Builder& k) : k_(k) {}

  /// Appends to the then- or else-branch.
  void build(bool then, const kir::Builder::Do& build) {
    k_.into(then ? branch_.then_block : branch_.else_block, build);
  }
  /// `a` if the then-branch is taken, `b` if the other one: gives the number of their join. A value
  /// that both have was there before.
  size_t choose(const Value& a, const Value& b) {
    Choice c{a, std::nullopt};
    if (a != b) {
      c.var = k_.declare(a.type);
      build(true, [&] { k_.assign(*c.var, a); });
      build(false, [&] { k_.assign(*c.var, b); });
    }
    choices_.push_back(std::move(c));
    return choices_.size() - 1;
  }
  /// After this, the joins have values.
  void finish(Value cond) {
    branch_.cond = std::move(cond);
    k_.emit(std::move(branch_));
    for (Choice& c : choices_) {
      if (c.var) c.value = k_.read(*c.var);
    }
  }
  const Value& operator[](size_t n) const { return choices_[n].value; }
  /// Whether one of the branches accesses the table.
  bool accesses(kir::LocalId table) const {
    bool any = false;
    const auto look = [&](const kir::Inst& i) {
      kir::visit_address(i.op, [&](const kir::Address& at) {
        const auto* local = std::get_if<kir::LocalId>(&at.base);
        any = any || (local != nullptr && *local == table);
      });
    };
    kir::for_each_inst(branch_.then_block, look);
    kir::for_each_inst(branch_.else_block, look);
    return any;
  }

 private:
  struct Choice {
    Value value;
    std::optional<kir::Var> var;
  };
  kir::Builder& k_;
  kir::IIf branch_;
  std::vector<Choice> choices_;
};

/// Where a join of arrays lies: numbers of a Join's choices.
struct ArrayJoin {
  KernelArray array;  // what both have in common
  size_t base = 0, offset = 0;
  std::vector<size_t> strides;
};

/// Arrays stay where they are; what is chosen is where that is.
ArrayJoin choose(Thread& t, Join& join, const KernelArray& x, const KernelArray& y) {
  ArrayJoin r{x, join.choose(x.base, y.base), join.choose(x.layout.offset, y.layout.offset), {}};
  if (x.memory != y.memory) r.array.memory = kUnknownMemory;
  r.array.layout.dense = x.layout.dense && y.layout.dense && x.layout.unit == y.layout.unit;
  r.array.layout.strides.clear();
  if (r.array.layout.dense) return r;
  Values strides[2];
  for (const bool then : {true, false}) {
    join.build(then, [&] {
      Math math{t.k};
      strides[then ? 0 : 1] = LayoutMath(math).strides((then ? x : y).layout);
    });
  }
  for (size_t k = 0; k < strides[0].size(); k++) {
    r.strides.push_back(join.choose(strides[0][k], strides[1][k]));
  }
  return r;
}

KernelArray joined(Thread& t, const Join& join, ArrayJoin a, const ir::Type& type) {
  a.array.base = join[a.base];
  a.array.layout.offset = join[a.offset];
  for (size_t n : a.strides) a.array.layout.strides.push_back(join[n]);
  a.array.layout.dims = t.env.scalars(type.dims);
  return a.array;
}

/// Whether both branches' results are in the same memory, which is there before: then neither needs
/// other memory.
bool have_one_source(Thread& t, const ir::EIf& e, size_t k) {
  const VarId a = source_of_result(t.ir(), e.then_body, k);
  return a == source_of_result(t.ir(), e.else_body, k) && t.env.array(a).kind == ArrayKind::kMemory;
}

/// Where the branches' results are wanted.
struct Wanted {
  std::vector<std::optional<KernelArray>> dests;  // by result
  std::vector<kir::LocalId> tables;               // those of them that are made for this
};

/// Tables for the branches' results, made before them: which of two tables it is cannot be chosen
/// later, as it can between addresses.
Wanted wanted_by(Thread& t, const ir::Stm& s, const ir::EIf& e) {
  Wanted wanted;
  std::vector<std::optional<KernelArray>>& dests = wanted.dests;
  for (size_t k = 0; k < s.pat.size(); k++) {
    dests.push_back(t.dests.of(s.pat[k]));
    const ir::Type& type = t.ir().type_of(s.pat[k]);
    // The size of such an array may be a result, too, which has no value yet.
    const bool known = std::none_of(type.dims.begin(), type.dims.end(), [&](const ir::Atom& d) {
      return std::find(s.pat.begin(), s.pat.end(), d) != s.pat.end();
    });
    if (dests.back() || type.is_scalar() || !known || have_one_source(t, e, k)) continue;
    dests.back() = local_array(t, type.prim, type.dims);
    if (dests.back()) wanted.tables.push_back(*dests.back()->local);
  }
  return wanted;
}

/// Translates a branch; its arrays have memory.
std::vector<KernelValue> side(Thread& t, const ir::Body& b,
                              const std::vector<std::optional<KernelArray>>& dests) {
  auto results = translate(t, b, dests);
  for (size_t k = 0; k < results.size() && !t.host.failed(); k++) {
    if (auto* a = std::get_if<KernelArray>(&results[k])) {
      *a = in_memory(t, *a, t.ir().type_of(b.results[k]).dims);
    }
  }
  return results;
}

/// To where it is wanted, or to where it has an address.
KernelArray moved(Thread& t, const KernelArray& a, const ir::Atom& result,
                  const std::optional<KernelArray>& dest) {
  if (!a.is_table() && !(dest && dest->is_table())) return a;
  const KernelArray to = dest ? *dest : allocate_addressed(t, a.elem, t.ir().type_of(result).dims);
  copy(t, a, to);
  return to;
}

/// Whether one of the branch's results may lie in the memory of `dest`.
bool lies_in(const KernelArray& dest, const std::vector<KernelValue>& results) {
  return std::any_of(results.begin(), results.end(), [&](const KernelValue& r) {
    const auto* a = std::get_if<KernelArray>(&r);
    return a != nullptr && (a->memory == dest.memory || a->memory == kUnknownMemory);
  });
}

/// Where one branch has made its k-th result where that is wanted, the other one copies its own
/// there: a join of two places would be copied behind the branches, by the first as well, onto
/// itself. `x`, `y`: all results of the branches.
void settle(Thread& t, Join& join, std::vector<KernelValue>& x, std::vector<KernelValue>& y,
            size_t k, const KernelArray& dest) {
  const bool then = identical(std::get<KernelArray>(y[k]), dest);
  if (identical(std::get<KernelArray>(x[k]), dest) == then) return;
  std::vector<KernelValue>& others = then ? x : y;
  if (dest.memory == kUnknownMemory || lies_in(dest, others)) return;
  join.build(then, [&] { copy(t, std::get<KernelArray>(others[k]), dest); });
  others[k] = dest;
}

/// Both in the same table, or both at addresses.
bool in_same_space(const KernelArray& a, const KernelArray& b) {
  return a.shared == b.shared && a.local == b.local;
}

}  // namespace

void branch(Thread& t, const ir::Stm& s, const ir::EIf& e) {
  const Value cond = t.env.scalar(e.cond);
  if (cond.is_const()) {
    std::vector<std::optional<KernelArray>> dests;
    for (VarId v : s.pat) dests.push_back(t.dests.of(v));
    const auto results = translate(t, cond.is_bool(true) ? e.then_body : e.else_body, dests);
    for (size_t k = 0; k < s.pat.size(); k++) t.env.bind(s.pat[k], results[k]);
    return;
  }
  Join join(t.k);
  const Wanted wanted = wanted_by(t, s, e);
  const std::vector<std::optional<KernelArray>>& dests = wanted.dests;
  std::vector<KernelValue> a, b;
  join.build(true, [&] { a = side(t, e.then_body, dests); });
  join.build(false, [&] { b = side(t, e.else_body, dests); });
  t.k.set_prov(s.prov);
  if (t.host.failed()) return;
  std::vector<std::variant<size_t, ArrayJoin>> joins;
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (const auto* x = std::get_if<Value>(&a[k])) {
      joins.emplace_back(join.choose(*x, std::get<Value>(b[k])));
      continue;
    }
    auto& x = std::get<KernelArray>(a[k]);
    auto& y = std::get<KernelArray>(b[k]);
    if (!in_same_space(x, y)) {
      join.build(true, [&] { x = moved(t, x, e.then_body.results[k], dests[k]); });
      join.build(false, [&] { y = moved(t, y, e.else_body.results[k], dests[k]); });
    }
    if (dests[k] && in_same_space(x, y)) settle(t, join, a, b, k, *dests[k]);
    joins.emplace_back(choose(t, join, x, y));
  }
  for (const kir::LocalId table : wanted.tables) {
    if (!join.accesses(table)) give_back(t, table);
  }
  join.finish(cond);
  // Scalars first: the arrays' sizes may be among them.
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (const auto* n = std::get_if<size_t>(&joins[k])) t.env.bind(s.pat[k], join[*n]);
  }
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (auto* array = std::get_if<ArrayJoin>(&joins[k])) {
      t.env.bind(s.pat[k], joined(t, join, std::move(*array), t.ir().type_of(s.pat[k])));
    }
  }
}

}  // namespace kenaz::body
