#include <fmt/format.h>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

CExpPtr Checker::extent(TensorId tensor, int dim, const SourceRange& range) {
  return make(Type::scalar(PrimType::kI32), range, CExtent{tensor, dim});
}

std::vector<CExpPtr> Checker::coordinates(TensorId t, std::vector<CExpPtr> at,
                                          const SourceRange& range) {
  const TensorInfo& info = out_.tensors[t.index];
  if (at.size() != static_cast<size_t>(info.rank)) {
    reject(range, fmt::format("Tensor {} has {} dimension{}, but here are {} coordinates.",
                              info.name, info.rank, info.rank == 1 ? "" : "s", at.size()));
  }
  for (CExpPtr& x : at) {
    if (x->type.tuple) {
      reject(x->range, fmt::format("A coordinate is an integer, but this is {}; with a * before "
                                   "it, its components are coordinates.",
                                   x->type.str()));
    }
    if (!is_integer(x->type.prim())) {
      reject(x->range, fmt::format("A coordinate is an integer, but this is {}.", x->type.str()));
    }
    x = convert(std::move(x), Type::scalar(PrimType::kI32));
  }
  return at;
}

CExpPtr Checker::read(TensorId t, const std::vector<CExpPtr>& at, const SourceRange& range) {
  const Type type = out_.tensors[t.index].elem;
  return make(type, range, CRead{t, coordinates(t, at, range), Outside::kFlat});
}

CExpPtr Checker::sample_pixel(const Sampler& s, std::vector<CExpPtr> at, const SourceRange& range) {
  const Type type = out_.tensors[s.tensor.index].elem;
  const Outside outside = s.none ? Outside::kFlat : Outside::kEdge;
  if (s.border == nullptr) return make(type, range, CRead{s.tensor, std::move(at), outside});
  CExpPtr inside;
  for (size_t k = 0; k < at.size(); ++k) {
    at[k] = bind(at[k]);
    const CExpPtr size = extent(s.tensor, static_cast<int>(k), range);
    const CExpPtr here = logic(ScalarOp::kAnd,
                               {prim(ScalarOp::kLe, {i32(0, range), at[k]}, range),
                                prim(ScalarOp::kLt, {at[k], size}, range)},
                               range);
    inside = inside == nullptr ? here : logic(ScalarOp::kAnd, {inside, here}, range);
  }
  CExpPtr value = make(type, range, CRead{s.tensor, std::move(at), Outside::kEdge});
  return select(std::move(inside), std::move(value), s.border, range);
}

CExpPtr Checker::sample(const Sampler& s, std::vector<CExpPtr> at, const SourceRange& range) {
  if (s.coord == Coord::kPixel) {
    return sample_pixel(s, coordinates(s.tensor, std::move(at), range), range);
  }
  const TensorInfo& info = out_.tensors[s.tensor.index];
  if (at.size() != static_cast<size_t>(info.rank)) {
    reject(range, fmt::format("Tensor {} has {} dimension{}, but here are {} coordinates.",
                              info.name, info.rank, info.rank == 1 ? "" : "s", at.size()));
  }
  for (const CExpPtr& x : at) {
    if (x->type.is_scalar(PrimType::kF32)) continue;
    reject(x->range,
           fmt::format("A normalized coordinate is an f32, but this is {}.", x->type.str()));
  }
  const Type integer = Type::scalar(PrimType::kI32), real = Type::scalar(PrimType::kF32);
  if (s.coord == Coord::kLinear) return sample_linear(s, at, range);
  for (size_t k = 0; k < at.size(); ++k) {
    const CExpPtr u = bind(at[k]);
    const CExpPtr off =
        prim(ScalarOp::kAbs, {prim(ScalarOp::kSub, {u, f32(1, range)}, range)}, range);
    const CExpPtr is_last = prim(ScalarOp::kLt, {off, f32(1e-6F, range)}, range);
    const CExpPtr place = select(is_last, f32(0.999999F, range), u, range);
    const CExpPtr size = convert(extent(s.tensor, static_cast<int>(k), range), real);
    const CExpPtr scaled = prim(ScalarOp::kMul, {place, size}, range);
    // Before the first pixel there is none: what is between -1 and 0 is outside.
    at[k] =
        convert(s.border == nullptr ? scaled : prim(ScalarOp::kFloor, {scaled}, range), integer);
  }
  return sample_pixel(s, std::move(at), range);
}

