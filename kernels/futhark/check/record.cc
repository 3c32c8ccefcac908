// What names mean, for editors: noted while the program is checked, made text afterwards.
#include "kernels/futhark/check/record.h"

#include <map>
#include <unordered_set>

#include "kernels/futhark/check/checker.h"

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

void Checker::observe(Record& record, std::stop_token stop) {
  record_ = &record;
  stop_ = std::move(stop);
}

std::vector<std::string> Checker::files() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) {
    if (!file->prelude) names.push_back(name);
  }
  return names;
}

void Checker::seen(const SourceRange& range, const std::string& name, const Meaning& meaning) {
  if (!record_ || !range.file || in_prelude(range)) return;
  if (!record_->places.emplace(range.file.get(), range.begin).second) return;
  record_->seen.push_back({range, name, meaning});
}

void Checker::seen_path(const syntax::QualName& name, size_t modules, const Meaning& meaning) {
  if (!record_) return;
  if (name.name == kWanted) return take_names(name.quals);
  if (!name.range.file || in_prelude(name.range)) return;
  ModBinding* m = nullptr;
  for (size_t i = 0; i < modules; i++) {
    if (i > 0) {
      m = m->mod.env ? scopes_.find_outside(m->mod.env->mods, name.quals[i]) : nullptr;
    } else {
      for (auto it = fn_->locals.rbegin(); it != fn_->locals.rend() && !m; ++it) {
        if (it->opened) m = scopes_.find_outside(it->opened->mods, name.quals[0]);
      }
      if (!m) m = Scopes::find_scoped(&Env::mods, fn_->env, name.quals[0]);
    }
    if (!m) return;
    seen(word_range(name, i), name.quals[i], m);
  }
  if (std::holds_alternative<std::monostate>(meaning)) return;
  seen(word_range(name, modules), modules < name.quals.size() ? name.quals[modules] : name.name,
       meaning);
}

std::string Checker::scheme_text(const Scheme& s) {
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

Symbol Checker::symbol_of(const std::string& name, const Meaning& meaning) {
  Symbol s;
  s.name = name;
  if (const Defined* d = defined(meaning)) {
    s.definition = d->range;
    if (d->doc) s.doc = *d->doc;
  }
  if (auto* const* v = std::get_if<ValBinding*>(&meaning)) {
    if ((*v)->state == ValBinding::State::kLazy && !reports_.failed()) force(**v);
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

Index Checker::index() {
  Index out;
  if (!record_) return out;
  FnState outermost;
  fn_ = &outermost;
  std::map<Meaning, uint32_t> known;
  for (const Record::Seen& seen : record_->seen) {
    const auto next = static_cast<uint32_t>(out.symbols.size());
    const auto [it, added] = known.emplace(seen.meaning, next);
    if (added) out.symbols.push_back(symbol_of(seen.name, seen.meaning));
    out.uses.push_back({seen.range, it->second});
  }
  out.wanted = std::move(record_->wanted);
  fn_ = nullptr;
  return out;
}

// ---- names that could stand somewhere

void Checker::take_name(const std::string& name, const Meaning& meaning) {
  if (!is_plain(name) || name == "intrinsics" || name == kWanted) return;
  const Symbol s = symbol_of(name, meaning);
  if (record_->wanted_names.emplace(s.kind, name).second) record_->wanted->push_back(s);
}

void Checker::take_env(const Env& env, uint32_t stamp, bool outside) {
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

void Checker::take_fields(const syntax::QualName& record) {
  size_t used = 0;
  const ValBinding* v = look_up_value(record, &used);
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

void Checker::take_names(const std::vector<std::string>& quals) {
  if (record_->wanted || reports_.failed()) return;
  record_->wanted.emplace();
  if (!quals.empty()) {
    if (const Env* env = module_of(quals, quals.size()))
      return take_env(*env, scopes_.stamp(), true);
    return take_fields({{quals.begin(), quals.end() - 1}, quals.back(), {}});
  }
  const std::vector<Local> locals = fn_->locals;
  for (auto it = locals.rbegin(); it != locals.rend(); ++it) {
    if (it->val) take_name(it->name, it->val);
    if (it->type) take_name(it->name, it->type);
    if (it->opened) take_env(*it->opened, scopes_.stamp(), true);
  }
  for (EnvRef ref = fn_->env; ref.env; ref = ref.env->parent) {
    take_env(*ref.env, ref.stamp, false);
  }
}

}  // namespace kenaz::check
