#include <fmt/format.h>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

void Checker::statements(const Block& block) {
  for (const Stm& s : block.stms) statement(s);
}

void Checker::statement(const Stm& s) {
  if (const auto* l = std::get_if<SLet>(&s.node)) {
    let(*l, s.range);
  } else if (const auto* d = std::get_if<SDef>(&s.node)) {
    local_tensor(d->def, s.range);
  } else if (const auto* u = std::get_if<SUpdate>(&s.node)) {
    update(*u, s.range);
  } else if (const auto* t = std::get_if<STrans>(&s.node)) {
    trans(*t, s.range);
  } else {
    for_each(std::get<SForEach>(s.node), s.range);
  }
}

void Checker::let(const SLet& s, const SourceRange& range) {
  if (const auto* e = std::get_if<ESampler>(&s.value->node)) {
    if (s.tuple) reject(range, "A sampler has one name.");
    declare(s.names[0], {sampler(*e, s.value->range), {}});
    return;
  }
  CExpPtr value = exp(*s.value);
  if (!s.tuple) {
    const VarId v = declare_var(s.names[0], value->type);
    lets_.emplace(v.index, value);
    emit(range, CLet{v, std::move(value)});
    return;
  }
  if (!value->type.tuple || value->type.size() != s.names.size()) {
    reject(range, fmt::format("Here are {} names for the components of {}.", s.names.size(),
                              value->type.str()));
  }
  const CExpPtr whole = bind(std::move(value));
  for (size_t k = 0; k < s.names.size(); ++k) {
    if (s.names[k].text == "_") continue;
    CExpPtr part = component(whole, k);
    const VarId v = declare_var(s.names[k], part->type);
    emit(range, CLet{v, std::move(part)});
  }
}

std::vector<int64_t> Checker::constant_bounds(const TensorDef& d) {
  std::vector<int64_t> sizes;
  int64_t total = 1;
  for (const ExpPtr& b : d.bounds) {
    const auto n = known(exp(*b));
    if (!n || !is_integer(n->type)) {
      reject(b->range, "The bounds of a local tensor are constants: every thread has its own.");
    }
    constexpr int64_t kMost = 65536;
    if (n->as_i64() < 1 || n->as_i64() > kMost || n->as_i64() * total > kMost) {
      reject(b->range, fmt::format("A local tensor has from 1 to {} elements.", kMost));
    }
    total *= n->as_i64();
    sizes.push_back(n->as_i64());
  }
  return sizes;
}

TensorId Checker::new_tensor(TensorInfo info, const Name& name) {
  info.name = name.text;
  info.range = name.range;
  out_.tensors.push_back(std::move(info));
  return TensorId{static_cast<uint32_t>(out_.tensors.size() - 1)};
}

void Checker::literal(const TensorDef& d, TensorInfo::Kind kind, const SourceRange& range) {
  TensorInfo info;
  info.kind = kind;
  info.elem = Type::scalar(d.rows[0][0].type);
  info.rank = d.literal_rank;
  CLiteral l{{}, {}, static_cast<int64_t>(d.rows[0].size()), static_cast<int64_t>(d.rows.size())};
  info.sizes = {l.width, l.height};
  info.sizes.resize(static_cast<size_t>(info.rank));
  for (const auto& row : d.rows) l.values.insert(l.values.end(), row.begin(), row.end());
  l.tensor = new_tensor(std::move(info), d.name);
  declare(d.name, {l.tensor, {}});
  emit(range, std::move(l));
}

void Checker::local_tensor(const TensorDef& d, const SourceRange& range) {
  if (!d.file.empty()) reject(range, "Pictures are loaded at the top level.");
  if (d.literal_rank > 0) return literal(d, TensorInfo::kLocal, range);
  TensorInfo info;
  info.kind = TensorInfo::kLocal;
  if (d.reduce != nullptr) {
    int dim = 0;
    CReduce r = reduction(std::get<EReduce>(d.reduce->node), dim, range);
    const TensorInfo source = out_.tensors[r.source.index];
    info.elem = r.init->type;
    info.rank = source.rank - 1;
    if (info.rank == 0) {
      const VarId v = declare_var(d.name, info.elem);
      const Type type = info.elem;
      emit(range, CLet{v, make(type, range, std::move(r))});
      return;
    }
    if (source.sizes.empty()) {
      reject(range, fmt::format("A local tensor is made of local ones; {} is none.", source.name));
    }
    info.sizes = {source.sizes[dim == 0 ? 1 : 0]};
    const TensorId t = new_tensor(std::move(info), d.name);
    declare(d.name, {t, {}});
    emit(range, CReduceTo{t, dim, std::move(r)});
    return;
  }
  if (d.bounds.empty() || d.bounds.size() > 2) {
    reject(d.name.range, fmt::format("Tensor {} needs its size: @bounds(width) or "
                                     "@bounds(width, height) before it.",
                                     d.name.text));
  }
  info.sizes = constant_bounds(d);
  info.rank = static_cast<int>(d.bounds.size());
  const std::vector<int64_t> sizes = info.sizes;
  CDef def;
  def.tensor = new_tensor(std::move(info), d.name);
  for (const int64_t n : sizes) def.bounds.push_back(i32(static_cast<int32_t>(n), d.bounds_range));
  defining_.push_back(def.tensor);
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  open();
  def.indices =
      parameters(*d.block, std::vector(sizes.size(), Type::scalar(PrimType::kI32)), d.name.text);
  def.body = body(*d.block, nullptr, d.name.text);
  close();
  changeable_ = was_changeable;
  defining_.pop_back();
  out_.tensors[def.tensor.index].elem = def.body.result->type;
  declare(d.name, {def.tensor, {}});
  emit(range, std::move(def));
}

