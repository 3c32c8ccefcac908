#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

bool Parser::starts_atom() const {
  switch (peek().kind) {
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kLiteral:
    case Tok::kString:
    case Tok::kConstructor:
    case Tok::kId:
    case Tok::kHole:
    case Tok::kLParen:
    case Tok::kLBracket:
    case Tok::kLCurly: return true;
    default: return false;
  }
}

ExpPtr Parser::atom() {
  const SourcePos begin = here();
  ExpPtr e = primary();
  while (e && (at(Tok::kDot) || at(Tok::kIndexing))) {
    if (at(Tok::kDot)) {
      e = project(begin, std::move(e));
    } else {
      EIndex index{std::move(e), {}};
      if (!dim_indices(index.slice)) return nullptr;
      e = exp_node(begin, std::move(index));
    }
    if (!one_higher()) return nullptr;
  }
  return e;
}

/// `.x`, `.0` or `.(e)` behind an atom.
ExpPtr Parser::project(SourcePos begin, ExpPtr record) {
  next();
  auto* var = std::get_if<EVar>(&record->node);
  if (at(Tok::kId) && var) {
    QualName name = std::move(var->name);
    name.quals.push_back(std::exchange(name.name, next().text));
    name.range = since(begin);
    return exp_node(begin, EVar{std::move(name)});
  }
  if (at_field()) {
    EProject p{std::move(record), next().text};
    return exp_node(begin, std::move(p));
  }
  if (!at(Tok::kLParen)) return unexpected("a field or '('"), nullptr;
  if (!var) {
    return fail_at(range_of(peek()),
                   "Can only locally open module names, not arbitrary expressions"),
           nullptr;
  }
  next();
  EQualParens q{std::move(var->name), nullptr};
  if (!(q.inner = exp()) || !expect(Tok::kRParen, "')'")) return nullptr;
  return exp_node(begin, std::move(q));
}

ExpPtr Parser::primary() {
  const SourcePos begin = here();
  const Token& t = peek();
  switch (t.kind) {
    case Tok::kTrue:
    case Tok::kFalse:
      next();
      return exp_node(begin, ELiteral{PrimLit{PrimValue::of_bool(t.kind == Tok::kTrue)}});
    case Tok::kLiteral: next(); return exp_node(begin, ELiteral{t.literal});
    case Tok::kString: next(); return exp_node(begin, EString{{t.text}});
    case Tok::kHole: next(); return exp_node(begin, EHole{});
    case Tok::kConstructor: next(); return exp_node(begin, EConstr{t.text, {}});
    case Tok::kId: next(); return exp_node(begin, EVar{{{}, t.text, range_of(t)}});
    case Tok::kLParen: return parens();
    case Tok::kLBracket: return array();
    case Tok::kLCurly: return record();
    default: return unexpected("an expression"), nullptr;
  }
}

ExpPtr Parser::parens() {
  const SourcePos begin = here();
  next();
  if (eat(Tok::kRParen)) return exp_node(begin, ETuple{});
  if (at(Tok::kDot)) return path_section(begin);
  if (at(Tok::kBacktick) || (at(Tok::kOp) && (!at_op("-") || peek(1).kind == Tok::kRParen))) {
    return operator_section(begin);
  }
  ExpPtr e = exp();
  if (!e) return nullptr;
  if (at(Tok::kComma)) return tuple_rest(begin, std::move(e));
  if (section_ends_here()) {
    EOpSectionLeft section;
    if (at(Tok::kBacktick)) {
      if (!backticked(section.op)) return nullptr;
    } else {
      section.op = {peek().quals, peek().text, range_of(peek())};
      next();
    }
    next();
    section.operand = std::move(e);
    return exp_node(begin, std::move(section));
  }
  if (!expect(Tok::kRParen, "',', ')' or an operator")) return nullptr;
  return exp_node(begin, EParens{std::move(e)});
}

