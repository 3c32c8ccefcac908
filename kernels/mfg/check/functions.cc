#include <fmt/format.h>

#include <array>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

namespace {

enum class UnaryDomain : uint8_t { kFloats, kSigned };
struct UnaryFunction {
  std::string_view name;
  ScalarOp op;
  UnaryDomain domain;
};
constexpr UnaryFunction kUnary[] = {
#define UNARY(name, op, domain) {#name, ScalarOp::op, UnaryDomain::domain},
#include "kernels/mfg/check/builtins.def"
#undef UNARY
};
constexpr std::array<std::string_view, 12> kOthers = {
    "min", "max", "atan2", "pow",       "xor",        "all",
    "any", "dot", "rand",  "to_ncoord", "fore_color", "back_color"};

const UnaryFunction* unary_function(std::string_view name) {
  for (const UnaryFunction& f : kUnary) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

bool is_float_vector(const Type& t) {
  return t.tuple && t.uniform() && t.prim() == PrimType::kF32 && t.size() <= 4;
}

/// Whether a parameter of the type named so takes an argument of type t. ("f32T", "f32V" and
/// "scalar" are the prelude's own.)
bool takes(const std::string& name, const Type& t) {
  if (name.empty()) return true;
  if (name == "f32T") return t.is_scalar(PrimType::kF32) || is_float_vector(t);
  if (name == "f32V") return is_float_vector(t);
  if (name == "scalar") return !t.tuple;
  return type_from_name(name) == t;
}

std::string spelt(const std::string& type) {
  if (type == "f32T") return "f32 or a vector of 2 to 4 of them";
  if (type == "f32V") return "a vector of 2 to 4 f32";
  return type == "scalar" ? "a number" : type;
}

}  // namespace

bool Checker::is_builtin(const std::string& name) const {
  for (const std::string_view other : kOthers) {
    if (name == other) return true;
  }
  return unary_function(name) != nullptr || (!scopes_.empty() && scopes_[0].count(name) != 0);
}

std::vector<std::string> Checker::builtin_names() const {
  std::vector<std::string> names(kOthers.begin(), kOthers.end());
  for (const UnaryFunction& f : kUnary) names.emplace_back(f.name);
  return names;
}

void Checker::count_arguments(std::string_view callee, size_t have, size_t want,
                              const SourceRange& range) {
  if (have == want) return;
  reject(range, fmt::format("{} takes {} argument{}, but here are {}.", callee, want,
                            want == 1 ? "" : "s", have));
}

CExpPtr Checker::on(const ECall& c, const SourceRange& range) {
  const Name& callee = c.callee.name;
  if (callee.text == "rsum" || callee.text == "reduce") return loop(c, range);
  if (callee.text == "input_u8" || callee.text == "input_u16") {
    return read(tensor_named(c.callee), values(arguments(c.args), callee.text), range);
  }
  const Symbol* s = find(callee.text);
  if (s != nullptr) {
    if (const auto* t = std::get_if<TensorId>(&s->what)) {
      return read(*t, values(arguments(c.args), callee.text), range);
    }
    if (const auto* p = std::get_if<Sampler>(&s->what)) {
      const Sampler sampler = *p;
      return sample(sampler, values(arguments(c.args), callee.text), range);
    }
    if (std::holds_alternative<CExpPtr>(s->what)) {
      reject(callee.range, fmt::format("\"{}\" is a value; it takes no arguments.", callee.text));
    }
  }
  return call(callee, arguments(c.args), range);
}

CExpPtr Checker::call(const Name& callee, const std::vector<CArg>& args, const SourceRange& range) {
  std::vector<CExpPtr> list = values(args, callee.text);
  const Symbol* s = find(callee.text);
  if (s != nullptr) {
    const SymFunction f = std::get<SymFunction>(s->what);
    return inlined(f, callee, std::move(list), range);
  }
  if (callee.text == "ifel" || callee.text == "elif") return ifel(std::move(list), range);
  if (callee.text == "else") {
    count_arguments("else", list.size(), 1, range);
    return list[0];
  }
  if (const auto type = type_from_name(callee.text); type && !type->tuple) {
    count_arguments(callee.text, list.size(), 1, range);
    Type to = list[0]->type;
    std::fill(to.elems.begin(), to.elems.end(), type->prim());
    return convert(list[0], to);
  }
  bool found = true;
  CExpPtr value = builtin(callee, std::move(list), range, found);
  if (!found) no_such_name(callee);
  return value;
}

CExpPtr Checker::inlined(const SymFunction& f, const Name& callee, std::vector<CExpPtr> args,
                         const SourceRange& range) {
  const std::vector<Param>& params = f.function->block->params;
  count_arguments(callee.text, args.size(), params.size(), range);
  // The prelude's functions of one number work on the components of tuples, too.
  if (f.of_prelude && params.size() == 1 && params[0].type.text == "f32" && args[0]->type.tuple) {
    const CExpPtr whole = bind(args[0]);
    std::vector<CExpPtr> parts;
    for (size_t k = 0; k < whole->type.size(); ++k) {
      parts.push_back(inlined(f, callee, {component(whole, k)}, range));
    }
    return tuple(std::move(parts), range);
  }
  for (size_t k = 0; k < args.size(); ++k) {
    if (takes(params[k].type.text, args[k]->type)) continue;
    reject(args[k]->range,
           fmt::format("Parameter {} of {} is of type {}, but this is {}.", params[k].name.text,
                       callee.text, spelt(params[k].type.text), args[k]->type.str()));
  }
  if (!f.of_prelude) return inlined_body(f, args, range);
  try {
    return inlined_body(f, args, range);
  } catch (const Rejected&) {
    std::string types;
    for (const CExpPtr& a : args) types += (types.empty() ? "" : ", ") + a->type.str();
    reject(range, fmt::format("{} cannot take arguments of the types {}.", callee.text, types));
  }
}

CExpPtr Checker::inlined_body(const SymFunction& f, const std::vector<CExpPtr>& args,
                              const SourceRange& range) {
  constexpr size_t kMaxCalls = 60;
  for (const Function* outer : calls_) {
    if (outer == f.function) {
      reject(range, fmt::format("{} calls itself; functions cannot.", f.function->name.text));
    }
  }
  if (calls_.size() > kMaxCalls) reject(range, "Functions call each other too deeply here.");
  calls_.push_back(f.function);
  const bool was_in_prelude = std::exchange(in_prelude_, f.of_prelude);
  const size_t was_base = std::exchange(base_, scopes_.size());
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  auto holes = std::exchange(holes_, {});
  // The values of arguments belong to the statements before, where others may use them again.
  std::vector<CExpPtr> bound;
  for (const CExpPtr& a : args) bound.push_back(bind(a));
  open();
  for (size_t k = 0; k < bound.size(); ++k) {
    declare(f.function->block->params[k].name, {bound[k], {}});
  }
  CBody b = body(*f.function->block, nullptr, f.function->name.text);
  close();
  holes_ = std::move(holes);
  changeable_ = was_changeable;
  base_ = was_base;
  in_prelude_ = was_in_prelude;
  calls_.pop_back();
  if (b.stms.empty()) return b.result;
  const Type type = b.result->type;
  return make(type, range, CBlock{std::move(b)});
}

CExpPtr Checker::ifel(std::vector<CExpPtr> args, const SourceRange& range) {
  count_arguments("ifel", args.size(), 3, range);
  const Type cond = args[0]->type, a = args[1]->type, b = args[2]->type;
  if (!cond.all_integers()) {
    reject(args[0]->range,
           fmt::format("The condition of ifel is of integers, but this is {}.", cond.str()));
  }
  if (a != b) {
    reject(args[2]->range, fmt::format("Both values of ifel have the same type, but the first one "
                                       "is {} and this one {}.",
                                       a.str(), b.str()));
  }
  if (cond.tuple && (!a.tuple || a.size() != cond.size())) {
    reject(args[0]->range, fmt::format("The condition has {} components, but the values are {}.",
                                       cond.size(), a.str()));
  }
  return select(args[0], args[1], args[2], range);
}

CExpPtr Checker::most(ScalarOp op, const Name& callee, std::vector<CExpPtr> args,
                      const SourceRange& range) {
  if (args.empty()) reject(range, fmt::format("{} takes at least one argument.", callee.text));
  CExpPtr result = args[0];
  for (size_t k = 1; k < args.size(); ++k) {
    Type t = args[k]->type;
    // The prelude's own calls may have a scalar bound.
    const bool broadcast = in_prelude_ && !t.tuple && result->type.tuple &&
                           result->type.uniform() && t.prim() == result->type.prim();
    if (t != result->type && !broadcast) {
      reject(args[k]->range, fmt::format("The arguments of {} have the same type, but the first "
                                         "one is {} and this one {}.",
                                         callee.text, result->type.str(), t.str()));
    }
    if (!result->type.uniform()) {
      reject(args[0]->range, fmt::format("{} takes numbers and vectors, but this is {}.",
                                         callee.text, result->type.str()));
    }
    result = prim(op, {result, args[k]}, range);
  }
  return result;
}

CExpPtr Checker::pairwise(ScalarOp op, const Name& callee, std::vector<CExpPtr> args, bool integers,
                          const SourceRange& range) {
  count_arguments(callee.text, args.size(), 2, range);
  for (const CExpPtr& a : args) {
    const Type& t = a->type;
    const bool good = integers ? t.all_integers() && t.uniform()
                               : t.is_scalar(PrimType::kF32) || is_float_vector(t);
    if (!good) {
      reject(a->range, fmt::format("{} takes {}, but this is {}.", callee.text,
                                   integers ? "integers" : "f32 and vectors of them", t.str()));
    }
  }
  if (args[0]->type != args[1]->type) {
    reject(args[1]->range, fmt::format("The arguments of {} have the same type, but the first one "
                                       "is {} and this one {}.",
                                       callee.text, args[0]->type.str(), args[1]->type.str()));
  }
  return prim(op, std::move(args), range);
}

CExpPtr Checker::all_or_any(const Name& callee, std::vector<CExpPtr> args,
                            const SourceRange& range) {
  count_arguments(callee.text, args.size(), 1, range);
  if (!args[0]->type.all_integers()) {
    reject(args[0]->range,
           fmt::format("{} takes integers, but this is {}.", callee.text, args[0]->type.str()));
  }
  const CExpPtr whole = bind(args[0]);
  CExpPtr result = logic(ScalarOp::kAnd, {component(whole, 0), component(whole, 0)}, range);
  for (size_t k = 1; k < whole->type.size(); ++k) {
    result = logic(callee.text == "all" ? ScalarOp::kAnd : ScalarOp::kOr,
                   {result, component(whole, k)}, range);
  }
  return result;
}

CExpPtr Checker::dot(std::vector<CExpPtr> args, const SourceRange& range) {
  const Name name{"dot", range};
  const CExpPtr products = bind(pairwise(ScalarOp::kMul, name, std::move(args), false, range));
  CExpPtr sum = component(products, 0);
  for (size_t k = 1; k < products->type.size(); ++k) {
    sum = prim(ScalarOp::kAdd, {sum, component(products, k)}, range);
  }
  return sum;
}

CExpPtr Checker::to_ncoord(std::vector<CExpPtr> args, const SourceRange& range) {
  count_arguments("to_ncoord", args.size(), 1, range);
  if (defining_.empty()) {
    reject(range, "to_ncoord is about the tensor that is being defined, and none is.");
  }
  const TensorId t = defining_.back();
  const size_t rank = static_cast<size_t>(out_.tensors[t.index].rank);
  const Type& type = args[0]->type;
  if (!type.tuple || type.size() != rank) {
    reject(args[0]->range, fmt::format("to_ncoord takes {} coordinates in a tuple, but this is {}.",
                                       rank, type.str()));
  }
  const CExpPtr at = bind(args[0]);
  std::vector<CExpPtr> parts;
  for (size_t k = 0; k < rank; ++k) {
    const CExpPtr last =
        prim(ScalarOp::kMax,
             {prim(ScalarOp::kSub, {extent(t, static_cast<int>(k), range), i32(1, range)}, range),
              i32(1, range)},
             range);
    parts.push_back(prim(ScalarOp::kDiv,
                         {convert(component(at, k), Type::scalar(PrimType::kF32)),
                          convert(last, Type::scalar(PrimType::kF32))},
                         range));
  }
  return tuple(std::move(parts), range);
}

CExpPtr Checker::canvas_color(const std::string& name, const SourceRange& range) {
  const auto [place, is_new] = colors_.emplace(name, VarId{});
  if (is_new) place->second = new_var(name, Type::vector(PrimType::kF32, 4));
  return var(place->second, range);
}

void Checker::color_parameters() {
  constexpr std::pair<const char*, float> kColors[] = {{"fore_color", 0.F}, {"back_color", 1.F}};
  for (const auto& [name, level] : kColors) {
    const auto used = colors_.find(name);
    if (used == colors_.end()) continue;
    ParamInfo p;
    p.name = name;
    p.var = used->second;
    p.init = {PrimValue::f32(level), PrimValue::f32(level), PrimValue::f32(level),
              PrimValue::f32(1)};
    p.widget = "COLOR_PICKER";
    out_.params.push_back(std::move(p));
  }
}

CExpPtr Checker::builtin(const Name& callee, std::vector<CExpPtr> args, const SourceRange& range,
                         bool& found) {
  const std::string& n = callee.text;
  if (const UnaryFunction* f = unary_function(n)) {
    count_arguments(n, args.size(), 1, range);
    for (const PrimType t : args[0]->type.elems) {
      if (is_float(t)) continue;
      if (f->domain == UnaryDomain::kSigned && prim_kind(t) == PrimKind::kSigned) continue;
      reject(args[0]->range,
             fmt::format("{} takes {}, but this is {}.", n,
                         f->domain == UnaryDomain::kSigned ? "f32 and signed integers" : "f32",
                         args[0]->type.str()));
    }
    return prim(f->op, std::move(args), range);
  }
  if (n == "min") return most(ScalarOp::kMin, callee, std::move(args), range);
  if (n == "max") return most(ScalarOp::kMax, callee, std::move(args), range);
  if (n == "atan2") return pairwise(ScalarOp::kAtan2, callee, std::move(args), false, range);
  if (n == "pow") return pairwise(ScalarOp::kPow, callee, std::move(args), false, range);
  if (n == "xor") return pairwise(ScalarOp::kXor, callee, std::move(args), true, range);
  if (n == "all" || n == "any") return all_or_any(callee, std::move(args), range);
  if (n == "to_ncoord") return to_ncoord(std::move(args), range);
  if (n == "dot") return dot(std::move(args), range);
  const bool is_color = n == "fore_color" || n == "back_color";
  found = is_color || n == "rand";
  if (!found) return nullptr;
  count_arguments(n, args.size(), 0, range);
  if (is_color) return canvas_color(n, range);
  return bind(make(Type::scalar(PrimType::kF32), range, CRand{}));
}

}  // namespace kenaz::mfg
