#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

ExpPtr Parser::exp() {
  const SourcePos begin = here();
  ExpPtr e = infix(kRangeLevel);
  while (e && (at(Tok::kColon) || at(Tok::kColonGt))) {
    const bool coerce = next().kind == Tok::kColonGt;
    TypeExpPtr type = type_exp();
    if (!type || !one_higher()) return nullptr;
    e = coerce ? exp_node(begin, ECoerce{std::move(e), std::move(type)})
               : exp_node(begin, EAscript{std::move(e), std::move(type)});
  }
  return e;
}

/// At an operator that `)` follows, as in `(x +)`: the operator belongs to the section.
bool Parser::section_ends_here() const {
  if (at(Tok::kOp)) return peek(1).kind == Tok::kRParen;
  if (!at(Tok::kBacktick)) return false;
  size_t k = 1;
  while (peek(k).kind == Tok::kId || peek(k).kind == Tok::kDot) ++k;
  return peek(k).kind == Tok::kBacktick && peek(k + 1).kind == Tok::kRParen;
}

/// Everything but type ascription, with infix syntax that binds at least as tightly as `least`.
ExpPtr Parser::infix(int least) {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  ExpPtr e = prefixed();
  while (e && !section_ends_here()) {
    const Tok kind = peek().kind;
    if (kind == Tok::kTwoDots || kind == Tok::kTwoDotsLt || kind == Tok::kTwoDotsGt ||
        kind == Tok::kThreeDots) {
      if (least > kRangeLevel) break;
      e = range(begin, std::move(e));
    } else if (kind == Tok::kWith) {
      if (least > kWithLevel) break;
      e = update(begin, std::move(e));
    } else if (kind == Tok::kOp || kind == Tok::kBacktick) {
      const int level = kind == Tok::kBacktick ? kBacktickLevel : operator_level(peek().text);
      if (least > level) break;
      EBinOp bin;
      if (kind == Tok::kBacktick) {
        if (!backticked(bin.op)) return nullptr;
      } else {
        bin.op = {peek().quals, peek().text, range_of(peek())};
        next();
      }
      bin.lhs = std::move(e);
      if (!(bin.rhs = infix(level == kPipeLeftLevel ? level : level + 1))) return nullptr;
      e = exp_node(begin, std::move(bin));
    } else {
      break;
    }
    if (!e || !one_higher()) return nullptr;
  }
  return e;
}

ExpPtr Parser::range(SourcePos begin, ExpPtr start) {
  ERange r;
  r.start = std::move(start);
  if (at(Tok::kTwoDots)) {
    const SourceRange dots = range_of(next());
    if (!(r.second = infix(kRangeLevel + 1))) return nullptr;
    if (!at(Tok::kTwoDotsLt) && !at(Tok::kTwoDotsGt) && !at(Tok::kThreeDots)) {
      return fail_at(dots, "use '...' for ranges, not '..'."), nullptr;
    }
  }
  const Tok kind = next().kind;
  r.kind = kind == Tok::kTwoDotsLt   ? ERange::kUpExclusive
           : kind == Tok::kTwoDotsGt ? ERange::kDownExclusive
                                     : ERange::kInclusive;
  if (!(r.end = infix(kRangeLevel))) return nullptr;
  return exp_node(begin, std::move(r));
}

bool Parser::field_step(std::vector<UpdateStep>& path) {
  if (!at_field()) return unexpected("a field");
  path.emplace_back().is_field = true;
  path.back().field = next().text;
  return true;
}

bool Parser::slice_step(std::vector<UpdateStep>& path) {
  return dim_indices(path.emplace_back().slice);
}

ExpPtr Parser::update(SourcePos begin, ExpPtr source) {
  next();
  EUpdate u;
  u.source = std::move(source);
  do {
    if (at_bracket()) {
      if (!slice_step(u.path)) return nullptr;
    } else {
      eat(Tok::kDot);
      if (!field_step(u.path)) return nullptr;
    }
  } while (!at(Tok::kEqu));
  next();
  if (!(u.value = infix(kWithLevel + 1))) return nullptr;
  return exp_node(begin, std::move(u));
}

