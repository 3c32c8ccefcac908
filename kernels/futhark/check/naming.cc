#include "kernels/futhark/check/naming.h"

#include <map>
#include <unordered_set>

namespace kenaz::check {

namespace {

bool in_prelude(const SourceRange& range) {
  return range.file && range.file->name.rfind("/prelude/", 0) == 0;
}

const Defined* defined(const Meaning& meaning) {
  return std::visit(
      [](auto what) -> const Defined* {
        if constexpr (std::is_same_v<decltype(what), std::monostate>) {
          return nullptr;
        } else {
          return &what->defined;
        }
      },
      meaning);
}

/// The place of word `at` of a name whose words are nowhere apart.
SourceRange word_range(const syntax::QualName& name, size_t at) {
  SourceRange range = name.range;
  if (name.quals.empty()) return range;
  int column = range.begin.column;
  for (size_t i = 0; i < at; i++) column += static_cast<int>(name.quals[i].size()) + 1;
  const std::string& word = at < name.quals.size() ? name.quals[at] : name.name;
  range.begin.column = column;
  range.end = {range.begin.line, column + static_cast<int>(word.size())};
  return range;
}

bool is_plain(const std::string& name) {
  const char c = name.empty() ? ' ' : name[0];
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

ValBinding* Naming::find_value(const syntax::QualName& name, size_t* used) {
  ValBinding* v = lookup_.look_up_value(name, used);
  seen_path(name, v ? *used - 1 : name.quals.size(), v ? Meaning(v) : Meaning());
  return v;
}

TypeBinding* Naming::find_type(const syntax::QualName& name) {
  TypeBinding* t = lookup_.look_up_type(name);
  seen_path(name, name.quals.size(), t ? Meaning(t) : Meaning());
  return t;
}

ModBinding* Naming::find_mod(const syntax::QualName& name) {
  ModBinding* m = lookup_.look_up_mod(name);
  seen_path(name, name.quals.size(), m ? Meaning(m) : Meaning());
  return m;
}

ModTypeBinding* Naming::find_mod_type(const syntax::QualName& name) {
  ModTypeBinding* t = lookup_.look_up_mod_type(name);
  seen_path(name, name.quals.size(), t ? Meaning(t) : Meaning());
  return t;
}

void Naming::local_value(const std::string& name, VarId var, TypePtr type,
                         const SourceRange& range) {
  ValBinding* v = scopes_.new_val();
  v->var = var;
  vars_[var].named = true;
  v->scheme.type = std::move(type);
  v->defined.range = range;
  lookup_.here().locals.push_back({name, v, nullptr, nullptr});
  seen(range, name, v);
}

void Naming::local_type(const std::string& name, TyVarId id, const SourceRange& range) {
  TypeBinding* t = scopes_.new_type();
  t->name = name;
  t->type = core::make_type(core::TParam{id});
  t->defined.range = range;
  lookup_.here().locals.push_back({name, nullptr, t, nullptr});
  seen(range, name, t);
}

// ---- notes

void Naming::seen(const SourceRange& range, const std::string& name, const Meaning& meaning) {
  if (!record_ || !range.file || in_prelude(range)) return;
  if (!record_->places.emplace(range.file.get(), range.begin).second) return;
  record_->seen.push_back({range, name, meaning});
}

void Naming::seen_path(const syntax::QualName& name, size_t modules, const Meaning& meaning) {
  if (!record_) return;
  if (name.name == kWanted) return take_names(name.quals);
  if (!name.range.file || in_prelude(name.range)) return;
  ModBinding* m = nullptr;
  for (size_t i = 0; i < modules; i++) {
    if (i > 0) {
      m = m->mod.env ? scopes_.find_outside(m->mod.env->mods, name.quals[i]) : nullptr;
    } else {
      m = lookup_.look_up_mod(name.quals[0]);
    }
    if (!m) return;
    seen(word_range(name, i), name.quals[i], m);
  }
  if (std::holds_alternative<std::monostate>(meaning)) return;
  seen(word_range(name, modules), modules < name.quals.size() ? name.quals[modules] : name.name,
       meaning);
}

std::string Naming::scheme_text(const Scheme& s) {
  std::string text;
  for (VarId v : s.sparams) {
    if (vars_[v].named) text += "[" + vars_.name(v) + "] ";
  }
  for (TyVarId t : s.tparams) {
    const auto lifted = vars_.lifted(t);
    text += lifted == syntax::Liftedness::kUnlifted     ? "'"
            : lifted == syntax::Liftedness::kSizeLifted ? "'~"
                                                        : "'^";
    text += vars_.name(t) + " ";
  }
  // Sizes that nobody has named are "[]", as they were written.
  const TypePtr type = vars_.zonk(s.type, Zonk::kKeep);
  std::unordered_set<VarId> sizes;
  core::free_sizes(type, sizes);
  core::Subst nameless;
  for (VarId v : sizes) {
    if (!vars_[v].named) nameless.sizes[v] = Size::any();
  }
  return text + ": " + infer_.type_text(core::substitute(type, nameless));
}

Symbol Naming::symbol_of(const std::string& name, const Meaning& meaning) {
  Symbol s;
  s.name = name;
  if (const Defined* d = defined(meaning)) {
    s.definition = d->range;
    if (d->doc) s.doc = *d->doc;
  }
  if (auto* const* v = std::get_if<ValBinding*>(&meaning)) {
    if ((*v)->state == ValBinding::State::kLazy && !reports_.failed()) lookup_.force(**v);
    if ((*v)->state == ValBinding::State::kReady && (*v)->scheme.type) {
      s.type = scheme_text((*v)->scheme);
      s.is_function = std::holds_alternative<core::TArrow>(vars_.resolve((*v)->scheme.type)->node);
    }
  } else if (auto* const* t = std::get_if<TypeBinding*>(&meaning)) {
    s.kind = SymbolKind::kType;
    if ((*t)->type) s.type = infer_.type_text((*t)->type);
    if (s.type == name) s.type.clear();  // abstract, or a parameter
  } else if (std::holds_alternative<ModBinding*>(meaning)) {
    s.kind = SymbolKind::kModule;
  } else {
    s.kind = SymbolKind::kModuleType;
  }
  return s;
}

void Naming::finish() {
  if (record_) record_->index = index();
}

Index Naming::index() {
  Index out;
  std::map<Meaning, uint32_t> known;
  for (const Record::Seen& seen : record_->seen) {
    const auto next = static_cast<uint32_t>(out.symbols.size());
    const auto [it, added] = known.emplace(seen.meaning, next);
    if (added) out.symbols.push_back(symbol_of(seen.name, seen.meaning));
    out.uses.push_back({seen.range, it->second});
  }
  out.wanted = std::move(record_->wanted);
  return out;
}

// ---- names that could stand somewhere

void Naming::take_name(const std::string& name, const Meaning& meaning) {
  if (!is_plain(name) || name == "intrinsics" || name == kWanted) return;
  const Symbol s = symbol_of(name, meaning);
  if (record_->wanted_names.emplace(s.kind, name).second) record_->wanted->push_back(s);
}

void Naming::take_env(const Env& env, uint32_t stamp, bool outside) {
  auto take = [&](const auto& map) {
    std::map<std::string, Meaning> visible;  // in an order that does not change
    for (const auto& [name, versions] : map) {
      if (auto* what = Scopes::find(map, name, stamp, outside)) visible.emplace(name, what);
    }
    for (const auto& [name, meaning] : visible) take_name(name, meaning);
  };
  take(env.vals);
  take(env.types);
  take(env.mods);
  take(env.mod_types);
}

void Naming::take_fields(const syntax::QualName& record) {
  size_t used = 0;
  const ValBinding* v = lookup_.look_up_value(record, &used);
  if (!v || !v->scheme.type) return;
  TypePtr t = vars_.resolve(v->scheme.type);
  for (size_t i = used; t; i++) {
    const auto* r = std::get_if<core::TRecord>(&t->node);
    if (!r) return;
    if (i > record.quals.size()) {
      for (const auto& [name, type] : r->fields) {
        record_->wanted->push_back(
            {SymbolKind::kField, name, ": " + infer_.type_text(type), {}, "", false});
      }
      return;
    }
    const std::string& word = i < record.quals.size() ? record.quals[i] : record.name;
    t = nullptr;
    for (const auto& [name, type] : r->fields) {
      if (name == word) t = vars_.resolve(type);
    }
  }
}

void Naming::take_names(const std::vector<std::string>& quals) {
  if (record_->wanted || reports_.failed()) return;
  record_->wanted.emplace();
  if (!quals.empty()) {
    if (const Env* env = lookup_.module_of(quals, quals.size()))
      return take_env(*env, scopes_.stamp(), true);
    return take_fields({{quals.begin(), quals.end() - 1}, quals.back(), {}});
  }
  const std::vector<Local> locals = lookup_.here().locals;
  for (auto it = locals.rbegin(); it != locals.rend(); ++it) {
    if (it->val) take_name(it->name, it->val);
    if (it->type) take_name(it->name, it->type);
    if (it->opened) take_env(*it->opened, scopes_.stamp(), true);
  }
  for (EnvRef ref = lookup_.here().env; ref.env; ref = ref.env->parent) {
    take_env(*ref.env, ref.stamp, false);
  }
}

}  // namespace kenaz::check
