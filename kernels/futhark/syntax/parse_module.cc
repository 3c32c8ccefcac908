#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

bool Parser::mod_param(ModParam& out) {
  const SourcePos begin = here();
  if (!expect(Tok::kLParen, "'('") ||
      !identifier(out.name, out.name_range, "the name of a module parameter") ||
      !expect(Tok::kColon, "':'") || !(out.type = mod_type()) || !expect(Tok::kRParen, "')'")) {
    return false;
  }
  out.range = since(begin);
  return true;
}

// ---- module types

ModTypeExpPtr Parser::mod_type() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  if (at(Tok::kLParen) && peek(1).kind == Tok::kId && peek(2).kind == Tok::kColon) {
    ModParam param;
    ModTypeArrow arrow;
    if (!mod_param(param) || !expect(Tok::kArrow, "'->'") || !(arrow.to = mod_type())) {
      return nullptr;
    }
    arrow.param = std::move(param.name);
    arrow.from = std::move(param.type);
    return make<ModTypeExp>(begin, std::move(arrow));
  }
  ModTypeExpPtr from = mod_type_with();
  if (!from || !eat(Tok::kArrow)) return from;
  ModTypeExpPtr to = mod_type();
  if (!to) return nullptr;
  return make<ModTypeExp>(begin, ModTypeArrow{std::nullopt, std::move(from), std::move(to)});
}

ModTypeExpPtr Parser::mod_type_with() {
  const SourcePos begin = here();
  ModTypeExpPtr base = mod_type_atom();
  while (base && eat(Tok::kWith)) {
    ModTypeWith with;
    with.base = std::move(base);
    if (!qual_name(with.name) || !type_params(with.params) || !expect(Tok::kEqu, "'='") ||
        !(with.type = type_exp()) || !one_higher()) {
      return nullptr;
    }
    base = make<ModTypeExp>(begin, std::move(with));
  }
  return base;
}

ModTypeExpPtr Parser::mod_type_atom() {
  const SourcePos begin = here();
  if (eat(Tok::kLCurly)) {
    ModTypeSpecs specs;
    while (!at(Tok::kRCurly)) {
      if (!specs.specs.emplace_back(spec())) return nullptr;
    }
    next();
    return make<ModTypeExp>(begin, std::move(specs));
  }
  return simple_mod_type();
}

ModTypeExpPtr Parser::simple_mod_type() {
  const SourcePos begin = here();
  if (eat(Tok::kLParen)) {
    ModTypeParens parens{mod_type()};
    if (!parens.inner || !expect(Tok::kRParen, "')'")) return nullptr;
    return make<ModTypeExp>(begin, std::move(parens));
  }
  if (!at(Tok::kId)) return unexpected("a module type"), nullptr;
  ModTypeVar var;
  if (!qual_name(var.name)) return nullptr;
  return make<ModTypeExp>(begin, std::move(var));
}

SpecPtr Parser::spec() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  std::vector<Attr> attrs;
  std::optional<std::string> doc;
  while (at(Tok::kDoc) || at(Tok::kHashBracket)) {
    if (at(Tok::kDoc)) {
      doc = next().text;
    } else if (!bracketed_attribute(attrs.emplace_back())) {
      return nullptr;
    }
  }
  const auto done = [&](auto node) {
    return SpecPtr(new Spec{since(begin), std::move(attrs), std::move(node)});
  };
  switch (peek().kind) {
    case Tok::kVal: {
      SpecVal val;
      if (!val_spec(val)) return nullptr;
      val.doc = std::move(doc);
      return done(std::move(val));
    }
    case Tok::kType: {
      TypeBind bind;
      bool has_definition = false;
      if (!type_bind(bind, has_definition)) return nullptr;
      if (has_definition) return done(SpecTypeAbbr{std::move(bind)});
      return done(
          SpecType{std::move(bind.name), bind.lifted, std::move(bind.params), bind.name_range});
    }
    case Tok::kModule: {
      next();
      SpecMod mod;
      if (!identifier(mod.name, mod.name_range, "the name of a module") ||
          !expect(Tok::kColon, "':'") || !(mod.type = mod_type())) {
        return nullptr;
      }
      return done(std::move(mod));
    }
    case Tok::kInclude: {
      next();
      SpecInclude include{mod_type()};
      if (!include.type) return nullptr;
      return done(std::move(include));
    }
    default: return unexpected("'val', 'type', 'module', 'include' or '}'"), nullptr;
  }
}

bool Parser::val_spec(SpecVal& out) {
  next();
  out.name_range = range_of(peek());
  if (at(Tok::kId)) {
    out.name = next().text;
  } else {
    const bool in_parens = eat(Tok::kLParen);
    if (!binding_operator(out.name)) return false;
    if (in_parens && !expect(Tok::kRParen, "')'")) return false;
  }
  return type_params(out.params) && expect(Tok::kColon, "':'") && (out.type = type_exp());
}

// ---- modules

ModExpPtr Parser::mod_exp() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  ModExpPtr m = mod_exp_without_ascription();
  while (m && eat(Tok::kColon)) {
    ModTypeExpPtr type = mod_type();
    if (!type || !one_higher()) return nullptr;
    m = make<ModExp>(begin, ModAscript{std::move(m), std::move(type)});
  }
  return m;
}

ModExpPtr Parser::mod_exp_without_ascription() {
  Nest nest(*this);
  if (!nest) return nullptr;
  const SourcePos begin = here();
  if (at(Tok::kBackslash)) return mod_lambda();
  if (eat(Tok::kImport)) {
    if (!at(Tok::kString)) return unexpected("the name of a file"), nullptr;
    ModImport import{next().text};
    return make<ModExp>(begin, std::move(import));
  }
  ModExpPtr m = mod_atom();
  while (m && (at(Tok::kLParen) || at(Tok::kId) || at(Tok::kLCurly))) {
    ModExpPtr arg = mod_atom();
    if (!arg || !one_higher()) return nullptr;
    m = make<ModExp>(begin, ModApply{std::move(m), std::move(arg)});
  }
  return m;
}

ModExpPtr Parser::mod_lambda() {
  const SourcePos begin = here();
  next();
  ModLambda l;
  if (!mod_param(l.param)) return nullptr;
  if (eat(Tok::kColon) && !(l.ret = simple_mod_type())) return nullptr;
  if (!expect(Tok::kArrow, "'->'") || !(l.body = mod_exp_without_ascription())) return nullptr;
  return make<ModExp>(begin, std::move(l));
}

ModExpPtr Parser::mod_atom() {
  const SourcePos begin = here();
  if (eat(Tok::kLParen)) {
    ModParens parens{mod_exp()};
    if (!parens.inner || !expect(Tok::kRParen, "')'")) return nullptr;
    return make<ModExp>(begin, std::move(parens));
  }
  if (eat(Tok::kLCurly)) {
    ModDecs body;
    if (!decs(body.decs, Tok::kRCurly)) return nullptr;
    next();
    return make<ModExp>(begin, std::move(body));
  }
  if (!at(Tok::kId)) return unexpected("a module"), nullptr;
  ModVar var;
  if (!qual_name(var.name)) return nullptr;
  return make<ModExp>(begin, std::move(var));
}

}  // namespace kenaz::syntax