TensorId Checker::changeable(const TensorName& name) {
  const TensorId t = tensor_named(name);
  const TensorInfo& info = out_.tensors[t.index];
  if (info.kind != TensorInfo::kLocal) {
    reject(name.name.range,
           fmt::format("Only local tensors can be changed; {} is none.", info.name));
  }
  bool found = false;
  for (size_t k = changeable_; k < scopes_.size(); ++k) {
    found = found || scopes_[k].count(name.name.text) != 0;
  }
  if (!found) {
    reject(name.name.range, fmt::format("{} can be changed where it is defined and in for_each, "
                                        "but not within an expression.",
                                        info.name));
  }
  return t;
}

void Checker::update(const SUpdate& s, const SourceRange& range) {
  CUpdate u;
  u.tensor = changeable(s.tensor);
  u.at = coordinates(u.tensor, values(arguments(s.index), s.tensor.name.text), range);
  u.add = s.op == "+=";
  const Type elem = out_.tensors[u.tensor.index].elem;
  u.value = exp(*s.value);
  const Type type = u.value->type;
  // As in the original, integers become those of the elements, whatever their width.
  bool fits = type.tuple == elem.tuple && type.size() == elem.size();
  for (size_t k = 0; fits && k < elem.size(); ++k) {
    fits = is_float(elem.elems[k]) || is_integer(type.elems[k]);
  }
  if (!fits) {
    reject(s.value->range, fmt::format("The elements of {} are {}, but this is {}.",
                                       s.tensor.name.text, elem.str(), type.str()));
  }
  u.value = convert(std::move(u.value), elem);
  emit(range, std::move(u));
}

int Checker::dim_argument(std::vector<CArg>& args, TensorId t, std::string_view of,
                          const SourceRange& range) {
  auto found =
      std::find_if(args.begin(), args.end(), [](const CArg& a) { return a.name == "dim"; });
  if (found == args.end() && !args.empty() && args[0].name.empty()) found = args.begin();
  if (found == args.end()) reject(range, fmt::format("{} takes a dimension, as in dim=0.", of));
  const TensorInfo& info = out_.tensors[t.index];
  const auto dim = found->value == nullptr ? std::nullopt : known(found->value);
  if (!dim || !is_integer(dim->type) || dim->as_i64() < 0 || dim->as_i64() >= info.rank) {
    reject(found->range, fmt::format("The dimension is a constant {}: {} has {} of them.",
                                     info.rank == 1 ? "0" : "0 or 1", info.name, info.rank));
  }
  const int result = static_cast<int>(dim->as_i64());
  args.erase(found);
  return result;
}

void Checker::trans(const STrans& s, const SourceRange& range) {
  const TensorId t = changeable(s.tensor);
  const TensorInfo info = out_.tensors[t.index];
  const std::string& method = s.method.text;
  std::vector<CArg> args = arguments(s.args);
  if (method != "cumsum" && method != "sort" && method != "accumulate") {
    reject(s.method.range, fmt::format("trans has the methods cumsum!, sort! and accumulate!, but "
                                       "no {}!.",
                                       method));
  }
  const int dim = dim_argument(args, t, method + "!", range);
  if (!args.empty()) reject(args[0].range, fmt::format("{}! takes a dimension only.", method));
  if (method == "sort") {
    if (info.rank != 1) reject(s.tensor.name.range, "sort! is for tensors of one dimension.");
    emit(range, CSort{t});
    return;
  }
  CAccumulate a;
  a.tensor = t;
  a.dim = dim;
  std::vector<Type> types(static_cast<size_t>(info.rank), Type::scalar(PrimType::kI32));
  types.push_back(info.elem);
  types.push_back(info.elem);
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  open();
  if (method == "cumsum") {
    for (size_t k = 0; k < types.size(); ++k) a.indices.push_back(new_var("i", types[k]));
    const CExpPtr value = var(a.indices[types.size() - 2], range);
    a.body.result = prim(ScalarOp::kAdd, {value, var(a.indices.back(), range)}, range);
  } else {
    a.indices = parameters(*s.block, types, "accumulate!");
    a.body = body(*s.block, &info.elem, "accumulate!");
  }
  close();
  changeable_ = was_changeable;
  a.acc = a.indices.back();
  a.indices.pop_back();
  a.value = a.indices.back();
  a.indices.pop_back();
  emit(range, std::move(a));
}

void Checker::for_each(const SForEach& s, const SourceRange& range) {
  CForEach f;
  f.tensor = tensor_named(s.tensor);
  const TensorInfo info = out_.tensors[f.tensor.index];
  std::vector<Type> types(static_cast<size_t>(info.rank), Type::scalar(PrimType::kI32));
  types.push_back(info.elem);
  open();
  f.indices = parameters(*s.block, types, "for_each");
  f.value = f.indices.back();
  f.indices.pop_back();
  if (s.block->result != nullptr) {
    reject(s.block->result->range, "The block of for_each gives no value; it changes tensors.");
  }
  std::vector<CStm>* outer = std::exchange(sink_, &f.body.stms);
  statements(*s.block);
  sink_ = outer;
  close();
  emit(range, std::move(f));
}

}  // namespace kenaz::mfg
