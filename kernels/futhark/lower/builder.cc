#include "kernels/futhark/lower/builder.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "kernels/ir/algebra.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using ir::Atom;
using ir::VarId;

namespace {

/// Whether an attribute says anything of such an expression. What asks for levels of threads does
/// so of combinators alone: left on all that is inside of one it would keep passes from optimising
/// that, as other attributes are meant to.
bool concerns(const std::string& attribute, const ir::Exp& exp) {
  const auto begins = [&](std::string_view with) { return attribute.rfind(with, 0) == 0; };
  bool combinator = false;
  ir::visit_lambdas(exp, [&](const ir::Lambda&) { combinator = true; });
  if (attribute == "sequential") {
    return combinator || std::holds_alternative<ir::ELoop>(exp) ||
           std::holds_alternative<ir::EIf>(exp);
  }
  return combinator ||
         !(begins("sequential_") || begins("flattening(") || begins("incremental_flattening("));
}

}  // namespace

Builder::Builder(ir::Program& program) : program_(program) {
  open_.push_back(true);
  scopes_.push_back({0, {}});
}

void Builder::open() {
  scopes_.push_back({static_cast<uint32_t>(open_.size()), {}});
  open_.push_back(true);
}

std::vector<ir::Stm> Builder::close() {
  CHECK(scopes_.size() > 1);
  open_[scopes_.back().id] = false;
  auto stms = std::move(scopes_.back().stms);
  scopes_.pop_back();
  return stms;
}

bool Builder::in_scope(const Atom& a) const {
  return a.is_const() || open_[scope_of_[a.var().index]];
}

void Builder::set_aside(bool visible) {
  std::vector<Scope> rest;
  for (size_t i = 1; i < scopes_.size(); ++i) {
    open_[scopes_[i].id] = visible;
    rest.push_back(std::move(scopes_[i]));
  }
  scopes_.resize(1);
  stacks_.push_back(std::move(rest));
}

void Builder::leave_constants() {
  for (auto& s : stacks_.back()) {
    open_[s.id] = true;
    scopes_.push_back(std::move(s));
  }
  stacks_.pop_back();
}

Builder::Outside::Outside(Builder& b) : b_(b) {
  CHECK(b.scopes_.size() > 1);
  b.open_[b.scopes_.back().id] = false;
  b.aside_.push_back(std::move(b.scopes_.back()));
  b.scopes_.pop_back();
}

Builder::Outside::~Outside() {
  b_.open_[b_.aside_.back().id] = true;
  b_.scopes_.push_back(std::move(b_.aside_.back()));
  b_.aside_.pop_back();
}

VarId Builder::var(ir::Type type, const std::string& name) {
  VarId v = program_.new_var(std::move(type), name);
  scope_of_.resize(v.index + 1, 0);
  scope_of_[v.index] = scopes_.back().id;
  return v;
}

void Builder::emit(std::vector<VarId> pat, ir::Exp exp, std::vector<VarId> certs) {
  for (VarId v : pat) scope_of_[v.index] = scopes_.back().id;
  ++count_;
  std::vector<std::string> attrs;
  std::copy_if(attrs_.begin(), attrs_.end(), std::back_inserter(attrs),
               [&](const std::string& a) { return concerns(a, exp); });
  scopes_.back().stms.push_back(
      ir::Stm{std::move(pat), std::move(exp), std::move(certs), prov(), std::move(attrs)});
}

VarId Builder::let(ir::Type type, ir::Exp exp, const std::string& name, std::vector<VarId> certs) {
  VarId v = var(std::move(type), name);
  emit({v}, std::move(exp), std::move(certs));
  return v;
}

VarId Builder::let_outermost(ir::Type type, ir::Exp exp, const std::string& name) {
  Scope& scope = scopes_[scopes_.size() > 1 ? 1 : 0];
  VarId v = program_.new_var(std::move(type), name);
  scope_of_.resize(v.index + 1, 0);
  scope_of_[v.index] = scope.id;
  ++count_;
  scope.stms.push_back(ir::Stm{{v}, std::move(exp), {}, prov(), {}});
  return v;
}

void Builder::set_place(const SourceRange* range, ir::ProvId caller) {
  if (range == range_ && caller == caller_) return;
  range_ = range;
  caller_ = caller;
  prov_valid_ = false;
}

ir::ProvId Builder::prov() {
  if (!prov_valid_) {
    prov_ = program_.new_prov(range_ != nullptr ? *range_ : SourceRange{}, caller_);
    prov_valid_ = true;
  }
  return prov_;
}

// ---- scalar operations

Builder::Key Builder::key(ScalarOp op, PrimType t, PrimType to, const std::vector<Atom>& args) {
  Key k{};
  k[0] =
      static_cast<uint64_t>(op) << 16 | static_cast<uint64_t>(t) << 8 | static_cast<uint64_t>(to);
  size_t i = 1;
  for (const Atom& a : args) {
    k[i++] = a.is_const() ? static_cast<uint64_t>(a.constant().type) : 1000;
    k[i++] = a.is_const() ? a.constant().bits : a.var().index;
  }
  return k;
}

size_t Builder::KeyHash::operator()(const Key& k) const {
  uint64_t h = 0;
  for (uint64_t x : k) h = (h ^ x) * 0x9e3779b97f4a7c15u + (h >> 29);
  return h;
}

