#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {
namespace {

bool negate(Literal& literal) {
  if (auto* i = std::get_if<IntLit>(&literal)) {
    i->negative = true;
  } else if (auto* f = std::get_if<FloatLit>(&literal)) {
    f->value = -f->value;
  } else if (auto* p = std::get_if<PrimLit>(&literal)) {
    PrimValue& v = p->value;
    const int bits = prim_bits(v.type);
    if (is_float(v.type)) {
      v.bits ^= uint64_t{1} << (bits - 1);
    } else {
      v.bits = (0 - v.bits) & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

PatPtr Parser::pat() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  if (at(Tok::kHashBracket)) {
    PatAttr p;
    if (!bracketed_attribute(p.attr) || !(p.inner = pat())) return nullptr;
    return make<Pat>(begin, std::move(p));
  }
  PatPtr inner;
  if (at(Tok::kConstructor)) {
    PatConstr constr{next().text, {}};
    while (starts_param() || at_op("-")) {
      if (!constr.args.emplace_back(inner_pat(true))) return nullptr;
    }
    const bool bare = constr.args.empty();
    inner = make<Pat>(begin, std::move(constr));
    if (!bare) return inner;
  } else {
    inner = inner_pat(true);
  }
  if (!inner || !eat(Tok::kColon)) return inner;
  TypeExpPtr type = type_exp();
  if (!type) return nullptr;
  return make<Pat>(begin, PatAscript{std::move(inner), std::move(type)});
}

bool Parser::starts_param() const {
  switch (peek().kind) {
    case Tok::kId:
    case Tok::kLParen:
    case Tok::kUnderscore:
    case Tok::kLCurly:
    case Tok::kLiteral:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kConstructor: return true;
    default: return false;
  }
}

bool Parser::params(std::vector<PatPtr>& out) {
  while (starts_param()) {
    if (!out.emplace_back(param())) return false;
  }
  return true;
}

PatPtr Parser::inner_pat(bool negative_literals) {
  const SourcePos begin = here();
  switch (peek().kind) {
    case Tok::kId: {
      PatName name{next().text};
      return make<Pat>(begin, std::move(name));
    }
    case Tok::kUnderscore: next(); return make<Pat>(begin, PatWildcard{});
    case Tok::kLParen: return pat_parens();
    case Tok::kLCurly: return pat_record();
    case Tok::kConstructor: {
      PatConstr constr{next().text, {}};
      return make<Pat>(begin, std::move(constr));
    }
    case Tok::kLiteral:
    case Tok::kTrue:
    case Tok::kFalse: return pat_literal();
    default: break;
  }
  if (negative_literals && at_op("-") && peek(1).kind == Tok::kLiteral) {
    next();
    Literal value = peek().literal;
    if (!negate(value)) return unexpected("a number"), nullptr;
    next();
    return make<Pat>(begin, PatLiteral{value});
  }
  return unexpected("a pattern"), nullptr;
}

PatPtr Parser::pat_literal() {
  const SourcePos begin = here();
  const Token& t = next();
  Literal value = t.kind == Tok::kLiteral
                      ? t.literal
                      : Literal(PrimLit{PrimValue::of_bool(t.kind == Tok::kTrue)});
  return make<Pat>(begin, PatLiteral{value});
}

PatPtr Parser::pat_parens() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  next();
  const bool names_operator =
      at_binding_operator() && (at(Tok::kBacktick) || peek(1).kind == Tok::kRParen);
  if (names_operator) {
    PatName name;
    if (!binding_operator(name.name) || !expect(Tok::kRParen, "')'")) return nullptr;
    return make<Pat>(begin, std::move(name));
  }
  PatTuple tuple;
  if (eat(Tok::kRParen)) return make<Pat>(begin, std::move(tuple));
  if (!tuple.elems.emplace_back(pat())) return nullptr;
  if (eat(Tok::kRParen)) return make<Pat>(begin, PatParens{std::move(tuple.elems[0])});
  while (eat(Tok::kComma)) {
    if (at(Tok::kRParen) && tuple.elems.size() > 1) break;
    if (!tuple.elems.emplace_back(pat())) return nullptr;
  }
  if (!expect(Tok::kRParen, "',' or ')'")) return nullptr;
  return make<Pat>(begin, std::move(tuple));
}

PatPtr Parser::pat_record() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  next();
  PatRecord record;
  while (!at(Tok::kRCurly)) {
    if (!at_field()) return unexpected("a field or '}'"), nullptr;
    const SourcePos field_begin = here();
    PatRecord::Field field{next().text, nullptr};
    if (eat(Tok::kEqu)) {
      if (!(field.pat = pat())) return nullptr;
    } else if (at(Tok::kColon)) {
      PatPtr name = make<Pat>(field_begin, PatName{field.name});
      next();
      TypeExpPtr type = type_exp();
      if (!type) return nullptr;
      field.pat = make<Pat>(field_begin, PatAscript{std::move(name), std::move(type)});
    }
    record.fields.push_back(std::move(field));
    if (!eat(Tok::kComma)) break;
  }
  if (!expect(Tok::kRCurly, "',' or '}'")) return nullptr;
  return make<Pat>(begin, std::move(record));
}

}  // namespace kenaz::syntax
