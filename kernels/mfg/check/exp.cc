#include <fmt/format.h>

#include <charconv>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

CExpPtr Checker::exp(const Exp& e) {
  constexpr int kMaxNesting = 1000;
  if (++nesting_ > kMaxNesting) reject(e.range, "This is nested too deeply, functions included.");
  CExpPtr made = std::visit([&](const auto& node) { return on(node, e.range); }, e.node);
  --nesting_;
  return made;
}

CExpPtr Checker::on(const EName& n, const SourceRange& range) {
  const std::string& text = n.name.name.text;
  const Symbol* s = find(text);
  if (s != nullptr) {
    if (const auto* value = std::get_if<CExpPtr>(&s->what)) {
      return make((*value)->type, range, (*value)->node);  // a variable or a number, used here
    }
    if (std::holds_alternative<SymFunction>(s->what)) {
      reject(range, fmt::format("\"{}\" is a function: {}(..).", text, text));
    }
    reject(range,
           fmt::format("\"{0}\" is a tensor or a sampler: {0}(x, y) is an element of it.", text));
  }
  if (text == "input_u8" || text == "input_u16") {
    reject(range, fmt::format("\"{0}\" is a tensor: {0}(x, y) is an element of it.", text));
  }
  if (is_builtin(text) || type_from_name(text)) {
    reject(range, fmt::format("\"{0}\" is a function: {0}(..).", text));
  }
  no_such_name({text, range});
}

std::vector<CArg> Checker::arguments(const std::vector<Arg>& args) {
  std::vector<CArg> list;
  for (const Arg& a : args) {
    CArg c{a.name.text, a.value->range, nullptr, a.value.get()};
    if (std::holds_alternative<ERange>(a.value->node) ||
        std::holds_alternative<EEnum>(a.value->node)) {
      if (a.splat) reject(c.range, "* takes a tuple apart; this is none.");
      list.push_back(std::move(c));
      continue;
    }
    c.value = exp(*a.value);
    if (!a.splat) {
      list.push_back(std::move(c));
      continue;
    }
    if (!c.value->type.tuple) {
      reject(c.range, fmt::format("* takes a tuple apart; this is {}.", c.value->type.str()));
    }
    const CExpPtr whole = bind(c.value);
    for (size_t k = 0; k < whole->type.size(); ++k) {
      list.push_back({c.name, c.range, component(whole, k), nullptr});
    }
  }
  return list;
}

std::vector<CExpPtr> Checker::values(const std::vector<CArg>& args, std::string_view of) {
  std::vector<CExpPtr> list;
  for (const CArg& a : args) {
    if (!a.name.empty()) {
      reject(a.range, fmt::format("{} takes no argument by the name \"{}\".", of, a.name));
    }
    if (a.value == nullptr) exp(*a.ast);  // says what is wrong with it
    list.push_back(a.value);
  }
  return list;
}

CExpPtr Checker::on(const ETuple& t, const SourceRange& range) {
  std::vector<CExpPtr> parts;
  for (const Arg& a : t.parts) {
    if (!a.name.text.empty()) reject(a.name.range, "The components of a tuple have no names.");
    CExpPtr part = exp(*a.value);
    if (a.splat && !part->type.tuple) {
      reject(a.value->range, fmt::format("* takes a tuple apart; this is {}.", part->type.str()));
    }
    if (!a.splat && part->type.tuple) {
      reject(a.value->range,
             fmt::format("A component of a tuple is a number, but this is {}; with a * before it, "
                         "its components become some of this tuple.",
                         part->type.str()));
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) reject(range, "A tuple has at least one component.");
  return tuple(std::move(parts), range);
}

CExpPtr Checker::on(const EPick& p, const SourceRange& range) {
  const CExpPtr t = exp(*p.tuple);
  if (!t->type.tuple) {
    reject(range, fmt::format("Only tuples have components; this is {}.", t->type.str()));
  }
  std::vector<int> indices;
  if (std::isdigit(static_cast<unsigned char>(p.part[0])) != 0) {
    int k = -1;
    std::from_chars(p.part.data(), p.part.data() + p.part.size(), k);
    indices.push_back(k);
  } else {
    for (const char c : p.part) {
      const size_t k = std::string_view("xyzw").find(c);
      if (k == std::string_view::npos) {
        reject(range, fmt::format("Components are named by the letters xyzw or by numbers, not "
                                  "\".{}\".",
                                  p.part));
      }
      indices.push_back(static_cast<int>(k));
    }
  }
  for (const int k : indices) {
    if (k >= 0 && static_cast<size_t>(k) < t->type.size()) continue;
    reject(range, fmt::format("{} has {} components; there is no \".{}\".", t->type.str(),
                              t->type.size(), p.part));
  }
  return pick(t, std::move(indices), range);
}

CExpPtr Checker::on(const EHole& /*h*/, const SourceRange& range) {
  if (holes_.empty()) reject(range, "... stands for the left side of a |>, and there is none.");
  return holes_.back();
}

CExpPtr Checker::on(const EPipe& p, const SourceRange& /*range*/) {
  holes_.push_back(bind(exp(*p.lhs)));
  CExpPtr result = exp(*p.rhs);
  holes_.pop_back();
  return result;
}

CExpPtr Checker::on(const ERange& /*r*/, const SourceRange& range) {
  reject(range, "A range a..<b is an argument of rsum and reduce only.");
}

CExpPtr Checker::on(const EEnum& e, const SourceRange& range) {
  reject(range, fmt::format("\".{}\" is a choice for arguments of samplers only.", e.name));
}

CExpPtr Checker::on(const ESampler& /*s*/, const SourceRange& range) {
  reject(range, "A sampler is given a name by let, and is read by that name.");
}

}  // namespace kenaz::mfg