Atom Builder::numbered(ScalarOp op, PrimType t, PrimType to, std::vector<Atom> args,
                       const std::vector<VarId>& certs) {
  const bool constant =
      std::all_of(args.begin(), args.end(), [](const Atom& a) { return a.is_const(); });
  ir::EPrim operation{op, t, to, std::move(args)};
  // Constants that rest on a check stay with it.
  if (certs.empty() || !constant) {
    if (auto known = ir::simplify_prim(operation)) return *known;
  }
  CHECK(operation.args.size() <= 3);
  Key k = key(op, t, to, operation.args);
  if (certs.empty()) {
    auto found = numbers_.find(k);
    // Functions use a variable of the constants only where they name the constant.
    if (found != numbers_.end() && in_scope(found->second) &&
        (scope_of_[found->second.index] != 0 || scopes_.size() == 1)) {
      return found->second;
    }
  }
  PrimType result = scalar_op_result(op, t, to);
  VarId v = let({result, {}}, std::move(operation), std::string(scalar_op_name(op)), certs);
  if (certs.empty()) numbers_[std::move(k)] = v;
  return v;
}

Atom Builder::prim(ScalarOp op, PrimType type, std::vector<Atom> args,
                   const std::vector<VarId>& certs) {
  return numbered(op, type, type, std::move(args), certs);
}

Atom Builder::convert(ScalarOp op, PrimType from, PrimType to, Atom arg) {
  if (from == to) return arg;
  return numbered(op, from, to, {std::move(arg)}, {});
}

bool Builder::is_view(const Atom& a, VarId array, const std::vector<ir::Dim>& dims) const {
  if (a.is_const()) return false;
  const auto& stms = scopes_.back().stms;
  for (size_t i = stms.size(); i-- > 0 && i + 200 > stms.size();) {
    if (stms[i].pat.size() != 1 || stms[i].pat[0] != a.var()) continue;
    const auto* e = std::get_if<ir::EIndex>(&stms[i].exp);
    return e != nullptr && e->array == array && e->dims == dims;
  }
  return false;
}

// ---- hoisting

bool operands(const ir::Exp& exp, std::vector<Atom>& out) {
  return std::visit(Overloaded{
                        [&](const ir::EAtom& e) {
                          out.push_back(e.atom);
                          return true;
                        },
                        [&](const ir::EPrim& e) {
                          out.insert(out.end(), e.args.begin(), e.args.end());
                          return true;
                        },
                        [&](const ir::EIndex& e) {
                          out.push_back(e.array);
                          for (const auto& d : e.dims) {
                            const auto* fix = std::get_if<ir::DimFix>(&d);
                            if (fix == nullptr) return false;
                            out.push_back(fix->index);
                          }
                          return true;
                        },
                        [&](const ir::EAssert& e) {
                          out.push_back(e.cond);
                          for (const auto& m : e.message) {
                            if (const auto* a = std::get_if<Atom>(&m)) out.push_back(*a);
                          }
                          return true;
                        },
                        [](const auto&) { return false; },
                    },
                    exp);
}

bool Builder::movable(VarId v, bool arrays, std::vector<int>& order, int fuel) {
  if (in_scope(v)) return true;
  if (fuel <= 0) return false;
  const auto& inner = aside_.back().stms;
  for (size_t i = inner.size(); i-- > 0;) {
    const ir::Stm& s = inner[i];
    if (s.pat.size() != 1 || s.pat[0] != v) continue;
    if (std::find(order.begin(), order.end(), static_cast<int>(i)) != order.end()) return true;
    std::vector<Atom> ops;
    if (type_of(v).is_scalar() && operands(s.exp, ops)) {
      for (VarId c : s.certs) ops.push_back(c);
    } else if (arrays && !std::holds_alternative<ir::ECall>(s.exp)) {  // it might not end
      ops.clear();
      for (const VarId used : ir::free_vars(program_, s)) {
        if (used != v) ops.push_back(used);
      }
    } else {
      return false;
    }
    for (const Atom& a : ops) {
      if (!a.is_const() && !movable(a.var(), arrays, order, fuel - 1)) return false;
    }
    order.push_back(static_cast<int>(i));
    return true;
  }
  return false;
}

bool Builder::hoist(VarId v, const Atom& width, bool arrays) {
  CHECK(!aside_.empty());
  std::vector<int> order;
  if (!movable(v, arrays, order, 200)) return false;
  auto& inner = aside_.back().stms;
  const bool reads = std::any_of(order.begin(), order.end(), [&](int i) {
    std::vector<Atom> ignored;
    return std::holds_alternative<ir::EIndex>(inner[i].exp) || !operands(inner[i].exp, ignored);
  });
  for (int i : order) {
    for (VarId p : inner[i].pat) scope_of_[p.index] = scopes_.back().id;
    auto* check = std::get_if<ir::EAssert>(&inner[i].exp);
    if (check != nullptr && !reads) check->cond = either(le(width, ir::i64(0)), check->cond);
    scopes_.back().stms.push_back(std::move(inner[i]));
    inner[i].pat.clear();
  }
  std::sort(order.begin(), order.end());
  for (size_t k = order.size(); k-- > 0;) inner.erase(inner.begin() + order[k]);
  return true;
}

std::vector<ir::Stm>& Builder::Outside::inner_statements() { return b_.aside_.back().stms; }

}  // namespace kenaz::lower
