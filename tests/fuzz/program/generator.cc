#include "tests/fuzz/program/generator.h"

#include <algorithm>

#include "tests/fuzz/program/slopes.h"

namespace kenaz::fuzz {
namespace {

constexpr Production kProductions[] = {
#define PRODUCTION(name, weight) {#name, weight, make_##name},
#include "tests/fuzz/program/productions.def"
#undef PRODUCTION
};

constexpr int kTries = 30;

}  // namespace

Scope with(Scope scope, const std::vector<Var>& vars) {
  scope.vars.insert(scope.vars.end(), vars.begin(), vars.end());
  return scope;
}

Scope with_size(Scope scope, const std::string& size) {
  scope.sizes.push_back(size);
  return scope;
}

Scope times(Scope scope, const std::string& size) {
  scope.volume.push_back(size);
  return scope;
}

Make::Make(const char* rule, Type type) : e_(std::make_shared<Expr>()) {
  e_->type = std::move(type);
  e_->rule = rule;
  e_->text.emplace_back();
}

Make& Make::t(const std::string& text) {
  e_->text.back() += text;
  return *this;
}

Make& Make::name(const std::string& name) {
  if (is_size_name(name)) e_->uses.insert(name);
  return t(name);
}

Make& Make::type(const Type& type) {
  collect_sizes(type, e_->uses);
  return t(text_of(type));
}

Make& Make::param(const Var& v) {
  if (!v.type.has_arrays()) return t(v.name);
  return t("(" + v.name + ": ").type(v.type).t(")");
}

Make& Make::uses(const std::string& name) {
  e_->uses.insert(name);
  return *this;
}

Make& Make::child(ExprPtr e, std::vector<Var> binds) {
  e_->children.push_back(std::move(e));
  e_->binds.push_back(std::move(binds));
  e_->text.emplace_back();
  return *this;
}

ExprPtr Make::done() { return e_; }

Generator::Generator(uint64_t seed, const GeneratorOptions& options)
    : random_(seed), options_(options) {}

ExprPtr Generator::gen(const Type& type, const Scope& scope, int fuel) {
  note_volume(scope, type);
  static const int total = [] {
    int sum = 0;
    for (const auto& p : kProductions) sum += p.weight;
    return sum;
  }();
  const size_t leaves = 3;  // the first three
  for (int attempt = 0; attempt < kTries; ++attempt) {
    auto at = static_cast<int>(below(static_cast<uint64_t>(total)));
    size_t i = 0;
    while (at >= kProductions[i].weight) at -= kProductions[i++].weight;
    if (fuel <= 1 && i >= leaves) break;
    if (i < leaves && fuel > 10 && !chance(15)) continue;
    if (options_.avoid.count(kProductions[i].name) > 0) continue;
    if (auto e = kProductions[i].make(*this, type, scope, fuel - 1)) return e;
  }
  return leaf(type, scope);
}

/// Made of variables where there are any, whatever the fuel.
ExprPtr Generator::leaf(const Type& type, const Scope& scope) {
  if (chance(85)) {
    if (auto e = make_variable(*this, type, scope, 0)) return e;
  }
  switch (type.kind) {
    case Type::kTuple: return make_tuple(*this, type, scope, 0);
    case Type::kRecord: return make_record(*this, type, scope, 0);
    case Type::kSum: return make_constructor(*this, type, scope, 0);
    case Type::kArray: return array_leaf(type, scope);
    case Type::kPrim: break;
  }
  return chance(75) ? scalar_leaf(type, scope) : literal(type.prim);
}

/// Another scalar, or an element of an array at an index that fits, converted.
ExprPtr Generator::scalar_leaf(const Type& type, const Scope& scope) {
  std::vector<ExprPtr> found;
  for (const Var& v : scope.vars) {
    if (v.type.kind == Type::kPrim) found.push_back(Make("variable", v.type).name(v.name).done());
    if (v.type.rank() != 1 || v.type.element().kind != Type::kPrim) continue;
    for (const Var& i : scope.vars) {
      if (i.below != v.type.size) continue;
      Make m("element", v.type.element());
      found.push_back(m.name(v.name).t("[").name(i.name).t("]").done());
      found.push_back(found.back());
      found.push_back(found.back());
    }
  }
  if (found.empty()) return literal(type.prim);
  return converted(pick(found), type);
}

/// An array of the same size with other elements, converted; else the iota; else one repeated.
ExprPtr Generator::array_leaf(const Type& type, const Scope& scope) {
  if (type.element().kind != Type::kPrim || chance(20))
    return make_replicate(*this, type, scope, 0);
  std::vector<ExprPtr> found;
  for (const Var& v : scope.vars) {
    if (!v.type.is_array() || v.type.size != type.size) continue;
    if (v.type.element().kind != Type::kPrim) continue;
    found.push_back(Make("variable", v.type).name(v.name).done());
  }
  if (found.empty() || chance(20)) {
    found.push_back(make_iota(*this, Type::array(type.size, Type::i64()), scope, 0));
  }
  const ExprPtr from = pick(found);
  if (from->type == type) return from;
  const Var x{fresh("y"), from->type.element(), {}};
  return Make("leaf_map", type)
      .t("(map (\\" + x.name + " -> ")
      .child(converted(Make("variable", x.type).name(x.name).done(), type.element()), {x})
      .t(") ")
      .child(from)
      .t(")")
      .done();
}

ExprPtr Generator::converted(const ExprPtr& e, const Type& type) {
  if (e->type == type) return e;
  if (of_slopes() && e->type.is_float() && !type.is_float()) {
    // The derivative of a conversion is a conversion, which would not be linear.
    const bool is_bool = type.is(PrimType::kBool);
    return Make("convert", type)
        .t("(")
        .child(e)
        .t(is_bool ? " > 1)" : " > 1 |> \\c -> if c then 1 else 0)")
        .done();
  }
  const std::string from(prim_name(e->type.prim));
  const std::string to = std::string(prim_name(type.prim)) + "." + from;
  if (!e->type.is_float() || !type.is_int()) {
    return Make("convert", type).t("(" + to + " ").child(e).t(")").done();
  }
  // Values that do not fit are undefined.
  const std::string x = fresh("c");
  return Make("convert", type)
      .t("(let " + x + " = ")
      .child(e)
      .t(" in if " + x + " > -1 && " + x + " < 100 then " + to + " " + x + " else 0)")
      .done();
}

std::string Generator::any_size(const Scope& scope) {
  if (!scope.sizes.empty() && chance(80)) return pick(scope.sizes);
  return pick<std::string>({"1", "2", "3", "4", "5", "7"});
}

PrimType Generator::any_prim() {
  if (of_slopes()) {
    return pick<PrimType>(
        {PrimType::kF64, PrimType::kF64, PrimType::kI64, PrimType::kI32, PrimType::kBool});
  }
  static const std::vector<PrimType> common = {PrimType::kI32, PrimType::kI64, PrimType::kF32,
                                               PrimType::kF64, PrimType::kBool};
  if (palette_.empty()) {
    for (uint64_t i = 2 + below(3); i > 0; --i) {
      palette_.push_back(chance(50) ? pick(common) : static_cast<PrimType>(below(kPrimTypeCount)));
    }
  }
  if (chance(85)) return pick(palette_);
  return static_cast<PrimType>(below(kPrimTypeCount));
}

PrimType Generator::any_int() {
  const PrimType any = any_prim();
  if (is_integer(any) && chance(70)) return any;
  if (chance(50)) return chance(50) ? PrimType::kI64 : PrimType::kI32;
  return static_cast<PrimType>(below(8));
}

Type Generator::element_type(const Scope& scope, int rank) {
  if (rank > 0 && chance(70)) return Type::array(any_size(scope), element_type(scope, rank - 1));
  if (!scope.vars.empty() && chance(25)) {
    const Type& type = pick(scope.vars).type;
    if (type.is_array() && rank >= type.element().rank()) return type.element();
  }
  if (chance(80)) return scalar();
  if (!sums_.empty() && chance(30)) return pick(sums_);
  std::vector<Type> parts;
  for (uint64_t i = 2 + below(2); i > 0; --i) parts.push_back(element_type(scope, 0));
  Type t = Type::tuple(std::move(parts));
  if (!chance(40)) return t;
  t.kind = Type::kRecord;
  for (size_t i = 0; i < t.parts.size(); ++i) t.names.push_back(std::string(1, "abcd"[i]));
  return t;
}

Type Generator::any_type(const Scope& scope) {
  if (!scope.vars.empty() && chance(30)) return pick(scope.vars).type;
  if (chance(45)) return scalar();
  if (chance(65)) {
    const auto rank = static_cast<int>(below(8));
    return Type::array(any_size(scope), element_type(scope, rank < 5 ? 0 : rank < 7 ? 1 : 2));
  }
  if (!sums_.empty() && chance(40)) return pick(sums_);
  std::vector<Type> parts;
  for (uint64_t i = 2 + below(2); i > 0; --i) parts.push_back(any_type(scope));
  Type t = Type::tuple(std::move(parts));
  if (!chance(40)) return t;
  t.kind = Type::kRecord;
  for (size_t i = 0; i < t.parts.size(); ++i) t.names.push_back(std::string(1, "abcd"[i]));
  return t;
}

void Generator::note_volume(const Scope& scope, const Type& type) {
  std::vector<std::string> volume = scope.volume;
  for (const Type* t = &type; t->is_array(); t = &t->element()) volume.push_back(t->size);
  std::sort(volume.begin(), volume.end());
  volumes_.insert(std::move(volume));
}

void Generator::declare(const std::string& text) {
  if (std::find(decls_.begin(), decls_.end(), text) == decls_.end()) decls_.push_back(text);
}

Type Generator::make_sum() {
  const auto count = 2 + below(3);
  std::vector<std::string> names;
  std::vector<Type> payloads;
  for (uint64_t i = 0; i < count; ++i) {
    names.push_back(fresh("c"));
    std::vector<Type> parts;
    for (uint64_t k = below(3); k > 0; --k) {
      parts.push_back(chance(85) ? scalar() : Type::array("3", scalar()));
    }
    payloads.push_back(Type::tuple(std::move(parts)));
  }
  return Type::sum(fresh("s"), std::move(names), std::move(payloads));
}

Function Generator::make_function(int number) {
  Function f;
  f.name = "f" + std::to_string(number);
  Scope scope;
  if (chance(60)) f.sizes.push_back(fresh("n"));
  scope.sizes = f.sizes;
  for (const auto& size : f.sizes) {
    f.params.push_back({fresh("x"), Type::array(size, element_type(scope, 0)), {}});
    scope.vars.push_back({size, Type::of(PrimType::kI64), {}});
  }
  for (uint64_t i = below(3); i > 0; --i) {
    f.params.push_back({fresh("x"), any_type(scope), {}});
  }
  scope = with(scope, f.params);
  f.result = any_type(scope);
  f.body = gen(f.result, scope, 4 + static_cast<int>(below(15)));
  return f;
}

Function Generator::make_main(std::vector<bool>& tolerant) {
  Function f;
  f.name = "main";
  Scope scope;
  for (uint64_t i = 1 + below(2); i > 0; --i) f.sizes.push_back(fresh("n"));
  scope.sizes = f.sizes;
  for (const auto& size : f.sizes) {
    f.params.push_back({fresh("x"), Type::array(size, scalar()), {}});
    scope.vars.push_back({size, Type::of(PrimType::kI64), {}});
  }
  for (uint64_t i = below(3); i > 0; --i) {
    Type t = scalar();
    for (uint64_t rank = below(4); rank > 1; --rank) t = Type::array(any_size(scope), t);
    f.params.push_back({fresh("x"), t, {}});
  }
  scope = with(scope, f.params);
  std::vector<Type> results;
  for (uint64_t i = 1 + below(3); i > 0; --i) {
    Type t = scalar();
    for (uint64_t rank = below(4); rank > 0 && results.size() < 9; --rank) {
      if (rank == 1 || chance(40)) t = Type::array(any_size(scope), t);
    }
    results.push_back(t);
  }
  tolerant.assign(results.size(), false);
  const int fuel = 10 + static_cast<int>(below(static_cast<uint64_t>(options_.fuel)));
  if (chance(20)) {
    const PrimType prim = pick<PrimType>({PrimType::kF16, PrimType::kF32, PrimType::kF64});
    results.push_back(Type::array(any_size(scope), Type::of(prim)));
    tolerant.push_back(true);
  }
  f.result = results.size() == 1 ? results[0] : Type::tuple(results);
  if (!tolerant.back()) {
    f.body = gen(f.result, scope, fuel);
    return f;
  }
  const int each = fuel / static_cast<int>(results.size());
  Make m("tuple", f.result);
  m.t("(");
  for (size_t i = 0; i < results.size(); ++i) {
    m.t(i > 0 ? ", " : "");
    m.child(tolerant[i] ? rounded(results[i], scope, each) : gen(results[i], scope, each));
  }
  f.body = m.t(")").done();
  return f;
}

/// A function, its derivatives of both modes, and its values around.
Function Generator::make_slopes() {
  Function f;
  f.name = "main";
  f.sizes = {fresh("n")};
  const std::string& n = f.sizes[0];
  Scope scope;
  scope.sizes = f.sizes;
  scope.vars.push_back({n, Type::of(PrimType::kI64), {}});
  const Type f64 = Type::of(PrimType::kF64), xs = Type::array(n, f64);
  f.params.push_back({fresh("x"), xs, {}});
  for (uint64_t i = below(3); i > 0; --i) {
    f.params.push_back({fresh("x"), chance(50) ? Type::array(n, scalar()) : scalar(), {}});
  }
  scope = with(scope, f.params);
  f.result = Type::tuple({f64, xs, xs, Type::array(n, Type::array("4", f64))});
  const Var v{fresh("v"), xs, {}};
  const int fuel = 10 + static_cast<int>(below(static_cast<uint64_t>(options_.fuel)));
  const std::string x = f.params[0].name;
  Make m("slopes", f.result);
  m.t("let curve (" + v.name + ": ").type(xs).t(") : f64 =\n    ");
  const Var e{fresh("e"), f64, {}}, i{fresh("i"), Type::i64(), n};
  const Scope inside = with(scope, {v, v, v});  // most of it depends on these
  m.t("f64.sum (map2 (\\" + e.name + " " + i.name + " -> ");
  m.child(gen(f64, times(with(inside, {i, e, e, e}), n), fuel / 3), {v, e, i}).t(")\n      ");
  m.child(gen(xs, inside, fuel / 3), {v}).t(" (iota ").name(n).t("))\n      + ");
  m.child(gen(f64, inside, fuel / 3), {v});
  m.t("\n  let unit (i: i64) : ").type(xs).t(" = tabulate ").name(n);
  m.t(" (\\j -> f64.bool (i == j))\n");
  m.t("  let moved i h = curve (map2 (\\x u -> x + h * u) " + x + " (unit i))\n");
  m.t("  let h = " + std::string(kStepText) + "\n  in (curve " + x + ", vjp curve " + x +
      " 1, tabulate ");
  m.name(n).t(" (\\i -> jvp curve " + x + " (unit i)),\n      tabulate ").name(n);
  m.t(" (\\i -> [moved i h, moved i (-h), moved i (h / 2), moved i (-h / 2)]))");
  f.body = m.uses(x).done();
  return f;
}

/// What devices need not compute bit by bit as the evaluator does. It stands where nothing else
/// depends on it.
ExprPtr Generator::rounded(const Type& type, const Scope& scope, int fuel) {
  static const std::vector<std::string> functions = {
      "sin",  "cos",   "tan",  "atan", "exp",  "tanh", "sinh", "cosh",  "asinh", "sinpi", "cospi",
      "cbrt", "log1p", "log2", "log",  "sqrt", "erf",  "erfc", "log10", "rsqrt", "gamma", "lgamma"};
  const std::string p(prim_name(type.element().prim));
  // Far from zero (and for tan, at its poles) the results of two good libraries differ by more.
  const std::string clamp = p + ".max (-1.5) (" + p + ".min 1.5 x)";
  Make m("rounded", type);
  if (chance(60) || type.element().is(PrimType::kF16)) {
    m.t("(map (\\x -> " + p + "." + pick(functions) + " (" + clamp + ")) ");
    return m.child(gen(type, scope, fuel)).t(")").done();
  }
  m.t("(scan (+) 0 (map (\\x -> " + clamp + ") ");
  return m.child(gen(type, scope, fuel)).t("))").done();
}

}  // namespace kenaz::fuzz
