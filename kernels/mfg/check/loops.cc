#include <fmt/format.h>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

std::vector<VarId> Checker::parameters(const Block& block, const std::vector<Type>& types,
                                       std::string_view of) {
  if (block.params.size() != types.size()) {
    reject(block.range,
           fmt::format("The block of {} has {} parameter{}, but this one has {}.", of, types.size(),
                       types.size() == 1 ? "" : "s", block.params.size()));
  }
  std::vector<VarId> vars;
  for (size_t k = 0; k < types.size(); ++k) {
    const Param& p = block.params[k];
    if (!p.type.text.empty() && type_from_name(p.type.text) != types[k]) {
      reject(p.type.range,
             fmt::format("This parameter is of type {}, not {}.", types[k].str(), p.type.text));
    }
    vars.push_back(declare_var(p.name, types[k]));
  }
  return vars;
}

CBody Checker::body(const Block& block, const Type* want, std::string_view of) {
  CBody b;
  std::vector<CStm>* outer = std::exchange(sink_, &b.stms);
  statements(block);
  if (block.result == nullptr) {
    reject(block.end, fmt::format("The block of {} ends with an expression, its value.", of));
  }
  b.result = exp(*block.result);
  sink_ = outer;
  if (want != nullptr && b.result->type != *want) {
    reject(block.result->range, fmt::format("The block of {} gives {}, but this is {}.", of,
                                            want->str(), b.result->type.str()));
  }
  return b;
}

std::vector<CRange> Checker::ranges(const std::vector<CArg>& args, std::string_view of) {
  std::vector<CRange> list;
  for (const CArg& a : args) {
    const auto* r = a.ast == nullptr ? nullptr : std::get_if<ERange>(&a.ast->node);
    if (r == nullptr || !a.name.empty()) {
      reject(a.range, fmt::format("{} takes ranges, such as 0..<n.", of));
    }
    const auto end = [&](const Exp& e) {
      CExpPtr v = exp(e);
      if (v->type.tuple || !is_integer(v->type.prim())) {
        reject(e.range,
               fmt::format("A range has integers as its ends, but this is {}.", v->type.str()));
      }
      return bind(convert(std::move(v), Type::scalar(PrimType::kI32)));
    };
    CRange range;
    range.from = end(*r->from);
    range.to = end(*r->to);
    list.push_back(std::move(range));
  }
  return list;
}

CExpPtr Checker::loop(const ECall& c, const SourceRange& range) {
  const std::string& name = c.callee.name.text;
  std::vector<CArg> args = arguments(c.args);
  CLoop l;
  l.sum = name == "rsum";
  if (!l.sum) {
    auto init =
        std::find_if(args.begin(), args.end(), [](const CArg& a) { return a.name == "init"; });
    if (init == args.end() && !args.empty() && args[0].name.empty() && args[0].value != nullptr) {
      init = args.begin();
    }
    if (init == args.end() || init->value == nullptr) {
      reject(range, "reduce takes the value to begin with, as in reduce(init=0, 0..<n).");
    }
    l.init = bind(init->value);
    args.erase(init);
  }
  if (args.empty() || args.size() > 2) {
    reject(range, fmt::format("{} takes one or two ranges, but here are {}.", name, args.size()));
  }
  l.ranges = ranges(args, name);
  std::vector<Type> types(args.size(), Type::scalar(PrimType::kI32));
  if (!l.sum) types.push_back(l.init->type);
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  open();
  l.indices = parameters(*c.block, types, name);
  if (!l.sum) {
    l.acc = l.indices.back();
    l.indices.pop_back();
  }
  l.body = body(*c.block, l.sum ? nullptr : &l.init->type, name);
  close();
  changeable_ = was_changeable;
  const Type type = l.body.result->type;
  return make(type, range, std::move(l));
}

CExpPtr Checker::tensor_sum(TensorId t, const Block& block, const SourceRange& range) {
  CTensorSum s;
  s.tensor = t;
  const TensorInfo info = out_.tensors[t.index];
  std::vector<Type> types(static_cast<size_t>(info.rank), Type::scalar(PrimType::kI32));
  types.push_back(info.elem);
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  open();
  s.indices = parameters(block, types, "sum");
  s.value = s.indices.back();
  s.indices.pop_back();
  s.body = body(block, nullptr, "sum");
  close();
  changeable_ = was_changeable;
  const Type type = s.body.result->type;
  return make(type, range, std::move(s));
}

CReduce Checker::reduction(const EReduce& e, int& dim, const SourceRange& range) {
  CReduce r;
  r.source = tensor_named(e.tensor);
  const TensorInfo info = out_.tensors[r.source.index];
  const bool finds = e.method.text == "find_first_index";
  if (!finds && e.method.text != "accumulate") {
    reject(e.method.range, fmt::format("reduce has the methods accumulate and find_first_index, "
                                       "but no {}.",
                                       e.method.text));
  }
  std::vector<CArg> args = arguments(e.args);
  CExpPtr init = i32(-1, range);
  const auto named =
      std::find_if(args.begin(), args.end(), [](const CArg& a) { return a.name == "init"; });
  bool given = named != args.end();
  if (given) {
    init = named->value;
    args.erase(named);
  }
  dim = dim_argument(args, r.source, e.method.text, range);
  if (!given && !finds && !args.empty()) {
    given = true;
    init = args[0].value;
    args.erase(args.begin());
  }
  if (!given && !finds) {
    reject(range, "accumulate takes the value to begin with, as in accumulate(dim=0, init=0).");
  }
  if (!args.empty() || init == nullptr) {
    reject(range, fmt::format("{} takes {}.", e.method.text, finds ? "dim" : "dim and init"));
  }
  r.init = bind(init);
  std::vector<Type> types(static_cast<size_t>(info.rank), Type::scalar(PrimType::kI32));
  types.push_back(info.elem);
  if (!finds) types.push_back(r.init->type);
  const size_t was_changeable = std::exchange(changeable_, scopes_.size());
  open();
  r.indices = parameters(*e.block, types, e.method.text);
  if (!finds) {
    r.acc = r.indices.back();
    r.indices.pop_back();
  }
  r.value = r.indices.back();
  r.indices.pop_back();
  r.body = body(*e.block, finds ? nullptr : &r.init->type, e.method.text);
  close();
  changeable_ = was_changeable;
  if (finds && (r.body.result->type.tuple || !is_integer(r.body.result->type.prim()))) {
    reject(e.block->result->range, fmt::format("The block of find_first_index gives an integer, "
                                               "but this is {}.",
                                               r.body.result->type.str()));
  }
  return r;
}

CExpPtr Checker::on(const EReduce& e, const SourceRange& range) {
  int dim = 0;
  CReduce r = reduction(e, dim, range);
  if (out_.tensors[r.source.index].rank != 1) {
    reject(range, "Reducing a tensor of two dimensions makes a tensor: def t by reduce<..>..");
  }
  const Type type = r.init->type;
  return make(type, range, std::move(r));
}

}  // namespace kenaz::mfg