ExpPtr Parser::prefixed() {
  const SourcePos begin = here();
  switch (peek().kind) {
    case Tok::kIf: return if_exp();
    case Tok::kMatch: return match_exp();
    case Tok::kLoop: return loop_exp();
    case Tok::kLet: return let_chain();
    case Tok::kAssert: {
      next();
      EAssert a;
      if (!(a.cond = atom()) || !(a.body = exp())) return nullptr;
      return exp_node(begin, std::move(a));
    }
    case Tok::kHashBracket: {
      EAttr a;
      if (!bracketed_attribute(a.attr) || !(a.inner = exp())) return nullptr;
      return exp_node(begin, std::move(a));
    }
    case Tok::kBang: {
      next();
      ExpPtr operand = infix(kPrefixLevel);
      if (!operand) return nullptr;
      return exp_node(begin, ENot{std::move(operand)});
    }
    default: break;
  }
  if (!at_op("-")) return applications();
  next();
  ExpPtr operand = infix(kPrefixLevel);
  if (!operand) return nullptr;
  return exp_node(begin, ENegate{std::move(operand)});
}

ExpPtr Parser::applications() {
  const SourcePos begin = here();
  if (at(Tok::kBackslash)) return lambda();
  ExpPtr fun = atom();
  if (!fun) return nullptr;
  std::vector<ExpPtr> args;
  while (starts_atom()) {
    if (!args.emplace_back(atom())) return nullptr;
  }
  if (at(Tok::kBackslash) && !args.emplace_back(lambda())) return nullptr;
  if (args.empty()) return fun;
  if (auto* constr = std::get_if<EConstr>(&fun->node)) {
    EConstr full{std::move(constr->name), std::move(args)};
    return exp_node(begin, std::move(full));
  }
  if (std::holds_alternative<EIndex>(fun->node) && std::holds_alternative<EArray>(args[0]->node)) {
    return fail_at({file_, fun->range.begin, args[0]->range.end},
                   "Incorrect syntax for multi-dimensional indexing.\n"
                   "Put all indices in the same brackets, separated by commas."),
           nullptr;
  }
  return exp_node(begin, EApply{std::move(fun), std::move(args)});
}

ExpPtr Parser::lambda() {
  const SourcePos begin = here();
  next();
  ELambda l;
  if (!starts_param()) return unexpected("a parameter"), nullptr;
  if (!params(l.params)) return nullptr;
  if (eat(Tok::kColon) && !(l.ret = type_term())) return nullptr;
  if (!expect(Tok::kArrow, "a parameter, ':' or '->'") || !(l.body = exp())) return nullptr;
  return exp_node(begin, std::move(l));
}

ExpPtr Parser::if_exp() {
  const SourcePos begin = here();
  next();
  EIf e;
  if (!(e.cond = exp()) || !expect(Tok::kThen, "'then'")) return nullptr;
  if (!(e.then_branch = exp()) || !expect(Tok::kElse, "'else'")) return nullptr;
  if (!(e.else_branch = exp())) return nullptr;
  return exp_node(begin, std::move(e));
}

ExpPtr Parser::match_exp() {
  const SourcePos begin = here();
  next();
  EMatch m;
  if (!(m.scrutinee = exp())) return nullptr;
  if (!at(Tok::kCase)) return unexpected("'case'"), nullptr;
  while (at(Tok::kCase)) {
    const SourcePos case_begin = here();
    next();
    EMatch::Case c;
    if (!(c.pat = pat()) || !expect(Tok::kArrow, "'->'") || !(c.body = exp())) return nullptr;
    c.range = since(case_begin);
    m.cases.push_back(std::move(c));
  }
  return exp_node(begin, std::move(m));
}