CExpPtr Checker::sample_linear(const Sampler& s, const std::vector<CExpPtr>& at,
                               const SourceRange& range) {
  const Type integer = Type::scalar(PrimType::kI32), real = Type::scalar(PrimType::kF32);
  Sampler corner = s;
  corner.none = false;
  const size_t rank = at.size();
  std::vector<CExpPtr> first, second, ratio;
  for (size_t k = 0; k < rank; ++k) {
    const CExpPtr last =
        prim(ScalarOp::kSub, {extent(s.tensor, static_cast<int>(k), range), i32(1, range)}, range);
    const CExpPtr place = bind(prim(ScalarOp::kMul, {at[k], convert(last, real)}, range));
    const CExpPtr floor = bind(prim(ScalarOp::kFloor, {place}, range));
    first.push_back(bind(convert(floor, integer)));
    second.push_back(bind(prim(ScalarOp::kAdd, {first[k], i32(1, range)}, range)));
    ratio.push_back(bind(prim(ScalarOp::kSub, {place, floor}, range)));
  }
  const Type type = out_.tensors[s.tensor.index].elem;
  Type reals = type;
  std::fill(reals.elems.begin(), reals.elems.end(), PrimType::kF32);
  const auto between = [&](const CExpPtr& a, const CExpPtr& b, const CExpPtr& part) {
    const CExpPtr from = bind(a);
    const CExpPtr step = prim(ScalarOp::kSub, {b, from}, range);
    return prim(ScalarOp::kAdd, {from, prim(ScalarOp::kMul, {step, part}, range)}, range);
  };
  const auto row = [&](const std::vector<CExpPtr>& rest) {
    std::vector<CExpPtr> left = {first[0]}, right = {second[0]};
    left.insert(left.end(), rest.begin(), rest.end());
    right.insert(right.end(), rest.begin(), rest.end());
    return between(convert(sample_pixel(corner, left, range), reals),
                   convert(sample_pixel(corner, right, range), reals), ratio[0]);
  };
  if (rank == 1) return convert(row({}), type);
  return convert(between(row({first[1]}), row({second[1]}), ratio[1]), type);
}

CExpPtr Checker::extents(TensorId t, const std::vector<CExpPtr>& args, bool floats,
                         const SourceRange& range) {
  const int rank = out_.tensors[t.index].rank;
  const auto one = [&](int dim) {
    CExpPtr e = extent(t, dim, range);
    return floats ? convert(std::move(e), Type::scalar(PrimType::kF32)) : e;
  };
  if (args.empty()) {
    if (rank == 1) return one(0);
    return tuple({one(0), one(1)}, range);
  }
  count_arguments("extent", args.size(), 1, range);
  const auto dim = known(args[0]);
  if (!dim || !is_integer(dim->type)) {
    reject(args[0]->range, "Which extent is meant must be known when the program is compiled.");
  }
  if (dim->as_i64() < 0 || dim->as_i64() >= rank) {
    reject(args[0]->range,
           fmt::format("Tensor {} has {} dimension{}; there is no extent({}).",
                       out_.tensors[t.index].name, rank, rank == 1 ? "" : "s", dim->as_i64()));
  }
  return one(static_cast<int>(dim->as_i64()));
}

