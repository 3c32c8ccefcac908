#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

bool Parser::program(Program& out) {
  // The first of two leading documentation comments is about the file.
  if (at(Tok::kDoc) && peek(1).kind == Tok::kDoc) next();
  return decs(out.decs, Tok::kEnd);
}

bool Parser::decs(std::vector<DecPtr>& out, Tok closing) {
  while (!at(closing)) {
    if (!out.emplace_back(dec())) return false;
  }
  return true;
}

DecPtr Parser::dec() {
  Nest nest(*this);
  if (!nest) return nullptr;
  std::optional<std::string> doc;
  if (at(Tok::kDoc)) doc = next().text;
  DecPtr d = dec_after_doc();
  if (d && doc) d->doc = std::move(doc);
  return d;
}

DecPtr Parser::dec_after_doc() {
  const SourcePos begin = here();
  std::vector<Attr> attrs;
  while (at(Tok::kHashBracket)) {
    if (!bracketed_attribute(attrs.emplace_back())) return nullptr;
  }
  const auto done = [&](auto node) {
    return DecPtr(new Dec{since(begin), std::move(attrs), std::nullopt, std::move(node)});
  };
  DecPtr d;
  switch (peek().kind) {
    case Tok::kDef:
    case Tok::kLet:
    case Tok::kEntry: d = value_dec(); break;
    case Tok::kType: {
      DecType t;
      bool has_definition = false;
      if (!type_bind(t.bind, has_definition)) return nullptr;
      if (!has_definition) return unexpected("'='"), nullptr;
      return done(std::move(t));
    }
    case Tok::kModule: d = module_dec(); break;
    case Tok::kOpen: {
      next();
      DecOpen open{mod_exp()};
      if (!open.mod) return nullptr;
      return done(std::move(open));
    }
    case Tok::kImport: {
      next();
      if (!at(Tok::kString)) return unexpected("the name of a file"), nullptr;
      DecImport import{next().text};
      return done(std::move(import));
    }
    case Tok::kLocal: {
      next();
      DecLocal local{dec()};
      if (!local.inner) return nullptr;
      return done(std::move(local));
    }
    default: return unexpected("a declaration"), nullptr;
  }
  if (d) {
    d->attrs = std::move(attrs);
    d->range.begin = begin;
  }
  return d;
}

/// The name and, for `def x + y`, both parameters.
bool Parser::value_name(DecVal& v, bool& infix_form) {
  const SourcePos begin = here();
  infix_form = false;
  if (at(Tok::kId) && !at_binding_operator(1)) {
    v.name = next().text;
    v.name_range = since(begin);
    return true;
  }
  if (at(Tok::kLParen) && at_binding_operator(1)) {
    next();
    if (!binding_operator(v.name) || !expect(Tok::kRParen, "')'")) return false;
    v.name_range = since(begin);
    return true;
  }
  if (v.is_entry || !starts_param()) return unexpected("a name to define");
  infix_form = true;
  if (!v.params.emplace_back(param())) return false;
  if (at(Tok::kEqu) && std::holds_alternative<PatTuple>(v.params[0]->node)) {
    return fail_at(v.params[0]->range,
                   "Cannot bind patterns at top level.\nBind a single name instead.");
  }
  const SourcePos op_begin = here();
  if (!binding_operator(v.name)) return false;
  v.name_range = since(op_begin);
  return v.params.emplace_back(param()) != nullptr;
}

DecPtr Parser::value_dec() {
  const SourcePos begin = here();
  DecVal v;
  v.is_entry = next().kind == Tok::kEntry;
  bool infix_form = false;
  if (!value_name(v, infix_form)) return nullptr;
  if (!infix_form && (!type_params(v.tparams) || !params(v.params))) return nullptr;
  if (eat(Tok::kColon) && !(v.ret = type_exp())) return nullptr;
  if (!expect(Tok::kEqu, "a parameter, ':' or '='") || !(v.body = exp())) return nullptr;
  return DecPtr(new Dec{since(begin), {}, std::nullopt, std::move(v)});
}

bool Parser::liftedness(Liftedness& out) {
  if (eat(Tok::kTilde)) {
    out = Liftedness::kSizeLifted;
  } else if (at_op("^")) {
    next();
    out = Liftedness::kFullyLifted;
  }
  return true;
}

/// `type name params [= type]`
bool Parser::type_bind(TypeBind& bind, bool& has_definition) {
  next();
  liftedness(bind.lifted);
  if (!identifier(bind.name, bind.name_range, "the name of a type") || !type_params(bind.params))
    return false;
  has_definition = eat(Tok::kEqu);
  return !has_definition || (bind.type = type_exp()) != nullptr;
}

DecPtr Parser::module_dec() {
  const SourcePos begin = here();
  next();
  if (eat(Tok::kType)) {
    DecModType t;
    if (!identifier(t.name, t.name_range, "the name of a module type") ||
        !expect(Tok::kEqu, "'='") || !(t.type = mod_type())) {
      return nullptr;
    }
    return DecPtr(new Dec{since(begin), {}, std::nullopt, std::move(t)});
  }
  DecMod m;
  if (!identifier(m.name, m.name_range, "the name of a module")) return nullptr;
  while (at(Tok::kLParen)) {
    if (!mod_param(m.params.emplace_back())) return nullptr;
  }
  if (eat(Tok::kColon) && !(m.ret = mod_type())) return nullptr;
  if (!expect(Tok::kEqu, "a parameter, ':' or '='") || !(m.body = mod_exp())) return nullptr;
  return DecPtr(new Dec{since(begin), {}, std::nullopt, std::move(m)});
}

}  // namespace kenaz::syntax