ExpPtr Parser::loop_exp() {
  const SourcePos begin = here();
  next();
  ELoop loop;
  if (!(loop.pat = pat())) return nullptr;
  if (eat(Tok::kEqu) && !(loop.init = exp())) return nullptr;
  if (!loop_form(loop) || !expect(Tok::kDo, "'do'") || !(loop.body = exp())) return nullptr;
  return exp_node(begin, std::move(loop));
}

bool Parser::loop_form(ELoop& loop) {
  if (eat(Tok::kWhile)) {
    loop.form = ELoop::kWhile;
    return (loop.bound = exp()) != nullptr;
  }
  if (!expect(Tok::kFor, "'for' or 'while'")) return false;
  if (at(Tok::kId) && at_op("<", 1)) {
    loop.form = ELoop::kFor;
    loop.index_range = range_of(peek());
    loop.index = next().text;
    next();
  } else {
    loop.form = ELoop::kForIn;
    if (!(loop.elem_pat = pat()) || !expect(Tok::kIn, "'in'")) return false;
  }
  return (loop.bound = exp()) != nullptr;
}

/// One `let ... = value` without its body. Its range still ends at the value.
ExpPtr Parser::let_header() {
  const SourcePos begin = here();
  next();
  const auto value = [&](ExpPtr& out) { return expect(Tok::kEqu, "'='") && (out = exp()); };
  if (at(Tok::kId)) {
    const Tok after = peek(1).kind;
    if (after == Tok::kIndexing || after == Tok::kDot) {
      ELetWith w{peek().text, range_of(peek()), {}, nullptr, nullptr};
      next();
      while (at(Tok::kIndexing) || at(Tok::kDot)) {
        if (eat(Tok::kDot) ? !field_step(w.path) : !slice_step(w.path)) return nullptr;
      }
      if (!value(w.value)) return nullptr;
      return exp_node(begin, std::move(w));
    }
    if (after != Tok::kColon && after != Tok::kEqu) {
      ELetFun f{peek().text, range_of(peek()), {}, {}, nullptr, nullptr, nullptr};
      next();
      if (!type_params(f.tparams)) return nullptr;
      if (!starts_param()) return unexpected("a parameter or '='"), nullptr;
      if (!params(f.params) || (eat(Tok::kColon) && !(f.ret = type_exp()))) return nullptr;
      if (!value(f.value)) return nullptr;
      return exp_node(begin, std::move(f));
    }
  }
  ELet let;
  while (at_bracket()) {
    if (!bracketed_name(let.sizes.emplace_back())) return nullptr;
  }
  if (!(let.pat = pat()) || !value(let.value)) return nullptr;
  return exp_node(begin, std::move(let));
}

namespace {
void set_body(Exp& let, ExpPtr body) {
  let.range.end = body->range.end;
  if (auto* l = std::get_if<ELet>(&let.node)) l->body = std::move(body);
  if (auto* f = std::get_if<ELetFun>(&let.node)) f->body = std::move(body);
  if (auto* w = std::get_if<ELetWith>(&let.node)) w->body = std::move(body);
}
}  // namespace

/// A row of bindings and the expression behind the last `in`: read in a loop, for it can be long.
ExpPtr Parser::let_chain() {
  std::vector<ExpPtr> lets;
  for (;;) {
    if (!lets.emplace_back(let_header())) return nullptr;
    if (at(Tok::kLet)) continue;
    if (at(Tok::kDef) || at(Tok::kType) || at(Tok::kModule)) {
      fail_at(range_of(peek()), "Unexpected \"" + peek().text + "\" - missing \"in\"?");
      return note_open_let(lets.back()->range.begin), nullptr;
    }
    if (!eat(Tok::kIn)) {
      unexpected("'in' or another 'let'");
      return note_open_let(lets.back()->range.begin), nullptr;
    }
    if (!at(Tok::kLet)) break;
  }
  ExpPtr body = exp();
  while (body && !lets.empty()) {
    set_body(*lets.back(), std::move(body));
    body = std::move(lets.back());
    lets.pop_back();
    if (!one_higher()) return nullptr;
  }
  return body;
}

}  // namespace kenaz::syntax