ExpPtr Parser::tuple_rest(SourcePos begin, ExpPtr first) {
  ETuple tuple;
  tuple.elems.push_back(std::move(first));
  while (eat(Tok::kComma)) {
    if (at(Tok::kRParen) && tuple.elems.size() > 1) break;
    if (!tuple.elems.emplace_back(exp())) return nullptr;
  }
  if (!expect(Tok::kRParen, "',' or ')'")) return nullptr;
  return exp_node(begin, std::move(tuple));
}

/// (+), (+ x), (`f` x)
ExpPtr Parser::operator_section(SourcePos begin) {
  QualName op;
  if (at(Tok::kBacktick)) {
    if (!backticked(op)) return nullptr;
  } else {
    op = {peek().quals, peek().text, range_of(peek())};
    next();
  }
  if (eat(Tok::kRParen)) return exp_node(begin, EOpSection{std::move(op)});
  EOpSectionRight section{std::move(op), infix(kRangeLevel)};
  if (!section.operand || !expect(Tok::kRParen, "')'")) return nullptr;
  return exp_node(begin, std::move(section));
}

/// (.a.b), (.[i, j].x)
ExpPtr Parser::path_section(SourcePos begin) {
  EPathSection section;
  next();
  if (at(Tok::kLBracket) ? !slice_step(section.path) : !field_step(section.path)) return nullptr;
  while (!at(Tok::kRParen)) {
    if (at(Tok::kIndexing)) {
      if (!slice_step(section.path)) return nullptr;
    } else if (!expect(Tok::kDot, "'.', '[' or ')'") || !field_step(section.path)) {
      return nullptr;
    }
  }
  next();
  return exp_node(begin, std::move(section));
}

ExpPtr Parser::array() {
  const SourcePos begin = here();
  next();
  EArray array;
  while (!at(Tok::kRBracket)) {
    if (!array.elems.emplace_back(exp())) return nullptr;
    if (!eat(Tok::kComma)) break;
  }
  if (!expect(Tok::kRBracket, "',' or ']'")) return nullptr;
  return exp_node(begin, std::move(array));
}

ExpPtr Parser::record() {
  const SourcePos begin = here();
  next();
  ERecord record;
  while (!at(Tok::kRCurly)) {
    if (!at_field()) return unexpected("a field or '}'"), nullptr;
    const SourcePos field_begin = here();
    const bool natural = peek().is_natural;
    ERecord::Field field{next().text, nullptr, {}};
    if (at(Tok::kEqu) || natural) {
      if (!expect(Tok::kEqu, "'='") || !(field.value = exp())) return nullptr;
    }
    field.range = since(field_begin);
    record.fields.push_back(std::move(field));
    if (!eat(Tok::kComma)) break;
  }
  if (!expect(Tok::kRCurly, "'=', ',' or '}'")) return nullptr;
  return exp_node(begin, std::move(record));
}

bool Parser::dim_index(DimIndex& out) {
  const SourcePos begin = here();
  const auto ends = [&] { return at(Tok::kColon) || at(Tok::kComma) || at(Tok::kRBracket); };
  // Ascription cannot be told from a slice here, so the parts are expressions without it.
  if (!at(Tok::kColon) && !(out.index = infix(kRangeLevel))) return false;
  if (eat(Tok::kColon)) {
    out.is_slice = true;
    out.start = std::move(out.index);
    if (!ends() && !(out.end = infix(kRangeLevel))) return false;
    if (eat(Tok::kColon) && !(out.stride = infix(kRangeLevel))) return false;
  }
  out.range = since(begin);
  return true;
}

bool Parser::dim_indices(std::vector<DimIndex>& out) {
  next();
  while (!at(Tok::kRBracket)) {
    if (!dim_index(out.emplace_back())) return false;
    if (!eat(Tok::kComma)) break;
  }
  return expect(Tok::kRBracket, "',', ':' or ']'");
}

}  // namespace kenaz::syntax
