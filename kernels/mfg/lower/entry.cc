#include <fmt/format.h>

#include <algorithm>

#include "kernels/mfg/lower/lower.h"
#include "kernels/mfg/lower/lowerer.h"
#include "protocol/base/large_stack_thread.h"

namespace kenaz::mfg {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

std::string number(const PrimValue& v) {
  if (is_integer(v.type)) return std::to_string(v.as_i64());
  return fmt::format("{}", static_cast<float>(v.as_double()));
}

std::string numbers(const std::vector<PrimValue>& list) {
  if (list.size() == 1) return number(list[0]);
  std::string out = "[";
  for (const PrimValue& v : list) out += (out.size() > 1 ? ", " : "") + number(v);
  return out + "]";
}

/// What a client is told of a parameter: `param(radius, i32, default=3, min=0, max=9, ..)`.
std::string attribute_of(const ParamInfo& p, const Type& type) {
  std::string text = fmt::format("param({}, {}, default={}", p.name, type.str(), numbers(p.init));
  if (!p.min.empty()) text += ", min=" + numbers(p.min);
  if (!p.max.empty()) text += ", max=" + numbers(p.max);
  text += ", widget=" + p.widget;
  if (!p.label.empty()) text += ", label=" + quoted(p.label);
  if (!p.items.empty()) {
    text += ", items=[";
    for (size_t k = 0; k < p.items.size(); ++k) text += (k > 0 ? ", " : "") + quoted(p.items[k]);
    text += "]";
  }
  return text + ")";
}

}  // namespace

ir::VarId Lowerer::parameter(Builder& b, ir::Function& fun, ir::Type type,
                             const std::string& name) {
  const ir::VarId v = b.program().new_var(std::move(type), name);
  fun.params.push_back(v);
  fun.consumed.push_back(false);
  return v;
}

void Lowerer::require(Builder& b, Atom holds,
                      std::vector<std::variant<std::string, Atom>> message) {
  if (holds.is_bool(true)) return;
  b.certs().push_back(
      b.emit(ir::EAssert{holds, std::move(message)}, {PrimType::kBool, {}}, "cert"));
}

Placed Lowerer::picture(Builder& b, ir::VarId array, Atom height, Atom width, int bits) {
  Placed p;
  p.picture = true;
  p.width = width;
  p.height = height;
  p.bits = p.wanted_bits = bits;
  p.array = array;
  p.flat = b.reshape({b.mul(width, height), ir::i64(4)}, array, "pixels");
  return p;
}

void Lowerer::picture_parameter(Builder& b, ir::Function& fun) {
  const PrimType prim = filter_.depth == 8 ? PrimType::kU8 : PrimType::kU16;
  const ir::Type size{PrimType::kI64, {}};
  const ir::VarId height = b.program().new_var(size, "height");
  const ir::VarId width = b.program().new_var(size, "width");
  const ir::VarId array = parameter(b, fun, {prim, {height, width, ir::i64(4)}},
                                    fmt::format("input_u{}", filter_.depth));
  fun.ret = {{prim, {height, width, ir::i64(4)}}};
  const Atom some = b.logical_and(b.le(ir::i64(1), height), b.le(ir::i64(1), width));
  require(b, some,
          {"The picture has no pixels: its size is ", Atom(width), " x ", Atom(height), "."});
  const Placed p = picture(b, array, height, width, filter_.depth);
  for (uint32_t t = 0; t < filter_.tensors.size(); ++t) {
    const TensorInfo& info = filter_.tensors[t];
    if (info.kind != TensorInfo::kInput || info.layer != 0) continue;
    tensors_[t] = p;
    tensors_[t].wanted_bits = info.depth;
  }
}

/// A layer that the client does not give reads as 0.
void Lowerer::layer_parameter(Builder& b, ir::Function& fun) {
  if (filter_.layers.empty()) return;
  const ir::Type main = b.program().type_of(fun.params[0]);
  const ir::VarId count = b.program().new_var({PrimType::kI64, {}}, "layers");
  const ir::VarId layers = parameter(b, fun, ir::array_of(count, main), "layers");
  const PrimValue zero = PrimValue::of_int(main.prim, 0);
  for (size_t k = 0; k < filter_.layers.size(); ++k) {
    const Atom place = ir::i64(static_cast<int64_t>(k));
    const auto there = [&](Builder& at) {
      return Atoms{at.copy(at.index(layers, std::vector{place}).var())};
    };
    const auto missing = [&](Builder& at) { return Atoms{at.replicate(main.dims, zero)}; };
    const ir::VarId layer = b.if_(b.lt(place, count), there, missing, {main}, "layer")[0];
    const Placed p = picture(b, layer, main.dims[0], main.dims[1], filter_.depth);
    for (uint32_t t = 0; t < filter_.tensors.size(); ++t) {
      const TensorInfo& info = filter_.tensors[t];
      if (info.kind != TensorInfo::kInput || info.layer != filter_.layers[k]) continue;
      tensors_[t] = p;
      tensors_[t].wanted_bits = info.depth;
    }
  }
}

