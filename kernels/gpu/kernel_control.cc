// Branches and loops inside a thread.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/glsl/types.h"
#include "kernels/gpu/analysis.h"
#include "kernels/gpu/kernel_gen.h"
#include "protocol/base/check.h"

namespace kenaz::gpu {

using ir::VarId;

// A branch's result: scalars are assigned to a variable; arrays stay where they are, and what is
// assigned is where that is. `in_a` and `in_b` are appended to the branches' texts.
KernelValue KernelGen::join(const KernelValue& a, const KernelValue& b, const ir::Type& type,
                            std::string& in_a, std::string& in_b) {
  const std::string pad(static_cast<size_t>(2 * indent_ + 2), ' ');
  const auto choose = [&](PrimType t, const std::string& x, const std::string& y) {
    const Expr r = variable(t);
    in_a += fmt::format("{}{} = {};\n", pad, r.text, x);
    in_b += fmt::format("{}{} = {};\n", pad, r.text, y);
    return r;
  };
  if (const auto* x = std::get_if<Expr>(&a)) {
    const auto& y = std::get<Expr>(b);
    return choose(type.prim, x->text, y.text);
  }
  const auto &x = std::get<KernelArray>(a), &y = std::get<KernelArray>(b);
  if (identical(x, y)) return x;
  const auto choose_i64 = [&](const Expr& p, const Expr& q) {
    return same(p, q) && p.constant ? p : choose(PrimType::kI64, p.text, q.text);
  };
  KernelArray r;
  r.elem = x.elem;
  r.memory = x.memory == y.memory ? x.memory : kUnknownMemory;
  r.base = x.base == y.base ? x.base : choose(PrimType::kU64, x.base, y.base).text;
  r.layout.offset = choose_i64(x.layout.offset, y.layout.offset);
  r.layout.dims = exprs(type.dims);
  r.layout.dense = x.layout.dense && y.layout.dense && same(x.layout.unit, y.layout.unit);
  r.layout.unit = x.layout.unit;
  if (!r.layout.dense) {
    for (size_t k = 0; k < r.layout.dims.size(); k++) {
      r.layout.strides.push_back(choose_i64(branch_strides_[0][k], branch_strides_[1][k]));
    }
  }
  return r;
}

namespace {

/// From so many links on, `if .. else if .. else if ..` becomes a chain of ifs and not a nest.
constexpr size_t kLongChain = 16;

/// The branch that an else-branch consists of, behind what its condition needs.
const ir::EIf* next_link(const ir::EIf& e) {
  const ir::Body& b = e.else_body;
  if (b.stms.empty()) return nullptr;
  const ir::Stm& last = b.stms.back();
  if (b.results.size() != last.pat.size()) return nullptr;
  for (size_t k = 0; k < b.results.size(); k++) {
    if (b.results[k] != ir::Atom(last.pat[k])) return nullptr;
  }
  return std::get_if<ir::EIf>(&last.exp);
}

}  // namespace

bool KernelGen::is_long_chain(const ir::Stm& s, const ir::EIf& e) const {
  const bool scalars = std::all_of(s.pat.begin(), s.pat.end(),
                                   [&](VarId v) { return host_.ir().type_of(v).is_scalar(); });
  size_t links = 0;
  for (const ir::EIf* link = &e; link != nullptr && links < kLongChain; links++) {
    link = next_link(*link);
  }
  return scalars && links == kLongChain;
}

// Nested, a long chain would exceed what llvmpipe keeps of nested conditions, and a loop that is
// left by `break` is made a nest by its compiler. So the branch that is taken lets the thread pass
// over the other ones as if it had failed, and at the end it goes on.
void KernelGen::chain(const ir::Stm& s, const ir::EIf& e) {
  std::vector<Expr> results;
  for (VarId v : s.pat) {
    const PrimType t = host_.ir().type_of(v).prim;
    results.push_back(local(t, glsl::literal({t, 0})));
  }
  const Expr taken = local(PrimType::kBool, "false");
  may_have_failed_ = true;
  const auto finish = [&](const std::string& condition, const ir::Body& b) {
    open(fmt::format("if ({}) {{", condition));
    const auto values = body(b);
    if (host_.failed()) return;
    for (size_t k = 0; k < results.size(); k++) {
      line(fmt::format("{} = {};", results[k].text, std::get<Expr>(values[k]).text));
    }
    line(fmt::format("if (going) {} = true;", taken.text));
    line("going = false;");
    close();
  };
  for (const ir::EIf* link = &e; !host_.failed();) {
    finish(fmt::format("going && {}", scalar(link->cond).text), link->then_body);
    const ir::EIf* next = next_link(*link);
    if (next == nullptr) {
      if (!host_.failed()) finish("going", link->else_body);
      break;
    }
    const auto& stms = link->else_body.stms;
    for (size_t k = 0; k + 1 < stms.size() && !host_.failed(); k++) stm(stms[k]);
    link = next;
  }
  line(fmt::format("if ({}) going = true;", taken.text));
  for (size_t k = 0; k < s.pat.size(); k++) {
    bind(s.pat[k], results[k]);
    defs_.erase(s.pat[k]);
  }
}

void KernelGen::branch(const ir::Stm& s, const ir::EIf& e) {
  if (is_long_chain(s, e)) {
    chain(s, e);
    return;
  }
  const Expr cond = scalar(e.cond);
  const size_t n = s.pat.size();
  std::vector<std::optional<KernelArray>> dests;
  for (VarId v : s.pat) dests.push_back(dest_of(v));
  struct Side {
    std::string text;
    std::vector<KernelValue> results;
    std::vector<std::vector<Expr>> strides;
  } sides[2];
  std::string* outer = out_;
  for (int k = 0; k < 2; k++) {
    Side& side = sides[k];
    const ir::Body& b = k == 0 ? e.then_body : e.else_body;
    out_ = &side.text;
    indent_++;
    side.results = body(b, dests);
    if (host_.failed()) {
      indent_--;
      out_ = outer;
      return;
    }
    for (size_t i = 0; i < n; i++) {
      std::vector<Expr> strides;
      if (auto* a = std::get_if<KernelArray>(&side.results[i])) {
        *a = in_memory(*a, host_.ir().type_of(b.results[i]).dims);
        strides = LayoutMath(*this).strides(a->layout);
      }
      side.strides.push_back(std::move(strides));
    }
    indent_--;
    out_ = outer;
  }
  // Scalars first: the arrays' sizes may be among them.
  for (const bool arrays : {false, true}) {
    for (size_t i = 0; i < n; i++) {
      if ((sides[0].results[i].index() == 1) != arrays) continue;
      branch_strides_[0] = sides[0].strides[i];
      branch_strides_[1] = sides[1].strides[i];
      bind(s.pat[i], join(sides[0].results[i], sides[1].results[i], host_.ir().type_of(s.pat[i]),
                          sides[0].text, sides[1].text));
      defs_.erase(s.pat[i]);
    }
  }
  line(fmt::format("if ({}) {{", cond.text));
  *out_ += sides[0].text;
  if (!sides[1].text.empty()) {
    line("} else {");
    *out_ += sides[1].text;
  }
  line("}");
}

// ---- loops

// The memory that the loop's k-th parameter, an array, lives in throughout.
KernelArray KernelGen::loop_memory(const ir::Stm& s, const ir::ELoop& e, size_t k) {
  const auto& p = e.params[k];
  const KernelArray init = array(p.init.var());
  const auto dest = dest_of(s.pat[k]);
  const bool consumed = consumed_in(host_.ir(), e.body).count(p.var) != 0;
  if (consumed && init.kind == ArrayKind::kMemory && (!dest || identical(init, *dest))) {
    return init;
  }
  if (!consumed && e.body.results[k] == ir::Atom(p.var)) return init;  // never changes
  const ir::Type& t = host_.ir().type_of(p.var);
  const KernelArray m = dest ? *dest : allocate(t.prim, t.dims);
  copy(init, m);
  return m;
}

void KernelGen::assign(const std::vector<KernelValue>& targets,
                       const std::vector<KernelValue>& values, const std::vector<VarId>& types_of) {
  const size_t n = targets.size();
  std::vector<KernelValue> moved = values;
  // What mentions another target's memory is taken aside first.
  for (size_t k = 0; k < n; k++) {
    if (const auto* x = std::get_if<Expr>(&values[k])) {
      if (n > 1 && !x->constant) moved[k] = local(x->type, x->text);
      continue;
    }
    const auto &a = std::get<KernelArray>(values[k]), &t = std::get<KernelArray>(targets[k]);
    if (a.kind != ArrayKind::kMemory || identical(a, t)) continue;
    bool clashes = a.memory == kUnknownMemory;
    for (const auto& other : targets) {
      const auto* o = std::get_if<KernelArray>(&other);
      if (o != nullptr && (o->memory == a.memory || o->memory == kUnknownMemory)) clashes = true;
    }
    if (!clashes) continue;
    const ir::Type& type = host_.ir().type_of(types_of[k]);
    const KernelArray aside = allocate(type.prim, type.dims);
    copy(a, aside);
    moved[k] = aside;
  }
  for (size_t k = 0; k < n; k++) {
    if (const auto* a = std::get_if<KernelArray>(&moved[k])) {
      copy(*a, std::get<KernelArray>(targets[k]));
    }
  }
  for (size_t k = 0; k < n; k++) {
    if (const auto* x = std::get_if<Expr>(&moved[k])) {
      line(fmt::format("{} = {};", std::get<Expr>(targets[k]).text, x->text));
    }
  }
}

void KernelGen::loop(const ir::Stm& s, const ir::ELoop& e) {
  const size_t n = e.params.size();
  std::vector<KernelValue> params(n);
  // Scalars first (sizes may be among them); what moves must lie on top of the heap.
  enum Kind : uint8_t { kScalars, kArrays, kMoving };
  std::vector<size_t> moving;
  Expr bottom;
  for (const Kind kind : {kScalars, kArrays, kMoving}) {
    if (kind == kMoving) bottom = heap_mark();
    for (size_t k = 0; k < n; k++) {
      const auto& p = e.params[k];
      const ir::Type& type = host_.ir().type_of(p.var);
      const bool moves = is_moving(host_.ir(), e, k);
      if (kind != (type.is_scalar() ? kScalars : moves ? kMoving : kArrays)) continue;
      if (kind != kScalars) {
        KernelArray m = moves ? moving_param(e, k) : loop_memory(s, e, k);
        if (moves) moving.push_back(k);
        m.layout.dims = exprs(type.dims);
        params[k] = m;
      } else {
        params[k] = local(type.prim, scalar(p.init).text);
      }
      bind(p.var, params[k]);
      bound_here_.insert(p.var);
    }
    if (host_.failed()) return;
  }
  Expr i, bound;
  const auto* f = std::get_if<ir::LoopFor>(&e.form);
  std::string cond;
  if (f != nullptr) {
    bound = scalar(f->bound);
    i = open_for(bound);
    bind(f->index, i);
    bound_here_.insert(f->index);
  } else {
    cond = scalar(ir::Atom(std::get<ir::LoopWhile>(e.form).cond)).text;
    open_while(cond);
  }
  const Expr mark = heap_mark();
  const auto results = body(e.body);
  if (host_.failed()) return;
  std::vector<VarId> vars;
  std::vector<KernelValue> targets, values;
  for (size_t k = 0; k < n; k++) {
    if (std::count(moving.begin(), moving.end(), k) != 0) continue;
    if (e.body.results[k] == ir::Atom(e.params[k].var)) continue;  // and may have no memory
    vars.push_back(e.params[k].var);
    targets.push_back(params[k]);
    values.push_back(results[k]);
  }
  // Scalars may be the sizes of what moves: those of the results are in variables of their own.
  if (moving.empty()) {
    assign(targets, values, vars);
    heap_reset(mark);
  } else {
    move_results(e, results, moving, params, bottom);
    assign(targets, values, vars);
  }
  if (f != nullptr) {
    close_for(i, bound);
  } else {
    close_while(cond);
  }
  for (size_t k = 0; k < n; k++) {
    bind(s.pat[k], params[k]);
    defs_.erase(s.pat[k]);
  }
  // Sizes of the results are spelled in the pattern's own names.
  for (size_t k = 0; k < n; k++) {
    if (auto* a = std::get_if<KernelArray>(&params[k])) {
      a->layout.dims = exprs(host_.ir().type_of(s.pat[k]).dims);
      bind(s.pat[k], *a);
    }
  }
}

}  // namespace kenaz::gpu