CExpPtr Checker::is_inside(TensorId t, const std::vector<CExpPtr>& at, const SourceRange& range) {
  const std::vector<CExpPtr> places = coordinates(t, at, range);
  CExpPtr inside;
  for (size_t k = 0; k < places.size(); ++k) {
    const CExpPtr x = bind(places[k]);
    const CExpPtr here =
        logic(ScalarOp::kAnd,
              {prim(ScalarOp::kLe, {i32(0, range), x}, range),
               prim(ScalarOp::kLt, {x, extent(t, static_cast<int>(k), range)}, range)},
              range);
    inside = inside == nullptr ? here : logic(ScalarOp::kAnd, {inside, here}, range);
  }
  return inside;
}

CExpPtr Checker::on(const EMethod& m, const SourceRange& range) {
  const std::string& name = m.method.text;
  if (name == "for_each") reject(range, "for_each is a statement; it gives no value.");
  if (name == "to_ncoord") {
    return to_ncoord(values(arguments(m.args), name), range);
  }
  const Symbol* s = find(m.tensor.name.text);
  const auto* sampler = s == nullptr ? nullptr : std::get_if<Sampler>(&s->what);
  const TensorId t = sampler != nullptr ? sampler->tensor : tensor_named(m.tensor);
  if (name == "sum") {
    count_arguments(name, m.args.size(), 0, range);
    return tensor_sum(t, *m.block, range);
  }
  const std::vector<CExpPtr> args = values(arguments(m.args), name);
  if (name == "is_inside") return is_inside(t, args, range);
  return extents(t, args, name == "extentf", range);
}

Sampler Checker::sampler(const ESampler& e, const SourceRange& range) {
  Sampler s;
  s.tensor = tensor_named(e.tensor);
  static constexpr std::string_view kOrder[] = {"address", "coord", "border_value"};
  std::vector<std::string> unnamed(std::begin(kOrder), std::end(kOrder));
  std::map<std::string, CArg> given;
  std::vector<CArg> args = arguments(e.args);
  for (const CArg& a : args) {
    if (a.name.empty()) continue;
    if (std::find(unnamed.begin(), unnamed.end(), a.name) == unnamed.end()) {
      reject(a.range, fmt::format("A sampler has address, coord and border_value, each once; not "
                                  "\"{}\".",
                                  a.name));
    }
    std::erase(unnamed, a.name);
    given.emplace(a.name, a);
  }
  for (const CArg& a : args) {
    if (!a.name.empty()) continue;
    if (unnamed.empty())
      reject(a.range, "A sampler has three arguments: address, coord, border_value.");
    given.emplace(unnamed[0], a);
    unnamed.erase(unnamed.begin());
  }
  const auto choice = [&](const char* key, std::initializer_list<const char*> words) {
    const auto found = given.find(key);
    if (found == given.end()) return 0;
    const auto* word =
        found->second.ast == nullptr ? nullptr : std::get_if<EEnum>(&found->second.ast->node);
    int k = 0;
    for (const char* w : words) {
      if (word != nullptr && word->name == w) return k;
      ++k;
    }
    reject(found->second.range,
           fmt::format("The {} of a sampler is .{}.", key, fmt::join(words, ", .")));
  };
  const int address = choice("address", {"None", "ClampToEdge", "ClampToBorderValue"});
  s.coord = static_cast<Coord>(choice("coord", {"Pixel", "NormalizedNearest", "NormalizedLinear"}));
  s.none = address == 0;
  const auto border = given.find("border_value");
  if ((address == 2) != (border != given.end())) {
    reject(range, "border_value goes with address=.ClampToBorderValue.");
  }
  if (border == given.end()) return s;
  s.border = border->second.value;
  if (s.border == nullptr) exp(*border->second.ast);
  const Type& elem = out_.tensors[s.tensor.index].elem;
  if (s.border->type != elem) {
    reject(border->second.range, fmt::format("The elements of {} are {}, but border_value is {}.",
                                             e.tensor.name.text, elem.str(), s.border->type.str()));
  }
  s.border = bind(s.border);
  return s;
}

}  // namespace kenaz::mfg