void Lowerer::texture_parameters(Builder& b, ir::Function& fun) {
  for (uint32_t t = 0; t < filter_.tensors.size(); ++t) {
    const TensorInfo& info = filter_.tensors[t];
    if (info.kind != TensorInfo::kTexture) continue;
    const ir::VarId height = b.program().new_var({PrimType::kI64, {}}, "height");
    const ir::VarId width = b.program().new_var({PrimType::kI64, {}}, "width");
    const ir::VarId array =
        parameter(b, fun, {PrimType::kU8, {height, width, ir::i64(4)}}, info.name);
    const Atom some = b.logical_and(b.le(ir::i64(1), height), b.le(ir::i64(1), width));
    require(b, some, {"Texture " + info.name + " has no pixels."});
    tensors_[t] = picture(b, array, height, width, 8);
  }
}

void Lowerer::value_parameters(Builder& b, ir::Function& fun) {
  for (const ParamInfo& p : filter_.params) {
    const Type& type = filter_.vars[p.var.index].type;
    if (!type.tuple) {
      vars_[p.var.index] = {parameter(b, fun, {type.prim(), {}}, p.name)};
      continue;
    }
    const Atom size = ir::i64(static_cast<int64_t>(type.size()));
    const ir::VarId array = parameter(b, fun, {type.prim(), {size}}, p.name);
    Atoms& parts = vars_[p.var.index];
    for (size_t k = 0; k < type.size(); ++k) {
      parts.push_back(b.index(array, std::vector{ir::i64(static_cast<int64_t>(k))}, p.name));
    }
  }
}

void Lowerer::parameters(Builder& b, ir::Function& fun) {
  picture_parameter(b, fun);
  layer_parameter(b, fun);
  texture_parameters(b, fun);
  value_parameters(b, fun);
}

std::string Lowerer::array_type(PrimType prim, int rank) {
  std::string name;
  for (int d = 0; d < rank; ++d) name += "[]";
  name += prim_name(prim);
  ValueType t;
  t.name = name;
  t.leaves = {{prim, rank}};
  if (rank > 0) {
    t.kind = TypeKind::kArray;
    t.rank = rank;
    t.elemtype = prim_name(prim);
  }
  out_.types.emplace(name, t);
  return name;
}

void Lowerer::client_side(EntryPoint& entry) {
  for (int k = 0; k < kPrimTypeCount; ++k) array_type(static_cast<PrimType>(k), 0);
  const ir::Function& fun = out_.ir.functions[0];
  for (const ir::VarId v : fun.params) {
    const ir::VarInfo& info = out_.ir.vars[v.index];
    entry.params.push_back({info.name, array_type(info.type.prim, info.type.rank()), false});
  }
  entry.result = array_type(fun.ret[0].prim, 3);
  if (!filter_.title.empty()) entry.attrs.push_back("title(" + quoted(filter_.title) + ")");
  if (!filter_.version.empty()) entry.attrs.push_back("version(" + quoted(filter_.version) + ")");
  if (!filter_.layers.empty()) {
    entry.attrs.push_back(fmt::format("layers({})", fmt::join(filter_.layers, ", ")));
  }
  for (const TensorInfo& t : filter_.tensors) {
    if (t.kind != TensorInfo::kTexture) continue;
    entry.attrs.push_back(fmt::format("texture({}, file={})", t.name, quoted(t.file)));
  }
  for (const ParamInfo& p : filter_.params) {
    entry.attrs.push_back(attribute_of(p, filter_.vars[p.var.index].type));
  }
}

Result<ir::Lowered> Lowerer::run() {
  EntryPoint entry;
  entry.name = fmt::format("result_u{}", filter_.depth);
  ir::Function fun;
  fun.name = entry.name;
  ir::Body code;
  Builder b(out_.ir, code);
  set_place(b, filter_.tensors[filter_.result.index].range);
  parameters(b, fun);
  for (const CStm& s : filter_.stms) statement(s, b);
  code.results = {tensors_.at(filter_.result.index).arrays[0]};
  fun.body = std::move(code);
  out_.ir.functions.push_back(std::move(fun));
  out_.ir.entries.push_back({entry.name, ir::FunId{0}});
  client_side(entry);
  out_.entries.push_back(std::move(entry));
  return std::move(out_);
}

Result<ir::Lowered> lower(const CFilter& filter) {
  Result<ir::Lowered> result = internal_error("lowering did not run");
  const auto work = [&] { result = Lowerer(filter).run(); };
  { const LargeStackThread thread(work); }  // ends when the work has
  return result;
}

}  // namespace kenaz::mfg
