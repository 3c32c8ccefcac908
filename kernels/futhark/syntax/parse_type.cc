#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

TypeExpPtr Parser::type_exp() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  if (eat(Tok::kQuestion)) {
    TypeExists exists;
    do {
      if (!bracketed_name(exists.sizes.emplace_back())) return nullptr;
    } while (at_bracket());
    if (!expect(Tok::kDot, "'.'") || !(exists.inner = type_exp())) return nullptr;
    return make<TypeExp>(begin, std::move(exists));
  }
  if (at(Tok::kLParen) && peek(1).kind == Tok::kId && peek(2).kind == Tok::kColon) {
    next();
    TypeArrow arrow;
    arrow.param = next().text;
    next();
    if (!(arrow.from = type_exp()) || !expect(Tok::kRParen, "')'")) return nullptr;
    if (!expect(Tok::kArrow, "'->'") || !(arrow.to = type_exp())) return nullptr;
    return make<TypeExp>(begin, std::move(arrow));
  }
  TypeExpPtr term = type_term();
  if (!term || !eat(Tok::kArrow)) return term;
  TypeExpPtr to = type_exp();
  if (!to) return nullptr;
  return make<TypeExp>(begin, TypeArrow{std::nullopt, std::move(term), std::move(to)});
}

TypeExpPtr Parser::type_term() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  if (at_op("*")) {
    next();
    TypeExpPtr inner = type_term();
    if (!inner) return nullptr;
    return make<TypeExp>(begin, TypeUnique{std::move(inner)});
  }
  if (at(Tok::kConstructor)) return type_sum();
  return type_apply();
}

TypeExpPtr Parser::type_sum() {
  const SourcePos begin = here();
  TypeSum sum;
  do {
    if (at_op("|")) next();
    if (!at(Tok::kConstructor)) return unexpected("a constructor"), nullptr;
    auto& c = sum.constructors.emplace_back();
    c.name = next().text;
    while (starts_type_atom()) {
      if (!c.payload.emplace_back(type_atom())) return nullptr;
    }
  } while (at_op("|"));
  return make<TypeExp>(begin, std::move(sum));
}

bool Parser::starts_type_atom() const {
  return at(Tok::kId) || at(Tok::kLParen) || at(Tok::kLCurly) || at_bracket();
}

TypeExpPtr Parser::type_apply() {
  const SourcePos begin = here();
  TypeExpPtr fun = type_atom();
  while (fun && starts_type_atom()) {
    TypeApply apply;
    if (at_bracket()) {  // behind a type, a bracket is always a size argument
      SizeExp size;
      if (!size_exp(size)) return nullptr;
      apply.arg = std::move(size);
    } else {
      TypeExpPtr arg = type_atom();
      if (!arg) return nullptr;
      apply.arg = std::move(arg);
    }
    apply.fun = std::move(fun);
    fun = make<TypeExp>(begin, std::move(apply));
    if (!one_higher()) return nullptr;
  }
  return fun;
}

TypeExpPtr Parser::type_atom() {
  const SourcePos begin = here();
  if (at(Tok::kLParen)) return type_parens();
  if (at(Tok::kLCurly)) return type_record();
  if (at_bracket()) {
    TypeArray array;
    if (!size_exp(array.size) || !(array.elem = type_term())) return nullptr;
    return make<TypeExp>(begin, std::move(array));
  }
  if (!at(Tok::kId)) return unexpected("a type"), nullptr;
  TypeVar var;
  if (!qual_name(var.name)) return nullptr;
  return make<TypeExp>(begin, std::move(var));
}

TypeExpPtr Parser::type_parens() {
  const SourcePos begin = here();
  next();
  TypeTuple tuple;
  if (eat(Tok::kRParen)) return make<TypeExp>(begin, std::move(tuple));
  if (!tuple.elems.emplace_back(type_exp())) return nullptr;
  if (eat(Tok::kRParen)) return make<TypeExp>(begin, TypeParens{std::move(tuple.elems[0])});
  while (eat(Tok::kComma)) {
    if (at(Tok::kRParen) && tuple.elems.size() > 1) break;
    if (!tuple.elems.emplace_back(type_exp())) return nullptr;
  }
  if (!expect(Tok::kRParen, "',' or ')'")) return nullptr;
  return make<TypeExp>(begin, std::move(tuple));
}

TypeExpPtr Parser::type_record() {
  const SourcePos begin = here();
  next();
  TypeRecord record;
  while (!at(Tok::kRCurly)) {
    if (!at_field()) return unexpected("a field or '}'"), nullptr;
    std::string name = next().text;
    if (!expect(Tok::kColon, "':'")) return nullptr;
    TypeExpPtr type = type_exp();
    if (!type) return nullptr;
    record.fields.emplace_back(std::move(name), std::move(type));
    if (!eat(Tok::kComma)) break;
  }
  if (!expect(Tok::kRCurly, "',' or '}'")) return nullptr;
  return make<TypeExp>(begin, std::move(record));
}

bool Parser::size_exp(SizeExp& out) {
  const SourcePos begin = here();
  next();
  if (!at(Tok::kRBracket) && !(out.exp = exp())) return false;
  if (!expect(Tok::kRBracket, "']'")) return false;
  out.range = since(begin);
  return true;
}

bool Parser::at_type_param() const {
  return at_bracket() || at(Tok::kApostrophe) || at(Tok::kApostropheHat) ||
         at(Tok::kApostropheTilde);
}

bool Parser::type_param(TypeParam& out) {
  const SourcePos begin = here();
  if (at_bracket()) {
    out.kind = TypeParam::kSize;
    if (!bracketed_name(out.name)) return false;
  } else {
    out.kind = TypeParam::kType;
    const Tok mark = next().kind;
    if (mark == Tok::kApostropheHat) out.lifted = Liftedness::kFullyLifted;
    if (mark == Tok::kApostropheTilde) out.lifted = Liftedness::kSizeLifted;
    if (!identifier(out.name, "the name of a type parameter")) return false;
  }
  out.range = since(begin);
  return true;
}

bool Parser::type_params(std::vector<TypeParam>& out) {
  while (at_type_param()) {
    if (!type_param(out.emplace_back())) return false;
  }
  return true;
}

}  // namespace kenaz::syntax
